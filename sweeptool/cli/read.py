"""The words after a reading command go in; what the library found goes to stdout, what is odd to stderr."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from pathlib import Path

import click

from sweeptool import layout, sources
from sweeptool.cli.options import exclusive, filename, json_option, said, sweep_argument, sweeps_option, write
from sweeptool.sources import Source
from sweeptool.text import printable

FORMATS = ("table", "blocks", "markdown", "csv", "json")
ROOT = click.option("--root", callback=said, metavar="DIR", help="read every run under DIR")
SWEEP = click.option(
    "--sweep", callback=said, metavar="SWEEP", help="read one sweep's attempts: a name or its directory"
)
NAME = click.option(
    "--manifest-name", callback=filename, default=layout.MANIFEST, show_default=True, help="what a manifest is called"
)
BY = click.option(
    "--by", callback=said, metavar="WHAT", help="cost, time, throughput or a metric; by default the spec's, else cost"
)
GOAL = click.option("--goal", type=click.Choice(["min", "max"]), help="which way is better; by default the name says")
WHERE = click.option(
    "--where", callback=said, metavar="EXPR", help="rank only cells like 'gpu = L4 and accuracy >= 0.9'"
)
OVER = click.option(
    "--over", multiple=True, metavar="PARAM", help="count PARAM as repetition; by default a seed is one"
)


def put(lines: Iterable[str]) -> None:
    """Write lines to stdout."""
    sys.stdout.writelines(line + "\n" for line in lines)


def put_now(lines: Iterable[str]) -> None:
    """Write lines to stdout, each as soon as it is there."""
    for line in lines:
        click.echo(line)


def tell(source: Source) -> None:
    """Say on stderr what was read where the user named nothing."""
    if source.chosen:
        click.echo(f"read: {source}", err=True)


def warn(lines: Iterable[str]) -> None:
    """Name on stderr what is odd, so that stdout stays data."""
    for line in lines:
        click.echo(printable(line), err=True)


@click.command("manifest-summary")
@click.argument("files", nargs=-1, metavar="[FILE]...")
@ROOT
@SWEEP
@sweeps_option
@click.option("--by", multiple=True, metavar="KEY", help="group by gpu, region, config, reason, a parameter …")
@click.option("--format", "form", type=click.Choice(FORMATS), default="table", show_default=True)
@NAME
def manifest_summary(
    files: tuple[str, ...],
    root: str | None,
    sweep: str | None,
    sweeps_dir: Path,
    by: tuple[str, ...],
    form: str,
    manifest_name: str,
) -> None:
    """Say what ran, what failed and what it cost: a row a run and the totals.

    Without FILE, --root or --sweep it reads the newest sweep here, or else every run under ./artifacts. As FILE,
    - is stdin.
    """
    from sweeptool import summary

    source = sources.choose(files, root, sweep, sweeps_dir)
    found = sources.read(source, manifest_name)
    put(summary.lines(found, by, form))
    tell(source)
    warn(found.lines())


@click.command("events-query")
@ROOT
@SWEEP
@sweeps_option
@click.option("--filter", "filters", multiple=True, metavar="KEY=VALUE", help="or != ~ < <= > >=; all must hold")
@click.option("--since", metavar="WHEN", help="from a time, or that long ago: 90m, 7d, 2026-03-01T12:00Z")
@click.option("--until", metavar="WHEN", help="until a time, or that long ago")
@click.option("--count-by", multiple=True, metavar="KEY", help="count the events by the values of KEY instead")
@click.option("--follow", "-f", is_flag=True, help="keep on printing what is appended, until interrupted")
@click.option("--json", "as_json", is_flag=True, help="one JSON object a line, with run_dir added")
@click.option(
    "--events-name", callback=filename, default=layout.EVENTS, show_default=True, help="what a file of events is called"
)
def events_query(
    root: str | None,
    sweep: str | None,
    sweeps_dir: Path,
    filters: tuple[str, ...],
    since: str | None,
    until: str | None,
    count_by: tuple[str, ...],
    follow: bool,
    as_json: bool,
    events_name: str,
) -> None:
    """Search every events.jsonl of a tree or a sweep, the driver's own events included, in order of time.

    A line says when, where (#3/1: index 3, attempt 1), what, and the event's own fields.

    Without --root or --sweep it reads the newest sweep here, or else every run under ./artifacts.
    """
    from sweeptool import events, stamps
    from sweeptool.events import show

    exclusive({"--follow": follow, "--count-by": count_by})
    wanted = events.wanted(filters, since, until, stamps.now())
    source = sources.choose((), root, sweep, sweeps_dir)
    notes = events.Notes()
    line = show.as_json if as_json else show.as_line
    if follow:
        tell(source)
        put_now(events.follow(lambda: events.streams(source, notes, events_name), wanted, notes, line, warn))
    elif count_by:
        found = events.count(events.search(events.streams(source, notes, events_name), wanted, notes), count_by)
        put(show.counted(found, count_by, as_json=as_json))
    else:
        put(events.query(events.streams(source, notes, events_name), wanted, notes, line))
    tell(source)
    warn(notes.lines())
    if not notes.found:
        warn(events.missing(events.streams(source, notes, events_name), wanted))


@click.command("best")
@sweep_argument
@ROOT
@BY
@GOAL
@WHERE
@click.option("-n", "n", type=click.IntRange(1), default=10, show_default=True, help="how many to show")
@OVER
@click.option("--pareto", metavar="A,B", help="the cells that nothing beats in both A and B; A:max sets a goal")
@json_option
@NAME
def best(
    sweep: str | None,
    sweeps_dir: Path,
    root: str | None,
    by: str | None,
    goal: str | None,
    where: str | None,
    n: int,
    over: tuple[str, ...],
    pareto: str | None,
    as_json: bool,
    manifest_name: str,
) -> None:
    """Say which cells were best, and which combination over its repetitions, with how sure that is.

    Only cells that succeeded count. A cell's cost is that of all its attempts.
    """
    from sweeptool.analysis import best as contest

    entry = contest.enter(sources.choose((), root, sweep, sweeps_dir), manifest_name)
    if pareto is not None:
        put(contest.front(entry, pareto, where, as_json=as_json))
    else:
        put(contest.ranking(entry, by, goal, expression=where, over=over or None, n=n, as_json=as_json))
    tell(entry.source)
    warn(entry.notes)


@click.command("collect")
@ROOT
@SWEEP
@sweeps_option
@click.option("-o", "output", default="-", metavar="FILE", help="ends in .csv, .json or .parquet; - is CSV to stdout")
@NAME
def collect(root: str | None, sweep: str | None, sweeps_dir: Path, output: str, manifest_name: str) -> None:
    """Write one tidy row a cell and attempt: parameters, metrics, cost, times, git commit."""
    from sweeptool import collect as tidy

    source = sources.choose((), root, sweep, sweeps_dir)
    rows, found = tidy.tidy(source, manifest_name)
    write(tidy.encoded(rows, output), Path(output))
    tell(source)
    warn(found.lines())


@click.command("compare")
@click.argument("a")
@click.argument("b")
@sweeps_option
@click.option(
    "--by", callback=said, metavar="WHAT", help="cost, time, throughput or a metric of the cells of two sweeps"
)
@json_option
def compare(a: str, b: str, sweeps_dir: Path, by: str | None, as_json: bool) -> None:
    """Show two sweeps, or two manifests or run dirs, side by side."""
    from sweeptool import compare as comparison

    found = comparison.compare(a, b, by, sweeps_dir)
    put([comparison.as_json(found)] if as_json else comparison.lines(found))
    warn(found.notes)


@click.command("report")
@sweep_argument
@click.option("-o", "output", type=click.Path(path_type=Path), required=True, metavar="FILE.html", help="- is stdout")
@BY
@GOAL
@WHERE
@OVER
def report(
    sweep: str | None,
    sweeps_dir: Path,
    output: Path,
    by: str | None,
    goal: str | None,
    where: str | None,
    over: tuple[str, ...],
) -> None:
    """Write one self-contained HTML page about a sweep: tables, plots, warnings."""
    from sweeptool import locate
    from sweeptool import report as pages

    found = locate.find(sweep, sweeps_dir)
    notes: list[str] = []
    write(pages.page(found, by, goal, expression=where, over=over or None, notes=notes), output)
    warn(notes)


commands: list[click.Command] = [manifest_summary, events_query, best, collect, compare, report]
