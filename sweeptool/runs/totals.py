"""Runs go in; counts and sums come out, over all of them or by the value of any key. Unknown is counted, not 0."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal

from sweeptool.errors import Problem, SweepError, near
from sweeptool.natural import natural
from sweeptool.runs import Run
from sweeptool.states import CANCELLED, FAILED, INTERRUPTED, LOST, RUNNING, SUCCEEDED, UNKNOWN

Key = tuple[str | None, ...]


@dataclass(frozen=True, slots=True)
class Totals:
    """What some runs come to. ``cost`` is micro-dollars known, ``charged`` what unknown costs are charged at."""

    runs: int
    manifests: int
    succeeded: int
    failed: int
    interrupted: int
    lost: int
    cancelled: int
    running: int
    unknown: int  # a manifest that does not say how it ended
    wall_seconds: Decimal
    unknown_wall: int
    cost: int
    unknown_cost: int
    charged: int


FIELDS: Mapping[str, Callable[[Run], object]] = {
    "attempt": lambda run: run.attempt,
    "cell": lambda run: run.cell,
    "config": lambda run: run.config,
    "datacenter": lambda run: run.manifest and run.manifest.datacenter_id,
    "gpu": lambda run: run.gpu,
    "index": lambda run: run.index,
    "instance_type": lambda run: run.instance_type,
    "job_name": lambda run: run.manifest and run.manifest.job_name,
    "reason": lambda run: run.reason,
    "region": lambda run: run.region,
    "repetition": lambda run: run.job and run.job.record["repetition"],
    "state": lambda run: run.state,
}


def of(runs: Iterable[Run]) -> Totals:
    """Return the totals of ``runs``. A run that is still going counts as running, its cost not yet as unknown."""
    states: dict[str, int] = {}
    count = manifests = unknown_wall = cost = unknown_cost = charged = 0
    wall = Decimal(0)
    for run in runs:
        count += 1
        states[run.state] = states.get(run.state, 0) + 1
        manifests += run.manifest is not None
        if run.wall_seconds is not None:
            wall += run.wall_seconds
        else:
            unknown_wall += run.state != RUNNING
        if run.cost is not None:
            cost += run.cost
        elif run.state != RUNNING:
            unknown_cost += 1
            charged += run.reserved or 0
    return Totals(
        runs=count,
        manifests=manifests,
        succeeded=states.get(SUCCEEDED, 0),
        failed=states.get(FAILED, 0),
        interrupted=states.get(INTERRUPTED, 0),
        lost=states.get(LOST, 0),
        cancelled=states.get(CANCELLED, 0),
        running=states.get(RUNNING, 0),
        unknown=states.get(UNKNOWN, 0),
        wall_seconds=wall,
        unknown_wall=unknown_wall,
        cost=cost,
        unknown_cost=unknown_cost,
        charged=charged,
    )


def by(runs: Sequence[Run], keys: Sequence[str]) -> list[tuple[Key, Totals]]:
    """Return the totals for each combination of the values of ``keys``, sorted; a missing value is a group too.

    Raises SweepError for a key that is neither a field nor a parameter of these runs.
    """
    readers = [reader(runs, key) for key in keys]
    groups: dict[Key, list[Run]] = {}
    for run in runs:
        values = (read(run) for read in readers)
        groups.setdefault(tuple(None if value is None else str(value) for value in values), []).append(run)
    orders = [natural({key[place] for key in groups}) for place in range(len(keys))]
    ranked = sorted(groups, key=lambda key: tuple(order[value] for order, value in zip(orders, key, strict=True)))
    return [(key, of(groups[key])) for key in ranked]


def reader(runs: Sequence[Run], key: str) -> Callable[[Run], object]:
    """Return what reads ``key``, a parameter first, from a run. Raises SweepError naming the keys there are."""
    params = {name for run in runs for name in run.params}
    name = key.removeprefix("param.")
    if name in params:
        return lambda run: run.params.get(name)
    if key in FIELDS:
        return FIELDS[key]
    known = sorted(params) + sorted(FIELDS)
    raise SweepError(Problem(f"no key '{key}': there are {', '.join(known)}", remedy=near(key, known)))
