"""A sweep and a wish (suspend, resume, cancel) go in; it stands in the ledger, where drivers of any host see it."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable, Sequence
from contextlib import suppress

from sweeptool import frozen
from sweeptool.layout import SweepDir
from sweeptool.ledger import hold, liveness
from sweeptool.ledger.attempt import Attempt
from sweeptool.ledger.book import Book, amount
from sweeptool.states import CANCELLED

_PATIENCE = 120.0  # seconds that cancelled shards without a driver get to clean up


def suspend(sweep: SweepDir) -> str:
    """Let nothing more be launched until ``resume``; what runs goes on to its end. Return a word to the user."""
    _record(sweep, {"event": "suspended"})
    driver = hold.driving(sweep)
    if driver is None:
        return "suspended; no driver runs, the next one will launch nothing until 'sweeptool resume'"
    return f"suspended; {hold.named(driver)} will launch nothing more, and end with the running cells"


def cancel(sweep: SweepDir, say: Callable[[str], None]) -> str:
    """Let nothing more be launched and interrupt what runs. Return a word to the user."""
    _record(sweep, {"event": CANCELLED})
    driver = hold.driving(sweep)
    if driver is not None:
        return f"cancelled; {hold.named(driver)} will interrupt the running cells, and end"
    book = Book.open(sweep)
    running = list(book.state.running.values())
    if not running:
        return "cancelled; nothing was running"
    left = _interrupt(book, running, say)
    return (
        "cancelled" if not left else f"cancelled; {left} cells still clean up: 'sweeptool recover' shows what is left"
    )


def resume(sweep: SweepDir, cap: str | None) -> bool:
    """Take back suspend or cancel, and raise the cap; return whether a driver has to be started.

    Raises SweepError for an amount that is none, or is below what is spent and reserved.
    """
    book = Book.open(sweep)
    with book.writing() as state:
        if cap is not None:
            book.raise_cap(amount(cap))
        if state.request is not None:
            book.record({"event": "resumed"})
    return hold.driving(sweep) is None


def _record(sweep: SweepDir, event: dict[str, object]) -> None:
    frozen.read(sweep.plan)
    book = Book.open(sweep)
    with book.writing() as state:
        if state.request != event["event"]:
            book.record(book.stopping(event) if event["event"] == CANCELLED else event)


def _interrupt(book: Book, running: Sequence[Attempt], say: Callable[[str], None]) -> int:
    """Ask the shards that a dead driver left behind to clean up; return how many still do when patience ends."""
    asked = []
    for attempt in running:
        groups = _groups(book, attempt)
        if groups:
            what = "cleans up already" if attempt.asked else "asked to clean up"
            say(f"stop    cell {attempt.index} attempt {attempt.number}: {what}")
        for group in () if attempt.asked else groups:
            with suppress(ProcessLookupError, PermissionError):
                os.killpg(group, signal.SIGINT)
                asked.append((attempt.cell, attempt.number))
    if asked:
        with book.writing():
            book.record({"event": "asked", "attempts": asked})
    deadline = time.monotonic() + _PATIENCE
    left = list(running)
    while left and time.monotonic() < deadline:
        left = [attempt for attempt in left if _groups(book, attempt)]
        time.sleep(0.1)
    return len(left)


def _groups(book: Book, attempt: Attempt) -> list[int]:
    where = book.where(attempt)
    if where.ended:
        return []
    return liveness.groups(where, book.marker(attempt))
