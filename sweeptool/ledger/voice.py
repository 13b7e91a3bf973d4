"""What the ledger did goes in; one line a person can read at night comes out."""

from __future__ import annotations

from sweeptool import money
from sweeptool.frozen import Frozen, Job
from sweeptool.ledger.attempt import Attempt
from sweeptool.ledger.liveness import REMOTE
from sweeptool.ledger.state import State
from sweeptool.states import CANCELLED, FAILED, INTERRUPTED, LOST, SUCCEEDED
from sweeptool.text import counted, one_line

_WORDS = {SUCCEEDED: "ok", FAILED: "FAILED", LOST: "LOST", INTERRUPTED: "stopped", CANCELLED: "stopped"}  # seven wide


def begun(frozen: Frozen, pending: int, adopted: int, request: str | None = None) -> str:
    """Return how many cells there are, how many of them are done already, and what keeps the others waiting."""
    size = len(frozen.jobs)
    if not pending and not adopted:
        return f"sweep   {frozen.name}: {_all(size)} done, nothing to launch"
    done = size - pending - adopted
    kept = f", {done} done already" if done else ""
    left = f"{pending} left, none launched: the sweep is {request}" if request else f"{pending} to launch"
    return f"sweep   {frozen.name}: {counted(size, 'cell')}{kept}, {left}"


def outdated(spec: str) -> str:
    """Return that the spec says something else by now."""
    return f"note    {spec} was changed since this driver was rendered from it; to run the change, render it again"


def launched(frozen: Frozen, job: Job, number: int) -> str:
    """Return ``launch  3  batch-size-3  A10 BATCH_SIZE=32`` with the attempt where it is not the first."""
    again = f"  (attempt {number})" if number > 1 else ""
    return one_line(f"launch  {_cell(frozen, job)}{again}")


def settled(frozen: Frozen, state: State, attempt: Attempt, job: Job, again: float | None) -> str:
    """Return how an attempt ended, what it cost and where the sweep stands."""
    parts = [f"{_WORDS.get(attempt.state, attempt.state):<7} {_cell(frozen, job)} "]
    if attempt.wall_seconds is not None:
        parts.append(f"{attempt.wall_seconds:.1f} s")
    parts.append(money.dollars(attempt.cost) if attempt.cost is not None else "cost unknown")
    if attempt.state != SUCCEEDED:
        parts.append(attempt.detail or attempt.reason)
    parts += list(attempt.flags)
    if again is not None:
        parts.append(f"again in {again:g} s" if again else "again")
    cap = f" of {money.dollars(state.cap)}" if state.cap is not None else ""
    done = sum(map(state.succeeded, (job.id for job in frozen.jobs))) if len(frozen.jobs) <= 100 else None
    where = f"{done}/{len(frozen.jobs)} done, " if done is not None else ""
    parts.append(f"[{where}spent {money.dollars(state.spent + state.unknown)}{cap}]")
    return one_line("  ".join(parts))


def adopted(attempt: Attempt, found: str) -> str:
    """Return that an attempt of an earlier driver goes on."""
    where = "on another host" if found == REMOTE else "still runs"
    return f"adopt   cell {attempt.index} attempt {attempt.number} {where}; waiting for it"


def asked(count: int) -> str:
    """Return that so many attempts of earlier drivers are stopped too, of which this driver's own count has none."""
    return f"stop    adopted cells asked to clean up: {count}"


def left(frozen: Frozen, job: Job, why: str) -> str:
    """Return why a single cell is left for later, and how to go on."""
    remedy = {
        "budget": "raise the cap: --max-cost-usd",
        "streak": "'driver.sh begin' starts afresh",
        "requested": f"'sweeptool resume {frozen.name}' takes it back",
    }.get(why)
    return one_line(f"left    {_cell(frozen, job)}  {why}" + (f" ({remedy})" if remedy else ""))


def held(why: str) -> str:
    """Return why nothing is launched at the moment."""
    return one_line(f"hold    {why}")


def gone(count: int, cost: int) -> str:
    """Return that the plan lost cells that the ledger knows; their cost still counts."""
    are = "is" if count == 1 else "are"
    still = money.dollars(cost)
    return f"note    {counted(count, 'cell')} of other plans {are} not in this one; their {still} still count"


def _all(size: int) -> str:
    return f"all {size} cells are" if size > 1 else "its one cell is"


def _cell(frozen: Frozen, job: Job) -> str:
    return f"{job.index:>{len(str(len(frozen.jobs)))}}  {job.name}  {job.label}"
