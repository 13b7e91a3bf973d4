"""A sweep or a tree of run dirs goes in; what is spent, reserved, unknown and left comes out."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sweeptool import frozen, money
from sweeptool.errors import OVER_BUDGET, Problem, SweepError
from sweeptool.layout import SweepDir
from sweeptool.ledger import state as ledger
from sweeptool.ledger.book import amount
from sweeptool.text import counted


@dataclass(frozen=True, slots=True)
class Budget:
    """Amounts in micro-dollars; ``limit`` is None where there is no cap.

    ``unpriced`` counts the unknown costs, ``unknown`` is what they are charged at, None where nothing says.
    """

    limit: int | None
    spent: int
    reserved: int
    unknown: int | None
    unpriced: int
    oddities: tuple[str, ...] = ()  # what could not be read, a line each

    @property
    def left(self) -> int | None:
        """What may still be spent, below zero where the cap was overshot."""
        return None if self.limit is None else self.limit - self.spent - self.reserved - (self.unknown or 0)


def of_sweep(sweep: SweepDir, cap: str | None) -> Budget:
    """Return the budget of a sweep, with ``cap`` (decimal text) in place of its own."""
    state = ledger.load(sweep)
    own = state.cap if state.opened_at else frozen.read(sweep.plan).max_cost
    limit = own if cap is None else amount(cap)
    oddities = (*state.oddities, *filter(None, [ledger.leaking(state, sweep.path.name)]))
    return Budget(limit, state.spent, state.reserved, state.unknown, state.unknown_attempts, oddities)


def of_root(root: Path, cap: str | None) -> Budget:
    """Return what every manifest under ``root`` says was spent; what cannot be read is an unknown cost, not guessed."""
    if cap is None:
        raise SweepError(Problem("--root needs --max-cost-usd", remedy="a tree of runs has no cap of its own"))
    from sweeptool import runs  # noqa: PLC0415 - a sweep's budget starts without it

    found = runs.under(str(root))
    costs = [run.cost for run in found.runs] + [None] * (len(found.skipped) - len(found.copies))
    unpriced = costs.count(None)
    spent = sum(cost for cost in costs if cost is not None)
    return Budget(amount(cap), spent, 0, None if unpriced else 0, unpriced, tuple(found.lines()))


def verdict(budget: Budget) -> int:
    """Return 0 within the cap, 3 where it is reached."""
    left = budget.left
    return OVER_BUDGET if left is not None and left <= 0 else 0


def describe(budget: Budget) -> dict[str, Any]:
    """Return the budget as ``budget --json`` prints it."""
    return {
        "limit_usd": money.text_or_none(budget.limit),
        "spent_usd": money.text(budget.spent),
        "reserved_usd": money.text(budget.reserved),
        "unknown_usd": money.text_or_none(budget.unknown),
        "left_usd": money.text_or_none(budget.left),
    }


def line(budget: Budget) -> str:
    """Return the budget as one line for people."""
    limit = "no cap" if budget.limit is None else f"of {money.dollars(budget.limit)}"
    left = "" if budget.left is None else f", {money.dollars(budget.left, down=True)} left"
    charged = "not counted" if budget.unknown is None else f"charged {money.dollars(budget.unknown)}"
    unknown = f", {counted(budget.unpriced, 'unknown cost')} {charged}" if budget.unpriced else ""
    return f"spent {money.dollars(budget.spent)} {limit}, reserved {money.dollars(budget.reserved)}{unknown}{left}"
