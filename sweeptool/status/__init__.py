"""A sweep directory goes in; its phase, its cells, its cost and its best cells come out."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any

from sweeptool import frozen, money
from sweeptool.errors import FAILED as FAILED_CELLS
from sweeptool.errors import OVER_BUDGET, STOPPED, STREAK, Problem, SweepError
from sweeptool.frozen import Frozen, Job
from sweeptool.layout import SweepDir
from sweeptool.ledger import hold, liveness
from sweeptool.ledger import state as ledger
from sweeptool.ledger.attempt import Attempt
from sweeptool.ledger.state import State
from sweeptool.states import CANCELLED, FAILED, LOST, RUNNING, SUCCEEDED
from sweeptool.text import counted

_PHASES = {SUCCEEDED: "Succeeded", FAILED: "Failed", LOST: "Lost", RUNNING: "Running", CANCELLED: "Cancelled"}
_REASONS = {"budget": "MaxCostReached", "streak": "FailureStreak", "requested": "Requested"}
COMPLETE, BROKEN, UNFINISHED, ERROR = range(4)


@dataclass(frozen=True, slots=True)
class CellStatus:
    """One cell as it stands. ``cost`` is that of all its attempts in micro-dollars, None where one is unknown."""

    job: Job
    phase: str
    attempts: tuple[Attempt, ...]
    cost: int | None

    @property
    def last(self) -> Attempt | None:
        """The attempt that counts: the one that succeeded, else the newest."""
        done = [attempt for attempt in self.attempts if attempt.state == SUCCEEDED]
        return done[-1] if done else self.attempts[-1] if self.attempts else None


@dataclass(frozen=True, slots=True)
class Status:
    """A sweep as it stands; ``reason`` is empty where the phase says it all."""

    sweep: SweepDir
    plan: Frozen
    state: State
    phase: str
    reason: str
    cells: tuple[CellStatus, ...]
    watched: bool = False  # a driver runs it

    @property
    def named(self) -> str:
        """The phase with its reason, for people: ``Suspended (MaxCostReached)``."""
        return f"{self.phase} ({self.reason})" if self.reason else self.phase

    @property
    def done(self) -> int:
        return sum(cell.phase == "Succeeded" for cell in self.cells)

    @property
    def cap(self) -> int | None:
        """The cap that holds, in micro-dollars: the ledger's, which may have been raised, once a driver opened it."""
        return self.state.cap if self.state.opened_at else self.plan.max_cost

    @property
    def age(self) -> float | None:
        """Seconds since the first start, None where it was never started."""
        begun = self.state.first_opened_at
        return None if begun is None else (datetime.now(UTC) - datetime.fromisoformat(begun)).total_seconds()


def read(sweep: SweepDir, *, ending: bool = False) -> Status:
    """Return a sweep's status; ``ending``: its driver asks, and is over. Raises SweepError where its plan is missing."""
    plan = frozen.read(sweep.plan)
    state = ledger.load(sweep)
    watched = not ending and state.closed_at is None and driven(sweep)  # closed: it only says goodbye
    left = () if watched else unsettled(sweep, state)
    cells = tuple(_cell(job, state, left) for job in plan.jobs)
    phase, reason = _phase(cells, state, driven=watched, unsettled=bool(left))
    return Status(sweep, plan, state, phase, reason, cells, watched)


def every(found: Iterable[SweepDir]) -> tuple[list[Status], list[Problem]]:
    """Return the status of each sweep that has one, and what is wrong with the others."""
    statuses: list[Status] = []
    problems: list[Problem] = []
    for sweep in found:
        try:
            statuses.append(read(sweep))
        except SweepError as error:
            problems += error.problems
    return statuses, problems


def unsettled(sweep: SweepDir, state: State) -> list[tuple[str, int]]:
    """Return cell and number of each attempt that has ended, though the ledger, which nobody writes, has it running."""
    running = state.running.items()
    return [key for key, attempt in running if liveness.over(sweep.attempt(*key), state.marker(attempt))]


def unseen(left: int) -> str:
    """Return a sentence on that many attempts that ``unsettled`` names; empty for none."""
    them = "it" if left == 1 else "them"
    return (
        f"{counted(left, 'attempt')} ended when no driver watched; running the sweep again settles {them}"
        if left
        else ""
    )


def driven(sweep: SweepDir) -> bool:
    """Say whether a driver runs this sweep now, here or on another host."""
    return hold.driving(sweep) is not None


def best(status: Status) -> tuple[CellStatus | None, CellStatus | None]:
    """Return the cheapest and the fastest succeeded cell; ties go to the lowest index, unknown never wins."""
    done = [cell for cell in status.cells if cell.phase == "Succeeded"]
    priced = [cell for cell in done if cell.cost is not None]
    paced = [cell for cell in done if cell.last and cell.last.units_per_second is not None]
    cheapest = min(priced, key=lambda cell: (cell.cost or 0, cell.job.index), default=None)
    fastest = min(paced, key=lambda cell: (-_rate(cell), cell.job.index), default=None)
    return cheapest, fastest


def describe(status: Status) -> dict[str, Any]:
    """Return the status as ``status --json`` prints it."""
    cheapest, fastest = best(status)
    state = status.state
    return {
        "name": status.plan.name,
        "sweep_id": state.sweep_id,
        "phase": status.phase,
        "reason": status.reason or None,
        "cells": [_described(cell) for cell in status.cells],
        "best": {
            "byCost": cheapest.job.index if cheapest else None,
            "byThroughput": fastest.job.index if fastest else None,
        },
        "cost": {
            "totalUSD": money.text(state.spent),
            "reservedUSD": money.text(state.reserved),
            "unknownUSD": money.text(state.unknown),
            "limitUSD": money.text_or_none(status.cap),
        },
    }


def exit_code(status: Status) -> int:
    """Return what a driver that leaves the sweep like this exits with."""
    if status.phase == "Succeeded":
        return 0
    codes = {"MaxCostReached": OVER_BUDGET, "Requested": STOPPED, "FailureStreak": STREAK}
    return codes.get(status.reason, FAILED_CELLS)


def completeness(find: Callable[[], SweepDir]) -> tuple[int, str]:
    """Return COMPLETE, BROKEN (failed or cancelled), UNFINISHED or ERROR, the codes of ``--check-complete``, and why."""
    try:
        found = read(find())
    except (SweepError, OSError) as error:
        return ERROR, f"error: {error}"
    code = {"Succeeded": COMPLETE, "Failed": BROKEN, "Cancelled": BROKEN}.get(found.phase, UNFINISHED)
    return code, f"{found.plan.name}: {found.named}"


def _cell(job: Job, state: State, left: Collection[tuple[str, int]]) -> CellStatus:
    attempts = tuple(state.cells.get(job.id, ()))
    if any(attempt.state == SUCCEEDED for attempt in attempts):
        phase = "Succeeded"
    elif attempts and (job.id, attempts[-1].number) in left:
        phase = "Lost"  # until the next driver settles it
    elif attempts and attempts[-1].state in (RUNNING, FAILED, LOST):
        phase = _PHASES[attempts[-1].state]
    else:
        phase = "Cancelled" if state.request == CANCELLED else "Pending"
    costs = [attempt.cost for attempt in attempts if attempt.state != RUNNING]
    known = [cost for cost in costs if cost is not None]
    return CellStatus(job, phase, attempts, sum(known) if known and len(known) == len(costs) else None)


def _phase(cells: tuple[CellStatus, ...], state: State, *, driven: bool, unsettled: bool) -> tuple[str, str]:
    """Return phase and reason: the first of these that holds."""
    phases = {cell.phase for cell in cells}
    rules = (
        (phases == {"Succeeded"}, "Succeeded", ""),
        (driven or "Running" in phases, "Running", ""),
        (state.request == CANCELLED, "Cancelled", "Requested"),
        (state.request is not None, "Suspended", "Requested"),
        (unsettled, "Suspended", "Interrupted"),
        (state.stopped in ("budget", "streak"), "Suspended", _REASONS.get(state.stopped, "")),
        (phases <= {"Succeeded", "Failed", "Lost"}, "Failed", "CellsFailed"),
        (state.stopped in _REASONS, "Suspended", _REASONS.get(state.stopped, "")),
        (not state.attempts, "Pending", ""),
        (True, "Suspended", "Interrupted"),
    )
    return next((phase, reason) for holds, phase, reason in rules if holds)


def _rate(cell: CellStatus) -> Decimal:
    rate = cell.last.units_per_second if cell.last else None
    return Decimal(str(rate or 0))


def _described(cell: CellStatus) -> dict[str, Any]:
    record, last = cell.job.record, cell.last
    wall = last.wall_seconds if last else None
    return {
        "index": cell.job.index,
        "object": cell.job.name,
        "id": cell.job.id,
        "gpu": record["gpu"],
        "region": record["region"],
        "params": dict(cell.job.params),
        "repetition": record["repetition"],
        "phase": cell.phase,
        "costUSD": money.text_or_none(cell.cost),
        "wallSeconds": None if wall is None else float(wall),
        "unitsPerSecond": last.units_per_second if last else None,
        "attempts": len(cell.attempts),
        "run_dir": last.run_dir if last else None,
        "exit_code": last.exit_code if last else None,
        "failed": last.failed if last else None,
        "reason": (last.reason or None) if last else None,
    }
