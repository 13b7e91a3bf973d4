"""The journal's events go in one by one; what each attempt was, and what is spent and reserved, comes out."""

from __future__ import annotations

from dataclasses import dataclass, field

from sweeptool.layout import SweepDir
from sweeptool.ledger.attempt import Attempt
from sweeptool.ledger.fold import HANDLERS, OF_AN_ATTEMPT
from sweeptool.ledger.journal import Event, Reader
from sweeptool.states import LEAKED, SUCCEEDED
from sweeptool.text import counted


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
    # cells that ended as no second one may, since a cell last succeeded or the driver was opened
    suspects: set[str] = field(default_factory=set)
    halted: str = ""  # the reason of the attempt that stopped the sweep
    stopped: str = ""  # why the last driver stopped launching: "budget", "streak", "interrupted"
    streak: int = 0
    broken: int = 0  # the longest streak that a success has ended, since the driver was opened
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
        handler = HANDLERS.get(event["event"])
        if handler is None:
            return  # an event for people only, or of a later version
        if event["event"] not in OF_AN_ATTEMPT:
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


def leaking(state: State, name: str) -> str:
    """Return a sentence that says how many attempts may have left a pod that bills on; empty where none has."""
    left = sum(LEAKED in attempt.flags for attempt in state.attempts)
    return f"{counted(left, 'attempt')} may have left a pod that still bills: sweeptool recover {name}" if left else ""
