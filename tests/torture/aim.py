"""A world goes in; the processes in it come out, to be aimed at, at a moment when a kill tells the truth."""

from __future__ import annotations

import fcntl
import os
import signal
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import psutil

from tests.torture.world import World


def quiet(world: World) -> None:
    """Wait until no ledger of a dead driver is left."""
    until = time.monotonic() + 5
    while time.monotonic() < until and any(_is_ledger(process, world.path) for process in psutil.process_iter()):
        time.sleep(0.05)


@contextmanager
def gate(world: World) -> Iterator[None]:
    """Let no runner be between its last words and its end: what it wrote down would not be what it did."""
    with (world.path / "locks" / "gate").open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


def pick(world: World, found: list[psutil.Process]) -> list[psutil.Process]:
    return [world.dice.choice(found)] if found else []


def kill(pid: int) -> None:
    with suppress(ProcessLookupError):
        os.kill(pid, signal.SIGKILL)


def _is_ledger(process: psutil.Process, path: Path) -> bool:
    try:
        return inside(process, path) and "ledger" in process.cmdline()
    except psutil.Error:
        return False


def inside(process: psutil.Process, path: Path) -> bool:
    try:
        return Path(process.cwd()) == path and process.pid != os.getpid()
    except (psutil.Error, OSError):
        return False
