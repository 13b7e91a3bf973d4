"""Two sweeps or two manifests go in; what they have in common and where they differ comes out, side by side."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from typing import Any

from sweeptool import analysis, layout, locate, manifest, money, tables
from sweeptool.analysis import Goal, candidates, show
from sweeptool.analysis.candidates import Candidate
from sweeptool.errors import Problem, SweepError
from sweeptool.manifest import leaves
from sweeptool.measures import COST
from sweeptool.runs import sweeps, totals
from sweeptool.text import printable

MISSING = "-"


@dataclass(frozen=True, slots=True)
class Line:
    """One thing of both: its name, its value in A and in B as text, None where it has none; whether they are equal."""

    name: str
    a: str | None
    b: str | None
    same: bool


@dataclass(frozen=True, slots=True)
class Comparison:
    """``facts`` about both; ``cells`` with their value in each, by combination, empty for manifests; odd ``notes``."""

    names: tuple[str, str]
    facts: tuple[Line, ...]
    by: str | None = None
    cells: tuple[tuple[Candidate, Decimal | str, Decimal | str], ...] = ()
    notes: tuple[str, ...] = ()


def compare(a: str, b: str, by: str | None, sweeps_dir: Path) -> Comparison:
    """Return ``a`` and ``b`` side by side: manifests (or run dirs), or sweeps and their cells by the value ``by``.

    Raises SweepError where either is neither, one is a sweep and the other a manifest, or manifests are given a ``by``.
    """
    paths = [_manifest(one) for one in (a, b)]
    if all(paths):
        if by is not None:
            message = f"{a} and {b} are manifests, whose every field is shown"
            raise SweepError(Problem(message, path="--by", remedy="it is for the cells of two sweeps"))
        both = [manifest.read(path) for path in paths if path]
        notes = [f"{one.source}: {oddity}" for one in both for oddity in one.oddities]
        return Comparison((a, b), tuple(_fields(*[leaves.of(one.raw) for one in both])), notes=_once(notes))
    if any(paths):
        file, other = (a, b) if paths[0] else (b, a)
        raise SweepError(Problem(f"{file} is a manifest and {other} is none", remedy="compare two of a kind"))
    return _sweeps(sweeps.read(locate.find(a, sweeps_dir)), sweeps.read(locate.find(b, sweeps_dir)), by)


def lines(found: Comparison) -> Iterator[str]:
    """Yield the comparison for people; ``*`` marks what differs."""
    rows = [("" if fact.same else "*", fact.name, fact.a or MISSING, fact.b or MISSING) for fact in found.facts]
    yield from tables.plain(("", "", *found.names), rows)
    if found.by is None:
        return
    yield ""
    names, varied = show.apart([cell for cell, _, _ in found.cells])
    firsts, seconds = [first for _, first, _ in found.cells], [second for _, _, second in found.cells]
    columns = [_column(values, found.by) for values in (firsts, seconds, list(map(_change, firsts, seconds)))]
    rows = [(*row, *values) for row, *values in zip(varied, *columns, strict=True)]
    yield printable(found.by)
    yield from tables.plain((*names, *found.names, "B - A"), rows, ("CELL", *found.names, "B - A"))


def as_json(found: Comparison) -> str:
    """Return the comparison as one JSON document; a value that is not known is null with ``why``."""
    facts = [{"name": one.name, "a": one.a, "b": one.b, "same": one.same} for one in found.facts]
    cells = [
        {
            "index": cell.index,
            "instance_type": cell.instance_type,
            "gpu": cell.gpu,
            "region": cell.region,
            "config": cell.config,
            "params": dict(cell.params),
            "repetition": cell.repetition,
            "a": _json(first, found.by),
            "b": _json(second, found.by),
        }
        for cell, first, second in found.cells
    ]
    return json.dumps(
        {"a": found.names[0], "b": found.names[1], "facts": facts, "by": found.by, "cells": cells}, indent=2
    )


def _manifest(path: str) -> Path | None:
    place = Path(path)
    if place.is_file():
        return place
    inside = place / layout.MANIFEST
    return inside if inside.is_file() else None


def _fields(a: Mapping[str, Any], b: Mapping[str, Any]) -> Iterator[Line]:
    for name in dict.fromkeys((*a, *b)):
        first, second = a.get(name), b.get(name)
        yield Line(name, _text(first), _text(second), leaves.same(first, second))


def _text(value: object) -> str | None:
    return None if value is None else leaves.text(value)


def _facts(a: Mapping[str, str], b: Mapping[str, str]) -> Iterator[Line]:
    for name in dict.fromkeys((*a, *b)):
        yield Line(name, a.get(name), b.get(name), a.get(name) == b.get(name))


def _sweeps(a: sweeps.Sweep, b: sweeps.Sweep, by: str | None) -> Comparison:
    planned = a.plan.sweep["metrics"]["best"] if a.plan else None
    first, second = candidates.of_sweep(a), candidates.of_sweep(b)
    wish, notes = analysis.shown(by, None, (planned, None), [*first, *second])
    analysis.known(wish.by, [*first, *second])
    names = (a.name, b.name) if a.name != b.name else (str(a.where.path), str(b.where.path))
    facts, cells = tuple(_facts(_totals(a), _totals(b))), tuple(_matched(first, second, wish))
    odd = [f"{name}: {oddity}" for name, one in zip(names, (a, b), strict=True) for oddity in one.found.oddities]
    return Comparison(names, facts, wish.by, cells, _once([*notes, *odd]))


def _once(notes: Sequence[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(notes))


def _totals(sweep: sweeps.Sweep) -> dict[str, str]:
    sums = totals.of(sweep.found.runs)
    counts = ("succeeded", "failed", "interrupted", "lost", "unknown_cost")
    return {
        "sweep_id": sweep.state.sweep_id or MISSING,
        "cells": str(len(sweep.jobs)),
        "attempts": str(sums.runs),
        **{name: str(getattr(sums, name)) for name in counts},
        "wall_time_sec": f"{sums.wall_seconds:f}",
        "cost_usd": money.text(sums.cost),
    }


def _matched(
    a: Sequence[Candidate], b: Sequence[Candidate], wish: Goal
) -> Iterator[tuple[Candidate, Decimal | str, Decimal | str]]:
    """Yield the cells of either, in order, matched by what varies: their ids also hold the command.

    Of several that are alike in that, those under equal settings are matched first.
    """
    partners: dict[int, Candidate] = {}
    free = list(b)
    for key in (lambda cell: (cell.setup, *_combination(cell)), _combination):
        waiting: dict[tuple[object, ...], list[Candidate]] = {}
        for cell in free:
            waiting.setdefault(key(cell), []).append(cell)
        for cell in a:
            if cell.index not in partners and (alike := waiting.get(key(cell))):
                partners[cell.index] = alike.pop(0)
        free = [cell for alike in waiting.values() for cell in alike]
    for cell in a:
        yield cell, _valued(cell, wish.by), _valued(partners.get(cell.index), wish.by)
    for cell in sorted(free, key=lambda cell: cell.index):
        yield cell, _valued(None, wish.by), _valued(cell, wish.by)


def _combination(cell: Candidate) -> tuple[object, ...]:
    return cell.config, cell.instance_type, cell.gpu, cell.region, cell.repetition, *cell.params.items()


def _valued(cell: Candidate | None, by: str) -> Decimal | str:
    return "no such cell" if cell is None else analysis.value_or_why(cell, by)


def _change(first: Decimal | str, second: Decimal | str) -> Decimal | str:
    return second - first if isinstance(first, Decimal) and isinstance(second, Decimal) else MISSING


def _column(values: Sequence[Decimal | str], by: str) -> list[str]:
    """Return values with their points in one column, and of those that have none, why."""
    numbers = show.aligned((value if isinstance(value, Decimal) else None for value in values), by)
    return [value if isinstance(value, str) else number for value, number in zip(values, numbers, strict=True)]


def _json(value: Decimal | str, by: str | None) -> dict[str, Any]:
    if isinstance(value, str):
        return {"value": None, "why": value}
    return {"value": show.written(value, COST) if by == COST else float(value), "why": None}
