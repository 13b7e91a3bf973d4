"""A sweep directory goes in; the right to drive it comes out, or one sentence about who has it."""

from __future__ import annotations

import fcntl
import json
import os
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sweeptool.errors import HELD, Problem, SweepError
from sweeptool.layout import SweepDir
from sweeptool.ledger.journal import stamp
from sweeptool.ledger.liveness import host
from sweeptool.ledger.ticks import ticks

BEAT = 5.0  # seconds between two signs of life of a driver
_FRESH = 30.0  # seconds for which another host's sign of life is believed
_PATIENCE = 5.0  # seconds for a ledger whose driver was just killed to notice
_GLANCE = 1.0  # seconds for whoever holds the lock without a word: 'status' only looks, shards stay


@dataclass(slots=True)
class Hold:
    """A held sweep. Closing the handle, also by dying, lets go."""

    path: Path
    handle: int

    def beat(self) -> None:
        """Give a sign of life that other hosts can see."""
        os.utime(self.handle)

    def release(self) -> None:
        os.ftruncate(self.handle, 0)
        os.close(self.handle)


def take(sweep: SweepDir, pid: int) -> Hold:
    """Hold ``sweep`` for the driver ``pid``. Raises SweepError (exit 5) that names who holds it."""
    handle = _lock(sweep, fcntl.LOCK_EX)
    who = {"host": host(), "pid": pid, "ticks": ticks(pid), "since": stamp()}
    os.ftruncate(handle, 0)
    os.pwrite(handle, json.dumps(who).encode() + b"\n", 0)
    return Hold(sweep.driver_lock, handle)


def share(sweep: SweepDir) -> int:
    """Keep drivers out while single shards run (make, Slurm, parallel); return the handle. Raises like ``take``."""
    handle = _lock(sweep, fcntl.LOCK_SH)
    os.ftruncate(handle, 0)  # of a driver that was killed: nobody shall wait for it
    return handle


def driving(sweep: SweepDir) -> dict[str, Any] | None:
    """Return ``{host, pid, since}`` of the driver that runs now, empty for single shards, None where nothing runs."""
    try:
        handle = os.open(sweep.driver_lock, os.O_RDWR)
    except OSError:
        return None
    try:
        began = time.monotonic()
        while not _locked(handle, fcntl.LOCK_EX):
            who = _holder(handle)
            if not _leaving(who) or time.monotonic() - began > _PATIENCE:
                return who
            time.sleep(0.02)
        who = _holder(handle)
        return who if _elsewhere(handle, sweep, who) else None
    finally:
        os.close(handle)


def named(who: Mapping[str, Any]) -> str:
    """Return who drives, for a sentence: ``driver 4711 on node7``, or the shards."""
    return f"driver {who.get('pid')} on {who.get('host')}" if who else "'driver.sh shard' processes"


def check(sweep: SweepDir) -> None:
    """Raise SweepError (exit 5) where a driver runs ``sweep`` now."""
    who = driving(sweep)
    if who is not None:
        raise _held(sweep, who)


def _lock(sweep: SweepDir, kind: int) -> int:
    """Return a handle of the lock file, locked. Raises SweepError where somebody keeps it."""
    handle = os.open(sweep.driver_lock, os.O_RDWR | os.O_CREAT, 0o644)
    began = time.monotonic()
    while not _locked(handle, kind):
        who = _holder(handle)
        patience = _GLANCE if not who else _PATIENCE if _leaving(who) else 0
        if time.monotonic() - began > patience:
            os.close(handle)
            raise _held(sweep, who)
        time.sleep(0.02)
    who = _holder(handle)
    if _elsewhere(handle, sweep, who):
        os.close(handle)
        raise _held(sweep, who)
    return handle


def _locked(handle: int, kind: int) -> bool:
    try:
        fcntl.flock(handle, kind | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _elsewhere(handle: int, sweep: SweepDir, who: dict[str, Any]) -> bool:
    """Say whether a driver of another host gave a sign of life lately: not every shared disk passes locks on."""
    return who.get("host") not in (None, host()) and abs(_age(handle, sweep)) < _FRESH


def _holder(handle: int) -> dict[str, Any]:
    try:
        who = json.loads(os.pread(handle, 4096, 0))
    except ValueError:
        return {}
    return who if isinstance(who, dict) and isinstance(who.get("host"), str) else {}


def _leaving(who: dict[str, Any]) -> bool:
    """Say whether the driver is dead and only its ledger is still on its way out."""
    if who.get("host") != host() or not isinstance(who.get("pid"), int):
        return False
    try:
        os.kill(who["pid"], 0)
    except ProcessLookupError:
        return True
    except OSError:
        return False
    return ticks(who["pid"]) != who.get("ticks")  # another process that got its number


def _age(handle: int, sweep: SweepDir) -> float:
    """Return the seconds since the last sign of life, by the file system's own clock."""
    probe = sweep.path / ".clock"
    try:
        probe.write_bytes(b"")
        now = probe.stat().st_mtime
        probe.unlink()
    except OSError:
        now = time.time()
    return now - os.fstat(handle).st_mtime


def _held(sweep: SweepDir, who: dict[str, Any]) -> SweepError:
    if who:
        by = f"{named(who)} since {who.get('since')}"
        remedy = f"'sweeptool status {sweep.path.name}' shows it, 'sweeptool cancel {sweep.path.name}' stops it"
    else:
        by, remedy = named(who), "wait for them"
    return SweepError(Problem(f"this sweep is held by {by}", source=str(sweep.path), remedy=remedy), exit_code=HELD)
