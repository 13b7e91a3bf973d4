"""A Spec and its Shards go in; what breaks a bound comes out as Problems: the budget's, and the system's own."""

from __future__ import annotations

from collections.abc import Sequence

from sweeptool import money
from sweeptool.errors import Problem, near
from sweeptool.plan.model import Shard
from sweeptool.spec.model import Retry, Spec

BOUND_EACH = "set cost_cap_usd, or a price and max_runtime; or budget_policy: spent"
FIT_ONE = "raise the cap, or lower cost_cap_usd or max_runtime"
_LONGEST_WORD = 128 * 1024 - 1  # bytes of one argument or variable that Linux passes to a program
_ALL_WORDS = 1_500_000  # bytes of all of them together, well inside the usual 2 MB


def budget(spec: Spec, shards: Sequence[Shard]) -> tuple[list[Problem], list[Problem]]:
    """Return what the cap makes impossible, and what it makes doubtful."""
    cap = spec.max_cost
    if cap is None:
        return [], []
    unbounded = [shard.cell.index for shard in shards if shard.reservation is None]
    if spec.budget_policy == "spent":
        doubt = f"cells {_some(unbounded)} have no bound: their overshoot is unknown"
        return [], [Problem(doubt)] if unbounded else []
    if unbounded:
        return [
            Problem(
                f"a cap needs a bound for each cell, cells {_some(unbounded)} have none" + _unpriced(spec, shards),
                path="max_cost_usd",
                source=spec.source,
                remedy=BOUND_EACH,
            )
        ], []
    dear = [shard.cell.index for shard in shards if (shard.reservation or 0) > cap]
    if len(dear) == len(shards):
        least = min(shard.reservation or 0 for shard in shards)
        return [
            Problem(
                f"the cap of {money.dollars(cap)} fits not even one cell, the cheapest may cost {money.dollars(least)}",
                path="max_cost_usd",
                source=spec.source,
                remedy=FIT_ONE,
            )
        ], []
    doubt = f"cells {_some(dear)} may each cost more than the cap and would stop the sweep"
    return [], [Problem(doubt)] if dear else []


def reasons(spec: Spec, known: Sequence[str]) -> list[Problem]:
    """Return what ``retry.on`` names in vain; ``known`` are the reasons that the runner gives, empty for any."""
    said = (spec.retry and spec.retry.on) or ()
    vain = [word for word in said if known and not any(Retry.means(word, reason) for reason in known)]
    return [
        Problem(
            f"retry.on: the runner {spec.runner.kind} gives no reason '{word}', so nothing is tried again for it",
            remedy=near(word, known) or f"it gives {', '.join(known)}",
        )
        for word in vain
    ]


def sizes(spec: Spec, shards: Sequence[Shard]) -> list[Problem]:
    """Return the cells whose arguments and variables are longer than the system passes to a program."""
    problems = []
    for shard in shards:
        argv = shard.argv or ()
        pairs = [f"{name}={value}" for name, value in shard.env.items()]
        if sum(map(len, argv)) + sum(map(len, pairs)) < _LONGEST_WORD // 4:
            continue
        longest = max((len(text.encode()) for text in (*argv, *pairs)), default=0)
        total = sum(len(text.encode()) + 9 for text in (*argv, *pairs))
        if longest > _LONGEST_WORD or total > _ALL_WORDS:
            problems.append(
                Problem(
                    f"cell {shard.cell.index} has an argument of {longest:,} bytes, {total:,} in all; "
                    f"a program can be given {_LONGEST_WORD:,} and {_ALL_WORDS:,}",
                    path="params",
                    source=spec.source,
                    remedy="put the value in a file and sweep over its name",
                )
            )
    return problems


def _unpriced(spec: Spec, shards: Sequence[Shard]) -> str:
    """Return which type's price is missing where that is all that is missing; it may be misspelt."""
    for shard in shards:
        kind = shard.cell.settings.instance_type or shard.cell.gpu
        if kind and shard.reservation is None and shard.price is None and shard.cell.settings.max_runtime is not None:
            hint = near(kind, spec.prices)
            return f": no price is known for {kind}" + (f", {hint}" if hint else "")
    return ""


def _some(indexes: Sequence[int]) -> str:
    shown_indexes = ", ".join(map(str, indexes[:5]))
    return f"{shown_indexes} and {len(indexes) - 5} more" if len(indexes) > 5 else shown_indexes
