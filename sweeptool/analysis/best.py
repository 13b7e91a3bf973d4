"""The words of ``best`` and where to look go in; what it prints comes out."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from sweeptool import analysis, layout, sources
from sweeptool.analysis import MAX, MIN, Goal, candidates, show, where
from sweeptool.analysis.candidates import Candidate
from sweeptool.errors import Problem, SweepError
from sweeptool.measures import COST
from sweeptool.runs import sweeps
from sweeptool.sources import Source


@dataclass(frozen=True, slots=True)
class Entry:
    """The cells of a sweep or a tree, the plan's best metric and its goal, and what is odd, one line each."""

    source: Source
    cells: Sequence[Candidate]
    planned: tuple[str | None, str | None]
    notes: Sequence[str]


def enter(source: Source, name: str = layout.MANIFEST) -> Entry:
    """Return what competes at ``source``; ``name`` is what a manifest is called where no plan says so."""
    if source.sweep is None:
        found = sources.read(source, name)
        cells = candidates.of_runs(found)
        return Entry(source, cells, (None, None), found.lines())
    sweep = sweeps.read(source.sweep)
    cells = candidates.of_sweep(sweep)
    wish = sweep.plan.sweep["metrics"] if sweep.plan else {}
    return Entry(source, cells, (wish.get("best"), wish.get("goal")), sweep.found.oddities)


def ranking(
    entry: Entry,
    by: str | None = None,
    goal: str | None = None,
    *,
    expression: str | None = None,
    over: Sequence[str] | None = None,
    n: int = 10,
    as_json: bool = False,
) -> Iterable[str]:
    """Return the lines of a ranking. Raises SweepError for a name or an expression that means nothing."""
    wish = analysis.goal(by or entry.planned[0] or COST, goal, entry.planned)
    if by is None:
        analysis.known(wish.by, entry.cells, analysis.SPEC, "choose with --by")
    found = analysis.rank(entry.cells, wish, where.parse(expression) if expression else (), over)
    return [show.ranking_json(found, n)] if as_json else show.ranking_lines(found, n)


def front(entry: Entry, pair: str, expression: str | None = None, *, as_json: bool = False) -> Iterable[str]:
    """Return the lines of the Pareto front of ``pair``, such as ``cost,accuracy`` or ``cost,score:max``."""
    goals = [_goal(word.strip(), entry) for word in pair.split(",")]
    if len(goals) != 2:
        raise SweepError(Problem(f"'{pair}' is no pair", path="--pareto", remedy="write A,B, such as cost,accuracy"))
    found = analysis.pareto(entry.cells, (goals[0], goals[1]), where.parse(expression) if expression else ())
    return [show.front_json(found)] if as_json else show.front_lines(found)


def _goal(word: str, entry: Entry) -> Goal:
    name, _, way = word.rpartition(":")
    return (
        analysis.goal(name, way, entry.planned)
        if way in (MIN, MAX) and name
        else analysis.goal(word, None, entry.planned)
    )
