"""A sweep directory goes in; its journal with one writer at a time, and the state that follows it, come out."""

from __future__ import annotations

import fcntl
import os
import secrets
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from sweeptool import files, money
from sweeptool.errors import Problem, SweepError
from sweeptool.frozen import Frozen
from sweeptool.layout import AttemptDir, SweepDir
from sweeptool.ledger import journal, liveness
from sweeptool.ledger.attempt import Attempt
from sweeptool.ledger.journal import Reader
from sweeptool.ledger.state import State


@dataclass(slots=True)
class Book:
    """The journal of one sweep, open. Every change happens inside ``writing``."""

    sweep: SweepDir
    reader: Reader
    state: State = field(default_factory=State)
    sync: bool = False
    lock: Path = field(init=False)

    def __post_init__(self) -> None:
        self.lock = self.sweep.lock  # once: paths are a good part of what an event costs

    @classmethod
    def open(cls, sweep: SweepDir, *, sync: bool = False) -> Book:
        book = cls(sweep, Reader(sweep.ledger), sync=sync)
        book.refresh()
        return book

    @contextmanager
    def writing(self) -> Iterator[State]:
        """Hold the journal, up to date, until the block ends; other writers wait."""
        with _locked(self.lock):
            self.refresh()
            yield self.state

    def refresh(self) -> None:
        """Fold in what was appended since, by whomever."""
        for event in self.reader.new():
            self.state.apply(event)

    def record(self, *events: Mapping[str, Any]) -> None:
        """Append events, inside ``writing``. Raises SweepError (exit 70) where there is no room; nothing changed then."""
        now = journal.stamp()
        stamped = [{"ts_utc": now, **event} for event in events]
        before, after = journal.append(self.reader.path, stamped, sync=self.sync)
        if self.reader.offset != before:  # a torn line stands before ours
            self.refresh()
            return
        self.reader.skip(len(stamped), after)  # no need to read what we have just written
        for event in stamped:
            self.state.apply(event)

    def where(self, attempt: Attempt) -> AttemptDir:
        return self.sweep.attempt(attempt.cell, attempt.number)

    def marker(self, attempt: Attempt) -> str:
        """Return what SWEEPTOOL_ATTEMPT holds in every process of ``attempt``."""
        return self.state.marker(attempt)

    def stopping(self, event: Mapping[str, Any]) -> dict[str, Any]:
        """Return an event that sends signals, with the attempts that none will reach: they ended, though unseen."""
        running = self.state.running.values()
        unseen = [[one.cell, one.number] for one in running if liveness.unseen(self.where(one), self.marker(one))]
        return {**event, "unseen": unseen}

    def check_cap(self, cap: int) -> None:
        """Raise SweepError where ``cap`` is below what is spent and reserved already."""
        committed = self.state.committed
        if cap < committed:
            raise SweepError(
                Problem(
                    f"a cap of {money.dollars(cap)} is below the {money.dollars(committed)} already spent and reserved",
                    remedy=f"at least {money.text(committed)}",
                )
            )

    def raise_cap(self, cap: int) -> None:
        """Set the fleet's cap, inside ``writing``. Raises like ``check_cap``."""
        self.check_cap(cap)
        if cap != self.state.cap:
            self.record(
                {"event": "raised", "max_cost_usd": money.text(cap), "was_usd": money.text_or_none(self.state.cap)}
            )


def amount(text: str) -> int:
    """Return the micro-dollars that ``--max-cost-usd`` gives. Raises SweepError for text that is no amount."""
    try:
        return money.parse(text)
    except ValueError as error:
        raise SweepError(Problem(str(error), path="--max-cost-usd")) from error


def install(sweep: SweepDir, driver: Path, plan: Frozen, lines: bytes) -> None:
    """Keep a driver in its sweep directory, with the plan that is in it; ``lines`` is that plan's text.

    Raises SweepError where the directory cannot be written.
    """
    try:
        sweep.cells.mkdir(parents=True, exist_ok=True)
        with _locked(sweep.lock):
            files.replace(sweep.plan, lines)
            if not (sweep.driver.exists() and sweep.driver.samefile(driver)):
                files.replace(sweep.driver, driver.read_bytes())
            if not sweep.sweep_id.exists():
                files.replace(sweep.sweep_id, (_new_id(plan.name, sweep) + "\n").encode())
            journal.append(sweep.ledger, [], sync=False)
    except OSError as error:
        raise files.refused(error, error.filename or sweep.path) from error


@contextmanager
def _locked(path: Path) -> Iterator[None]:
    handle = os.open(path, os.O_RDWR | os.O_CREAT, 0o644)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX)
        yield
    finally:
        os.close(handle)


def _new_id(name: str, sweep: SweepDir) -> str:
    """Return ``<name>-<YYYYMMDD>-<6 digits>``, like no other sweep's here."""
    taken = {path.read_text().strip() for path in sweep.path.parent.glob(f"*/{sweep.sweep_id.name}")}
    while True:
        found = f"{name}-{datetime.now(UTC):%Y%m%d}-{secrets.randbelow(10**6):06d}"
        if found not in taken:
            return found
