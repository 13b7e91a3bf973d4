"""A spec in the native form goes in, a Spec comes out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from sweeptool.spec import configs, expand, matrix, names, runner, settings, templates
from sweeptool.spec.expand import CONFIG, GPU, REGION, Row
from sweeptool.spec.fields import Fields
from sweeptool.spec.flags import Overrides
from sweeptool.spec.model import RunnerSpec, Spec
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
    rows = matrix.rows(fields.get(settings.MATRIX), _configs(fields, project), report)
    _check_said_twice(rows, cell, fields)
    points = expand.points(rows, cell, fields.get(settings.REPETITIONS) or 1)
    sweep["runner"] = runner.chosen(sweep.get("runner"), overrides.runner, report)
    templates.check(points, _places(fields, cell, sweep["runner"]), sweep["runner"].argv, report)
    if sweep.get("state") == "Running":
        del sweep["state"]
    return Spec(**{"name": names.default(report.source), "dialect": "native", "points": points, **sweep})


def _configs(fields: Fields, project: Path) -> tuple[str, ...]:
    named = fields.get(settings.CONFIGS)
    return configs.files(named, fields.at(settings.CONFIGS), project, fields.report) if named else ()


def _check_said_twice(rows: Sequence[Row], cell: Mapping[str, Any], fields: Fields) -> None:
    for slot, path in _VARIED.items():
        if slot.name in cell and rows and slot in rows[0]:
            own = fields.node.keys.get(slot.name)
            at, where = (own, slot.name) if own else (Text(""), f"--{slot.name}")
            fields.report.error(at, where, f"{path} says it already", "one of them")


def _places(fields: Fields, cell: Mapping[str, Any], chosen: RunnerSpec) -> dict[tuple[str, ...], tuple[Node, str]]:
    """Return where the command and the runner's argv stand in the document."""
    places: dict[tuple[str, ...], tuple[Node, str]] = {}
    members = fields.node.members
    if isinstance(cell.get("command"), tuple):
        places[cell["command"]] = (members.get("command", fields.node), "command")
    own = members.get("runner")
    if chosen.argv and isinstance(own, Map):
        places[chosen.argv] = (own.members["argv"], "runner.argv")
    return places
