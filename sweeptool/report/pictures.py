"""A sweep and its ranking go in, the plots of its report come out, in the order in which a reader wants them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from decimal import Decimal

from sweeptool import analysis, stamps
from sweeptool.analysis import Ranking, candidates, show
from sweeptool.analysis.candidates import Candidate
from sweeptool.measures import COST, TIME
from sweeptool.money import MICRO
from sweeptool.natural import natural
from sweeptool.report import plots
from sweeptool.report.plots import Plot, Point
from sweeptool.runs import Run
from sweeptool.runs.sweeps import Sweep
from sweeptool.states import CANCELLED, FAILED, INTERRUPTED, LOST, RUNNING, SUCCEEDED, UNKNOWN
from sweeptool.text import printable

STATES = (SUCCEEDED, FAILED, INTERRUPTED, LOST, CANCELLED, RUNNING)
_MOST = 1000  # attempts on a timeline
_PARAMETERS = 6  # of which each gets a picture
_VALUES = 24  # of one parameter that fit side by side
_ROWS = 20  # combinations


def of(sweep: Sweep, cells: Sequence[Candidate], ranking: Ranking, cap: int | None) -> Iterator[Plot]:
    """Yield the plots; one that would have nothing to show is left out. ``cap`` is micro-dollars."""
    values = {cell.index: value for cell, value in ranking.cells}
    yield from _combinations(ranking)
    yield from _against(cells, ranking)
    yield from _parameters([cell for cell in cells if cell.index in values], values, ranking)
    yield from _spending(sweep.found.runs, cap)
    yield from _timeline(sweep.found.runs)


def style(run: Run) -> str:
    """Return the state of a run by which the page draws it."""
    return run.state if run.state in STATES else UNKNOWN


def _combinations(ranking: Ranking) -> Iterator[Plot]:
    by = ranking.goal.by
    rows = []
    for one in ranking.combinations[:_ROWS]:
        spread = one.spread
        if spread.mean is None:
            continue
        ends = spread.ci95 and (float(spread.ci95[0]), float(spread.ci95[1]))
        text = _label(replace(one.cell, params=one.params, repetition=0))
        note = f"{text}: {show.written(spread.mean, by)}, {spread.n} of {one.of}"
        rows.append((text, float(spread.mean), ends, note))
    if any(row[2] for row in rows):
        yield plots.intervals("Mean and 95 % confidence interval of each combination", printable(show.title(by)), rows)


def _against(cells: Sequence[Candidate], ranking: Ranking) -> Iterator[Plot]:
    """Yield what is ranked by against the cost, or the cost against the time, with the Pareto front."""
    by, other = (ranking.goal.by, COST) if ranking.goal.by != COST else (COST, TIME)
    front = analysis.pareto(cells, (analysis.goal(other, None), replace(ranking.goal, by=by)))
    leaders = {cell.index for cell, _ in front.cells}
    chosen = {cell.index for cell, _ in ranking.cells}
    points = [
        Point(float(x), float(y), "best" if cell.index in leaders else "cell", f"cell {cell.index}: {_label(cell)}")
        for cell in cells
        if cell.index in chosen
        for x, y in [(analysis.value_or_why(cell, other), analysis.value_or_why(cell, by))]
        if isinstance(x, Decimal) and isinstance(y, Decimal)
    ]
    if len(points) > 1:
        line = [Point(float(x), float(y), "", "") for _, (x, y) in front.cells]
        title = f"{printable(by)} against {other}; the line is the Pareto front"
        yield plots.scatter(title, (show.title(other), printable(show.title(by))), points, line)


def _parameters(cells: Sequence[Candidate], values: Mapping[int, Decimal], ranking: Ranking) -> Iterator[Plot]:
    by = printable(show.title(ranking.goal.by))
    winner = ranking.cells[0][0].index if ranking.cells else None
    shown = 0
    for name in [*_fields(cells), *sorted({name for cell in cells for name in cell.params}, key=str.encode)]:
        groups: dict[str, list[Point]] = {}
        order = natural({_of(cell, name) for cell in cells})
        for cell in sorted(cells, key=lambda cell: (order[_of(cell, name)], cell.index)):
            note = f"cell {cell.index}: {_label(cell)}"
            kind = "best" if cell.index == winner else "cell"
            point = Point(0.0, float(values[cell.index]), kind, note)
            groups.setdefault(printable(_of(cell, name) or "-"), []).append(point)
        if 1 < len(groups) <= _VALUES and shown < _PARAMETERS:
            shown += 1
            yield plots.strips(f"{by} by {printable(name)}", (printable(name), by), groups)


def _spending(runs: Sequence[Run], cap: int | None) -> Iterator[Plot]:
    begun = _begun(runs)
    paid = sorted(
        (moment, run.cost) for run in runs if run.cost and (moment := stamps.parse(run.settled_at)) is not None
    )
    if begun is None or len(paid) < 2:
        return
    total, points = 0, []
    for moment, cost in paid:
        total += cost
        points.append(((moment - begun) / stamps.SECOND, total / MICRO))
    limit = None if cap is None else cap / MICRO
    yield plots.steps("Cost over time, and the cap where it is near", ("since the start", "USD"), points, limit)


def _timeline(runs: Sequence[Run]) -> Iterator[Plot]:
    begun = _begun(runs)
    if begun is None:
        return
    rows = []
    for run in sorted(runs, key=lambda run: (run.index or 0, run.attempt or 0))[:_MOST]:
        start, end = stamps.parse(run.admitted_at), stamps.parse(run.settled_at)
        if start is None or end is None or end < start:
            continue  # still going, or the clock was set back
        state = style(run)
        note = f"cell {run.index} attempt {run.attempt}: {state} {run.reason or ''}"
        rows.append(
            (f"{run.index}", (start - begun) / stamps.SECOND, (end - begun) / stamps.SECOND, state, printable(note))
        )
    if rows:
        more = f" (the first {_MOST})" if len(runs) > _MOST else ""
        yield plots.timeline(f"When each attempt ran{more}", rows)


def _begun(runs: Sequence[Run]) -> int | None:
    stamped = (stamps.parse(run.admitted_at) for run in runs)
    return min((stamp for stamp in stamped if stamp is not None), default=None)


def _fields(cells: Sequence[Candidate]) -> list[str]:
    return [name for name in ("config", "instance_type", "gpu", "region") if any(getattr(cell, name) for cell in cells)]


def _of(cell: Candidate, name: str) -> str | None:
    if name in cell.params:
        return cell.params[name]
    value: str | None = getattr(cell, name, None)
    return value


def _label(cell: Candidate) -> str:
    return printable(candidates.label(cell))
