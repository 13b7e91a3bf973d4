"""The native ``matrix`` goes in, the rows that it stands for come out: product, zip, exclude, sample, include."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from sweeptool.spec import axes, expand, gpus, kinds
from sweeptool.spec.expand import CONFIG, GPU, REGION, Axis, Row, Slot
from sweeptool.spec.fields import Fields, Key, Kind, Table
from sweeptool.spec.selection import PARAMETER, Selection, chosen, value_of
from sweeptool.spec.tree import List, Map, Node, Report, describe, member, quoted

_ENTRIES = {"type": "array", "items": {"type": "object", "additionalProperties": kinds.SCALAR}}
_ZIPS = {"type": "array", "items": {"type": "object", "additionalProperties": axes.LIST_SCHEMA}}


def _gpus(node: Node, path: str, report: Report) -> tuple[str, ...] | None:
    return axes.listed(node, path, report, gpus.label)


def _regions(node: Node, path: str, report: Report) -> tuple[str, ...] | None:
    return axes.listed(node, path, report, kinds.line)


def _params(node: Node, path: str, report: Report) -> Mapping[str, Node] | None:
    return axes.named(node, path, report, kinds.NAME, PARAMETER)


def _entries(node: Node, path: str, report: Report) -> Sequence[Map] | None:
    """Return the maps of a list; their members are read where the axes are known."""
    if not isinstance(node, List):
        report.error(node, path, f"expected a list of maps, got {describe(node)}")
        return None
    found = [item for item in node.items if isinstance(item, Map)]
    for number, item in enumerate(node.items):
        if not isinstance(item, Map):
            report.error(item, f"{path}[{number}]", f"expected a map, got {describe(item)}")
        elif not item.members:
            report.error(item, f"{path}[{number}]", "is empty")
    return found if len(found) == len(node.items) else None


_GPU = Key("gpu", Kind(_gpus, axes.LIST_SCHEMA), "GPU types, the slowest axis")
_REGIONS = Key("regions", Kind(_regions, axes.LIST_SCHEMA), "regions, the next slowest axis")
_PARAMS = Key(
    "params", Kind(_params, {"type": "object", "additionalProperties": axes.AXIS_SCHEMA}), "values by parameter"
)
_ZIP = Key("zip", Kind(_entries, _ZIPS), "groups of parameters that advance together")
_EXCLUDE = Key("exclude", Kind(_entries, _ENTRIES), "combinations to leave out")
_INCLUDE = Key("include", Kind(_entries, _ENTRIES), "combinations to add, or keys to add to those that match")
_N = Key("n", kinds.count(1), "how many combinations", required=True)
_SEED = Key("seed", kinds.VALUE, "any text; another seed draws others")
_SAMPLE = Key("sample", Table((_N, _SEED)).kind(), "how many combinations to draw of what exclude leaves")
MATRIX = Table(
    (_GPU, _REGIONS, _PARAMS, _ZIP, _EXCLUDE, _INCLUDE, _SAMPLE),
    {"gpus": "gpu", "gputype": "gpu", "region": "regions", "parameters": "params", "repetitions": "it beside matrix"},
)


def rows(fields: Fields | None, configs: tuple[str, ...], report: Report) -> list[Row]:
    """Return the matrix's rows in order, one row without values where nothing varies; [] where something is wrong."""
    known = len(report.problems)
    found = [expand.axis(CONFIG, configs)] if configs else []
    if fields is None:
        return list(expand.product(found))
    found += _plain_axes(fields) + _zipped(fields)
    _check_slots(found, fields)
    excluded, included, drawn = fields.get(_EXCLUDE), fields.get(_INCLUDE), fields.get(_SAMPLE)
    total = expand.size(found)
    if total > expand.MOST_CELLS:
        report.error(fields.node, fields.path, f"{total} combinations, at most {expand.MOST_CELLS}")
    if len(report.problems) > known:
        return []
    selection = Selection(found, report)
    made = selection.without(list(expand.product(found)), excluded or (), fields.at(_EXCLUDE))
    made = _sampled(made, drawn)
    return selection.extended(made, included or (), fields.at(_INCLUDE))


def _plain_axes(fields: Fields) -> list[Axis]:
    read: list[tuple[Slot, tuple[str, ...] | None, Node, str]] = []
    for key, fixed in ((_GPU, GPU), (_REGIONS, REGION)):
        if fields.has(key):
            read.append((fixed, fields.get(key), fields.node.members[key.name], fields.at(key)))
    for name, node in (fields.get(_PARAMS) or {}).items():
        at = member(fields.at(_PARAMS), name)
        slot = _slot(name, node, at, fields.report)
        if slot is not None:
            read.append((slot, axes.computed(node, at, fields.report), node, at))
    for _, values, node, at in read:
        if values == ():
            fields.report.warn(node, at, "is empty and counts as one value that is not set")
    return [expand.axis(slot, values) for slot, values, _, _ in read if values]


def _slot(name: str, node: Node, at: str, report: Report) -> Slot | None:
    if name in {"gpu", "regions", "region", "config", "configs"}:
        right = {"gpu": "matrix.gpu", "region": "matrix.regions", "regions": "matrix.regions"}.get(name, "configs")
        report.error(node, at, f"'{name}' is no parameter", f"use {right}")
        return None
    return expand.parameter(name)


def _zipped(fields: Fields) -> list[Axis]:
    found = []
    groups: Sequence[Map] = fields.get(_ZIP) or ()
    for number, group in enumerate(groups):
        at = f"{fields.at(_ZIP)}[{number}]"
        columns: dict[Slot, tuple[str, ...]] = {}
        for name, node in group.members.items():
            slot = chosen(name, group.keys[name], f"{at}.{name}", fields.report)
            values = _column(slot, node, f"{at}.{name}", fields.report)
            if slot is not None and values is not None:
                columns[slot] = values
        if len(columns) == len(group.members) and columns:
            made = _rows_of(columns, group, at, fields.report)
            if made is not None:
                found.append(made)
    return found


def _column(slot: Slot | None, node: Node, at: str, report: Report) -> tuple[str, ...] | None:
    if isinstance(node, List) and node.items:
        values = [value_of(slot, item, f"{at}[{number}]", report) for number, item in enumerate(node.items)]
        return None if None in values else tuple(value or "" for value in values)
    report.error(
        node, at, f"expected a list of values, got {'an empty one' if isinstance(node, List) else describe(node)}"
    )
    return None


def _rows_of(columns: Mapping[Slot, tuple[str, ...]], group: Map, at: str, report: Report) -> Axis | None:
    lengths = {slot.name: len(values) for slot, values in columns.items()}
    if len(set(lengths.values())) > 1:
        counted = ", ".join(f"{name} has {length}" for name, length in lengths.items())
        report.error(group, at, f"the lists of a zip must be equally long: {counted}")
        return None
    made = tuple(zip(*columns.values(), strict=True))
    seen: dict[tuple[str, ...], int] = {}
    for number, row in enumerate(made):
        first = seen.setdefault(row, number)
        if first != number:
            report.error(group, at, f"values {first} and {number} are the same: {', '.join(map(quoted, row))}")
            return None
    return Axis(tuple(columns), made)


def _check_slots(found: list[Axis], fields: Fields) -> None:
    seen: set[Slot] = set()
    for slot in (slot for axis in found for slot in axis.slots):
        if slot in seen:
            fields.report.error(fields.key(_ZIP), fields.at(_ZIP), f"'{slot.name}' is an axis already")
        seen.add(slot)


def _sampled(made: list[Row], drawn: Fields | None) -> list[Row]:
    if drawn is None:
        return made
    count, seed = drawn.get(_N), drawn.get(_SEED)
    if count is None:
        return made
    if count >= len(made):
        if count > len(made):
            drawn.report.warn(drawn.node, drawn.at(_N), f"{count} of {len(made)} combinations: all of them run")
        return made
    return expand.sample(made, count, seed or "0")
