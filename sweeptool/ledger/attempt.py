"""One launch of one cell: what was admitted, and once it is settled, what it was and cost."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from sweeptool.ledger.journal import Event
from sweeptool.states import RUNNING


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
    asked: bool = False  # its SIGINT was sent: a second one would interrupt its clean-up
    unseen: bool = False  # it was over before any signal, with nobody there to see how it ended
    transient: bool = False

    @property
    def charged(self) -> int:
        return self.cost if self.cost is not None else (self.reserved or 0)


def settled_event(attempt: Attempt, fields: Mapping[str, Any]) -> Event:
    """Return the ``settled`` event that ends ``attempt``; ``fields`` are its members beside the identity."""
    return {"event": "settled", "cell": attempt.cell, "index": attempt.index, "attempt": attempt.number, **fields}
