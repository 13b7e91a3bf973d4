"""A spec and what became of its cells go in, a sweep directory as the driver leaves it comes out, without a run."""

from __future__ import annotations

import json
import textwrap
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from sweeptool import layout, plan, spec
from sweeptool.layout import SweepDir
from sweeptool.plan.freeze import freeze

START = 1_772_000_000  # 2026-02-25T06:13:20Z


def stamp(seconds: float) -> str:
    """Return the time that long after the sweep's start, as the ledger writes it."""
    from sweeptool import stamps

    return stamps.text(int((START + seconds) * 1_000_000))


def manifest(run_dir: Path, name: str = layout.MANIFEST, **members: Any) -> Path:
    """Write a manifest in the runner's format; ``members`` are set over a run that succeeded."""
    run_dir.mkdir(parents=True, exist_ok=True)
    whole = {
        "schema_version": "v2",
        "pulled_at_utc": "2026-02-25T06:30:00.120000+00:00",
        "failed": False,
        "job_name": "lora-{seed}",
        "run_id": f"lora-{run_dir.name}",
        "datacenter_id": "EU-RO-1",
        "gpu_id": "NVIDIA L4",
        "gpu_price_per_hour_usd": 0.43,
        "gpu_price_source": "pod_describe",
        "pod_id": f"pod-{run_dir.name}",
        "pod_final_state": "RUNNING",
        "wall_time_sec": 100.5,
        "estimated_cost_usd": 0.012,
        "deploy_metadata": {"local_git_sha": "4f6c1de09a7b35c28d1e90f7ab634c5d2e8f0b17", "local_git_dirty": False},
        "artifacts": [],
    }
    path = run_dir / name
    path.write_text(json.dumps(whole | members, indent=2))
    return path


def sweep(
    root: Path,
    text: str,
    attempts: list[Mapping[str, Any]],
    *,
    closed: bool = True,
    lines: list[str] | None = None,
) -> SweepDir:
    """Write the sweep directory of a spec after these attempts, each ``{"cell": index, "state": …}``.

    An attempt may have cost, wall, reason, run_dir (False: none), manifest (members, or False: none), metrics,
    files, units_per_second, reserved, flags. ``lines`` are appended to the ledger as they are.
    """
    project = root / "project"
    project.mkdir(parents=True, exist_ok=True)
    made = plan.make(spec.load(textwrap.dedent(text), "spec.yaml", project=project), project)
    where = SweepDir(project / layout.SWEEPS_DIR / made.spec.name)
    where.cells.mkdir(parents=True)
    where.plan.write_text("".join(line + "\n" for line in freeze(made)))
    opened = {"event": "opened", "sweep_id": f"{made.spec.name}-20260225-000001", "host": "desk", "pid": 4242}
    events: list[dict[str, Any]] = [
        {"ts_utc": stamp(0), **opened, "cells": len(made.shards), "max_cost_usd": _cap(made)}
    ]
    counts: dict[int, int] = {}
    for place, attempt in enumerate(attempts):
        index = attempt["cell"]
        counts[index] = counts.get(index, 0) + 1
        events += _attempt(project, made.shards[index].cell.id, counts[index], place, attempt)
    if closed:
        events.append({"ts_utc": stamp(2_000_000_000), "event": "closed"})
    where.ledger.write_text("".join(json.dumps(event) + "\n" for event in events) + "".join(lines or []))
    return where


def _cap(made: plan.Plan) -> str | None:
    from sweeptool import money

    return money.text_or_none(made.spec.max_cost)


def _attempt(project: Path, cell: str, number: int, place: int, attempt: Mapping[str, Any]) -> list[dict[str, Any]]:
    identity = {"cell": cell, "index": attempt["cell"], "attempt": number}
    admitted = {"ts_utc": stamp(10 * place), "event": "admitted", **identity, "reserved_usd": attempt.get("reserved")}
    if attempt["state"] == "running":
        return [admitted]
    failed = attempt["state"] == "failed"
    run_dir = _run_dir(project, place, attempt, failed=failed)
    cost = attempt.get("cost", "0.012")
    settled = {
        "ts_utc": stamp(10 * place + 5),
        "event": "settled",
        **identity,
        "state": attempt["state"],
        "reason": attempt.get("reason", "exit" if failed else ""),
        "detail": attempt.get("detail", ""),
        "flags": attempt.get("flags", []),
        "exit_code": int(failed),
        "failed": failed,
        "run_dir": str(run_dir) if run_dir else None,
        "cost_usd": cost,
        "charged_usd": cost or attempt.get("reserved") or "0.00",
        "wall_seconds": attempt.get("wall", 100.5),
        "units_per_second": attempt.get("units_per_second"),
    }
    return [admitted, settled]


def _run_dir(project: Path, place: int, attempt: Mapping[str, Any], *, failed: bool) -> Path | None:
    named = attempt.get("run_dir")
    if named is False:
        return None
    run_dir = Path(named) if named else project / "artifacts" / "local" / f"run-{place:03d}"
    run_dir.mkdir(parents=True, exist_ok=True)
    cost = attempt.get("cost", "0.012")
    members = attempt.get("manifest", {})
    if members is not False:
        own = {"failed": failed, "wall_time_sec": attempt.get("wall", 100.5)}
        manifest(run_dir, **own | {"estimated_cost_usd": None if cost is None else float(cost)} | members)
    if "metrics" in attempt:
        (run_dir / "metrics.json").write_text(json.dumps(attempt["metrics"]))
    for name, content in attempt.get("files", {}).items():
        (run_dir / name).write_text(content)
    return run_dir
