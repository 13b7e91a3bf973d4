"""A driver's plan, journal and bounds go in; what this one driver process knows beside them is kept here."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from sweeptool.errors import INTERNAL, SweepError
from sweeptool.frozen import Frozen, Job
from sweeptool.ledger import voice
from sweeptool.ledger.admission import Rules, refused
from sweeptool.ledger.attempt import Attempt
from sweeptool.ledger.book import Book
from sweeptool.ledger.pending import Pending
from sweeptool.runners.base import Runner
from sweeptool.spec.model import Retry
from sweeptool.states import CANCELLED, INTERRUPTED, RUNNING


@dataclass(slots=True)
class Desk:
    """One driver process: its own queue, its adopted shards, its signal. Times are seconds of a monotonic clock."""

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
    others: dict[tuple[str, int], tuple[float, bool]] = field(default_factory=dict)  # -> when looked for, was it over
    left: set[tuple[str, int]] = field(default_factory=set)  # to the drivers that they have, when a signal came
    unsettled: list[Attempt] = field(default_factory=list)  # ended, not yet on the disk
    signal: int = 0
    fatal: int = 0  # the exit code of an error that no cell caused
    harder: bool = False  # the driver has sent signals that it did not ask about
    asking: list[tuple[str, int]] = field(default_factory=list)  # whom the driver stops before its next question
    told: bool = False  # the shards know of a cancellation
    last_launch: float = float("-inf")
    held_for: str = ""

    def answers_for(self, cell: str) -> bool:
        """Say whether a cell is this driver's to launch, by its id."""
        return cell in self.jobs if self.whole else any(job.id == cell for job in self.scope)

    def own(self) -> int:
        """Return how many attempts in flight this driver answers for; all of them, or its one cell's.

        When a signal has come, those that ended and found no room on the disk are left to the next driver.
        """
        running = self.book.state.running
        own = len(running) if self.whole else sum(self.answers_for(key[0]) for key in running if key not in self.left)
        return own - len(self.unsettled) if self.signal else own

    def missing(self, job: Job) -> bool:
        """Say whether a cell still has to be launched."""
        last = self.book.state.last(job.id)
        return last is None or (last.state != RUNNING and not self.book.state.succeeded(job.id))

    def requeue(self) -> None:
        """Queue what a cancellation stopped, now that it was taken back."""
        queued = self.pending.indexes()
        for job in self.scope:
            last = self.book.state.last(job.id)
            stopped = last is not None and last.state in (CANCELLED, INTERRUPTED)
            if stopped and job.index not in queued and self.missing(job):
                self.pending.put(job.index, 0)

    def hold(self, why: str, job: Job | None = None) -> None:
        """Say once why nothing is launched, and keep the numbers of a refusal of ``job`` in the journal."""
        if not why or why == self.held_for:
            return
        self.held_for = why
        self.say(voice.held(why))
        if job is not None and refused(self.book.state, self.rules, job):
            self.quietly({"event": "refused", "cell": job.id, "index": job.index, "why": why})

    def fail(self, error: SweepError | OSError) -> None:
        """Say what no cell caused and nothing can be launched after."""
        if not isinstance(error, SweepError):
            error = SweepError(str(error), exit_code=INTERNAL)
        text = "\n".join(f"error: {problem}" for problem in error.problems)
        if text != self.held_for:
            self.say(text)
        self.held_for = text
        self.fatal = error.exit_code

    def quietly(self, *events: dict[str, object]) -> bool:
        """Record what is good to know but not needed for resuming; False where a full disk has lost it."""
        try:
            self.book.record(*events)
        except SweepError as error:
            self.say(voice.held(str(error)))
            return False
        return True
