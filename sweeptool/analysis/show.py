"""A ranking or a Pareto front goes in; its lines for people, or one JSON document, come out."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Iterator, Sequence
from decimal import ROUND_HALF_UP, Decimal
from typing import Any

from sweeptool import money, tables
from sweeptool.analysis import Combination, Excluded, Front, Goal, Ranking
from sweeptool.analysis.candidates import Candidate
from sweeptool.measures import COST
from sweeptool.text import even, printable

Table = tuple[tuple[str, ...], list[tuple[str, ...]], tuple[str, ...]]
"""Titles, rows, and the titles of the columns of numbers."""

_TITLES = {"cost": "COST_USD", "time": "WALL_SEC", "throughput": "UNITS/S"}


def ranking_lines(ranking: Ranking, n: int) -> Iterator[str]:
    """Yield the ``n`` best cells, the best combinations where any was repeated, and what is left out, for people."""
    goal = ranking.goal
    yield f"by {printable(goal.by)}, goal {goal.way} ({goal.source})"
    yield ""
    if not ranking.cells:
        yield "no cell has a value to rank"
    else:
        yield from tables.plain(*leaders(ranking, n))
    if any(one.of > 1 for one in ranking.combinations):
        yield ""
        yield f"combinations over {', '.join(['repetitions', *map(printable, ranking.over)])}"
        yield from tables.plain(*averages(ranking, n))
    yield from _left_out(ranking.excluded)


def front_lines(front: Front) -> Iterator[str]:
    """Yield the Pareto front and what is left out, for people."""
    yield "Pareto front of " + " and ".join(f"{printable(one.by)} ({one.way})" for one in front.goals)
    yield ""
    if not front.cells:
        yield "no cell has both values"
    else:
        names, rows = varied([cell for cell, _ in front.cells])
        titles = [title(one.by) for one in front.goals]
        columns = [aligned((pair[n] for _, pair in front.cells), goal.by) for n, goal in enumerate(front.goals)]
        lines = [(*row, *pair) for row, *pair in zip(rows, *columns, strict=True)]
        yield from tables.plain((*names, *titles), lines, ("CELL", *titles))
    yield from _left_out(front.excluded)


def ranking_json(ranking: Ranking, n: int) -> str:
    """Return the ranking as one JSON document; costs are decimal text, other values numbers."""
    goal = ranking.goal
    return json.dumps(
        {
            "by": goal.by,
            "goal": goal.way,
            "goal_source": goal.source,
            "over": ["repetition", *ranking.over],
            "cells": [
                {"rank": place, **_identity(cell), "value": _value(value, goal)}
                for place, (cell, value) in enumerate(ranking.cells[:n], 1)
            ],
            "combinations": [_combination(one, goal) for one in ranking.combinations[:n]],
            "excluded": [{"index": one.index, "why": one.why} for one in ranking.excluded],
        },
        indent=2,
    )


def front_json(front: Front) -> str:
    """Return the Pareto front as one JSON document."""
    by, ways = [one.by for one in front.goals], [one.way for one in front.goals]
    cells = [
        {**_identity(cell), "values": [_value(value, goal) for value, goal in zip(pair, front.goals, strict=True)]}
        for cell, pair in front.cells
    ]
    excluded = [{"index": one.index, "why": one.why} for one in front.excluded]
    return json.dumps({"by": by, "goal": ways, "cells": cells, "excluded": excluded}, indent=2)


def written(value: Decimal, by: str) -> str:
    """Return a value for people: dollars to the micro-dollar, anything else to six digits."""
    if by == COST:
        return _dollars(value)
    return f"{value:.6g}" if value else "0"


def aligned(values: Iterable[Decimal | None], by: str) -> list[str]:
    """Return values with their points in one column; blanks for places that rounding took, zeros for those that are."""
    values = list(values)
    texts = ["-" if value is None else written(value, by) for value in values]
    return [
        wide if value is None or Decimal(text) == value else text.ljust(len(wide))
        for value, text, wide in zip(values, texts, even(texts), strict=True)
    ]


def leaders(ranking: Ranking, n: int) -> Table:
    """Return the ``n`` best cells with their ranks and values."""
    column = title(ranking.goal.by)
    best = ranking.cells[:n]
    names, rows = varied([cell for cell, _ in best])
    values = aligned((value for _, value in best), ranking.goal.by)
    lines = [(str(place), *row, value) for place, (row, value) in enumerate(zip(rows, values, strict=True), 1)]
    return ("RANK", *names, column), lines, ("RANK", "CELL", column)


def averages(ranking: Ranking, n: int) -> Table:
    """Return the ``n`` best combinations with what their repetitions come to."""
    by, best = ranking.goal.by, ranking.combinations[:n]
    names, rows = apart([one.cell for one in best], ranking.over, repeated=False)
    lines = []
    means = aligned((one.spread.mean for one in best), by)
    sds = aligned((one.spread.sd for one in best), by)
    for row, one, *numbers in zip(rows, best, means, sds, _intervals(best, by), strict=True):
        lines.append((*row, f"{one.spread.n} of {one.of}", *numbers))
    right = ("N", "MEAN", "SD", "95% CI")
    return (*names, *right), lines, ("CELL", *right)


def _intervals(combinations: Sequence[Combination], by: str) -> list[str]:
    lows, highs = (
        aligned((None if one.spread.ci95 is None else one.spread.ci95[end] for one in combinations), by)
        for end in (0, 1)
    )
    widest = max(map(len, highs), default=0)
    return ["-" if high == "-" else f"{low} .. {high:>{widest}}" for low, high in zip(lows, highs, strict=True)]


def _left_out(excluded: Sequence[Excluded]) -> Iterator[str]:
    if excluded:
        yield ""
        yield "excluded"
        yield from (f"  cell {one.index}: {printable(one.why)}" for one in excluded)


def varied(
    cells: Sequence[Candidate], without: Sequence[str] = (), *, repeated: bool = True
) -> tuple[list[str], list[list[str]]]:
    """Return the titles and the rows that tell these cells apart."""
    params = sorted({name for cell in cells for name in cell.params if name not in without}, key=str.encode)
    fields = [
        name for name in ("config", "instance_type", "gpu", "region") if any(getattr(cell, name) for cell in cells)
    ]
    repeated = repeated and any(cell.repetition for cell in cells)
    rows = []
    for cell in cells:
        row = [str(cell.index)] + [getattr(cell, name) or "-" for name in fields]
        row += [cell.params.get(name, "-") for name in params]
        rows.append([*row, str(cell.repetition)] if repeated else row)
    return ["CELL", *map(str.upper, fields), *params, *(["REP"] if repeated else [])], rows


def apart(
    cells: Sequence[Candidate], without: Sequence[str] = (), *, repeated: bool = True
) -> tuple[list[str], list[list[str]]]:
    """Return the same without the index, where the rest tells them apart."""
    names, rows = varied(cells, without, repeated=repeated)
    if len({tuple(row[1:]) for row in rows}) < len(rows):
        return names, rows
    return names[1:], [row[1:] for row in rows]


def _identity(cell: Candidate) -> dict[str, Any]:
    return {
        "index": cell.index,
        "id": cell.id,
        "config": cell.config,
        "instance_type": cell.instance_type,
        "gpu": cell.gpu,
        "region": cell.region,
        "params": dict(cell.params),
        "repetition": cell.repetition,
    }


def _combination(one: Combination, goal: Goal) -> dict[str, Any]:
    spread = one.spread
    return {
        "config": one.cell.config,
        "instance_type": one.cell.instance_type,
        "gpu": one.cell.gpu,
        "region": one.cell.region,
        "params": dict(one.params),
        "n": spread.n,
        "of": one.of,
        "mean": _value(spread.mean, goal),
        "sd": _value(spread.sd, goal),
        "ci95": None if spread.ci95 is None else [_value(end, goal) for end in spread.ci95],
    }


def _value(value: Decimal | None, goal: Goal) -> str | float | None:
    if value is None:
        return None
    if goal.by == COST:
        return _dollars(value)
    found = float(value)  # the end of an interval may lie beyond the greatest
    return found if math.isfinite(found) else None


def _dollars(value: Decimal) -> str:
    return money.text(int((value * money.MICRO).to_integral_value(ROUND_HALF_UP)))


def title(by: str) -> str:
    """Return what a column of these values is called."""
    return _TITLES.get(by, by)
