"""The words after a reading command go in; what the library found goes to stdout, what is odd to stderr."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from pathlib import Path

import click

from sweeptool import layout, sources, summary
from sweeptool.sources import Source
from sweeptool.tables import clean

ROOT = click.option("--root", metavar="DIR", help="Read every run under DIR.")
SWEEP = click.option("--sweep", metavar="SWEEP", help="Read one sweep's attempts: a name or its directory.")
NAME = click.option("--manifest-name", default=layout.MANIFEST, show_default=True, help="What a manifest is called.")


def sweeps_dir() -> Path:
    """Return where sweeps are, from here."""
    return layout.sweeps_root(Path())


def put(lines: Iterable[str]) -> None:
    """Write lines to stdout."""
    sys.stdout.writelines(line + "\n" for line in lines)


def put_now(lines: Iterable[str]) -> None:
    """Write lines to stdout, each as soon as it is there."""
    for line in lines:
        print(line, flush=True)  # noqa: T201 - stdout is what it is for


def tell(source: Source) -> None:
    """Say on stderr what was read where the user named nothing."""
    if source.chosen:
        click.echo(f"read: {source}", err=True)


def warn(lines: Iterable[str]) -> None:
    """Name on stderr what is odd, so that stdout stays data."""
    for line in lines:
        click.echo(clean(line), err=True)


@click.command("manifest-summary")
@click.argument("files", nargs=-1, metavar="[FILE]...")
@ROOT
@SWEEP
@click.option("--by", multiple=True, metavar="KEY", help="Group by gpu, region, config, reason, a parameter …")
@click.option("--format", "form", type=click.Choice(list(summary.FORMATS)), default="table", show_default=True)
@NAME
def manifest_summary(  # noqa: PLR0917 - click passes them by name
    files: tuple[str, ...], root: str | None, sweep: str | None, by: tuple[str, ...], form: str, manifest_name: str
) -> None:
    """Say what ran, what failed and what it cost: a row a run and the totals.

    Without FILE, --root or --sweep it reads the newest sweep here, or else every run under ./artifacts.
    """
    source = sources.choose(files, root, sweep, sweeps_dir())
    found = sources.read(source, manifest_name)
    put(summary.lines(found, by, form))
    tell(source)
    warn(found.lines())


@click.command("events-query")
@ROOT
@SWEEP
@click.option("--filter", "filters", multiple=True, metavar="KEY=VALUE", help="Or != ~ < <= > >=; all must hold.")
@click.option("--since", metavar="WHEN", help="From a time, or that long ago: 90m, 7d, 2026-03-01T12:00Z.")
@click.option("--until", metavar="WHEN", help="Until a time, or that long ago.")
@click.option("--count-by", multiple=True, metavar="KEY", help="Count the events by the values of KEY instead.")
@click.option("--follow", "-f", is_flag=True, help="Keep on printing what is appended, until interrupted.")
@click.option("--json", "as_json", is_flag=True, help="One JSON object a line, with run_dir added.")
def events_query(  # noqa: PLR0917 - click passes them by name
    root: str | None,
    sweep: str | None,
    filters: tuple[str, ...],
    since: str | None,
    until: str | None,
    count_by: tuple[str, ...],
    follow: bool,
    as_json: bool,
) -> None:
    """Search every events.jsonl of a tree or a sweep, the driver's own events included, in order of time.

    Without --root or --sweep it reads the newest sweep here, or else every run under ./artifacts.
    """
    from sweeptool import events, stamps
    from sweeptool.events import show

    wanted = events.wanted(filters, since, until, stamps.now())
    source = sources.choose((), root, sweep, sweeps_dir())
    notes = events.Notes()
    line = show.as_json if as_json else show.as_line
    if follow:
        put_now(events.follow(lambda: events.streams(source, notes), wanted, notes, line))
    elif count_by:
        found = events.count(events.search(events.streams(source, notes), wanted, notes), count_by)
        put(show.counted(found, count_by, as_json=as_json))
    else:
        put(events.query(events.streams(source, notes), wanted, notes, line))
    tell(source)
    warn(notes.lines())


commands: list[click.Command] = [manifest_summary, events_query]
