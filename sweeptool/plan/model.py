"""The Plan: what a sweep will run, under which bounds, and at worst at what price."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from sweeptool import cells
from sweeptool.cells import Cell
from sweeptool.errors import Problem
from sweeptool.runners.base import Runner
from sweeptool.spec.model import Retry, Spec


@dataclass(frozen=True, slots=True)
class Shard:
    """One cell as it will be launched. Money in micro-dollars; ``argv`` is None where no command is given yet."""

    cell: Cell
    argv: tuple[str, ...] | None
    env: Mapping[str, str]
    price: int | None  # an hour
    reservation: int | None


@dataclass(frozen=True, slots=True)
class Plan:
    """What a sweep will run, in index order, under which bounds."""

    spec: Spec
    runner: Runner
    shards: tuple[Shard, ...]
    digests: Mapping[str, str]
    warnings: tuple[Problem, ...]

    def label(self, shard: Shard) -> str:
        """Return what tells a shard from its siblings; a config that all share does not."""
        return cells.label(shard.cell, config=len(self.digests) > 1)

    @property
    def max_parallel(self) -> int:
        """How many shards run at once; never more than there are."""
        bound = self.spec.max_parallel or len(self.shards)
        return min(bound, len(self.shards))

    @property
    def retry(self) -> Retry:
        own = self.spec.retry
        if own is None:
            return self.runner.retry
        if own.on is None and self.runner.retry.on is not None:
            return replace(own, on=("*",))  # a runner that knows no passing failures: any of them
        return own

    @property
    def failure_streak(self) -> int:
        own = self.spec.failure_streak
        return self.runner.failure_streak if own is None else own

    @property
    def attempts(self) -> int:
        """How often a cell may be tried."""
        return self.retry.max_attempts if self.retry.on != () else 1

    @property
    def at_limits(self) -> int | None:
        """What every attempt at its limit would cost in micro-dollars, cap or not; None where nothing bounds a cell."""
        known = [shard.reservation for shard in self.shards if shard.reservation is not None]
        return sum(known) * self.attempts if len(known) == len(self.shards) else None

    @property
    def worst_cost(self) -> int | None:
        """The most the sweep can cost in micro-dollars, None where nothing bounds a cell.

        Under policy ``reserve`` the cap holds; under ``spent`` the cells in flight can go beyond it.
        """
        total, cap = self.at_limits, self.spec.max_cost
        if cap is None or (total is None and self.spec.budget_policy == "spent"):
            return total
        if self.spec.budget_policy == "reserve":
            return cap if total is None else min(total, cap)
        return min(total or 0, cap + self.overshoot)

    @property
    def overshoot(self) -> int:
        """What policy ``spent`` can spend beyond the cap: the dearest cells that can be in flight."""
        known = sorted((shard.reservation or 0 for shard in self.shards), reverse=True)
        return sum(known[: self.max_parallel])

    @property
    def worst_seconds(self) -> int | None:
        """The longest the sweep can take with every attempt at its limit, None where one has none."""
        limits = [shard.cell.settings.max_runtime for shard in self.shards]
        if any(limit is None for limit in limits):
            return None
        slots = [0] * self.max_parallel
        waits = self.retry.delay * (self.attempts - 1)
        for limit in limits:
            slots[slots.index(min(slots))] += (limit or 0) * self.attempts + waits
        return max(slots)
