"""An attempt's directory goes in; whether anything of it still runs comes out. No lock files, no guessing by age."""

from __future__ import annotations

import os
import socket
import time
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import psutil

from sweeptool.layout import AttemptDir

ALIVE, DEAD, UNSTARTED, REMOTE = "alive", "dead", "unstarted", "remote"
MARKER = "SWEEPTOOL_ATTEMPT"
_GIVEN_UP = "given up\n"
_BOOT = Path("/proc/sys/kernel/random/boot_id")
_SLACK = 2.0  # seconds between a process's start and the claim it wrote, where there is no /proc


@dataclass(frozen=True, slots=True)
class Claim:
    """Who started an attempt: the shard's process id (also its process group), start tick, boot and host."""

    pid: int
    ticks: str
    boot: str
    host: str


def claim(attempt: AttemptDir) -> Claim | None:
    """Return who claimed the attempt, None where nobody did or the claim was never finished."""
    try:
        words = attempt.start.read_text().split()
    except (OSError, UnicodeDecodeError):
        return None
    return Claim(int(words[0]), *words[1:]) if len(words) == 4 and words[0].isdecimal() else None


def give_up(attempt: AttemptDir) -> bool:
    """Claim an attempt that no shard has claimed, so that a late one will not run it; False where one has."""
    try:
        attempt.path.mkdir(parents=True, exist_ok=True)
        handle = os.open(attempt.start, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o644)
    except FileExistsError:
        return False
    with os.fdopen(handle, "w") as file:
        file.write(_GIVEN_UP)
    return True


def look(attempt: AttemptDir, marker: str, *, grace: float = 1.0) -> str:
    """Return ALIVE, DEAD, UNSTARTED (its runner was never called) or REMOTE (another host's, nothing known).

    ``marker`` is the value of SWEEPTOOL_ATTEMPT in the environment of everything the attempt started.
    """
    if give_up(attempt):
        return UNSTARTED
    found = claim(attempt)
    deadline = time.monotonic() + grace
    while found is None and _unfinished(attempt) and time.monotonic() < deadline:
        time.sleep(0.01)
        found = claim(attempt)
    if found is None:
        return UNSTARTED
    if found.host != socket.gethostname():
        return REMOTE
    if found.boot not in ("-", boot()):
        return DEAD
    return ALIVE if members(found, attempt, marker) else DEAD


def members(found: Claim, attempt: AttemptDir, marker: str) -> list[int]:
    """Return the processes of an attempt on this host: the shard, its process group, whatever it started."""
    pids = []
    for process in psutil.process_iter():
        pid = process.pid
        try:
            if pid == found.pid:
                mine = _same_start(process, found, attempt)
            elif os.getpgid(pid) == found.pid:
                mine = not _reused(found, attempt)
            else:
                mine = process.environ().get(MARKER) == marker
            if mine and process.status() != psutil.STATUS_ZOMBIE:
                pids.append(pid)
        except (psutil.Error, OSError):
            continue
    return pids


def groups(attempt: AttemptDir, marker: str) -> list[int]:
    """Return the process groups of an attempt that runs on this host; none where it is over or elsewhere."""
    found = claim(attempt)
    if found is None or found.host != socket.gethostname() or found.boot not in ("-", boot()):
        return []
    numbers = set()
    for pid in members(found, attempt, marker):
        with suppress(OSError):
            numbers.add(os.getpgid(pid))
    return sorted(numbers)


def boot() -> str:
    """Return what tells this boot of the machine from any other, ``-`` where nothing does."""
    try:
        return _BOOT.read_text().strip()
    except OSError:
        return "-"


def _unfinished(attempt: AttemptDir) -> bool:
    try:
        return attempt.start.stat().st_size == 0
    except OSError:
        return False


def _same_start(process: psutil.Process, found: Claim, attempt: AttemptDir) -> bool:
    ticks = _ticks(process.pid)
    if ticks and found.ticks != "-":
        return ticks == found.ticks
    return bool(process.create_time() <= attempt.start.stat().st_mtime + _SLACK)


def _reused(found: Claim, attempt: AttemptDir) -> bool:
    """Say whether the group's leader is another process that got the same number later."""
    try:
        return not _same_start(psutil.Process(found.pid), found, attempt)
    except psutil.Error:
        return False  # the leader is gone, its group is not: a number is not given out again while it names a group


def _ticks(pid: int) -> str:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(") ")[2].split()[19]
    except (OSError, IndexError):
        return ""
