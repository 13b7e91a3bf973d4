"""The journal's events go in one by one; what each attempt was, and what is spent and reserved, comes out."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any

from sweeptool import money
from sweeptool.layout import SweepDir
from sweeptool.ledger.journal import Event, Reader

RUNNING, SUCCEEDED, FAILED, LOST = "running", "succeeded", "failed", "lost"
INTERRUPTED, CANCELLED = "interrupted", "cancelled"
_WISHES = {"Suspended": "suspended", "Cancelled": CANCELLED}


@dataclass(slots=True)
class Attempt:
    """One launch of one cell. Money in micro-dollars; ``charged`` is what the budget counts for it."""

    cell: str
    index: int
    number: int
    reserved: int | None = None
    state: str = RUNNING
    reason: str = ""
    detail: str = ""
    flags: tuple[str, ...] = ()
    exit_code: int | None = None
    failed: bool | None = None
    run_dir: str | None = None
    cost: int | None = None
    wall_seconds: Decimal | None = None
    units_per_second: float | None = None
    admitted_at: str = ""
    settled_at: str | None = None
    interrupted: bool = False
    transient: bool = False

    @property
    def charged(self) -> int:
        return self.cost if self.cost is not None else (self.reserved or 0)


@dataclass(slots=True)
class State:
    """A sweep as its journal tells it: a fold, so the one mutable class here.

    ``spent`` is what is known to be spent, ``unknown`` what unknown costs are charged at, ``reserved`` what
    the attempts in flight may still cost; all in micro-dollars.
    """

    attempts: list[Attempt] = field(default_factory=list)
    cells: dict[str, list[Attempt]] = field(default_factory=dict)
    running: dict[tuple[str, int], Attempt] = field(default_factory=dict)
    run_dirs: dict[str, Attempt] = field(default_factory=dict)
    tries: dict[str, int] = field(default_factory=dict)  # since the driver was opened: the cell's own attempts
    launches: dict[str, int] = field(default_factory=dict)  # since then: all of them
    spent: int = 0
    unknown: int = 0
    unknown_attempts: int = 0
    reserved: int = 0
    cap: int | None = None
    plan_cap: int | None = None
    plan_state: str | None = None  # what the spec itself asks for
    request: str | None = None  # "suspended" or "cancelled"
    halted: str = ""  # the reason of the attempt that stopped the sweep
    stopped: str = ""  # why the last driver stopped launching: "budget", "streak", "interrupted"
    streak: int = 0
    sweep_id: str | None = None
    opened_at: str | None = None
    first_opened_at: str | None = None
    closed_at: str | None = None
    heard: set[str] = field(default_factory=set)  # other events: a doubled line must not undo a newer one
    oddities: list[str] = field(default_factory=list)

    @property
    def committed(self) -> int:
        """What the cap is compared with, before the next launch."""
        return self.spent + self.unknown + self.reserved

    def attempt(self, cell: str, number: int) -> Attempt | None:
        """Return an attempt by its number, which counts from 1."""
        return next((attempt for attempt in reversed(self.cells.get(cell, ())) if attempt.number == number), None)

    def last(self, cell: str) -> Attempt | None:
        """Return a cell's newest attempt."""
        attempts = self.cells.get(cell)
        return attempts[-1] if attempts else None

    def marker(self, attempt: Attempt) -> str:
        """Return what SWEEPTOOL_ATTEMPT holds in every process of ``attempt``."""
        return f"{self.sweep_id}/{attempt.cell}/{attempt.number}"

    def succeeded(self, cell: str) -> bool:
        return any(attempt.state == SUCCEEDED for attempt in self.cells.get(cell, ()))

    def apply(self, event: Event) -> None:
        """Fold one event in. What is doubled or makes no sense changes nothing and is named."""
        handler = _HANDLERS.get(event["event"])
        if handler is None:
            return  # an event for people only, or of a later version
        if handler not in (_admitted, _settled):  # those know their attempt
            mark = repr(event)
            if mark in self.heard:
                self.oddities.append(f"an event '{event['event']}' that stands there twice")
                return
            self.heard.add(mark)
        try:
            handler(self, event)
        except (KeyError, TypeError, ValueError, ArithmeticError):
            self.oddities.append(f"an event '{event['event']}' with members missing or of the wrong type")


def load(sweep: SweepDir) -> State:
    """Return a sweep's state from its whole journal; an absent journal is an empty state."""
    state = State()
    reader = Reader(sweep.ledger)
    for event in reader.new():
        state.apply(event)
    state.oddities[:0] = reader.oddities
    return state


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
    if event.get("state") != state.plan_state:
        state.plan_state = event.get("state")
        state.request = _WISHES.get(state.plan_state or "")
    state.streak = 0
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
        "reason": event.get("reason") or "",
        "detail": event.get("detail") or "",
        "flags": tuple(event.get("flags") or ()),
        "exit_code": event.get("exit_code"),
        "failed": event.get("failed"),
        "run_dir": event.get("run_dir"),
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
        state.streak = 0
    if event.get("halt"):
        state.halted = attempt.reason


def _collided(state: State, event: Event) -> None:
    attempt = state.attempt(str(event["cell"]), int(event["attempt"]))
    if attempt is not None and attempt.state != RUNNING:
        attempt.state, attempt.reason = FAILED, "collision"


def _retried(state: State, event: Event) -> None:
    """Take back a failed attempt's part in the streak: what is tried again has not failed yet."""
    last = state.last(str(event["cell"]))
    if last is not None and last.state == FAILED:
        state.streak = max(0, state.streak - 1)


def _raised(state: State, event: Event) -> None:
    state.cap = _micro(event["max_cost_usd"])


def _interrupted(state: State, event: Event) -> None:
    only = event.get("cell")  # a single shard's driver asked no other to stop
    if only is None:
        state.stopped = "interrupted"
    for attempt in state.running.values():
        if only in (None, attempt.cell):
            attempt.interrupted = True


def _requested(state: State, event: Event) -> None:
    state.request = event["event"]
    if event["event"] == CANCELLED:
        for attempt in state.running.values():
            attempt.interrupted = True


def _resumed(state: State, _event: Event) -> None:
    state.request = None


def _stopped(state: State, event: Event) -> None:
    state.stopped = str(event["why"])


def _closed(state: State, event: Event) -> None:
    state.closed_at = event["ts_utc"]


_HANDLERS = {
    "opened": _opened,
    "admitted": _admitted,
    "settled": _settled,
    "collided": _collided,
    "retried": _retried,
    "raised": _raised,
    "interrupted": _interrupted,
    "suspended": _requested,
    "cancelled": _requested,
    "resumed": _resumed,
    "stopped": _stopped,
    "closed": _closed,
}


def _micro(value: Any) -> int | None:
    return None if value is None else money.parse(value)


def settled_event(attempt: Attempt, fields: Mapping[str, Any]) -> Event:
    """Return the ``settled`` event that ends ``attempt``; ``fields`` are its members beside the identity."""
    return {"event": "settled", "cell": attempt.cell, "index": attempt.index, "attempt": attempt.number, **fields}
