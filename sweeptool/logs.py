"""A sweep and a cell go in; the output of one of its attempts comes out, as it grows if asked."""

from __future__ import annotations

import time
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from sweeptool import frozen
from sweeptool.errors import Problem, SweepError
from sweeptool.layout import AttemptDir, SweepDir
from sweeptool.ledger import state as ledger

_EVERY = 0.2  # seconds between two looks at a log that grows
_BLOCK = 1 << 16


@dataclass(frozen=True, slots=True)
class Followed:
    """The attempt whose output is meant."""

    attempt: AttemptDir


def find(sweep: SweepDir, cell: str, number: int | None) -> Followed:
    """Return the attempt ``number`` (None: the newest) of a cell known by index, name or id.

    Raises SweepError where there is no such cell, or it was not launched yet.
    """
    plan = frozen.read(sweep.plan)
    job = next((job for job in plan.jobs if cell in (str(job.index), job.name, job.id)), None)
    if job is None:
        last = len(plan.jobs) - 1
        raise SweepError(
            Problem(f"no cell '{cell}' in {plan.name}", remedy=f"an index from 0 to {last}, a name or an id")
        )
    attempts = ledger.load(sweep).cells.get(job.id, [])
    numbers = [attempt.number for attempt in attempts]
    if not numbers:
        raise SweepError(Problem(f"cell {job.index} of {plan.name} was not launched yet"))
    if number is not None and number not in numbers:
        raise SweepError(
            Problem(f"cell {job.index} has no attempt {number}", remedy=f"it has {', '.join(map(str, numbers))}")
        )
    return Followed(sweep.attempt(job.id, number or numbers[-1]))


def copy(found: Followed, out: BinaryIO, err: BinaryIO, *, follow: bool) -> None:
    """Write an attempt's stdout to ``out`` and its stderr to ``err``; with ``follow`` until it ends."""
    offsets = {found.attempt.stdout: 0, found.attempt.stderr: 0}
    while True:
        ended = found.attempt.exit.exists()
        for path, stream in ((found.attempt.stdout, out), (found.attempt.stderr, err)):
            offsets[path] = _rest(path, offsets[path], stream)
        if not follow or ended:
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
