"""A spec of ``defaults``, ``params`` and ``grid`` goes in, as a file or as a shorthand; a Spec comes out."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from sweeptool.spec import expand, names, runner, templates
from sweeptool.spec.expand import Row, Slot
from sweeptool.spec.flags import SWEEP, Overrides
from sweeptool.spec.model import Spec
from sweeptool.spec.rows import Rows, settings_of
from sweeptool.spec.tree import List, Map, Node, Report, Text, describe, quoted

MEMBERS = ("defaults", "params", "grid")
SWEEP_WIDE = {**SWEEP, "runner": ("runner", runner.RUNNER)}


def read(root: Map, overrides: Overrides, report: Report) -> Spec:
    """Return the sweep that a spec of defaults, params and grid means; what is wrong lands in the report."""
    wide, root = _split(root)
    sweep = {**_sweep_wide(wide, report), **overrides.sweep}
    sweep["runner"] = chosen = runner.chosen(sweep.get("runner"), overrides.runner, report)
    reader = Rows(report, settings_of(chosen.kind), SWEEP_WIDE, "in defaults")
    rows, base = table(root, {}, overrides, reader)
    points = expand.points(rows, base)
    places = (
        templates.said(overrides.cell) | reader.places | runner.places(wide.get("runner"), "defaults.runner", chosen)
    )
    templates.check(points, places, chosen.argv, report)
    return Spec(**{"name": names.default(report.source), "dialect": "grid", "points": points, **sweep})


def table(root: Map, own: Mapping[str, Any], overrides: Overrides, reader: Rows) -> tuple[list[Row], dict[str, Any]]:
    """Return the rows that params and grid stand for, and the fields that hold where a row says nothing else.

    ``own`` are the fields that hold where ``defaults`` says nothing either.
    """
    report = reader.report
    known = len(report.problems)
    defaults = reader.row(root.members["defaults"], "defaults") if "defaults" in root.members else {}
    base = {**own, **{slot.name: value for slot, value in defaults.items() if not slot.is_param}, **overrides.cell}
    explicit = _explicit(root.members.get("params", List(())), reader)
    product = _product(root.members.get("grid"), reader)
    if len(report.problems) > known:
        return [], base
    common = {slot: value for slot, value in defaults.items() if slot.is_param}
    rows: list[Row] = [{**common, **row} for row in (*explicit, *product)] if common else [*explicit, *product]
    if not rows and not report.problems:
        report.error(root, "", "there is no cell", "a sweep needs at least one row of params, or a grid")
    _check_same(rows, base, root, report)
    return rows, base


def shorthand(text: str, report: Report) -> Map:
    """Return the tree that ``k=v1,v2 k2=…`` stands for, an empty one where something is wrong."""
    grid = Map({}, {})
    known = len(report.problems)
    for word in re.findall(r"[^ \t\r\n]+", text):
        name, equals, values = word.partition("=")
        if not equals or not name:
            report.error(Text(word), "", f"{quoted(word)} is not of the form key=value,value")
        elif name in grid.members:
            report.error(Text(word), name, "is given twice")
        elif "" in values.split(","):
            report.error(Text(word), name, f"an empty value in {quoted(word)}")
        else:
            grid.keys[name] = Text(name)
            grid.members[name] = List(tuple(Text(value) for value in values.split(",")))
    if not text.strip():
        report.error(Text(text), "", "is empty, expected key=value,value")
    if len(report.problems) > known:
        return Map({}, {})
    return Map({"grid": grid}, {"grid": Text("grid")})


def _split(root: Map) -> tuple[dict[str, Node], Map]:
    """Return what defaults say of the whole sweep, and the spec without it."""
    defaults = root.members.get("defaults")
    if not isinstance(defaults, Map):
        return {}, root
    wide = {name: node for name, node in defaults.members.items() if name in SWEEP_WIDE}
    rest = {name: node for name, node in defaults.members.items() if name not in wide}
    return wide, root._replace(members={**root.members, "defaults": defaults._replace(members=rest)})


def _sweep_wide(members: Mapping[str, Node], report: Report) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for name, node in members.items():
        field, kind = SWEEP_WIDE[name]
        value = kind.read(node, f"defaults.{name}", report)
        if value is not None:
            found[field] = value
    return found


def _explicit(node: Node, reader: Rows) -> list[dict[Slot, Any]]:
    if not isinstance(node, List):
        remedy = "lists of values by name belong in grid" if isinstance(node, Map) else ""
        reader.report.error(node, "params", f"expected a list of maps, got {describe(node)}", remedy)
        return []
    return [reader.row(item, f"params[{number}]") for number, item in enumerate(node.items)]


def _product(node: Node | None, reader: Rows) -> list[dict[Slot, Any]]:
    axes = reader.axes(node, "grid") if node is not None else []
    total = expand.size(axes)
    if node is not None and total > expand.MOST_CELLS:
        reader.report.error(node, "grid", f"{total} combinations, at most {expand.MOST_CELLS}")
        return []
    return list(expand.product(axes)) if axes else []


def _check_same(rows: Sequence[Row], base: Mapping[str, Any], root: Map, report: Report) -> None:
    """Report two rows that come out equal: the same parameters under the same settings."""
    explicit = getattr(root.members.get("params"), "items", ())
    seen: dict[frozenset[tuple[Slot, Any]], int] = {}
    for number, row in enumerate(rows):
        same = frozenset(item for item in row.items() if item[0].is_param or base.get(item[0].name) != item[1])
        first = seen.setdefault(same, number)
        if first != number:
            which = min(number, first) if number >= len(explicit) else number
            node, path = (
                (explicit[which], f"params[{which}]") if which < len(explicit) else (root.members["grid"], "grid")
            )
            values = ", ".join(f"{slot.raw.decode()}={row[slot]}" for slot in sorted(row))
            report.error(
                node, path, f"cells {first} and {number} are the same: {values or 'no parameters'}", "drop one"
            )
