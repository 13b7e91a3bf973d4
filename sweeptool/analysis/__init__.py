"""Candidates and a wish go in; their ranking, the best combination over repetitions and the Pareto front come out."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal

from sweeptool.analysis.candidates import Candidate
from sweeptool.analysis.naming import less_is_better
from sweeptool.analysis.stats import Spread, spread
from sweeptool.analysis.where import Condition, select
from sweeptool.errors import Problem, SweepError, near
from sweeptool.measures import BUILT_IN, COST, THROUGHPUT, TIME
from sweeptool.text import among, printable

MIN, MAX = "min", "max"
SPEC = "metrics.best"  # where a spec says what its cells are ranked by
_GOALS = {COST: MIN, TIME: MIN, THROUGHPUT: MAX}
_FLOAT_MAX = Decimal("1.7976931348623157e308")


@dataclass(frozen=True, slots=True)
class Goal:
    """What is ranked by, which way, and who said so."""

    by: str
    way: str
    source: str


@dataclass(frozen=True, slots=True)
class Excluded:
    """A cell that is no candidate, and why."""

    index: int
    why: str


@dataclass(frozen=True, slots=True)
class Combination:
    """All repetitions of one combination: ``of`` were planned, ``spread.n`` count; ``cell`` is the first of them."""

    cell: Candidate
    params: Mapping[str, str]
    of: int
    spread: Spread


@dataclass(frozen=True, slots=True)
class Ranking:
    """The answer: ``cells`` best first with their values, ``combinations`` best mean first, what is out and why."""

    goal: Goal
    cells: tuple[tuple[Candidate, Decimal], ...]
    combinations: tuple[Combination, ...]
    excluded: tuple[Excluded, ...]
    over: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Front:
    """The cells that no other cell beats in one goal without losing in the other."""

    goals: tuple[Goal, Goal]
    cells: tuple[tuple[Candidate, tuple[Decimal, Decimal]], ...]
    excluded: tuple[Excluded, ...]


def goal(by: str, way: str | None, planned: tuple[str | None, str | None] = (None, None)) -> Goal:
    """Return which way ``by`` is better: as the user says, as the plan says of its best metric, or by the name."""
    if way is not None:
        return Goal(by, way, "as asked")
    if by in _GOALS:
        return Goal(by, _GOALS[by], "the usual way")
    if by == planned[0] and planned[1] is not None:
        return Goal(by, planned[1], "as the spec says")
    return Goal(by, MIN if less_is_better(by) else MAX, "from its name; --goal says otherwise")


def shown(
    by: str | None, way: str | None, planned: tuple[str | None, str | None], cells: Sequence[Candidate]
) -> tuple[Goal, list[str]]:
    """Return what to show cells by, which is the cost, with a note, where none has what only the spec asks for."""
    if by is None and planned[0] is not None:
        try:
            known(planned[0], cells, SPEC)
        except SweepError as error:
            return goal(COST, None), [f"{error.problems[0].path}: {error.problems[0].message}; shown by cost instead"]
    return goal(by or planned[0] or COST, way, planned), []


def rank(
    cells: Sequence[Candidate], wish: Goal, where: Sequence[Condition] = (), over: Sequence[str] | None = None
) -> Ranking:
    """Return the ranking of the cells that succeeded and pass ``where``; ties go to the lowest index.

    ``over`` are parameters that count as repetitions, as seeds do (None: those that are called so).
    Raises SweepError for a name that no cell has.
    """
    folded = _folded(cells, over)
    chosen = select(cells, where)
    known(wish.by, cells)
    values, excluded = _valued(chosen, wish.by)
    ranked = sorted(values, key=lambda item: (_signed(item[1], wish), item[0].index))
    matched = {cell.index for cell, _ in values} | {one.index for one in excluded}
    combinations = _combinations(cells, {cell.index: value for cell, value in values}, matched, folded)
    combinations.sort(key=lambda one: _place(one, wish))
    return Ranking(wish, tuple(ranked), tuple(combinations), tuple(excluded), folded)


def pareto(cells: Sequence[Candidate], goals: tuple[Goal, Goal], where: Sequence[Condition] = ()) -> Front:
    """Return the Pareto front of two goals among the cells that succeeded and pass ``where``, best first in the first.

    Cells with equal values in both are all on it. Raises SweepError for a name that no cell has.
    """
    chosen = select(cells, where)
    for one in goals:
        known(one.by, cells, "--pareto")
    first, excluded = _valued(chosen, goals[0].by)
    second, more = _valued([cell for cell, _ in first], goals[1].by)
    values = {cell.index: value for cell, value in first}
    points = [(cell, (values[cell.index], value)) for cell, value in second]
    points.sort(key=lambda item: (_signed(item[1][0], goals[0]), _signed(item[1][1], goals[1]), item[0].index))
    front: list[tuple[Candidate, tuple[Decimal, Decimal]]] = []
    for cell, pair in points:
        if not front or pair == front[-1][1] or _signed(pair[1], goals[1]) < _signed(front[-1][1][1], goals[1]):
            front.append((cell, pair))
    return Front(goals, tuple(front), tuple(sorted((*excluded, *more), key=lambda one: one.index)))


def known(by: str, cells: Sequence[Candidate], path: str = "--by", mend: str = "") -> None:
    """Raise SweepError, which lists what there is, where ``by`` is no measure that any of these cells has.

    ``path`` is where it is named, and ``mend`` what to do beside writing it right.
    """
    measured = sorted({name for cell in cells for name in cell.values} - set(BUILT_IN))
    if by in BUILT_IN or by in measured or not any(not cell.why for cell in cells):
        return
    names = [*BUILT_IN, *map(printable, measured)]
    what = f"no run reports '{by}'" if measured else f"no run reports '{by}' or any other metric"
    remedy = " ".join(filter(None, (near(by, names), mend)))
    raise SweepError(Problem(f"{what}: {among(names)}", path=path, remedy=remedy))


def value_or_why(cell: Candidate, by: str) -> Decimal | str:
    """Return a cell's finite value, or else why it has none."""
    value = cell.values.get(by)
    if cell.why:
        return cell.why
    if value is None:
        return cell.missing.get(by, f"it reported no {by}")
    if not value.is_finite() or abs(value) > _FLOAT_MAX:
        return f"its {by} is {'NaN' if value.is_nan() else 'infinite'}"
    return value


def _valued(cells: Iterable[Candidate], by: str) -> tuple[list[tuple[Candidate, Decimal]], list[Excluded]]:
    values: list[tuple[Candidate, Decimal]] = []
    excluded: list[Excluded] = []
    for cell in cells:
        value = value_or_why(cell, by)
        if isinstance(value, str):
            excluded.append(Excluded(cell.index, value))
        else:
            values.append((cell, value))
    return values, excluded


def _combinations(
    cells: Sequence[Candidate], values: Mapping[int, Decimal], matched: set[int], over: tuple[str, ...]
) -> list[Combination]:
    groups: dict[tuple[object, ...], list[Candidate]] = {}
    for cell in cells:
        groups.setdefault((cell.config, cell.gpu, cell.region, cell.setup, *_rest(cell, over).items()), []).append(cell)
    found = []
    for group in groups.values():
        if not any(cell.index in matched for cell in group):
            continue
        own = [values[cell.index] for cell in group if cell.index in values]
        found.append(Combination(group[0], _rest(group[0], over), len(group), spread(own)))
    return found


def _rest(cell: Candidate, over: tuple[str, ...]) -> dict[str, str]:
    return {name: value for name, value in cell.params.items() if name not in over}


def _folded(cells: Sequence[Candidate], over: Sequence[str] | None) -> tuple[str, ...]:
    names = sorted({name for cell in cells for name in cell.params})
    if over is None:
        return tuple(name for name in names if name.lower() == "seed" or name.lower().endswith("_seed"))
    for name in over:
        if name not in names:
            message = f"no parameter '{name}': {among(names)}"
            raise SweepError(Problem(message, path="--over", remedy=near(name, names)))
    return tuple(over)


def _signed(value: Decimal, wish: Goal) -> Decimal:
    return value if wish.way == MIN else value.copy_negate()


def _place(one: Combination, wish: Goal) -> tuple[bool, Decimal, int]:
    mean = one.spread.mean
    return mean is None, Decimal(0) if mean is None else _signed(mean, wish), one.cell.index
