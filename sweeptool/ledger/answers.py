"""A driver's questions and reports go in one by one; what it shall do next comes out. The ledger's one brain."""

from __future__ import annotations

import signal
import time
from collections.abc import Callable, Iterable, Iterator
from datetime import UTC, datetime

from sweeptool.errors import FAILED, SweepError
from sweeptool.frozen import Job
from sweeptool.ledger import endings, launching, liveness, voice
from sweeptool.ledger.admission import End, Interrupt, Wait, decide, refused
from sweeptool.ledger.attempt import Attempt
from sweeptool.ledger.desk import Desk
from sweeptool.ledger.pending import Pending
from sweeptool.states import RUNNING

_LAUNCH = "launch "
_STOP = "stop"
_AT_ONCE = 16  # launches in an answer; a driver that is killed leaves as many that were admitted and never began


def take_over(desk: Desk, only: Iterable[int] | None = None) -> None:
    """Sort out what earlier drivers left, then queue what still has to run (``only``: just these indexes)."""
    desk.jobs = {job.id: job for job in desk.frozen.jobs}
    desk.whole = only is None
    desk.scope = desk.frozen.jobs if only is None else [desk.frozen.jobs[index] for index in only]
    mine = {job.id for job in desk.scope}
    for attempt in list(desk.book.state.running.values()):
        if desk.whole or attempt.cell in mine:
            endings.meet(desk, attempt)
    desk.pending = Pending.of(job.index for job in desk.scope if desk.missing(job))


def following(desk: Desk, *, slots: int) -> str:
    """Answer ``launch INDEX ATTEMPT...`` for up to ``slots`` cells, ``wait``, ``stop GROUP...`` or ``end CODE``.

    ``stop`` means a cancellation: the groups are those of the runners that lost their shard.
    """
    if desk.fatal:
        return failing(desk)
    endings.look_around(desk)
    with desk.book.writing():
        if desk.asking:
            desk.quietly({"event": "asked", "attempts": desk.asking})
            desk.asking = []
        answer = _decided(desk, room=slots > 0)
        if not answer.startswith(_LAUNCH):
            return answer
        return " ".join([answer, *_more(desk, min(slots, _AT_ONCE) - 1)])


def failing(desk: Desk) -> str:
    """Answer a driver whose ledger cannot go on: what was adopted is waited for, and left to the next driver.

    For its own shards the driver waits by itself.
    """
    endings.let_go(desk)
    return "wait" if desk.adopted else f"end {desk.fatal}"


def ended(desk: Desk, index: int, number: int) -> None:
    """Take note that the shard of an attempt ended."""
    attempt = desk.book.state.attempt(desk.frozen.jobs[index].id, number)
    if attempt is not None and attempt.state == RUNNING:
        endings.ended(desk, attempt)


def interrupted(desk: Desk, name: str, spoken: Callable[[], bool]) -> str:
    """Take note that the driver got the signal ``name``: nothing more is launched. Answer ``stop GROUP...``.

    ``spoken`` says whether the driver has said more since it asked, which is that it passed further signals on.
    """
    first = not desk.signal
    desk.signal = desk.signal or signal.Signals[f"SIG{name}"].value
    if not desk.whole and _another_drives(desk):
        return _stop(desk)
    try:
        with desk.book.writing() as state:
            event = desk.book.stopping({"event": "interrupted", "signal": name})
            if desk.harder or spoken():
                event["unseen"] = []  # what is over may have been stopped
            if not desk.whole:
                event["cell"] = desk.scope[0].id
            if not desk.quietly(event):
                state.apply(event)  # no room to write it down: we know it at least
    except (SweepError, OSError) as error:
        desk.fail(error)  # and yet what was adopted must hear of it
    answer = _stop(desk)
    if first and answer != _STOP:
        desk.say(voice.asked(sum(key in desk.adopted for key in desk.asking)))
    return answer


def _another_drives(desk: Desk) -> bool:
    """Leave a cell to the shard that runs it, where this one only waited: say whether that is so."""
    running = desk.book.state.running
    for key in [key for key in desk.adopted if key in running]:
        if liveness.driven(desk.book.where(running[key])):
            del desk.adopted[key]
            desk.left.add(key)
    return bool(desk.left)


def news(desk: Desk) -> bool:
    """Say whether something happened that the driver should ask about: a request, an adopted shard's end."""
    return desk.book.reader.behind() or any(desk.book.sweep.attempt(*key).ended for key in desk.adopted)


def _more(desk: Desk, slots: int) -> Iterator[str]:
    """Launch up to ``slots`` more cells; under the same lock nobody can ask to stop, and none of them is the last."""
    try:
        for _ in range(slots):
            answer = _decided(desk, room=True)
            if not answer.startswith(_LAUNCH):
                return
            yield answer.removeprefix(_LAUNCH)
    except (SweepError, OSError) as error:
        desk.fail(error)  # what is admitted already is launched all the same


def _decided(desk: Desk, *, room: bool) -> str:
    now = time.monotonic()
    if desk.told and desk.book.state.request is None:
        desk.told = False
        desk.requeue()
    job = _head(desk, now)
    decision = decide(desk.book.state, desk.rules, job, desk.own(), signal=desk.signal, told=desk.told)
    if isinstance(decision, Interrupt):
        desk.told = True
        return _stop(desk)
    if isinstance(decision, End):
        late = (desk.unsettled and not desk.signal) or (not decision.why and desk.pending)
        return "wait" if late else _end(desk, decision)
    if isinstance(decision, Wait):
        desk.hold(decision.why, job)
        return "wait"
    if job is None or not room or _too_soon(desk, now):
        return "wait"
    return launching.launch(desk, job, now)


def _head(desk: Desk, now: float) -> Job | None:
    """Return the next cell that is ready, None where none is. What another shard of it has begun is waited for."""
    index = desk.pending.head(now)
    if index is None:
        return None
    job = desk.frozen.jobs[index]
    if desk.whole or desk.missing(job):
        return job
    desk.pending.take()
    last = desk.book.state.last(job.id)
    if last is not None and last.state == RUNNING:
        endings.adopt(desk, last, liveness.ALIVE)
    return None


def _too_soon(desk: Desk, now: float) -> bool:
    """Say whether the last launch, this driver's or another shard's, was less than the launch delay ago."""
    if now < desk.last_launch + desk.launch_delay:
        return True
    if desk.whole or not desk.launch_delay or not desk.book.state.attempts:
        return False
    last = datetime.fromisoformat(desk.book.state.attempts[-1].admitted_at)
    return 0 <= (datetime.now(UTC) - last).total_seconds() < desk.launch_delay


def _stop(desk: Desk) -> str:
    """Return ``stop`` with the process groups of the adopted attempts on this host, as they are now.

    What somebody asked already is left to its clean-up, unless the user asked again.
    """
    groups: set[int] = set()
    desk.asking = []
    for key, attempt in desk.book.state.running.items():
        mine = key not in desk.adopted and desk.answers_for(attempt.cell)
        found = [] if mine or (attempt.asked and not desk.harder) else _groups(desk, attempt)
        groups.update(found)
        if (mine or found) and not attempt.asked:
            desk.asking.append(key)
    return " ".join([_STOP, *map(str, sorted(groups))])


def _groups(desk: Desk, attempt: Attempt) -> list[int]:
    where = desk.book.where(attempt)
    if (attempt.cell, attempt.number) not in desk.adopted or liveness.driven(where):
        return []  # another shard's driver interrupts it: once is enough
    return liveness.groups(where, desk.book.marker(attempt))


def _end(desk: Desk, decision: End) -> str:
    state = desk.book.state
    code, why = decision.code, decision.why
    done = all(state.succeeded(job.id) for job in desk.scope)
    if (done and why == "requested") or (not desk.pending and why == "streak"):
        why = ""  # it came to its end all the same
    if not why:
        code = 0 if done else FAILED
    if why == "budget" and (index := desk.pending.head(time.monotonic())) is not None:
        job = desk.frozen.jobs[index]
        desk.hold(refused(state, desk.rules, job), job)
    if desk.whole:
        stopped: list[dict[str, object]] = [{"event": "stopped", "why": why}] if why else []
        desk.quietly(*stopped, {"event": "closed", "exit_code": code})
    elif why not in ("", "interrupted") and not done:
        _leave(desk, why)
    return f"end {code}"


def _leave(desk: Desk, why: str) -> None:
    """Say why a single cell is not launched, and note once what stops the sweep."""
    desk.say(voice.left(desk.frozen, desk.scope[0], why))
    if why in ("budget", "streak") and desk.book.state.stopped != why:
        desk.quietly({"event": "stopped", "why": why})
