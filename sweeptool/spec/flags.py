"""The command line's settings go in as text, fields of the sweep and of its cells come out."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from sweeptool.spec import gpus, kinds, names
from sweeptool.spec.fields import Kind
from sweeptool.spec.model import Command, Flags
from sweeptool.spec.runner import KIND
from sweeptool.spec.tree import List, Node, Report, Text


@dataclass(frozen=True, slots=True)
class Overrides:
    """Fields of the Spec, fields of every cell (those of Settings, and config, gpu and region), and the runner."""

    sweep: Mapping[str, Any]
    cell: Mapping[str, Any]
    runner: str | None


SWEEP: Mapping[str, tuple[str, Kind[Any]]] = {
    "name": ("name", names.NAME),
    "max_concurrent": ("max_parallel", kinds.count(0)),
    "launch_delay": ("launch_delay", kinds.DELAY),
    "max_cost_usd": ("max_cost", kinds.MONEY),
}
CELL: Mapping[str, tuple[str, Kind[Any]]] = {
    "ttl": ("max_runtime", kinds.BOUND_SECONDS),
    "idle_timeout": ("idle_timeout", kinds.BOUND_SECONDS),
    "cost_limit": ("cost_cap", kinds.BOUND_MONEY),
    "price_per_hour": ("price_per_hour", kinds.MONEY),
    "instance_type": ("instance_type", kinds.LINE),
    "gpu": ("gpu", gpus.LABEL),
    "region": ("region", kinds.LINE),
    "datacenter": ("datacenter", kinds.LINE),
    "spot": ("spot", kinds.FLAG),
    "on_complete": ("on_complete", kinds.LINE),
    "config": ("config", kinds.LINE),
}
"""What the command line and the grid dialect call a setting, the field that it is, and what it takes."""


def read(flags: Flags, command: Kind[Command], report: Report) -> Overrides:
    """Return what the command line sets; what is wrong lands in the report under the option's name.

    ``command`` is the kind of a command in the spec's dialect.
    """
    sweep = _fields(flags, SWEEP, report)
    cell = _fields(flags, {**CELL, "command": ("command", command)}, report)
    return Overrides(sweep, cell, _fields(flags, {"runner": ("runner", KIND)}, report).get("runner"))


def _fields(flags: Flags, table: Mapping[str, tuple[str, Kind[Any]]], report: Report) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for name, (field, kind) in table.items():
        said = getattr(flags, name)
        if said is not None:
            value = kind.read(_node(said), "--" + name.replace("_", "-"), report)
            if value is not None:
                found[field] = value
    return found


def _node(said: str | tuple[str, ...]) -> Node:
    return Text(said) if isinstance(said, str) else List(tuple(Text(word) for word in said))
