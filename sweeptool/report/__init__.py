"""A sweep goes in, one self-contained HTML page comes out: tables, plots and warnings; no script, no network."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass

import jinja2

from sweeptool import __version__, analysis, layout, money, stamps, status, summary
from sweeptool.analysis import Ranking, candidates, show
from sweeptool.analysis import where as conditions
from sweeptool.analysis.candidates import Candidate
from sweeptool.layout import SweepDir
from sweeptool.measures import COST
from sweeptool.report import pictures
from sweeptool.runs import sweeps
from sweeptool.runs import totals as sums
from sweeptool.runs.sweeps import Sweep
from sweeptool.states import LOST, RUNNING
from sweeptool.text import counted, printable

_SHOWN = 20  # best cells and combinations; the page has every attempt below

_ODD = 10  # lines about odd files; the rest is counted


@dataclass(frozen=True, slots=True)
class Table:
    """Titles and rows of text; ``right`` holds the places of the columns of numbers, ``states`` a style a row."""

    titles: Sequence[str]
    rows: Sequence[Sequence[str]]
    right: frozenset[int]
    states: Sequence[str] = ()


def page(
    where: SweepDir,
    by: str | None = None,
    goal: str | None = None,
    *,
    expression: str | None = None,
    over: Sequence[str] | None = None,
    notes: list[str] | None = None,
) -> str:
    """Return the report of a sweep, ranked as ``best`` ranks it, or by cost where no run reports the spec's metric.

    ``notes`` gets a line for that. Raises SweepError for a sweep without a plan, and for a name or an expression that means nothing.
    """
    now = status.read(where)
    sweep = sweeps.read(where)
    cells = candidates.of_sweep(sweep)
    planned = now.plan.sweep["metrics"]
    wish, said = analysis.shown(by, goal, (planned["best"], planned["goal"]), cells)
    if notes is not None:
        notes += said
    ranking = analysis.rank(cells, wish, conditions.parse(expression) if expression else (), over)
    repeated = any(one.of > 1 for one in ranking.combinations)
    context = {
        "version": __version__,
        "name": now.plan.name,
        "facts": _facts(now),
        "tiles": _tiles(now, sweep, ranking),
        "warnings": [printable(line) for line in (*said, *_warnings(sweep))],
        "by": printable(wish.by),
        "goal": wish,
        "best": _table(*show.leaders(ranking, _SHOWN)),
        "combinations": _table(*show.averages(ranking, _SHOWN)) if repeated else None,
        "over": ", ".join(["repetitions", *map(printable, ranking.over)]),
        "left_out": counted(len(ranking.excluded), "cell"),
        "excluded": [(one.index, printable(one.why)) for one in ranking.excluded],
        "plots": pictures.of(sweep, cells, ranking, now.cap),
        "states": [*pictures.STATES[:-1]],
        "attempts": _attempts(sweep),
        "footer": list(summary.footer(sweep.found))[1:],
        "again": f"sweeptool report {now.plan.name} --by {wish.by} -o FILE.html",
    }
    return _environment().get_template("report.html.j2").render(context)


def _environment() -> jinja2.Environment:
    """Return the environment for HTML, which escapes every value; shell templates have another."""
    return jinja2.Environment(
        loader=jinja2.FileSystemLoader(layout.resource("templates")),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )


def _facts(now: status.Status) -> Iterator[tuple[str, str]]:
    state = now.state
    yield "phase", now.phase + (f" ({now.reason})" if now.reason else "")
    yield "sweep id", printable(state.sweep_id or "not started")
    yield "runner", printable(str(now.plan.sweep["runner"]))
    if state.first_opened_at:
        yield "started", printable(state.first_opened_at[:19].replace("T", " ")) + " UTC"
    ends = [run.settled_at for run in state.attempts if run.settled_at]
    if ends:
        yield "last settled", printable(max(ends)[:19].replace("T", " ")) + " UTC"


def _tiles(now: status.Status, sweep: Sweep, ranking: Ranking) -> Iterator[tuple[str, str, str]]:
    """Yield what a reader wants first: a title, a value, and a word below it."""
    found = sums.of(sweep.found.runs)
    yield (
        "cells succeeded",
        f"{now.done} of {len(now.cells)}",
        f"{counted(found.runs, 'attempt')}, {found.failed} failed",
    )
    limit = "no cap" if now.cap is None else f"of {money.dollars(now.cap)} cap"
    unknown = f", {found.unknown_cost} unknown" if found.unknown_cost else ""
    yield "estimated cost", money.dollars(found.cost), limit + unknown
    yield "wall time", stamps.span_text(found.wall_seconds), "over all attempts"
    if ranking.cells:
        cell, value = ranking.cells[0]
        yield (
            f"best {printable(ranking.goal.by)}",
            ("$" if ranking.goal.by == COST else "") + show.written(value, ranking.goal.by),
            f"cell {cell.index}: {_label(cell)}",
        )
    winner = next((one for one in ranking.combinations if one.spread.n > 1), None)
    if winner and winner.spread.mean is not None:
        mean = ("$" if ranking.goal.by == COST else "") + show.written(winner.spread.mean, ranking.goal.by)
        yield "best mean", mean, f"{_label(winner.cell, ranking.over)}, {winner.spread.n} of {winner.of}"


def _warnings(sweep: Sweep) -> Iterator[str]:
    manifests = [run.manifest for run in sweep.found.runs if run.manifest]
    shas = {one.git_sha for one in manifests if one.git_sha}
    if len(shas) > 1:
        yield f"The code changed during the sweep: {len(shas)} commits, {', '.join(sorted(sha[:10] for sha in shas))}."
    dirty = sum(one.git_dirty is True for one in manifests)
    if dirty:
        yield f"{dirty} of {len(manifests)} attempts ran code that was in no commit (the work tree was dirty)."
    lost = [run for run in sweep.found.runs if run.state == LOST]
    if lost:
        yield f"{counted(len(lost), 'attempt')} lost: what was done and cost is unknown. 'sweeptool recover' looks for pods."
    unknown = sum(run.cost is None and run.state not in (RUNNING, LOST) for run in sweep.found.runs)
    if unknown:
        yield f"The cost of {counted(unknown, 'attempt')} is unknown; the totals do not hold it."
    odd = sweep.found.lines()
    yield from odd[:_ODD]
    if len(odd) > _ODD:
        yield f"… and {len(odd) - _ODD} more that 'sweeptool manifest-summary' names."


def _attempts(sweep: Sweep) -> Table:
    titles, rows = summary.attempts(sweep.found.runs)
    lines = [
        (*row, (run.run_dir or "-").rpartition("/")[2], run.detail or "")
        for row, run in zip(rows, sweep.found.runs, strict=True)
    ]
    return _table((*titles, "RUN DIR", "DETAIL"), lines, summary.RIGHT, list(map(pictures.style, sweep.found.runs)))


def _table(
    titles: Sequence[str], rows: Sequence[Sequence[str]], right: Collection[str], states: Sequence[str] = ()
) -> Table:
    """Return a table of printable text; ``right`` are the titles of the columns of numbers."""
    return Table(
        [printable(title) for title in titles],
        [[printable(cell) for cell in row] for row in rows],
        frozenset(place for place, title in enumerate(titles) if title in right),
        states,
    )


def _label(cell: Candidate, without: Sequence[str] = ()) -> str:
    return printable(candidates.label(cell, without) or "no parameters")
