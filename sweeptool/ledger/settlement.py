"""An attempt that ended goes in; the members of its ``settled`` event come out: what it was, what it cost."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from typing import Any

from sweeptool import lines, manifest, measures, money, rundir
from sweeptool.errors import SweepError
from sweeptool.frozen import Frozen, Job
from sweeptool.layout import AttemptDir
from sweeptool.ledger import liveness
from sweeptool.ledger.attempt import Attempt
from sweeptool.ledger.state import State
from sweeptool.manifest import Manifest
from sweeptool.measures import BUILT_IN
from sweeptool.runners.base import Evidence, Runner, Verdict
from sweeptool.states import CANCELLED, FAILED, INTERRUPTED, LOST, NO_METRIC, SUCCEEDED


@dataclass(frozen=True, slots=True)
class Settlement:
    """What ended an attempt, as the journal will have it, and which earlier attempt shares its run dir."""

    fields: Mapping[str, Any]
    collision: Attempt | None = None


def unstarted() -> Settlement:
    """Return what an attempt was whose runner was never called: it cost nothing and is no try."""
    return Settlement(
        {
            "state": INTERRUPTED,
            "reason": "not_started",
            "detail": "the runner was never called",
            "exit_code": None,
            "failed": None,
            "run_dir": None,
            "cost_usd": "0.00",
            "charged_usd": "0.00",
            "wall_seconds": None,
            "units_per_second": None,
        }
    )


def settle(
    frozen: Frozen, runner: Runner, state: State, attempt: Attempt, job: Job, where: AttemptDir, project: Path
) -> Settlement:
    """Return what ``attempt`` was, from its own files only."""
    exit_code = _exit_code(where)
    if exit_code is None and liveness.claim(where) is None:
        return unstarted()
    run_dir = _run_dir(where, project)
    found, oddity = _manifest(run_dir, frozen)
    seen = exit_code if exit_code is not None else _inferred(found, attempt)
    evidence = Evidence(seen, run_dir, found, where, job.record, attempt.interrupted)
    verdict = runner.release(evidence, _verdict(runner, evidence))
    earlier = state.run_dirs.get(str(run_dir)) if run_dir else None
    if earlier is not None and earlier is not attempt:
        verdict = Verdict(FAILED, "collision", f"{run_dir} is also attempt {earlier.number} of cell {earlier.index}")
        found = None
    cost = found.cost if found else 0 if verdict.free else None
    wall = found.wall_seconds if found else None
    rate = _rate(frozen, where, run_dir, wall) if verdict.state == SUCCEEDED else None
    state_name = verdict.state
    if state.request == CANCELLED and state_name == INTERRUPTED:
        state_name = CANCELLED
    again = bool(verdict.if_again) and not state.suspects <= {attempt.cell}
    detail = verdict.detail or oddity
    if verdict.detail and oddity and verdict.reason == "no_manifest":
        detail = f"{verdict.detail} ({oddity})"
    charged = cost if cost is not None else (attempt.reserved or 0)
    flags = list(verdict.flags)
    if attempt.reserved is not None and charged > attempt.reserved:
        flags.append("over_cap")
    if verdict.state == SUCCEEDED and _unmeasured(frozen, run_dir):
        flags.append(NO_METRIC)
    fields = {
        "state": state_name,
        "reason": verdict.reason,
        "detail": f"{detail} (and so a pod before: {verdict.if_again})" if again else detail,
        "flags": flags,
        "transient": verdict.transient,
        "halt": verdict.halt or again,
        "suspect": bool(verdict.if_again),
        "exit_code": exit_code,
        "failed": found.failed if found else None,
        "run_dir": str(run_dir) if run_dir else None,
        "cost_usd": money.text_or_none(cost),
        "charged_usd": money.text(charged),
        "wall_seconds": None if wall is None else float(wall),
        "units_per_second": rate,
    }
    return Settlement(fields, earlier)


def _verdict(runner: Runner, evidence: Evidence) -> Verdict:
    """Ask the runner; where nobody saw the attempt end and it left no manifest, it is lost."""
    if evidence.exit_code is None and evidence.manifest is None:
        return Verdict(LOST, "lost", "its shard died and left no manifest")
    return runner.verdict(evidence)


def _inferred(found: Manifest | None, attempt: Attempt) -> int | None:
    """Return the exit status that a runner whose shard was killed must have had, by its manifest.

    Only where no signal was sent to it: an interrupted runner's manifest may say ``failed: false`` too.
    """
    if found is None or attempt.interrupted or found.failed is None:
        return None
    return int(found.failed)


def _exit_code(where: AttemptDir) -> int | None:
    try:
        text = lines.small(str(where.exit)) or b""
    except OSError:
        return None
    return int(text) if text.endswith(b"\n") and text.strip().isdigit() else None


def _run_dir(where: AttemptDir, project: Path) -> Path | None:
    found = rundir.first(where.stdout)
    return None if found is None else project / found


def _rate(frozen: Frozen, where: AttemptDir, run_dir: Path | None, wall: Decimal | None) -> float | None:
    logs = [where.stdout, where.stderr, *(measures.logs(run_dir) if run_dir else [])]
    return measures.units_per_second(run_dir, logs, wall, frozen.sweep["units"])


def _unmeasured(frozen: Frozen, run_dir: Path | None) -> bool:
    """Whether the run lacks the metric that its sweep is judged by.

    What a pattern finds is left to the readers: a log may be large and a pattern slow, and launches wait for the ledger.
    """
    said = frozen.sweep.get("metrics") or {}
    by = said.get("best")
    if by is None or by in BUILT_IN or by in said["patterns"]:
        return False
    return by not in measures.metrics(run_dir, file=said["file"])[0]


def _manifest(run_dir: Path | None, frozen: Frozen) -> tuple[Manifest | None, str]:
    if run_dir is None:
        return None, ""
    path = run_dir / frozen.sweep["manifest"]
    try:
        return manifest.read(path), ""
    except SweepError as error:
        if path.exists():
            return None, str(error)
        return None, f"no {path.name} in {run_dir}" if run_dir.is_dir() else f"{run_dir} is no directory"
