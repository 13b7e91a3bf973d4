"""A size and a seed go in, a tree of run directories in runpod-deploy's own format comes out.

Usage: python corpus.py DIR RUNS [EVENTS_A_RUN]
"""

from __future__ import annotations

import json
import random
import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

START = datetime(2026, 3, 1, tzinfo=UTC)
GPUS = ("NVIDIA L4", "NVIDIA A40", "NVIDIA RTX A5000", "NVIDIA GeForce RTX 4090")
PLACES = ("EU-RO-1", "EU-CZ-1", "US-KS-2", "CA-MTL-1")
PRICES = (0.43, 0.35, 0.27, 0.69)
STEPS = ("install", "download", "train", "evaluate")


def make(root: Path, runs: int, events: int = 13, seed: int = 1, *, lean: bool = False) -> None:
    """Write ``runs`` run directories of ``events`` events each under ``root``, the same for the same seed.

    A ``lean`` run dir has nothing but its manifest and its events.
    One run in fifty failed, one in a hundred was killed, one in two hundred has no known price.
    """
    dice = random.Random(seed)
    for number in range(runs):
        started = START + timedelta(seconds=61 * number)
        run_dir = root / f"{started:%Y%m%dT%H%M%SZ}"
        run_dir.mkdir(parents=True)
        run = _run(dice, number, started, run_dir)
        (run_dir / "runpod_deploy_pull_manifest.json").write_text(json.dumps(run, indent=2) + "\n")
        rows = _events(dice, number, started, run, events)
        (run_dir / "events.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
        if not lean:
            _rest(run_dir, started)


def _run(dice: random.Random, number: int, started: datetime, run_dir: Path) -> dict[str, Any]:
    kind = dice.randrange(len(GPUS))
    wall = round(dice.uniform(60, 5400), 2)
    known = number % 200 != 199
    artifacts = [
        {
            "label": label,
            "remote_path": f"/workspace/out/{label}/",
            "local_path": f"{run_dir}/{label}",
            "required": label == "results",
            "excludes": ["*.tmp"],
            "delete": True,
            "status": "success",
            "bytes_transferred": None,
            "duration_sec": round(dice.uniform(0.2, 40), 3),
        }
        for label in ("results", "checkpoints")
    ]
    return {
        "schema_version": "v2",
        "pulled_at_utc": (started + timedelta(seconds=wall)).isoformat(),
        "failed": number % 50 == 49,
        "job_name": "lora-{seed}",
        "run_id": f"lora-{number}-{started:%Y%m%dT%H%M%SZ}",
        "config_path": "/home/kim/lora/configs/runpod/template.yaml",
        "storage_mode": "ephemeral",
        "datacenter_id": dice.choice(PLACES),
        "gpu_id": GPUS[kind],
        "gpu_price_per_hour_usd": PRICES[kind] if known else None,
        "gpu_price_source": "pod_describe" if known else None,
        "pod_id": f"{dice.getrandbits(64):014x}"[:14],
        "pod_final_state": "RUNNING",
        "pod_resumed": False,
        "image": "runpod/pytorch:2.4.0-py3.11-cuda12.4.1-devel-ubuntu22.04",
        "cost_cap_usd": 5.0,
        "wall_time_sec": wall,
        "estimated_cost_usd": round(PRICES[kind] * wall / 3600, 4) if known else None,
        "volume_mount": "/workspace",
        "volume_name": None,
        "volume_gb": 20,
        "deploy_metadata": {
            "local_git_sha": "4f6c1de09a7b35c28d1e90f7ab634c5d2e8f0b17",
            "local_git_dirty": False,
            "local_git_branch": "main",
            "payload_lockfile": "uv.lock",
            "payload_lockfile_sha256": "9b1d2c" * 10 + "77ab",
        },
        "artifacts": artifacts,
        "telemetry_files": ["events.jsonl", "metrics.jsonl", "nvidia_smi_start.txt", "nvidia_smi_end.txt"],
    }


def _events(
    dice: random.Random, number: int, started: datetime, run: dict[str, Any], count: int
) -> list[dict[str, Any]]:
    place = run["datacenter_id"]
    last = [
        {"event": "artifact_pull_started", "label": "results"},
        {"event": "artifact_pull_completed", "label": "results", "duration_sec": 1.218},
        {"event": "artifact_pull_started", "label": "checkpoints"},
        {"event": "artifact_pull_completed", "label": "checkpoints", "duration_sec": 11.02},
    ]
    if number % 100 == 99:
        last.append({"event": "pod_killed_unexpected", "state": "TERMINATED", "note": "pod ended before cleanup"})
    rows = [{"event": "gpu_selected", "gpu_id": run["gpu_id"], "datacenter_id": place}]
    while len(rows) < count - len(last):
        step, half = divmod(len(rows) - 1, 2)
        name = STEPS[step] if step < len(STEPS) else f"epoch_{step:03d}"
        rows.append({"event": ("remote_step_started", "remote_step_completed")[half], "name": name})
    stamp = started
    stamped = []
    for row in rows + last:
        stamp += timedelta(seconds=dice.uniform(0.01, 4000 / count))
        stamped.append({"ts_utc": stamp.isoformat(), **row})
    return stamped


def _rest(run_dir: Path, started: datetime) -> None:
    row = {"ts_utc": started.isoformat(), "gpu_util_pct": 97, "gpu_mem_used_mb": 21034, "cpu_load_1m": 3.1}
    (run_dir / "metrics.jsonl").write_text((json.dumps(row) + "\n") * 4)
    (run_dir / "run.log").write_text("step 1 loss 2.31\nstep 2 loss 1.97\nstep 3 loss 1.62\n")
    (run_dir / "pip_freeze.txt").write_text("numpy==2.1.0\ntorch==2.4.0\n")
    (run_dir / "remote_env.json").write_text('{"remote_uname": "Linux", "remote_python_version": "3.11.9"}\n')
    for when in ("start", "end"):
        (run_dir / f"nvidia_smi_{when}.txt").write_text("0, NVIDIA L4, 97 %, 21034 MiB\n")
        (run_dir / f"pod_describe_{when}.json").write_text('{"desiredStatus": "RUNNING"}\n')


if __name__ == "__main__":
    make(Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3]) if len(sys.argv) > 3 else 13)
