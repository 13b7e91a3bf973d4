"""A State and an event go in; the State that has heard of it comes out, changed in place: one function an event."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from decimal import Decimal
from typing import TYPE_CHECKING, Any

from sweeptool import money
from sweeptool.ledger.attempt import Attempt
from sweeptool.ledger.journal import Event
from sweeptool.states import CANCELLED, FAILED, INTERRUPTED, LEAKED, LOST, RUNNING

if TYPE_CHECKING:
    from sweeptool.ledger.state import State

_WISHES = {"Suspended": "suspended", "Cancelled": CANCELLED}
OF_AN_ATTEMPT = ("admitted", "settled")  # these know their attempt, and so whether they were heard before


def _opened(state: State, event: Event) -> None:
    state.sweep_id = str(event["sweep_id"])
    state.opened_at = event["ts_utc"]
    state.first_opened_at = state.first_opened_at or event["ts_utc"]
    state.closed_at = None
    plan_cap = _micro(event.get("max_cost_usd"))
    if plan_cap != state.plan_cap:
        state.cap = state.plan_cap = plan_cap
    state.tries.clear()
    state.launches.clear()
    state.suspects.clear()
    if event.get("state") != state.plan_state:
        state.plan_state = event.get("state")
        state.request = _WISHES.get(state.plan_state or "")
    state.streak = state.broken = 0
    state.halted = state.stopped = ""


def _admitted(state: State, event: Event) -> None:
    cell, number = str(event["cell"]), int(event["attempt"])
    if state.attempt(cell, number):
        state.oddities.append(f"attempt {number} of {cell} admitted twice")
        return
    attempt = Attempt(cell, int(event["index"]), number, _micro(event.get("reserved_usd")))
    attempt.admitted_at = event["ts_utc"]
    state.attempts.append(attempt)
    state.cells.setdefault(cell, []).append(attempt)
    state.running[cell, number] = attempt
    state.tries[cell] = state.tries.get(cell, 0) + 1
    state.launches[cell] = state.launches.get(cell, 0) + 1
    state.reserved += attempt.reserved or 0


def _settled(state: State, event: Event) -> None:
    cell, number = str(event["cell"]), int(event["attempt"])
    attempt = state.running.get((cell, number))
    if attempt is None:
        state.oddities.append(f"attempt {number} of {cell} settled twice or never admitted")
        return
    wall = event.get("wall_seconds")
    ended = {  # read before anything is changed: an event may be anything
        "state": str(event["state"]),
        "reason": _text(event.get("reason")) or "",
        "detail": _text(event.get("detail")) or "",
        "flags": tuple(map(str, event.get("flags") or ())),
        "exit_code": event.get("exit_code"),
        "failed": event.get("failed"),
        "run_dir": _text(event.get("run_dir")),
        "cost": _micro(event.get("cost_usd")),
        "wall_seconds": None if wall is None else Decimal(str(wall)),
        "units_per_second": event.get("units_per_second"),
        "settled_at": event["ts_utc"],
        "transient": bool(event.get("transient")),
    }
    for name, value in ended.items():
        setattr(attempt, name, value)
    del state.running[cell, number]
    state.reserved -= attempt.reserved or 0
    if attempt.cost is None:
        state.unknown += attempt.reserved or 0
        state.unknown_attempts += 1
    else:
        state.spent += attempt.cost
    if attempt.run_dir:
        state.run_dirs.setdefault(attempt.run_dir, attempt)
    if attempt.state in (LOST, INTERRUPTED, CANCELLED):
        state.tries[cell] = max(0, state.tries.get(cell, 0) - 1)  # no failure of the cell's
    elif attempt.state == FAILED:
        state.streak += 1
    else:
        state.broken = max(state.broken, state.streak)
        state.streak = 0
        state.suspects.clear()
    if event.get("suspect"):
        state.suspects.add(cell)
    if event.get("halt"):
        state.halted = attempt.reason


def _collided(state: State, event: Event) -> None:
    attempt = state.attempt(str(event["cell"]), int(event["attempt"]))
    if attempt is not None and attempt.state != RUNNING:
        attempt.state, attempt.reason = FAILED, "collision"


def _released(state: State, event: Event) -> None:
    attempt = state.attempt(str(event["cell"]), int(event["attempt"]))
    if attempt is not None:  # None: a pod that the ledger never heard of
        attempt.flags = tuple(flag for flag in attempt.flags if flag != LEAKED)


def _retried(state: State, event: Event) -> None:
    """Take back a failed attempt's part in the streak: what is tried again has not failed yet."""
    last = state.last(str(event["cell"]))
    if last is not None and last.state == FAILED:
        state.streak = max(0, state.streak - 1)


def _raised(state: State, event: Event) -> None:
    state.cap = _micro(event["max_cost_usd"])
    if state.stopped == "budget":
        state.stopped = ""


def _interrupted(state: State, event: Event) -> None:
    only = event.get("cell")  # a single shard's driver asked no other to stop
    _stopping(state, event, only)
    if only is None:
        state.stopped = "interrupted"


def _requested(state: State, event: Event) -> None:
    if event["event"] == CANCELLED:
        _stopping(state, event)
    state.request = event["event"]


def _stopping(state: State, event: Event, only: str | None = None) -> None:
    """Mark what a signal is about to reach; what was over by then, unseen, has ended by itself."""
    unseen = {(cell, number) for cell, number in event.get("unseen", ())}  # read before anything is changed
    for attempt in state.running.values():
        if only in (None, attempt.cell):
            attempt.unseen = attempt.unseen or (attempt.cell, attempt.number) in unseen
            attempt.interrupted = attempt.interrupted or not attempt.unseen


def _asked(state: State, event: Event) -> None:
    for cell, number in event["attempts"]:
        attempt = state.running.get((cell, number))
        if attempt is not None:
            attempt.asked = True


def _resumed(state: State, _event: Event) -> None:
    state.request = None


def _stopped(state: State, event: Event) -> None:
    state.stopped = str(event["why"])


def _closed(state: State, event: Event) -> None:
    state.closed_at = event["ts_utc"]


HANDLERS: Mapping[str, Callable[[State, Event], None]] = {
    "opened": _opened,
    "admitted": _admitted,
    "settled": _settled,
    "collided": _collided,
    "released": _released,
    "retried": _retried,
    "raised": _raised,
    "interrupted": _interrupted,
    "suspended": _requested,
    "cancelled": _requested,
    "asked": _asked,
    "resumed": _resumed,
    "stopped": _stopped,
    "closed": _closed,
}


def _text(value: Any) -> str | None:
    """Return what is text: a wrong word must not cost the event that has the cost."""
    return value if isinstance(value, str) else None


def _micro(value: Any) -> int | None:
    return None if value is None else money.parse(value)
