"""A job that the budget admits goes in; its directory, its line in the journal and the order to launch it come out."""

from __future__ import annotations

import errno
import os
import time
from contextlib import suppress
from pathlib import Path

from sweeptool.errors import INTERNAL, SweepError
from sweeptool.frozen import Frozen, Job
from sweeptool.layout import AttemptDir, SweepDir
from sweeptool.ledger import spacing, voice
from sweeptool.ledger.desk import Desk
from sweeptool.runners import RUNNERS

_ROOM = 64 * 1024  # bytes that must be free before a launch


def launch(desk: Desk, job: Job, now: float) -> str:
    """Record the next attempt of ``job``, inside ``writing``; answer ``launch INDEX ATTEMPT``, or ``wait``."""
    last = desk.book.state.last(job.id)
    number = last.number + 1 if last else 1
    where = desk.book.sweep.attempt(job.id, number)
    try:
        _make(where)
        if desk.runner.spaced:
            with spacing.turn(desk.project) as turn:
                if not spacing.clear(turn, where, time.time()):
                    return "wait"
                spacing.record(turn, where, time.time())  # first: what is admitted is launched, whatever happens
                _admit(desk, job, number, where)
        else:
            _admit(desk, job, number, where)
    except OSError as error:
        desk.hold(f"no room for another launch: {error.strerror}")
        return "wait"
    except SweepError as error:
        if error.exit_code != INTERNAL:
            raise
        desk.hold(str(error))
        return "wait"
    desk.held_for = ""
    desk.pending.take()
    desk.last_launch = now
    desk.say(voice.launched(desk.frozen, job, number))
    return f"launch {job.index} {number}"


def rehearse(sweep: SweepDir, frozen: Frozen, index: int, project: Path) -> None:
    """Write what the runner needs for cell ``index`` into the place of its rehearsal, and launch nothing."""
    where = sweep.rehearsal(index)
    where.path.mkdir(parents=True, exist_ok=True)
    job = frozen.jobs[index]
    sweep_id = sweep.sweep_id.read_text().strip()
    RUNNERS[frozen.sweep["runner"]].prepare(_briefed(frozen, job, 1, sweep_id), where, project)


def _admit(desk: Desk, job: Job, number: int, where: AttemptDir) -> None:
    sweep_id = desk.book.state.sweep_id or ""
    desk.runner.prepare(_briefed(desk.frozen, job, number, sweep_id), where, desk.project)
    event = {"event": "admitted", "cell": job.id, "index": job.index, "attempt": number}
    desk.book.record({**event, "reserved_usd": job.record["reservation_usd"]})


def _briefed(frozen: Frozen, job: Job, attempt: int, sweep_id: str) -> dict[str, object]:
    """Return a cell's record as a runner prepares an attempt from it."""
    sweep = {"sweep": frozen.name, "sweep_id": sweep_id, "sweep_size": len(frozen.jobs)}
    return {**job.record, **sweep, "attempt": attempt}


def _make(where: AttemptDir) -> None:
    """Make an attempt's directory. Raises OSError, also where the disk is all but full."""
    for path in (where.path.parent, where.path):
        with suppress(FileExistsError):
            path.mkdir()  # one level at a time: 'parents' tries the lowest first, in vain
    found = os.statvfs(where.path)
    if found.f_bavail * found.f_frsize < _ROOM:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
