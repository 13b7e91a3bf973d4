"""The runner ``runpod-deploy``: a cell goes in, one rented pod's command line, job config and verdict come out."""

from __future__ import annotations

import contextlib
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from sweeptool import files, money
from sweeptool.cells import Cell
from sweeptool.errors import Problem, SweepError
from sweeptool.layout import AttemptDir, SweepDir
from sweeptool.runners import prices
from sweeptool.runners.base import ATTEMPT_DIR, SWEEP_DIR, SWEEPTOOL, Evidence, Runner, Verdict
from sweeptool.runners.runpod import gpus, jobconfig, leftovers, lint, pods, refusals, translate, verdicts
from sweeptool.runners.runpod import template as templates
from sweeptool.runners.runpod.gpus import Table
from sweeptool.runners.runpod.reasons import REASONS
from sweeptool.runners.runpod.template import Bounds, Template
from sweeptool.spec import braces
from sweeptool.spec.model import Point, Retry, Settings, Spec

PROGRAM = "runpod-deploy"
_ALL = ("--all",)
_BUT_STOCK = ("--check-local", "--scan-consumer", "--check-image-registry")


class Runpod(Runner):
    """Rents a pod a cell. What a template shares between shards, and what it would find out too late, is refused."""

    name = PROGRAM
    paid = True
    failure_streak = 5
    reasons = REASONS
    retry = Retry(delay=30)  # seconds; what is out of stock now is not back at once
    spaced = True

    def complete(self, spec: Spec, project: Path) -> Spec:
        """Return ``spec`` with each cell's price and bounds, where it is silent, from its config and the table."""
        try:
            table = gpus.load(project)
        except SweepError:
            return spec  # check says why
        configs = {config: _bounds(project / config) for config in _configs(spec)}
        known: dict[tuple[int, str | None, str | None], Settings] = {}
        points = []
        for point in spec.points:
            key = (id(point.settings), point.gpu, point.config)
            if key not in known:
                known[key] = _completed(point, spec, table, configs.get(point.config or ""))
            points.append(replace(point, settings=known[key]))
        return replace(spec, points=tuple(points))

    def check(self, spec: Spec, project: Path) -> Sequence[Problem]:
        problems = refusals.values(spec)
        try:
            problems += refusals.settings(spec, gpus.load(project))
        except SweepError as error:
            problems += error.problems
        for config in _configs(spec):
            points = [point for point in spec.points if point.config == config]
            try:
                template = templates.read(project / config)
            except SweepError as error:
                problems += error.problems
                continue
            problems += lint.lint(template, project / config, config, lint.users(points, spec.max_parallel))
        return [*problems, *refusals.bounds(spec)]

    def price(self, cell: Cell | Point, spec: Spec) -> int | None:  # noqa: ARG002 - the Protocol's
        return cell.settings.price_per_hour  # by complete()

    def argv(self, cell: Cell, spec: Spec) -> tuple[str, ...] | None:  # noqa: ARG002 - the Protocol's
        said = cell.settings
        if cell.config is None and said.command is None:
            return None
        options = ["--print-run-dir"]
        if said.cost_cap is not None:
            options += ["--cost-cap-usd", money.text(said.cost_cap)]
        if said.max_runtime is not None:
            options += ["--max-runtime-minutes", str(jobconfig.minutes(said.max_runtime))]
        variables = [word for name, value in cell.params.items() for word in ("--var", f"{name}={value}")]
        config = str(AttemptDir(Path(ATTEMPT_DIR)).config)
        return (PROGRAM, "run", "--config", config, *variables, *options, *_pinned(cell))

    def needs(self, spec: Spec) -> Sequence[str]:  # noqa: ARG002 - the Protocol's
        return (PROGRAM, pods.CLIENT, "ssh", "rsync")

    def validation(self, spec: Spec, cells: Sequence[Cell]) -> Sequence[tuple[str, ...]]:  # noqa: ARG002 - the Protocol's
        """Return, for the first cell of each config, the making of its job config and the runner's own check of it.

        Without the stock where the datacenters are the table's: the runner's check fails if the provider lacks one.
        """
        firsts = {cell.config: cell for cell in reversed(cells)}
        commands: list[tuple[str, ...]] = []
        for cell in sorted(firsts.values(), key=lambda cell: cell.index):
            index = str(cell.index)
            own = cell.config is not None and cell.region is None and not cell.settings.placement
            commands.append((SWEEPTOOL, "job-config", SWEEP_DIR, index))
            config = str(SweepDir(Path(SWEEP_DIR)).rehearsal(index).config)
            commands.append((PROGRAM, "validate", "--quiet", "--config", config, *(_ALL if own else _BUT_STOCK)))
        return commands

    def prepare(self, job: Mapping[str, Any], attempt: AttemptDir, project: Path) -> None:
        table = gpus.load(project)
        config, template = _template(job, table, project)
        made = jobconfig.concrete(template, job, config, attempt, table)
        files.replace(attempt.config, jobconfig.dump(made).encode(), mode=0o600)

    def verdict(self, evidence: Evidence) -> Verdict:
        return verdicts.verdict(evidence)

    def release(self, evidence: Evidence, verdict: Verdict) -> Verdict:
        return leftovers.settle(evidence, verdict)


def _configs(spec: Spec) -> Sequence[str]:
    return sorted({point.config for point in spec.points if point.config})


def _bounds(config: Path) -> Bounds:
    try:
        return templates.bounds(templates.read(config))
    except SweepError:
        return Bounds(None, None, None)  # check says why


def _completed(point: Point, spec: Spec, table: Table, config: Bounds | None) -> Settings:
    own = config or Bounds(None, None, None)
    said = point.settings
    per_hour = _per_hour(point, spec, table, config)
    limit = said.max_runtime if said.max_runtime is not None else own.max_runtime
    cap = said.cost_cap if said.cost_cap is not None else own.cost_cap
    if cap is None and limit is not None and per_hour is not None:
        cap = money.priced(per_hour, jobconfig.minutes(limit) * 60)
    return replace(said, price_per_hour=per_hour, max_runtime=limit, cost_cap=cap)


def _per_hour(point: Point, spec: Spec, table: Table, config: Bounds | None) -> int | None:
    """Return the assumed price: the spec's; for a GPU that the cell chooses, the table's; the config's; the runner's."""
    if point.settings.price_per_hour is not None:
        return point.settings.price_per_hour
    request = point.gpu or point.settings.instance_type
    stated = prices.stated(request, spec.prices)
    if stated is None and request is not None:
        with contextlib.suppress(SweepError):  # check says so
            stated = gpus.choose(table, request).per_hour
    if stated is None and config is not None:
        stated = config.per_hour or templates.ASSUMED_RATE
    return stated


def _pinned(cell: Cell) -> Sequence[str]:
    """Return the pair of options that names one GPU in one datacenter, where the cell leaves no choice.

    Where it does, the job config lists what may be taken, so that the runner can fall back on the next.
    """
    request = cell.gpu or cell.settings.instance_type
    if request is None or not (cell.settings.datacenter or cell.region):
        return ()
    try:
        table = gpus.load(Path())
        ids = gpus.choose(table, request).ids
        places = (cell.settings.datacenter,) if cell.settings.datacenter else gpus.datacenters(table, cell.region or "")
    except SweepError:
        return ()  # check says so
    if len(ids) > 1 or len(places) > 1:
        return ()
    return ("--gpu-id", ids[0], "--datacenter-id", str(places[0]))


def _template(job: Mapping[str, Any], table: Table, project: Path) -> tuple[Path, Template]:
    if job["config"]:
        config = project / job["config"]
        return config, templates.read(config)
    command = job["settings"]["command"]
    if not isinstance(command, str) and job.get("dialect") != "nodus":
        command = [braces.expand(word, _known(job)) for word in command]
    return project / "-", translate.from_command(job, table, command)


def _known(job: Mapping[str, Any]) -> Mapping[str, str]:
    names = ("index", "id", "name", "gpu", "region", "config", "repetition", "attempt", "sweep")
    return {**{name: str(job[name]) for name in names if job.get(name) is not None}, **job["params"]}


RUNNER = Runpod()
