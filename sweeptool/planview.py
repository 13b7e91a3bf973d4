"""A Plan goes in, what a person reads before paying comes out: the cells, the worst case, what changed."""

from __future__ import annotations

from collections.abc import Mapping

from tabulate import tabulate

from sweeptool import frozen, money
from sweeptool.layout import SweepDir
from sweeptool.ledger import state as ledger
from sweeptool.plan import Plan
from sweeptool.text import one_line

Known = Mapping[str, tuple[str, bool]]
"""Cell id -> what it is called, and whether it is done."""

_SHOWN = 60  # cells that are listed one by one; of a larger plan, the first and the last


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
        rows = [*rows[:half], ("…", f"{len(rows) - _SHOWN} more", "", "", ""), *rows[-half:]]  # type: ignore[list-item]
    body = tabulate(rows, ("CELL", "ID", "WHAT", "AT MOST", "TIME LIMIT"), tablefmt="plain", disable_numparse=True)
    return f"{body}\n\n{worst(plan)}"


def worst(plan: Plan) -> str:
    """Return one or two sentences: how many cells, at most how much money, how long."""
    spec = plan.spec
    cost = money.dollars(plan.worst_cost) if plan.worst_cost is not None else "an unbounded amount"
    time = duration(plan.worst_seconds) if plan.worst_seconds is not None else "without a time limit"
    lines = [
        f"{len(plan.shards)} cells, {plan.max_parallel} at a time, runner {spec.runner.kind}: at most {cost}, {time}."
    ]
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
    if plan.retry.max_attempts > 1:
        lines.append(f"A cell is tried up to {plan.retry.max_attempts} times; without a cap that multiplies the cost.")
    return "\n".join(lines)


def duration(seconds: int) -> str:
    """Return whole seconds as ``45 s``, ``10 min``, ``1 h 30 min``, ``2 d 4 h``."""
    minutes, rest = divmod(seconds, 60)
    hours, minutes_left = divmod(minutes, 60)
    days, hours_left = divmod(hours, 24)
    units = [(days, "d"), (hours_left, "h"), (minutes_left, "min"), (rest, "s")]
    used = [f"{count} {unit}" for count, unit in units if count]
    return " ".join(used[:2]) or "0 s"


def difference(plan: Plan, old: Known) -> str:
    """Return which cells of ``plan`` are new or done, and which of ``old`` are gone."""
    new = cells_of_plan(plan)
    rows = []
    for cell, (name, _) in new.items():
        what = "new" if cell not in old else "done" if old[cell][1] else "same"
        rows.append((what, cell, name))
    rows += [("gone", cell, name) for cell, (name, _) in old.items() if cell not in new]
    counts = {word: sum(row[0] == word for row in rows) for word in ("new", "same", "done", "gone")}
    head = ", ".join(f"{count} {word}" for word, count in counts.items())
    listed = [row for row in rows if row[0] != "same"]
    body = tabulate(listed, tablefmt="plain", disable_numparse=True)
    return f"{head}\n{body}" if listed else head


def cells_of_plan(plan: Plan) -> dict[str, tuple[str, bool]]:
    """Return a plan's cells, none of them done."""
    return {shard.cell.id: (one_line(plan.label(shard), 80), False) for shard in plan.shards}


def cells_of_sweep(sweep: SweepDir) -> dict[str, tuple[str, bool]]:
    """Return a sweep's frozen cells, with what its ledger says is done."""
    state = ledger.load(sweep)
    return {job.id: (one_line(job.label, 80), state.succeeded(job.id)) for job in frozen.read(sweep.plan).jobs}
