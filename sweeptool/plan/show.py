"""A Plan goes in, what a person reads before paying comes out: the cells, the worst case, what changed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from tabulate import tabulate

from sweeptool import frozen, money
from sweeptool.layout import SweepDir
from sweeptool.ledger import state as ledger
from sweeptool.plan.model import Plan
from sweeptool.text import counted, duration, one_line

_WORDS = ("new", "same", "done", "gone")
_SHOWN = 60  # cells that are listed one by one; of a larger plan, the first and the last


@dataclass(frozen=True, slots=True)
class Old:
    """What a plan is compared with: its cells, id -> what it is called, and the ids of those that are done."""

    labels: Mapping[str, str]
    done: frozenset[str]


@dataclass(frozen=True, slots=True)
class Change:
    """One cell of a comparison; ``what`` is new, same, done or gone."""

    what: str
    id: str
    label: str


def table(plan: Plan) -> str:
    """Return the cells in order and the worst case in dollars and hours."""
    shards = plan.shards
    rows = [
        (
            shard.cell.index,
            shard.cell.id,
            one_line(plan.label(shard), 80),
            money.dollars(shard.reservation) if shard.reservation is not None else "-",
            "-" if shard.cell.settings.max_runtime is None else duration(shard.cell.settings.max_runtime),
        )
        for shard in shards
    ]
    if len(rows) > _SHOWN:
        half = _SHOWN // 2
        rows = [*rows[:half], ("…", f"{len(rows) - _SHOWN:,} more", "", "", ""), *rows[-half:]]  # type: ignore[list-item]
    body = tabulate(rows, ("CELL", "ID", "WHAT", "AT MOST", "TIME LIMIT"), tablefmt="plain", disable_numparse=True)
    return f"{body}\n\n{worst(plan)}"


def worst(plan: Plan) -> str:
    """Return one or two sentences: how many cells, at most how much money, how long."""
    spec = plan.spec
    cost = f"at most {money.dollars(plan.worst_cost)}" if plan.worst_cost is not None else "nothing bounds the cost"
    time = duration(plan.worst_seconds) if plan.worst_seconds is not None else "nothing bounds the time"
    cells = counted(len(plan.shards), "cell")
    lines = [f"{cells}, {plan.max_parallel} at a time, runner {spec.runner.kind}: {cost}, {time}."]
    if any(shard.argv is None for shard in plan.shards):
        lines.append("There is no command to run yet; render and run need one.")
    if spec.max_cost is None:
        lines.append("No cap for the whole sweep (max_cost_usd).")
    elif spec.budget_policy == "spent":
        over = money.dollars(plan.overshoot)
        lines.append(
            f"Policy spent: the cap of {money.dollars(spec.max_cost)} can be overshot by {over}, the cells in flight."
        )
    else:
        lines.append(f"Policy reserve: the cap of {money.dollars(spec.max_cost)} holds.")
        if plan.at_limits is not None and plan.at_limits > spec.max_cost:
            over = money.dollars(plan.at_limits)
            lines.append(f"All at their limits would cost {over}: cells wait for room under the cap, some may be left.")
    if plan.attempts > 1:
        lines.append(f"A cell is tried up to {plan.attempts} times, and every attempt is counted here.")
    return "\n".join(lines)


def changes(plan: Plan, old: Old) -> list[Change]:
    """Return the cells of ``plan`` in index order, each new, the same or done, then those of ``old`` that are gone."""
    new = {shard.cell.id: shard for shard in plan.shards}
    rows = [
        Change("done" if cell in old.done else "same" if cell in old.labels else "new", cell, plan.label(shard))
        for cell, shard in new.items()
    ]
    return rows + [Change("gone", cell, label) for cell, label in old.labels.items() if cell not in new]


def difference(found: Sequence[Change]) -> str:
    """Return how many cells are new, the same, done and gone, and each that is not the same."""
    head = ", ".join(f"{sum(change.what == word for change in found)} {word}" for word in _WORDS)
    rows = [(change.what, change.id, one_line(change.label, 80)) for change in found if change.what != "same"]
    return f"{head}\n{tabulate(rows, tablefmt='plain', disable_numparse=True)}" if rows else head


def of_plan(plan: Plan) -> Old:
    """Return a plan's cells, none of them done."""
    return Old({shard.cell.id: plan.label(shard) for shard in plan.shards}, frozenset())


def of_sweep(sweep: SweepDir) -> Old:
    """Return a sweep's frozen cells, and every cell that its ledger says is done, of earlier plans too."""
    state = ledger.load(sweep)
    done = frozenset(cell for cell in state.cells if state.succeeded(cell))
    return Old({job.id: job.label for job in frozen.read(sweep.plan).jobs}, done)
