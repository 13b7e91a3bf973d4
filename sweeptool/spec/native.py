"""A spec in the native form goes in, a Spec comes out."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from sweeptool.errors import near
from sweeptool.spec import configs, expand, grid, matrix, names, runner, settings, templates
from sweeptool.spec.expand import CONFIG, GPU, REGION, Row
from sweeptool.spec.fields import Fields
from sweeptool.spec.flags import Overrides
from sweeptool.spec.model import Point, Spec
from sweeptool.spec.rows import Rows, settings_of
from sweeptool.spec.tree import Map, Node, Report, Text

_VARIED = {GPU: "matrix.gpu", REGION: "matrix.regions", CONFIG: "configs"}


def read(root: Node, overrides: Overrides, project: Path, report: Report) -> Spec:
    """Return the sweep that a native spec means; what is wrong lands in the report."""
    fields = settings.NATIVE.read(root, "", report)
    if fields is None:
        return Spec(names.default(report.source), "native", ())
    sweep = {**settings.present(fields, settings.SWEEP), **overrides.sweep}
    cell = {**settings.present(fields, settings.CELL), **overrides.cell}
    if fields.has(settings.ENV):
        cell["env"], cell["secrets"] = fields.get(settings.ENV) or ({}, {})
    sweep["runner"] = chosen = runner.chosen(sweep.get("runner"), overrides.runner, report)
    places = (
        _command_place(fields, cell)
        | templates.said(overrides.cell)
        | runner.places(fields.node.members.get("runner"), "runner", chosen)
    )
    if any(fields.has(key) for key in settings.GRID):
        _check_one_form(fields)
        reader = Rows(report, settings_of(chosen.kind), grid.SWEEP_WIDE, "at the top")
        rows, cell = grid.table(fields.node, cell, overrides, reader)
        places |= reader.places
    else:
        rows = matrix.rows(fields.get(settings.MATRIX), _configs(fields, project), report)
        _check_said_twice(rows, cell, fields)
    points = expand.points(rows, cell, _repetitions(fields, len(rows)))
    templates.check(points, places, chosen.argv, report)
    _check_prices(fields, sweep.get("prices", {}), points)
    _check_line(fields, cell.get("command"), points)
    if sweep.get("state") == "Running":
        del sweep["state"]
    return Spec(**{"name": names.default(report.source), "dialect": "native", "points": points, **sweep})


def _repetitions(fields: Fields, combinations: int) -> int:
    repetitions = fields.get(settings.REPETITIONS) or 1
    if combinations * repetitions <= expand.MOST_CELLS:
        return repetitions
    message = f"{combinations} x {repetitions} cells, at most {expand.MOST_CELLS}"
    fields.report.error(fields.key(settings.REPETITIONS), "repetitions", message)
    return 1


def _check_one_form(fields: Fields) -> None:
    members, keys = fields.node.members, fields.node.keys
    for name in (settings.MATRIX.name, settings.CONFIGS.name):
        if name in members:
            given = ", ".join(one for one in grid.MEMBERS if one in members)
            fields.report.error(keys[name], name, f"stands beside {given}", "say what varies in one form")


def _configs(fields: Fields, project: Path) -> tuple[str, ...]:
    named = fields.get(settings.CONFIGS)
    return configs.files(named, fields.at(settings.CONFIGS), project, fields.report) if named else ()


def _check_said_twice(rows: Sequence[Row], cell: Mapping[str, Any], fields: Fields) -> None:
    for slot, path in _VARIED.items():
        if slot.name in cell and rows and slot in rows[0]:
            own = fields.node.keys.get(slot.name)
            at, where = (own, slot.name) if own else (Text(""), f"--{slot.name}")
            fields.report.error(at, where, f"{path} says it already", "one of them")


def _command_place(fields: Fields, cell: Mapping[str, Any]) -> dict[tuple[str, ...], tuple[Node, str]]:
    """Return where the command stands in the document, if it is an argv there."""
    node, command = fields.node.members.get("command"), cell.get("command")
    return {command: (node, "command")} if node is not None and isinstance(command, tuple) else {}


def _check_prices(fields: Fields, prices: Mapping[str, int], points: Sequence[Point]) -> None:
    """Warn of a price that no cell has: its misspelt name would leave a cell without one."""
    table = fields.node.members.get("prices")
    priced = {point.gpu for point in points} | {point.settings.instance_type for point in points}
    used = {one for one in priced if one} | {re.split("[!:]", one)[0] for one in priced if one}
    for name, key in table.keys.items() if isinstance(table, Map) and points else ():
        if name in prices and name not in used:
            fields.report.warn(key, f"prices.{name}", "no cell runs on it", near(name, used))


def _check_line(fields: Fields, command: object, points: Sequence[Point]) -> None:
    """Warn of ``{lr}`` in a command that is a line of bash: only the words of a list are expanded."""
    if not isinstance(command, str) or not points:
        return
    own = fields.node.members.get("command")
    for name in re.findall(r"(?<!\$)\{([A-Za-z_]\w*)\}", command):
        if name in points[0].params:
            at, path = (own, "command") if own else (Text(""), "--command")
            remedy = f"write $PARAM_{name}, or make the command a list"
            fields.report.warn(at, path, f"{{{name}}} stays as it is in a line of bash", remedy)
            return
