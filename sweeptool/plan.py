"""A Spec goes in, the Plan comes out: each cell's command line, environment and reservation, and the worst case."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from sweeptool import cells, layout, money
from sweeptool.cells import Cell, label
from sweeptool.errors import Problem, SweepError, raise_all
from sweeptool.runners import RUNNERS
from sweeptool.runners.base import MARKS, Runner
from sweeptool.spec.model import Retry, Spec

_LONGEST_WORD = 128 * 1024 - 1  # bytes of one argument or variable that Linux passes to a program
_ALL_WORDS = 1_500_000  # bytes of all of them together, well inside the usual 2 MB


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
    warnings: tuple[str, ...]

    def label(self, shard: Shard) -> str:
        """Return what tells a shard from its siblings; a config that all share does not."""
        return label(shard.cell, config=len(self.digests) > 1)

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


def make(spec: Spec, project: Path) -> Plan:
    """Return the plan of ``spec`` in the directory ``project``.

    Raises SweepError with everything that is wrong: what the runner cannot honour, a cap that no cell fits,
    a value that the system cannot pass to a program.
    """
    runner = RUNNERS[spec.runner.kind]
    spec = runner.complete(spec, project)
    digests, missing = _digests(spec, project)
    raise_all(missing)
    numbered = cells.number(spec, digests)
    raise_all(runner.check(spec, project))
    shards = tuple(_shard(spec, runner, cell, len(numbered)) for cell in numbered)
    problems, warnings = _budget(spec, shards)
    problems += _sizes(spec, shards)
    raise_all(problems)
    return Plan(spec, runner, shards, digests, (*spec.warnings, *warnings))


def runnable(plan: Plan) -> Plan:
    """Return ``plan`` where every cell has a command. Raises SweepError otherwise."""
    if any(shard.argv is None for shard in plan.shards):
        raise SweepError(
            Problem("there is no command to run", path="command", source=plan.spec.source, remedy="add one")
        )
    return plan


def shown(argv: Sequence[str]) -> list[str]:
    """Return ``argv`` for people and JSON, with ``{attempt}`` for what only the driver knows."""
    return [_unmark(word) for word in argv]


def describe(plan: Plan, sweeps_dir: str = layout.SWEEPS_DIR) -> dict[str, Any]:
    """Return the plan as ``plan --json`` prints it; money as decimal text, seconds as whole numbers."""
    return {
        "name": plan.spec.name,
        "sweep_dir": f"{sweeps_dir}/{plan.spec.name}",
        "runner": plan.spec.runner.kind,
        "max_parallel": plan.spec.max_parallel,
        "max_cost_usd": money.text_or_none(plan.spec.max_cost),
        "worst_case": {"cost_usd": money.text_or_none(plan.worst_cost), "seconds": plan.worst_seconds},
        "cells": [
            {
                "index": shard.cell.index,
                "id": shard.cell.id,
                "name": shard.cell.name,
                "config": shard.cell.config,
                "gpu": shard.cell.gpu,
                "region": shard.cell.region,
                "params": dict(shard.cell.params),
                "repetition": shard.cell.repetition,
                "argv": None if shard.argv is None else shown(shard.argv),
                "env": dict(shard.env),
            }
            for shard in plan.shards
        ],
    }


def _shard(spec: Spec, runner: Runner, cell: Cell, size: int) -> Shard:
    price = runner.price(cell, spec)
    limit = cell.settings.max_runtime
    reservation = cell.settings.cost_cap
    if reservation is None and price is not None and limit is not None:
        reservation = money.priced(price, limit)
    env = {"SWEEP_NAME": spec.name, "SWEEP_INDEX": str(cell.index), "SWEEP_SIZE": str(size)}
    for name, value in cell.params.items():
        env |= {f"PARAM_{name}": value, f"NODUS_PARAM_{name}": value}
    env |= cell.settings.env
    return Shard(cell, runner.argv(cell, spec), env, price, reservation)


def _digests(spec: Spec, project: Path) -> tuple[dict[str, str], list[Problem]]:
    digests: dict[str, str] = {}
    problems = []
    for config in sorted({point.config for point in spec.points if point.config}):
        try:
            digests[config] = hashlib.sha256((project / config).read_bytes()).hexdigest()
        except OSError as error:
            problems.append(Problem(f"{config} cannot be read: {error.strerror}", path="config", source=spec.source))
    return digests, problems


def _budget(spec: Spec, shards: Sequence[Shard]) -> tuple[list[Problem], list[str]]:
    cap = spec.max_cost
    if cap is None:
        return [], []
    unbounded = [shard.cell.index for shard in shards if shard.reservation is None]
    if spec.budget_policy == "spent":
        return [], [f"cells {_some(unbounded)} have no bound: their overshoot is unknown"] if unbounded else []
    if unbounded:
        return [
            Problem(
                f"a cap needs a bound for each cell, cells {_some(unbounded)} have none",
                path="max_cost_usd",
                source=spec.source,
                remedy="set cost_cap_usd, or a price and max_runtime; or budget_policy: spent",
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
                remedy="raise the cap, or lower cost_cap_usd or max_runtime",
            )
        ], []
    return [], [f"cells {_some(dear)} may each cost more than the cap and would stop the sweep"] if dear else []


def _sizes(spec: Spec, shards: Sequence[Shard]) -> list[Problem]:
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


def _some(indexes: Sequence[int]) -> str:
    shown_indexes = ", ".join(map(str, indexes[:5]))
    return f"{shown_indexes} and {len(indexes) - 5} more" if len(indexes) > 5 else shown_indexes


def _unmark(word: str) -> str:
    for mark, name in MARKS.items():
        word = word.replace(mark, name)
    return word
