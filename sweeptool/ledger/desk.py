"""A driver's questions go in one by one (next, settle, signal); what it shall do comes out. The ledger's one brain."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

from sweeptool.errors import FAILED, INTERNAL, SweepError
from sweeptool.frozen import Frozen, Job
from sweeptool.layout import AttemptDir, SweepDir
from sweeptool.ledger import liveness, settlement, spacing, voice
from sweeptool.ledger.admission import End, Interrupt, Launch, Rules, Wait, decide, refused
from sweeptool.ledger.book import Book
from sweeptool.ledger.pending import Pending
from sweeptool.ledger.state import FAILED as CELL_FAILED
from sweeptool.ledger.state import LOST, RUNNING, Attempt, settled_event
from sweeptool.runners import RUNNERS
from sweeptool.runners.base import Runner
from sweeptool.spec.model import Retry

_ROOM = 64 * 1024  # bytes that must be free before a launch
_LOSSES = 3  # launches of one cell by one driver, where each is lost through no fault of the cell
_GRACE = 900.0  # seconds beyond its time limit for which another host's attempt is believed to clean up
_LOOK = 2.0  # seconds between two looks for the processes of an adopted attempt


@dataclass(slots=True)
class Desk:
    """What one driver process knows beside the journal: its own queue, its adopted shards, its signal."""

    book: Book
    frozen: Frozen
    runner: Runner
    project: Path
    rules: Rules
    retry: Retry
    say: Callable[[str], None]
    launch_delay: float = 0
    whole: bool = True  # False: just one cell, called by make, Slurm or parallel
    scope: Sequence[Job] = ()  # the cells that this driver is answerable for
    pending: Pending = field(default_factory=Pending)
    jobs: dict[str, Job] = field(default_factory=dict)
    adopted: dict[tuple[str, int], float] = field(default_factory=dict)  # attempt -> when it was last looked for
    unsettled: list[tuple[Attempt, int | None]] = field(default_factory=list)  # ended, not yet on the disk
    signal: int = 0
    fatal: int = 0  # the exit code of an error that no cell caused
    told: bool = False
    last_launch: float = float("-inf")
    held_for: str = ""

    def take_over(self, only: Iterable[int] | None = None) -> None:
        """Sort out what earlier drivers left, then queue what still has to run (``only``: just these indexes)."""
        self.jobs = {job.id: job for job in self.frozen.jobs}
        indexes = list(range(len(self.frozen.jobs)) if only is None else only)
        self.whole = only is None
        self.scope = [self.frozen.jobs[index] for index in indexes]
        mine = {job.id for job in self.scope}
        for attempt in list(self.book.state.running.values()):
            if only is None or attempt.cell in mine:
                self._meet(attempt)
        self.pending = Pending.of(index for index in indexes if self._missing(self.frozen.jobs[index]))

    def next(self, *, room: bool) -> str:
        """Answer ``launch INDEX ATTEMPT``, ``wait``, ``interrupt`` or ``end CODE``; ``room``: a slot is free."""
        self._settle_adopted()
        self._settle_late()
        state = self.book.state
        now = time.monotonic()
        if self.fatal:
            return "wait" if self._own() else f"end {self.fatal}"
        with self.book.writing():
            index = self.pending.head(now)
            job = None if index is None else self.frozen.jobs[index]
            decision = decide(state, self.rules, job, self._own(), signal=self.signal, told=self.told)
            if isinstance(decision, Interrupt):
                self.told = True
                return "interrupt"
            if isinstance(decision, End) and (self.unsettled or (not decision.why and self.pending)):
                return "wait"
            if isinstance(decision, End):
                return self._end(decision)
            if isinstance(decision, Wait):
                self._hold(decision.why, job)
                return "wait"
            if (
                not isinstance(decision, Launch)
                or job is None
                or not room
                or now < self.last_launch + self.launch_delay
            ):
                return "wait"
            return self._launch(job, now)

    def settle(self, index: int, number: int, status: int) -> str:
        """Take note that the shard of an attempt ended with ``status``.

        The answer is ``ok``, or ``adopted GROUP...`` where only the shard was killed and its runner goes on.
        """
        attempt = self.book.state.attempt(self.frozen.jobs[index].id, number)
        if attempt is not None and attempt.state == RUNNING:
            self._ended(attempt, status)
        if attempt is None or (attempt.cell, number) not in self.adopted:
            return "ok"
        groups = liveness.groups(self.book.where(attempt), self.book.marker(attempt))
        return " ".join(["adopted", *map(str, groups)])

    def groups(self) -> list[int]:
        """Return the process groups of the adopted attempts on this host."""
        running = (self.book.state.running[key] for key in self.adopted)
        return [
            group
            for attempt in running
            for group in liveness.groups(self.book.where(attempt), self.book.marker(attempt))
        ]

    def interrupt(self, name: str) -> str:
        """Take note that the driver got the signal ``name``: nothing more is launched."""
        self.signal = self.signal or signal.Signals[f"SIG{name}"].value
        with self.book.writing():
            self._quietly({"event": "interrupted", "signal": name})
        return "ok"

    def news(self) -> bool:
        """Say whether something happened that the driver should ask about: a request, an adopted shard's end."""
        size = self.book.sweep.ledger.stat().st_size if self.book.sweep.ledger.exists() else 0
        return size != self.book.reader.offset or any(
            self.book.sweep.attempt(*key).exit.exists() for key in self.adopted
        )

    # ---- launching

    def _launch(self, job: Job, now: float) -> str:
        last = self.book.state.last(job.id)
        number = last.number + 1 if last else 1
        where = self.book.sweep.attempt(job.id, number)
        event = {"event": "admitted", "cell": job.id, "index": job.index, "attempt": number}
        event["reserved_usd"] = job.record["reservation_usd"]
        try:
            where.path.mkdir(parents=True, exist_ok=True)
            _room(where.path)
            if self.runner.spaced:
                with spacing.turn(self.project) as turn:
                    if not spacing.clear(turn, time.time()):
                        return "wait"
                    self._admit(job, number, where, event)
                    spacing.record(turn, where, time.time())
            else:
                self._admit(job, number, where, event)
        except OSError as error:
            self._hold(f"no room for another launch: {error.strerror}", None)
            return "wait"
        except SweepError as error:
            if error.exit_code != INTERNAL:
                raise
            self._hold(str(error), None)
            return "wait"
        self.held_for = ""
        self.pending.take()
        self.last_launch = now
        self.say(voice.launched(self.frozen, job, number))
        return f"launch {job.index} {number}"

    def _admit(self, job: Job, number: int, where: AttemptDir, event: dict[str, object]) -> None:
        self.runner.prepare(briefed(self.frozen, job, number, self.book.state.sweep_id or ""), where, self.project)
        self.book.record(event)

    def _hold(self, why: str, job: Job | None) -> None:
        """Say once why nothing is launched, and keep the numbers of a refusal in the journal."""
        if not why or why == self.held_for:
            return
        self.held_for = why
        self.say(voice.held(why))
        if job is not None and refused(self.book.state, self.rules, job):
            self._quietly({"event": "refused", "cell": job.id, "index": job.index, "why": why})

    def _end(self, decision: End) -> str:
        state = self.book.state
        code = decision.code
        if not decision.why:
            code = 0 if all(state.succeeded(job.id) for job in self.scope) else FAILED
        if decision.why == "budget" and (index := self.pending.head(time.monotonic())) is not None:
            self._hold(refused(state, self.rules, self.frozen.jobs[index]), self.frozen.jobs[index])
        stopped: list[dict[str, object]] = [{"event": "stopped", "why": decision.why}] if decision.why else []
        if self.whole:
            self._quietly(*stopped, {"event": "closed", "exit_code": code})
        return f"end {code}"

    # ---- settling

    def _own(self) -> int:
        """Return how many attempts in flight this driver answers for."""
        running = self.book.state.running
        if self.whole:
            return len(running)
        mine = {job.id for job in self.scope}
        return sum(cell in mine for cell, _ in running)

    def _missing(self, job: Job) -> bool:
        last = self.book.state.last(job.id)
        return last is None or (last.state != RUNNING and not self.book.state.succeeded(job.id))

    def _meet(self, attempt: Attempt) -> None:
        """Adopt an attempt that still runs, settle one that does not."""
        where = self.book.where(attempt)
        found = liveness.DEAD if where.exit.exists() else liveness.look(where, self.book.marker(attempt))
        if found in (liveness.ALIVE, liveness.REMOTE):
            self.adopted[attempt.cell, attempt.number] = time.monotonic()
            self.say(voice.adopted(attempt, found))
        else:
            self._ended(attempt, None)

    def _settle_adopted(self) -> None:
        now = time.monotonic()
        for key, looked in list(self.adopted.items()):
            attempt = self.book.state.running.get(key)
            if attempt is None:
                del self.adopted[key]
                continue
            where = self.book.where(attempt)
            if where.exit.exists() or (now - looked > _LOOK and self._gone(attempt, where)):
                del self.adopted[key]
                self._ended(attempt, None)

    def _gone(self, attempt: Attempt, where: AttemptDir) -> bool:
        self.adopted[attempt.cell, attempt.number] = time.monotonic()
        found = liveness.look(where, self.book.marker(attempt))
        if found == liveness.REMOTE:
            return _overdue(attempt, self.jobs.get(attempt.cell))
        return found != liveness.ALIVE

    def _settle_late(self) -> None:
        waiting, self.unsettled = self.unsettled, []
        for attempt, status in waiting:
            self._ended(attempt, status)

    def _ended(self, attempt: Attempt, status: int | None) -> None:
        where = self.book.where(attempt)
        if status is not None and not where.exit.exists():
            if liveness.look(where, self.book.marker(attempt)) == liveness.ALIVE:
                self.adopted[attempt.cell, attempt.number] = time.monotonic()  # its shard was killed, it was not
                self.say(voice.adopted(attempt, liveness.ALIVE))
                return
        job = self.jobs.get(attempt.cell) or self.frozen.orphan(attempt.cell, attempt.index)
        with self.book.writing() as state:
            if attempt.state != RUNNING:
                return
            found = settlement.settle(self.frozen, self.runner, state, attempt, job, where, self.project)
            events = [settled_event(attempt, found.fields)]
            if found.collision is not None:
                other = found.collision
                events.append({"event": "collided", "cell": other.cell, "attempt": other.number, "index": other.index})
            again = self._again(attempt, found)
            if again is not None:
                events.append({"event": "retried", "cell": job.id, "index": job.index, "after_seconds": again})
            try:
                self.book.record(*events)
            except SweepError as error:
                self.unsettled.append((attempt, status))
                self._hold(str(error), None)
                return
        if again is not None and attempt.cell in self.jobs:
            self.pending.put(self.jobs[attempt.cell].index, time.monotonic() + again)
        self.say(voice.settled(self.frozen, self.book.state, attempt, job, again))

    def _again(self, attempt: Attempt, found: settlement.Settlement) -> float | None:
        """Return after how many seconds the cell is tried again, None where it is not."""
        state, reason = found.fields["state"], found.fields["reason"]
        if state == LOST or reason in ("not_started", "collision"):
            launches = self.book.state.launches.get(attempt.cell, 0)
            return 0 if launches < max(self.retry.max_attempts, _LOSSES) else None
        wanted = found.fields["transient"] if self.retry.on is None else named(reason, self.retry.on)
        tries = self.book.state.tries.get(attempt.cell, 0)
        if state != CELL_FAILED or found.fields["halt"] or not wanted or tries >= self.retry.max_attempts:
            return None
        return self.retry.delay

    def _quietly(self, *events: dict[str, object]) -> None:
        """Record what is good to know but not needed for resuming; a full disk may lose it."""
        try:
            self.book.record(*events)
        except SweepError as error:
            self.say(voice.held(str(error)))


def named(reason: str, words: Sequence[str]) -> bool:
    """Say whether ``retry.on`` names ``reason``: itself, its family (``ssh`` for ``ssh_hang``) or all (``*``)."""
    return any(word in ("*", reason) or reason.startswith(f"{word}_") for word in words)


def _room(path: Path) -> None:
    found = os.statvfs(path)
    if found.f_bavail * found.f_frsize < _ROOM:
        raise OSError(28, "No space left on device")


def _overdue(attempt: Attempt, job: Job | None) -> bool:
    """Say whether an attempt on another host has had its time limit and more; without a limit it never has."""
    if job is None or job.max_runtime is None:
        return False
    age = (datetime.now(UTC) - datetime.fromisoformat(attempt.admitted_at)).total_seconds()
    return age > job.max_runtime + _GRACE


def rehearse(sweep: SweepDir, frozen: Frozen, index: int, project: Path) -> None:
    """Write what the runner needs for cell ``index`` into ``validate/<index>`` of the sweep, and launch nothing."""
    where = AttemptDir(sweep.path / "validate" / str(index))
    where.path.mkdir(parents=True, exist_ok=True)
    job = frozen.jobs[index]
    RUNNERS[frozen.sweep["runner"]].prepare(briefed(frozen, job, 1, _sweep_id(sweep)), where, project)


def briefed(frozen: Frozen, job: Job, attempt: int, sweep_id: str) -> dict[str, object]:
    """Return a cell's record as a runner prepares an attempt from it."""
    sweep = {"sweep": frozen.name, "sweep_id": sweep_id, "sweep_size": len(frozen.jobs)}
    return {**job.record, **sweep, "attempt": attempt}


def _sweep_id(sweep: SweepDir) -> str:
    return sweep.sweep_id.read_text().strip()
