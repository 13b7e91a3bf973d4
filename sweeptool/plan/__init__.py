"""A Spec goes in, the Plan comes out: each cell's command line, environment and reservation, and the worst case."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from sweeptool import cells, layout, money
from sweeptool.cells import Cell
from sweeptool.errors import Problem, SweepError, raise_all
from sweeptool.plan import bounds
from sweeptool.plan.model import Plan, Shard
from sweeptool.runners import RUNNERS
from sweeptool.runners.base import MARKS, Runner
from sweeptool.spec.model import Spec


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
    problems, warnings = bounds.budget(spec, shards)
    problems += bounds.sizes(spec, shards)
    raise_all(problems)
    warnings += bounds.reasons(spec, runner.reasons)
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


def _unmark(word: str) -> str:
    for mark, name in MARKS.items():
        word = word.replace(mark, name)
    return word
