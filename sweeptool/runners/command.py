"""The command runner: any program that prints ``RUN_DIR=`` and writes a manifest, called by an argv template."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from sweeptool.cells import Cell
from sweeptool.errors import Problem
from sweeptool.layout import AttemptDir
from sweeptool.runners import prices, tail, words
from sweeptool.runners.base import Evidence, Runner, Verdict
from sweeptool.spec.model import Retry, Spec

_SIGNALS = (129, 130, 137, 143)
_UNSET = ("command", "image", "spot", "idle_timeout", "on_complete", "datacenter", "instance_type")
_REASON = re.compile(r"[a-z][a-z0-9_]{0,30}")


class Command(Runner):
    """Calls ``runner.argv``; believes its exit code and its manifest, and knows nothing else about it."""

    name = "command"
    paid = False  # what it costs is its own affair; a launch is on the disk within seconds all the same
    failure_streak = 0
    retry = Retry(max_attempts=1, on=())
    spaced = False

    def check(self, spec: Spec, project: Path) -> Sequence[Problem]:  # noqa: ARG002 - the Protocol's
        template = spec.runner.argv
        if not template:
            remedy = "say runner: {kind: command, argv: [./my-runner, --lr, '{lr}']}"
            return [Problem("the command runner needs an argv", "runner.argv", spec.source, remedy=remedy)]
        problems = words.check(template, spec.points, "runner.argv", spec.source)
        if not template[0]:
            problems.append(Problem("the program's name is empty", "runner.argv[0]", spec.source))
        for name in _UNSET:
            if any(getattr(point.settings, name) is not None for point in spec.points):
                what = f"the command runner has no use for {name}"
                remedy = "put it into runner.argv, or into env"
                problems.append(Problem(what, name, spec.source, remedy=remedy))
        return problems

    def price(self, cell: Cell, spec: Spec) -> int | None:
        if cell.settings.price_per_hour is not None:
            return cell.settings.price_per_hour
        return prices.stated(cell.gpu, spec.prices)

    def argv(self, cell: Cell, spec: Spec) -> tuple[str, ...] | None:
        return words.expand(spec.runner.argv, cell, spec) if spec.runner.argv else None

    def needs(self, spec: Spec) -> Sequence[str]:
        return [word for word in spec.runner.argv[:1] if "/" not in word and "{" not in word]

    def prepare(self, job: Mapping[str, Any], attempt: AttemptDir, project: Path) -> None:
        """Do nothing: the program takes all it needs from its argv and its environment."""

    def verdict(self, evidence: Evidence) -> Verdict:
        code, manifest = evidence.exit_code, evidence.manifest
        if code == 0 and manifest is not None and manifest.failed is False:
            return Verdict("succeeded")
        if evidence.interrupted and code in _SIGNALS:
            return Verdict("interrupted", "interrupted", f"stopped, exit {code}")
        last = tail.last_line(evidence.attempt.stderr)
        after = f": {last}" if last else ""
        if manifest is None:
            return _without_manifest(evidence, after)
        if code is None:
            return Verdict("interrupted", "unseen", "nobody saw how it ended")
        if code == 0:
            return Verdict("failed", "manifest", "it exited 0, but its manifest does not say failed: false")
        return Verdict("failed", _own_reason(manifest.raw) or "exit", f"exit {code}{after}")


def _without_manifest(evidence: Evidence, after: str) -> Verdict:
    code = evidence.exit_code
    if evidence.run_dir is not None:
        return Verdict("failed", "no_manifest", f"exit {code}, it left no manifest{after}")
    if code in (126, 127):
        return Verdict("failed", "not_found", f"exit {code}{after}", halt=True, free=True)
    return Verdict("failed", "no_run_dir", f"exit {code}, it printed no RUN_DIR{after}")


def _own_reason(raw: Mapping[str, Any]) -> str:
    """Return the one word that a manifest may give as its ``reason``."""
    reason = raw.get("reason")
    return reason if isinstance(reason, str) and _REASON.fullmatch(reason) else ""


RUNNER = Command()
