"""A sweep directory goes in; the right to drive it comes out, or one sentence about who has it."""

from __future__ import annotations

import fcntl
import json
import os
import socket
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sweeptool.errors import HELD, Problem, SweepError
from sweeptool.layout import SweepDir
from sweeptool.ledger.journal import stamp

BEAT = 5.0  # seconds between two signs of life of a driver
_FRESH = 30.0  # seconds for which another host's sign of life is believed
_PATIENCE = 5.0  # seconds for a ledger whose driver was just killed to notice


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
    handle = os.open(sweep.driver_lock, os.O_RDWR | os.O_CREAT, 0o644)
    deadline = time.monotonic() + _PATIENCE
    while not _lock(handle, fcntl.LOCK_EX):
        who = _holder(handle)
        if not _leaving(who) or time.monotonic() > deadline:
            os.close(handle)
            raise _held(sweep, who)
        time.sleep(0.05)
    who = _holder(handle)
    if who.get("host") not in (None, socket.gethostname()) and _age(handle, sweep) < _FRESH:
        os.close(handle)
        raise _held(sweep, who)
    text = json.dumps({"host": socket.gethostname(), "pid": pid, "since": stamp()}) + "\n"
    os.ftruncate(handle, 0)
    os.pwrite(handle, text.encode(), 0)
    return Hold(sweep.driver_lock, handle)


def share(sweep: SweepDir) -> int:
    """Keep drivers out while single shards run (make, Slurm, parallel); return the handle. Raises like ``take``."""
    handle = os.open(sweep.driver_lock, os.O_RDWR | os.O_CREAT, 0o644)
    if _lock(handle, fcntl.LOCK_SH):
        return handle
    who = _holder(handle)
    os.close(handle)
    raise _held(sweep, who)


def driving(sweep: SweepDir) -> dict[str, Any] | None:
    """Return ``{host, pid, since}`` of the driver that runs now, None where none does."""
    try:
        handle = os.open(sweep.driver_lock, os.O_RDWR)
    except OSError:
        return None
    try:
        who = _holder(handle)
        if _lock(handle, fcntl.LOCK_SH):
            remote = who.get("host") not in (None, socket.gethostname())
            return who if remote and _age(handle, sweep) < _FRESH else None
        return who
    finally:
        os.close(handle)


def check(sweep: SweepDir) -> None:
    """Raise SweepError (exit 5) where a driver runs ``sweep`` now."""
    who = driving(sweep)
    if who is not None:
        raise _held(sweep, who)


def _lock(handle: int, kind: int) -> bool:
    try:
        fcntl.flock(handle, kind | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _holder(handle: int) -> dict[str, Any]:
    try:
        who = json.loads(os.pread(handle, 4096, 0))
    except ValueError:
        return {}
    return who if isinstance(who, dict) else {}


def _leaving(who: dict[str, Any]) -> bool:
    """Say whether the driver is dead and only its ledger is still on its way out."""
    if who.get("host") != socket.gethostname() or not isinstance(who.get("pid"), int):
        return False
    try:
        os.kill(who["pid"], 0)
    except ProcessLookupError:
        return True
    except OSError:
        return False
    return False


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
        by = f"driver {who.get('pid')} on {who.get('host')} since {who.get('since')}"
        remedy = f"'sweeptool status {sweep.path.name}' shows it, 'sweeptool cancel {sweep.path.name}' stops it"
    else:
        by, remedy = "'driver.sh shard' processes", "wait for them"
    return SweepError(Problem(f"this sweep is held by {by}", source=str(sweep.path), remedy=remedy), exit_code=HELD)
