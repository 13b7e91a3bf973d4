"""The local runner, make side: a cell goes in, the ``local-run`` command line comes out; later, a verdict."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from sweeptool import money
from sweeptool.cells import Cell
from sweeptool.errors import Problem
from sweeptool.layout import AttemptDir
from sweeptool.runners import prices, tail, words
from sweeptool.runners.base import SWEEPTOOL, Evidence, Runner, Verdict
from sweeptool.spec.model import Point, Retry, Spec

_SIGNALS = (129, 130, 137, 143)
_FAULTS = {
    "No space left on device": "disk_full",
    "Disk quota exceeded": "disk_full",
    "no run dir can be made": "unwritable",
}
_WHY = {"timeout": "stopped at its limit", "killed": "killed from outside"}


class Local(Runner):
    """Runs a cell's command on this machine: GPU, region, instance type and spot are labels with a price."""

    name = "local"
    paid = False
    failure_streak = 0
    retry = Retry(max_attempts=1, on=())
    reasons = ("exit", "timeout", "killed", "not_found", "manifest", "no_manifest", "no_run_dir")
    spaced = False

    def check(self, spec: Spec, project: Path) -> Sequence[Problem]:  # noqa: ARG002 - the Protocol's
        problems = []
        if spec.dialect != "nodus":
            problems += _templates(spec)
        problems += _unkept(spec)
        problems += _unpriced(self, spec)
        return problems

    def price(self, cell: Cell | Point, spec: Spec) -> int | None:
        settings = cell.settings
        if settings.price_per_hour is not None:
            return settings.price_per_hour
        found = None
        if cell.gpu is not None:
            found = prices.of_gpu(cell.gpu, spec.prices)
        if found is None and settings.instance_type is not None:
            found = prices.of_instance(settings.instance_type, spec.prices)
        return found

    def argv(self, cell: Cell, spec: Spec) -> tuple[str, ...] | None:
        settings = cell.settings
        if settings.command is None:
            return None
        said = {
            "--image": settings.image,
            "--spot": None if settings.spot is None else str(settings.spot).lower(),
            "--cost-cap-usd": money.text_or_none(settings.cost_cap),
            "--max-runtime-seconds": None if settings.max_runtime is None else str(settings.max_runtime),
            "--datacenter": settings.datacenter,
            "--instance-type": settings.instance_type,
            "--gpu": cell.gpu,
            "--region": cell.region,
            "--price-per-hour-usd": money.text_or_none(self.price(cell, spec)),
            "--job-name": cell.name,
        }  # what all cells have in common comes first, so that the driver can say it once
        options = [word for name, value in said.items() if value is not None for word in (name, value)]
        variables = [word for name, value in cell.params.items() for word in ("--var", f"{name}={value}")]
        return (SWEEPTOOL, "local-run", "--print-run-dir", *options, *variables, "--", *_command(cell, spec))

    def needs(self, spec: Spec) -> Sequence[str]:
        firsts = {
            "bash" if isinstance(command, str) else command[0]
            for command in (point.settings.command for point in spec.points)
            if command
        }
        return sorted(word for word in firsts if "/" not in word and "{" not in word)

    def prepare(self, job: Mapping[str, Any], attempt: AttemptDir, project: Path) -> None:
        """Do nothing: the run dir is made by ``local-run`` itself."""

    def verdict(self, evidence: Evidence) -> Verdict:
        manifest = evidence.manifest
        if manifest is None:
            return _without_manifest(evidence)
        own = manifest.raw.get("local")
        own = own if isinstance(own, Mapping) else {}
        code = evidence.exit_code if evidence.exit_code is not None else own.get("exit_code")
        reason = own.get("reason")
        flags = ("degraded",) if own.get("fault") else ()
        if code == 0 and manifest.failed is False:
            return Verdict("succeeded", flags=flags, detail=str(own.get("fault") or ""))
        if reason == "interrupted" or (evidence.interrupted and code in _SIGNALS):
            return Verdict("interrupted", "interrupted", f"stopped, exit {code}", flags)
        if reason in ("not_found", "not_runnable"):
            error = tail.last_line(evidence.attempt.stderr)
            swept = any(value and value in error for value in evidence.job.get("params", {}).values())
            return Verdict("failed", reason, error, flags, halt=not swept)  # a program that varies fails its own cell
        if code == 0:
            return Verdict("failed", "manifest", "it exited 0, but its manifest does not say failed: false", flags)
        if reason not in ("timeout", "killed"):
            reason = "exit"
        why = _WHY.get(reason, f"exit {code}")
        last = tail.last_line(evidence.attempt.stderr)
        return Verdict("failed", reason, f"{why}: {last}" if last else why, flags)


def _command(cell: Cell, spec: Spec) -> tuple[str, ...]:
    command = cell.settings.command
    if isinstance(command, str):
        return ("bash", "-c", command)
    return command or () if spec.dialect == "nodus" else words.expand(command or (), cell, spec)


def _templates(spec: Spec) -> list[Problem]:
    """Return what is wrong with the commands' placeholders, each distinct command looked at once."""
    users: dict[tuple[str, ...], list[Point]] = {}
    for point in spec.points:
        if isinstance(point.settings.command, tuple):
            users.setdefault(point.settings.command, []).append(point)
    return [p for command, points in users.items() for p in words.check(command, points, "command", spec.source)]


def _unkept(spec: Spec) -> list[Problem]:
    """Return each setting that a process on this machine cannot honour."""
    problems = []
    if any(point.settings.idle_timeout is not None for point in spec.points):
        what, remedy = "the local runner cannot tell that a job is idle", "use max_runtime (ttl), or another runner"
        problems.append(Problem(what, "idle_timeout", spec.source, remedy=remedy))
    for choice in sorted({point.settings.on_complete or "terminate" for point in spec.points} - {"terminate"}):
        what, remedy = f"the local runner has no machine to {choice}", "leave it out, or say terminate"
        problems.append(Problem(what, "on_complete", spec.source, remedy=remedy))
    return problems


def _unpriced(runner: Local, spec: Spec) -> list[Problem]:
    """Return a problem for each GPU or instance type without a price, where a cost cap hangs on it."""
    capped = [point for point in spec.points if point.settings.cost_cap is not None]
    kinds = {point.gpu or point.settings.instance_type for point in capped if runner.price(point, spec) is None}
    problems = []
    for kind in sorted(kind or "" for kind in kinds):
        what = f"nothing says what an hour{f' of {kind}' if kind else ''} costs, so cost_cap_usd cannot be kept"
        remedy = f"say prices: {{{kind}: 0.43}}, or price_per_hour_usd" if kind else "say price_per_hour_usd"
        problems.append(Problem(what, "prices", spec.source, remedy=remedy))
    return problems


def _without_manifest(evidence: Evidence) -> Verdict:
    code = evidence.exit_code
    last = tail.last_line(evidence.attempt.stderr)
    if code in _SIGNALS and evidence.interrupted:
        return Verdict("interrupted", "interrupted", "stopped before it could write a manifest")
    for text, reason in _FAULTS.items():
        if text in last:
            return Verdict("failed", reason, last, halt=True)
    if code in (2, 126, 127):
        return Verdict("failed", "usage" if code == 2 else "not_found", last, halt=True, free=evidence.run_dir is None)
    reason = "no_run_dir" if evidence.run_dir is None else "no_manifest"
    what = "it printed no RUN_DIR" if evidence.run_dir is None else "it left no manifest"
    return Verdict("failed", reason, f"exit {code}, {what}" + (f": {last}" if last else ""))


RUNNER = Local()
