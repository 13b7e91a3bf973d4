"""The settings of the native form in tables: their names, what they take, and what others call them."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from sweeptool.spec import axes, configs, env, gpus, kinds, matrix, names, templates
from sweeptool.spec.fields import Fields, Key, Kind, Table
from sweeptool.spec.model import Metrics, Retry
from sweeptool.spec.runner import RUNNER
from sweeptool.spec.tree import Map, Node, Report

_MAX_ATTEMPTS = Key(
    "max_attempts",
    kinds.count(1, 100),
    "how often a cell may be tried, the first time included: by default 2, of the runner local 1",
)
_ON = Key(
    "on",
    kinds.items(kinds.LINE, "reasons"),
    "the reasons worth another attempt, as manifest-summary --by reason has them; a family (ssh), or * for any",
)
_DELAY = Key("delay", kinds.DELAY, "how long to wait before it")
_RETRY = Table(
    (_MAX_ATTEMPTS, _ON, _DELAY),
    {"attempts": "max_attempts", "retries": "max_attempts", "count": "max_attempts", "backoff": "delay"},
)


def _retry(node: Node, path: str, report: Report) -> Retry | None:
    fields = _RETRY.read(node, path, report)
    if fields is None:
        return None
    return Retry(fields.get(_MAX_ATTEMPTS) or Retry().max_attempts, fields.get(_ON), fields.get(_DELAY) or 0)


def _pattern(text: str) -> str:
    try:
        re.compile(text)
    except re.error as error:
        raise ValueError(f"not a regular expression: {error}") from None
    return text


_BEST_NAME = Key("name", kinds.LINE, "the metric by which the best cell is named", required=True)
_GOAL = Key("goal", kinds.choice("min", "max"), "whether less or more is better")
_BEST = Table((_BEST_NAME, _GOAL))


def _best(node: Node, path: str, report: Report) -> tuple[str | None, str | None] | None:
    if not isinstance(node, Map):
        return kinds.LINE.read(node, path, report), None
    fields = _BEST.read(node, path, report)
    return (fields.get(_BEST_NAME), fields.get(_GOAL)) if fields else None


_EXPRESSION = Kind(kinds.parsed(_pattern), {"type": "string", "format": "regex"})
_FILE = Key("file", kinds.LINE, "a JSON file of numbers in the run directory")
_PATTERNS = Key("patterns", kinds.members(_EXPRESSION), "by metric, a regular expression over the log")
_WINNER = Key("best", Kind(_best, {"anyOf": [{"type": "string"}, _BEST.kind().schema]}), "the metric that counts")
_METRICS = Table((_FILE, _PATTERNS, _WINNER), {"regex": "patterns", "goal": "best: {name: …, goal: …}"})


def _metrics(node: Node, path: str, report: Report) -> Metrics | None:
    fields = _METRICS.read(node, path, report)
    if fields is None:
        return None
    best, goal = fields.get(_WINNER) or (None, None)
    patterns = fields.get(_PATTERNS)
    return Metrics(fields.get(_FILE) or Metrics().file, patterns or {}, best, goal)


NAME = Key("name", names.NAME, "the sweep's name, and its directory's")
CONFIG = Key("config", kinds.LINE, "the job config of every cell, relative to the project directory")
CONFIGS = Key("configs", configs.CONFIGS, "job configs, one cell a file: a list, a path or a glob")
ENV = Key("env", env.ENV, "variables of the job; {from: NAME} takes a secret from your own environment at run time")
MATRIX = Key("matrix", matrix.MATRIX.kind(), "what varies")
REPETITIONS = Key("repetitions", kinds.count(1, 100_000), "runs of each combination")

SWEEP: Mapping[str, Key[Any]] = {
    "name": NAME,
    "runner": Key("runner", RUNNER, "the single-job runner that each cell calls"),
    "max_parallel": Key("max_parallel", kinds.count(0), "how many cells run at once, 4 by default; 0 is all"),
    "launch_delay": Key("launch_delay", kinds.DELAY, "the least time between two launches"),
    "max_cost": Key("max_cost_usd", kinds.MONEY, "the most that the whole sweep may cost, in dollars"),
    "budget_policy": Key(
        "budget_policy", kinds.choice("reserve", "spent"), "reserve never overspends; spent may, by the cells in flight"
    ),
    "retry": Key("retry", Kind(_retry, _RETRY.kind().schema), "which failures are worth another attempt"),
    "failure_streak": Key("failure_streak", kinds.count(0), "stop after so many failed attempts in a row; 0 is never"),
    "prices": Key("prices", kinds.members(kinds.MONEY, ".+", "a GPU"), "dollars an hour, by GPU or instance type"),
    "metrics": Key("metrics", Kind(_metrics, _METRICS.kind().schema), "where a run's numbers stand"),
    "units": Key("units", kinds.LINE, "the file of finished units in the run directory"),
    "before": Key("before", kinds.COMMANDS, "commands before the first launch; one that fails starts nothing"),
    "after": Key("after", kinds.COMMANDS, "commands after the last cell"),
    "validate": Key("validate", kinds.FLAG, "whether the runner checks each config before the first launch"),
    "state": Key("state", kinds.choice("Running", "Suspended", "Cancelled"), "the state that the sweep is wanted in"),
}
"""By field of the Spec, the setting of the whole sweep."""

CELL: Mapping[str, Key[Any]] = {
    "command": Key("command", templates.COMMAND, "a list is an argv in which {name} expands, a text is run by bash -c"),
    "image": Key("image", kinds.LINE, "the container image"),
    "max_runtime": Key("max_runtime", kinds.BOUND_SECONDS, "the time limit of a cell: 90s, 60m, 1h30m, 12:30:00"),
    "cost_cap": Key("cost_cap_usd", kinds.BOUND_MONEY, "the most that one cell may cost, in dollars"),
    "price_per_hour": Key("price_per_hour_usd", kinds.MONEY, "the assumed price, in dollars an hour"),
    "gpu": Key("gpu", gpus.LABEL, "the GPU of every cell, where matrix.gpu does not vary it"),
    "region": Key("region", kinds.LINE, "the region of every cell, where matrix.regions does not vary it"),
    "config": CONFIG,
    "instance_type": Key("instance_type", kinds.LINE, "the instance type of every cell"),
    "datacenter": Key("datacenter", kinds.LINE, "the datacenter of every cell"),
    "spot": Key("spot", kinds.FLAG, "whether to run on spot capacity"),
    "idle_timeout": Key("idle_timeout", kinds.BOUND_SECONDS, "stop a cell that idles this long"),
    "on_complete": Key("on_complete", kinds.LINE, "what becomes of the machine when a cell ends"),
}
"""By field of Settings, or gpu, region and config, the setting of every cell."""

OTHER = {
    **dict.fromkeys(
        ("ttl", "timeout", "walltime", "timelimit", "ttlhours", "maxruntimeminutes", "maxtime", "maxhours"),
        "max_runtime",
    ),
    **dict.fromkeys(
        ("budget", "budgetusd", "maxcost", "maxbudget", "costlimitusd"),
        "max_cost_usd for the sweep, cost_cap_usd for a cell",
    ),
    **dict.fromkeys(("costlimit", "costcap", "cellcap", "maxcostpercell"), "cost_cap_usd"),
    **dict.fromkeys(("priceperhour", "hourlyrate", "price", "hourlyprice"), "price_per_hour_usd"),
    **dict.fromkeys(("maxconcurrent", "concurrency", "parallel", "jobs", "workers", "parallelism"), "max_parallel"),
    **dict.fromkeys(("gpus", "gputype"), "matrix.gpu"),
    **dict.fromkeys(("zip", "exclude", "include", "sample", "regions"), "it inside matrix"),
    **dict.fromkeys(("repeat", "repeats", "replicates", "runs"), "repetitions"),
    **dict.fromkeys(("retries", "maxretries", "maxattempts"), "retry: {max_attempts: …}"),
    **dict.fromkeys(("environment", "environ", "envs"), "env"),
    "pricelist": "prices",
}
GRID: tuple[Key[Node], ...] = tuple(
    Key(name, Kind(lambda node, _path, _report: node, schema), about)
    for name, schema, about in (
        ("defaults", {"type": "object", "additionalProperties": kinds.SCALAR}, "settings and parameters of every row"),
        (
            "params",
            {"type": "array", "items": {"type": "object", "additionalProperties": kinds.SCALAR}},
            "explicit rows",
        ),
        (
            "grid",
            {"type": "object", "additionalProperties": axes.LIST_SCHEMA},
            "lists of values, by setting or parameter",
        ),
    )
)
"""What the grid dialect consists of, in place of ``matrix``."""

NATIVE = Table((*SWEEP.values(), *CELL.values(), CONFIGS, ENV, MATRIX, REPETITIONS, *GRID), OTHER)


def present(fields: Fields, table: Mapping[str, Key[Any]]) -> dict[str, Any]:
    """Return the values of a table's settings that stand in a map, by field."""
    found = {name: fields.get(key) for name, key in table.items() if fields.has(key)}
    return {name: value for name, value in found.items() if value is not None}
