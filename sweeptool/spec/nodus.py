"""A ``nodus.dev/v1`` Sweep goes in, a Spec comes out, within that API's own limits."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, NoReturn

from sweeptool.spec import axes, env, expand, gpus, kinds, names, runner
from sweeptool.spec.expand import GPU, REGION, Axis
from sweeptool.spec.fields import Fields, Key, Kind, Table
from sweeptool.spec.flags import Overrides
from sweeptool.spec.model import Spec
from sweeptool.spec.tree import Map, Node, Report, Text, quoted

API = "nodus.dev/v1"
_MOST_CELLS = 256
_LABEL = 63  # characters of a DNS label, which every cell's name must be
_PARAM = re.compile(r"[A-Z_][A-Z0-9_]*")
_PARAM_WORDS = "a parameter's name: upper case letters, digits and '_', no digit first"
_EMPTY = "is empty and counts as one value that is not set"
Axes = dict[str, tuple[str, ...]]


def _limited(values: tuple[str, ...] | None, most: int, node: Node, path: str, report: Report) -> tuple[str, ...]:
    if values is not None and len(values) > most:
        report.error(node, path, f"{len(values)} of them, at most {most} are allowed")
    if values == ():
        report.warn(node, path, _EMPTY)
    return values or ()


def _gpus(node: Node, path: str, report: Report) -> tuple[str, ...]:
    return _limited(axes.listed(node, path, report, gpus.identity), 16, node, path, report)


def _regions(node: Node, path: str, report: Report) -> tuple[str, ...]:
    return _limited(axes.listed(node, path, report, kinds.line), _MOST_CELLS, node, path, report)


def _params(node: Node, path: str, report: Report) -> Axes:
    named = axes.named(node, path, report, _PARAM, _PARAM_WORDS)
    if isinstance(node, Map):
        _limited(tuple(node.members), 16, node, path, report)
    lists = {name: (one, axes.listed(one, f"{path}.{name}", report)) for name, one in named.items()}
    return {name: _limited(values, 64, one, f"{path}.{name}", report) for name, (one, values) in lists.items()}


def _request(text: str) -> str:
    gpus.parse(text)
    return text


def _job(text: str) -> str:
    if text != "Job":
        raise ValueError(f"a template of kind {quoted(text)} is unsupported, only Job is")
    return text


def _unused(node: Node, path: str, report: Report) -> None:
    report.warn(node, path, "is not used")


_UNUSED: Kind[NoReturn] = Kind(_unused, {})
_GPU = Key("gpu", Kind(_gpus, {}), "GPU requests")
_REGIONS = Key("regions", Kind(_regions, {}), "region classes")
_PARAMS = Key("params", Kind(_params, {}), "values by parameter")
_MATRIX = Key("matrix", Table((_GPU, _REGIONS, _PARAMS), {"region": "regions"}).kind(), "what varies")

_PLACEMENT = Key("placement", Table((_REGIONS,)).kind(), "where the job may run")
_COMMAND = Key("command", kinds.COMMAND, "an argv, or a line for the shell")
_IMAGE = Key("image", kinds.LINE, "the container image")
_TIMEOUT = Key("timeout", kinds.BOUND_SECONDS, "the time limit of a cell")
_ENV = Key("env", env.ENV, "variables of the job")
_JOB_GPU = Key("gpu", Kind(kinds.parsed(_request), {}), "the GPU request of every cell")
_JOB_KEYS = Table((_IMAGE, _COMMAND, _TIMEOUT, _ENV, _PLACEMENT, _JOB_GPU), {"args": "command", "maxruntime": "timeout"})
_JOB_SPEC = Key("spec", _JOB_KEYS.kind(), "the job", required=True)
_KIND = Key("kind", Kind(kinds.parsed(_job), {}), "Job", required=True)

_TEMPLATE = Key("template", Table((_KIND, _JOB_SPEC)).kind(), "the job that every cell runs", required=True)
_REPETITIONS = Key("repetitions", kinds.count(1, 64), "runs of each combination")
_PARALLEL = Key("maxParallel", kinds.count(1, 256), "how many cells run at once")
_COST = Key("maxCostUSD", kinds.MONEY, "the most that the whole sweep may cost")
_STATE = Key("state", kinds.choice("Running", "Suspended", "Cancelled"), "the state that the sweep is wanted in")
_OTHER = {"maxcost": "maxCostUSD", "budget": "maxCostUSD", "maxconcurrent": "maxParallel"}
_SPEC_KEYS = Table((_TEMPLATE, _MATRIX, _REPETITIONS, _PARALLEL, _COST, _STATE), _OTHER)

_NAME = Key("name", names.LABEL, "a DNS label")
_META = Table((_NAME, Key("labels", _UNUSED, "not used"), Key("annotations", _UNUSED, "not used")))
_METADATA = Key("metadata", _META.kind(), "its name")
_API = Key("apiVersion", kinds.choice(API), API, required=True)
_SWEEP = Key("kind", kinds.choice("Sweep"), "Sweep", required=True)
_STATUS = Key("status", _UNUSED, "not used")
_SPEC = Key("spec", _SPEC_KEYS.kind(), "the sweep", required=True)
_ROOT = Table((_API, _SWEEP, _METADATA, _SPEC, _STATUS))


def read(root: Node, overrides: Overrides, report: Report) -> Spec:
    """Return the sweep that a nodus spec means; what is wrong lands in the report."""
    fields = _ROOT.read(root, "", report)
    if fields is None:
        return Spec("sweep", "nodus", ())
    for key in (_API, _SWEEP, _STATUS):
        fields.get(key)
    name = _name(fields, overrides)
    spec = fields.get(_SPEC)
    if spec is None:
        return Spec(name, "nodus", ())
    job = _template(spec)
    axes_of, repetitions = _axes(spec, job), spec.get(_REPETITIONS) or 1
    cell = {**(_cell(job) if job else {}), **overrides.cell}
    for slot in (GPU, REGION):
        if slot.name in overrides.cell and any(slot in axis.slots for axis in axes_of):
            report.error(Text(""), f"--{slot.name}", "the spec's matrix says it already")
    total = expand.size(axes_of) * repetitions
    if total > _MOST_CELLS:
        counts = " x ".join(str(len(axis.rows)) for axis in axes_of)
        report.error(spec.node, "spec", f"{counts} x {repetitions} repetitions: {total} exceeds {_MOST_CELLS} cells")
        return Spec(name, "nodus", ())
    if len(f"{name}-{total - 1}") > _LABEL:
        report.error(fields.node, "metadata.name", f"'{name}-{total - 1}' is longer than {_LABEL} characters")
    points = expand.points(expand.product(axes_of), cell, repetitions)
    chosen = runner.chosen(None, overrides.runner, report)
    return Spec(**{"name": name, "dialect": "nodus", "points": points, "runner": chosen, **_sweep(spec), **overrides.sweep})


def _name(fields: Fields, overrides: Overrides) -> str:
    metadata = fields.get(_METADATA)
    own = metadata.get(_NAME) if metadata else None
    if metadata is not None:
        for key in _META.keys[1:]:
            metadata.get(key)
    given: str | None = overrides.sweep.get("name")
    missing = not fields.has(_METADATA) or (metadata is not None and not metadata.has(_NAME))
    if missing and given is None:
        fields.report.error(fields.key(_METADATA), "metadata.name", "is missing", "a DNS label such as batch-size")
    return given or own or "sweep"


def _template(spec: Fields) -> Fields | None:
    template = spec.get(_TEMPLATE)
    if template is None:
        return None
    job = None if template.get(_KIND) is None and template.has(_KIND) else template.get(_JOB_SPEC)
    return job


def _cell(job: Fields) -> dict[str, Any]:
    """Return the fields of every cell that the job template sets."""
    plain, secret = job.get(_ENV) or ({}, {})
    placement = _placed(job)
    said = {
        "command": job.get(_COMMAND),
        "image": job.get(_IMAGE),
        "max_runtime": job.get(_TIMEOUT),
        "gpu": job.get(_JOB_GPU),
        "env": plain,
        "secrets": secret,
        "placement": placement,
        "region": placement[0] if len(placement) == 1 else None,
    }
    return {name: value for name, value in said.items() if value is not None}


def _placed(job: Fields) -> tuple[str, ...]:
    node = job.node.members.get(_PLACEMENT.name)
    regions = node.members.get(_REGIONS.name) if isinstance(node, Map) else None
    texts = getattr(regions, "items", ())
    return tuple(item.text for item in texts if isinstance(item, Text))


def _sweep(spec: Fields) -> dict[str, Any]:
    state = spec.get(_STATE)
    said = {
        "max_parallel": spec.get(_PARALLEL),
        "max_cost": spec.get(_COST),
        "state": None if state == "Running" else state,
    }
    return {name: value for name, value in said.items() if value is not None}


def _axes(spec: Fields, job: Fields | None) -> list[Axis]:
    matrix = spec.get(_MATRIX)
    if matrix is None:
        return []
    regions = matrix.get(_REGIONS) or ()
    _check_placement(matrix, regions, job)
    found = [(GPU, matrix.get(_GPU) or ()), (REGION, regions)]
    found += [(expand.parameter(name), values) for name, values in (matrix.get(_PARAMS) or {}).items()]
    return [expand.axis(slot, values) for slot, values in found if values]
