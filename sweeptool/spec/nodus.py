"""A ``nodus.dev/v1`` Sweep goes in, a Spec comes out, within that API's own limits."""

from __future__ import annotations

import re
from typing import Any, NoReturn

from sweeptool.spec import axes, env, expand, gpus, kinds, names, runner
from sweeptool.spec.expand import GPU, REGION, Axis
from sweeptool.spec.fields import Fields, Key, Kind, Table
from sweeptool.spec.flags import Overrides
from sweeptool.spec.model import Spec
from sweeptool.spec.tree import Node, Report, Text, quoted

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
    if len(named) > 16:
        report.error(node, path, f"{len(named)} of them, at most 16 are allowed")
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
_JOB_KEYS = Table(
    (_IMAGE, _COMMAND, _TIMEOUT, _ENV, _PLACEMENT, _JOB_GPU), {"args": "command", "maxruntime": "timeout"}
)
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
_LABELS = Key("labels", _UNUSED, "not used")
_ANNOTATIONS = Key("annotations", _UNUSED, "not used")
_METADATA = Key("metadata", Table((_NAME, _LABELS, _ANNOTATIONS)).kind(), "its name")
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
    _check_heads(fields)
    name = _name(fields, overrides)
    spec = fields.get(_SPEC)
    if spec is None:
        return Spec(name, "nodus", ())
    template = spec.get(_TEMPLATE)
    job = template.get(_JOB_SPEC) if template and (template.get(_KIND) or not template.has(_KIND)) else None
    placement = _placement(job)
    varied, repetitions = _axes(spec, placement), spec.get(_REPETITIONS) or 1
    base = {**_cell(job, placement), **overrides.cell}
    sweep = {**_sweep(spec), **overrides.sweep, "runner": runner.chosen(None, overrides.runner, report)}
    _check_said_twice(varied, job, overrides, report)
    total = expand.size(varied) * repetitions
    if total > _MOST_CELLS:
        factors = " x ".join(str(len(axis.rows)) for axis in varied)
        report.error(spec.node, "spec", f"{factors} x {repetitions} repetitions: {total} exceeds {_MOST_CELLS} cells")
        return Spec(name, "nodus", ())
    if len(f"{name}-{total - 1}") > _LABEL:
        report.error(fields.node, "metadata.name", f"'{name}-{total - 1}' is longer than {_LABEL} characters")
    points = expand.points(expand.product(varied), base, repetitions)
    return Spec(**{**sweep, "name": name, "dialect": "nodus", "points": points})


def _check_heads(fields: Fields) -> None:
    fields.get(_API)
    fields.get(_SWEEP)
    fields.get(_STATUS)


def _name(fields: Fields, overrides: Overrides) -> str:
    metadata = fields.get(_METADATA)
    own = metadata.get(_NAME) if metadata else None
    if metadata is not None:
        metadata.get(_LABELS)
        metadata.get(_ANNOTATIONS)
    given: str | None = overrides.sweep.get("name")
    missing = not fields.has(_METADATA) or (metadata is not None and not metadata.has(_NAME))
    if missing and given is None:
        fields.report.error(fields.key(_METADATA), "metadata.name", "is missing", "a DNS label such as batch-size")
    if given is not None:
        names.LABEL.read(Text(given), "--name", fields.report)
    return given or own or "sweep"


def _placement(job: Fields | None) -> tuple[str, ...]:
    """Return the region classes that the job is limited to; none where it may run anywhere."""
    placement = job.get(_PLACEMENT) if job else None
    return placement.get(_REGIONS) or () if placement else ()


def _cell(job: Fields | None, placement: tuple[str, ...]) -> dict[str, Any]:
    """Return the fields of every cell that the job template sets."""
    if job is None:
        return {}
    plain, secret = job.get(_ENV) or ({}, {})
    said = {
        "command": job.get(_COMMAND),
        "image": job.get(_IMAGE),
        "max_runtime": job.get(_TIMEOUT),
        "gpu": job.get(_JOB_GPU),
        "region": placement[0] if len(placement) == 1 else None,
    }
    known = {name: value for name, value in said.items() if value is not None}
    return {**known, "env": plain, "secrets": secret, "placement": placement}


def _sweep(spec: Fields) -> dict[str, Any]:
    state = spec.get(_STATE)
    said = {
        "max_parallel": spec.get(_PARALLEL),
        "max_cost": spec.get(_COST),
        "state": None if state == "Running" else state,
    }
    return {name: value for name, value in said.items() if value is not None}


def _axes(spec: Fields, placement: tuple[str, ...]) -> list[Axis]:
    matrix = spec.get(_MATRIX)
    if matrix is None:
        return []
    regions = matrix.get(_REGIONS) or ()
    for number, region in enumerate(regions):
        if placement and region not in placement:
            remedy = f"one of {', '.join(placement)}"
            at = f"{matrix.at(_REGIONS)}[{number}]"
            matrix.report.error(
                matrix.key(_REGIONS), at, f"{quoted(region)} is not in template.spec.placement.regions", remedy
            )
    found = [(GPU, matrix.get(_GPU) or ()), (REGION, regions)]
    found += [(expand.parameter(name), values) for name, values in (matrix.get(_PARAMS) or {}).items()]
    return [expand.axis(slot, values) for slot, values in found if values]


def _check_said_twice(varied: list[Axis], job: Fields | None, overrides: Overrides, report: Report) -> None:
    slots = {slot for axis in varied for slot in axis.slots}
    for slot in (GPU, REGION):
        if slot in slots and slot.name in overrides.cell:
            report.error(Text(""), f"--{slot.name}", "the matrix says it already")
    if GPU in slots and job is not None and job.has(_JOB_GPU):
        report.warn(job.key(_JOB_GPU), job.at(_JOB_GPU), "is not used: matrix.gpu says it")
