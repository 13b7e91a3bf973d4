"""A sweep and a cell go in; the output of one of its attempts comes out, as it grows if asked."""

from __future__ import annotations

import time
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from sweeptool import frozen
from sweeptool.errors import Problem, SweepError
from sweeptool.layout import SweepDir
from sweeptool.ledger import hold, liveness
from sweeptool.ledger.attempt import Attempt
from sweeptool.ledger.book import Book
from sweeptool.states import RUNNING

_EVERY = 0.2  # seconds between two looks at a log that grows
_BLOCK = 1 << 16


@dataclass(frozen=True, slots=True)
class Output:
    """One attempt's output: its files, and the sweep whose ledger says when it ended."""

    book: Book
    attempt: Attempt

    @property
    def ended(self) -> bool:
        """Whether nothing more will be written, be it that nobody is left to say so."""
        self.book.refresh()
        where = self.book.where(self.attempt)
        if self.attempt.state != RUNNING or where.ended:
            return True
        return hold.driving(self.book.sweep) is None and liveness.over(where, self.book.marker(self.attempt))


def find(sweep: SweepDir, cell: str, number: int | None, *, wait: bool = False) -> Output:
    """Return the attempt ``number`` (None: the newest) of a cell known by index, name or id.

    A cell of an earlier plan is known by its id. With ``wait`` an attempt that was not launched yet is waited for
    while a driver runs. Raises SweepError where there is no such cell, or no such attempt.
    """
    plan = frozen.read(sweep.plan)
    book = Book.open(sweep)
    known = [job.id for job in plan.jobs if cell in (str(job.index), job.name, job.id)]
    if not known and cell not in book.state.cells:
        last = len(plan.jobs) - 1
        remedy = f"an index from 0 to {last}, a name or an id" if last else "there is just 0"
        raise SweepError(Problem(f"no cell '{cell}' in {plan.name}", remedy=remedy))
    one = known[0] if known else cell
    if wait:
        _await(book, one, number)
    attempts = book.state.cells.get(one, [])
    if not attempts:
        raise SweepError(Problem(f"cell {cell} of {plan.name} was not launched yet"))
    chosen = [attempt for attempt in attempts if number in (None, attempt.number)]
    if not chosen:
        there = ", ".join(str(attempt.number) for attempt in attempts)
        raise SweepError(Problem(f"cell {cell} has no attempt {number}", remedy=f"it has {there}"))
    return Output(book, chosen[-1])


def _await(book: Book, cell: str, number: int | None) -> None:
    """Wait until a cell has that attempt, or no driver is left to launch it."""
    while not any(number in (None, attempt.number) for attempt in book.state.cells.get(cell, ())):
        driven = hold.driving(book.sweep) is not None  # before the look, so that nothing is missed
        book.refresh()
        if not driven:
            return
        time.sleep(_EVERY)


def copy(found: Output, out: BinaryIO, err: BinaryIO, *, follow: bool) -> None:
    """Write an attempt's stdout to ``out`` and its stderr to ``err``; with ``follow`` until it ends."""
    where = found.book.where(found.attempt)
    offsets = {where.stdout: 0, where.stderr: 0}
    while True:
        ended = not follow or found.ended  # before the last look, so that nothing is missed
        for path, stream in ((where.stdout, out), (where.stderr, err)):
            offsets[path] = _rest(path, offsets[path], stream)
        if ended:
            return
        time.sleep(_EVERY)


def _rest(path: Path, offset: int, stream: BinaryIO) -> int:
    try:
        with path.open("rb") as file:
            file.seek(offset)
            while block := file.read(_BLOCK):
                stream.write(block)
                offset += len(block)
            stream.flush()
    except FileNotFoundError:
        pass  # not launched far enough to have it
    return offset
