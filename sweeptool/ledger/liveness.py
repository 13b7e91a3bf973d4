"""An attempt's directory goes in; whether anything of it still runs comes out. No lock files, no guessing by age."""

from __future__ import annotations

import os
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from sweeptool.layout import AttemptDir
from sweeptool.ledger.ticks import ticks

TYPE_CHECKING = False  # psutil costs a fifth of a ledger's start, and is needed where something died only
if TYPE_CHECKING:
    import psutil

ALIVE, DEAD, UNSTARTED, REMOTE = "alive", "dead", "unstarted", "remote"
MARKER = "SWEEPTOOL_ATTEMPT"
_GIVEN_UP = "given up\n"
_BOOT = Path("/proc/sys/kernel/random/boot_id")
_PIDS = Path("/proc/self/ns/pid")  # process ids mean nothing in another container
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


def look(attempt: AttemptDir, marker: str) -> str:
    """Return ALIVE, DEAD, UNSTARTED (its runner was never called) or REMOTE (another host's, nothing known).

    ``marker`` is the value of SWEEPTOOL_ATTEMPT in the environment of everything the attempt started.
    """
    if give_up(attempt):
        return UNSTARTED
    found = claim(attempt)
    if found is None and _being_claimed(attempt):
        return ALIVE
    found = found or claim(attempt)  # it may have been finished while we looked
    if found is None:
        return UNSTARTED
    if _here(found):
        return ALIVE if members(found, attempt, marker) else DEAD
    return DEAD if found.host == host() else REMOTE


def members(found: Claim, attempt: AttemptDir, marker: str) -> list[int]:
    """Return the processes of an attempt on this host: the shard, its process group, whatever it started."""
    import psutil

    pids = []
    for process in psutil.process_iter():
        pid = process.pid
        try:
            if pid == found.pid:
                mine = _same_start(process, found, attempt)
            elif os.getpgid(pid) == found.pid:
                mine = not _reused(found, attempt)
            else:  # an ssh that went into the background (-f) outlives its runner and looks after nothing
                mine = process.environ().get(MARKER) == marker and process.name() != "ssh"
            if mine and process.status() != psutil.STATUS_ZOMBIE:
                pids.append(pid)
        except (psutil.Error, OSError):
            continue
    return pids


def groups(attempt: AttemptDir, marker: str) -> list[int]:
    """Return the process groups of an attempt that runs on this host; none where it is over or elsewhere."""
    found = claim(attempt)
    if found is None or not _here(found):
        return []
    numbers = set()
    for pid in members(found, attempt, marker):
        with suppress(OSError):
            numbers.add(os.getpgid(pid))
    return sorted(numbers)


def over(attempt: AttemptDir, marker: str) -> bool:
    """Say whether an attempt that no driver watches has ended. This only looks; another host's is believed to run."""
    found = claim(attempt)
    if attempt.ended or found is None:
        return True
    if _here(found):
        return not members(found, attempt, marker)
    return found.host == host()


def unseen(attempt: AttemptDir, marker: str) -> bool:
    """Say whether an attempt of this host ended with nobody there to see how: its shard was killed before its runner.

    Cheap where the shard lives.
    """
    import psutil

    found = claim(attempt)
    if found is None or attempt.ended or not _here(found):
        return False
    try:
        shard = psutil.Process(found.pid)
        if _same_start(shard, found, attempt) and shard.status() != psutil.STATUS_ZOMBIE:
            return False
    except (psutil.Error, OSError):
        pass  # it is gone
    return not members(found, attempt, marker)


def host() -> str:
    """Return this machine's name."""
    return os.uname().nodename


def driven(attempt: AttemptDir) -> bool:
    """Say whether the ``driver.sh shard`` that launched an attempt still waits for it, on this host."""
    import psutil

    found = claim(attempt)
    if found is None or not _here(found):
        return False
    try:
        return "shard" in psutil.Process(psutil.Process(found.pid).ppid()).cmdline()
    except psutil.Error:
        return False


def boot() -> str:
    """Return what tells this boot of this machine, or of this container, from any other; ``-`` where nothing does."""
    try:
        return f"{_BOOT.read_text().strip()}/{_PIDS.stat().st_ino}"
    except OSError:
        return "-"


def _here(found: Claim) -> bool:
    """Say whether a claim's process ids are this machine's of today: by its boot, since a name may change or be lent."""
    return found.boot == boot() if found.boot != "-" else found.host == host()


def _being_claimed(attempt: AttemptDir) -> bool:
    """Say whether a shard has made the claim and is about to write it: it has the file open, and that is all."""
    try:
        if attempt.start.stat().st_size:
            return False
    except OSError:
        return False
    import psutil

    path = os.path.realpath(attempt.start)
    for process in psutil.process_iter():
        try:
            if any(file.path == path for file in process.open_files()):
                return True
        except (psutil.Error, OSError):
            continue
    return False


def _same_start(process: psutil.Process, found: Claim, attempt: AttemptDir) -> bool:
    started = ticks(process.pid)
    if started and found.ticks != "-":
        return started == found.ticks
    return bool(process.create_time() <= attempt.start.stat().st_mtime + _SLACK)


def _reused(found: Claim, attempt: AttemptDir) -> bool:
    """Say whether the group's leader is another process that got the same number later."""
    import psutil

    try:
        return not _same_start(psutil.Process(found.pid), found, attempt)
    except psutil.Error:
        return False  # the leader is gone, its group is not: a number is not given out again while it names a group
