"""An attempt that ended, or that an earlier driver left, goes in; it is settled in the journal, or adopted."""

from __future__ import annotations

import time
from datetime import UTC, datetime

from sweeptool.errors import SweepError
from sweeptool.frozen import Job, orphan
from sweeptool.layout import AttemptDir
from sweeptool.ledger import liveness, retrying, settlement, voice
from sweeptool.ledger.attempt import Attempt, settled_event
from sweeptool.ledger.desk import Desk
from sweeptool.ledger.settlement import Settlement
from sweeptool.states import RUNNING

_GRACE = 900.0  # seconds beyond its time limit for which another host's attempt is believed to clean up
_OTHERS = 3.0  # seconds between two looks at attempts that other drivers answer for
_OVER = (liveness.DEAD, liveness.UNSTARTED)
_LOOK = 2.0  # seconds between two looks for the processes of an adopted attempt


def meet(desk: Desk, attempt: Attempt) -> None:
    """Adopt an attempt of an earlier driver that still runs, settle one that does not."""
    where = desk.book.where(attempt)
    found = liveness.DEAD if where.ended else liveness.look(where, desk.book.marker(attempt))
    if found in (liveness.ALIVE, liveness.REMOTE):
        adopt(desk, attempt, found)
    else:
        settle(desk, attempt, where)


def adopt(desk: Desk, attempt: Attempt, found: str) -> None:
    """Wait for an attempt that something else than this driver started."""
    desk.adopted[attempt.cell, attempt.number] = time.monotonic()
    desk.say(voice.adopted(attempt, found))


def ended(desk: Desk, attempt: Attempt) -> None:
    """Settle an attempt whose shard ended; adopt it where only the shard was killed."""
    where = desk.book.where(attempt)
    if not where.ended and liveness.look(where, desk.book.marker(attempt)) == liveness.ALIVE:
        adopt(desk, attempt, liveness.ALIVE)
    else:
        settle(desk, attempt, where)


def look_around(desk: Desk) -> None:
    """Settle the adopted attempts that are over, and those that found no room on the disk before."""
    for attempt, where in let_go(desk):
        settle(desk, attempt, where)
    if not desk.whole:
        _look_at_others(desk, time.monotonic())
    waiting, desk.unsettled = desk.unsettled, []
    for attempt in waiting:
        settle(desk, attempt, desk.book.where(attempt))


def let_go(desk: Desk) -> list[tuple[Attempt, AttemptDir]]:
    """Wait no longer for adopted attempts that are over; return those that nobody has settled."""
    now, over = time.monotonic(), []
    for key, looked in list(desk.adopted.items()):
        attempt, where = desk.book.state.running.get(key), desk.book.sweep.attempt(*key)
        if attempt is None or where.ended or (now - looked > _LOOK and _gone(desk, attempt, where)):
            del desk.adopted[key]
            if attempt is not None:
                over.append((attempt, where))
    return over


def settle(desk: Desk, attempt: Attempt, where: AttemptDir) -> None:
    """Record what an attempt that is over was; queue its cell again where that is due."""
    job = desk.jobs.get(attempt.cell) or orphan(attempt.cell, attempt.index)
    with desk.book.writing() as state:
        if attempt.state != RUNNING:
            return
        found = settlement.settle(desk.frozen, desk.runner, state, attempt, job, where, desk.project)
        again = None if desk.signal else retrying.after(desk.retry, state, attempt, found.fields)
        try:
            desk.book.record(*_events(attempt, job, found, again))
        except SweepError as error:
            desk.unsettled.append(attempt)
            desk.hold(str(error))
            return
    if again is not None and desk.answers_for(attempt.cell):
        desk.pending.put(job.index, time.monotonic() + again)
    desk.say(voice.settled(desk.frozen, desk.book.state, attempt, job, again))


def _look_at_others(desk: Desk, now: float) -> None:
    """Settle other cells' attempts that are over and stay unsettled: whoever launched them is gone as well.

    Under make or parallel a single cell would wait for their money and their slots for ever.
    """
    for key, attempt in list(desk.book.state.running.items()):
        since, over = desk.others.setdefault(key, (now, False))
        if desk.answers_for(attempt.cell) or now - since < _OTHERS:
            continue
        where = desk.book.where(attempt)
        seen = where.ended or liveness.look(where, desk.book.marker(attempt)) in _OVER
        desk.others[key] = (now, seen)
        if seen and over:  # its own driver has had the time in between
            settle(desk, attempt, where)


def _events(attempt: Attempt, job: Job, found: Settlement, again: float | None) -> list[dict[str, object]]:
    events = [settled_event(attempt, found.fields)]
    if found.collision is not None:
        other = found.collision
        events.append({"event": "collided", "cell": other.cell, "attempt": other.number, "index": other.index})
    if again is not None:
        events.append({"event": "retried", "cell": job.id, "index": job.index, "after_seconds": again})
    return events


def _gone(desk: Desk, attempt: Attempt, where: AttemptDir) -> bool:
    desk.adopted[attempt.cell, attempt.number] = time.monotonic()
    found = liveness.look(where, desk.book.marker(attempt))
    if found == liveness.REMOTE:
        return _overdue(attempt, desk.jobs.get(attempt.cell))
    return found != liveness.ALIVE


def _overdue(attempt: Attempt, job: Job | None) -> bool:
    """Say whether an attempt on another host has had its time limit and more; without a limit it never has."""
    if job is None or job.max_runtime is None:
        return False
    age = (datetime.now(UTC) - datetime.fromisoformat(attempt.admitted_at)).total_seconds()
    return age > job.max_runtime + _GRACE
