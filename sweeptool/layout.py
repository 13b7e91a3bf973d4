"""A sweep's or a run's directory goes in, the path of each file inside it comes out; no name stands elsewhere."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

SWEEPS_DIR = "artifacts/sweeps"
MANIFEST = "runpod_deploy_pull_manifest.json"
EVENTS = "events.jsonl"
UNITS = "units.jsonl"
METRICS = "metrics.json"
PLAN_MARK = "#plan "


@dataclass(frozen=True, slots=True)
class AttemptDir:
    """The files of one attempt of one cell: ``cells/<id>/attempt-<n>/``."""

    path: Path

    @property
    def start(self) -> Path:
        """Claimed once, by the shard that runs the attempt or by the driver that gives it up."""
        return self.path / "start"

    @property
    def exit(self) -> Path:
        """The runner's exit status, one line, written when it ended."""
        return self.path / "exit"

    @property
    def ended(self) -> bool:
        """Whether the exit status is there; an empty file is one that is just being written, or found no room."""
        try:
            return self.exit.stat().st_size > 0
        except OSError:
            return False

    @property
    def stdout(self) -> Path:
        return self.path / "stdout.log"

    @property
    def stderr(self) -> Path:
        return self.path / "stderr.log"

    @property
    def config(self) -> Path:
        """The concrete job config of this attempt, for runners that take one."""
        return self.path / "job.yaml"

    @property
    def state(self) -> Path:
        """Where the runner notes the pod it has rented, for runners that do."""
        return self.path / "pod.json"


@dataclass(frozen=True, slots=True)
class SweepDir:
    """The files of one sweep: ``artifacts/sweeps/<name>/``."""

    path: Path

    @property
    def plan(self) -> Path:
        """The frozen plan: one JSON line for the sweep, then one a cell."""
        return self.path / "plan.jsonl"

    @property
    def driver(self) -> Path:
        return self.path / "driver.sh"

    @property
    def sweep_id(self) -> Path:
        return self.path / "sweep-id"

    @property
    def ledger(self) -> Path:
        """Append-only, one JSON object a line."""
        return self.path / "ledger.jsonl"

    @property
    def lock(self) -> Path:
        """Held with flock by whoever writes the ledger right now."""
        return self.path / "ledger.lock"

    @property
    def driver_lock(self) -> Path:
        """Held with flock for as long as a driver runs; its text says who."""
        return self.path / "driver.lock"

    @property
    def cells(self) -> Path:
        return self.path / "cells"

    def rehearsal(self, index: int | str) -> AttemptDir:
        """Where a cell's job config is made to be checked, before anything is launched."""
        return AttemptDir(self.path.joinpath("validate", str(index)))

    def attempt(self, cell_id: str, number: int) -> AttemptDir:
        return AttemptDir(self.path.joinpath("cells", cell_id, f"attempt-{number}"))


def sweeps_root(project: Path) -> Path:
    """Return the directory of all sweeps: SWEEPTOOL_SWEEPS_DIR, or ``artifacts/sweeps`` under ``project``."""
    return project / os.environ.get("SWEEPTOOL_SWEEPS_DIR", SWEEPS_DIR)


def resource(folder: str) -> Path:
    """Return the shipped ``templates`` or ``recipes`` directory, in a wheel and in a checkout alike."""
    inside = Path(__file__).parent / folder
    return inside if inside.is_dir() else Path(__file__).parent.parent / folder
