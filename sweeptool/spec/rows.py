"""Maps of launch keys and parameters go in, rows come out: a known key is a setting, any other a parameter."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from sweeptool.spec import axes, expand, kinds, suspects, templates
from sweeptool.spec.expand import Axis, Slot
from sweeptool.spec.fields import Kind
from sweeptool.spec.flags import CELL
from sweeptool.spec.selection import PARAMETER
from sweeptool.spec.tree import List, Map, Node, Report, Text, describe, member, quoted

MARK = "param:"
_RUNNERS_OWN = {"runpod-deploy": ("config", "image"), "command": ("config",)}
_SETTINGS: Mapping[str, tuple[str, Kind[Any]]] = {
    **CELL,
    "command": ("command", templates.COMMAND),
    "image": ("image", kinds.LINE),
}


def settings_of(runner: str) -> dict[str, tuple[str, Kind[Any]]]:
    """Return the launch keys under a runner: config and image are settings only where the runner takes them."""
    absent = {"config", "image"}.difference(_RUNNERS_OWN.get(runner, ()))
    return {name: one for name, one in _SETTINGS.items() if name not in absent}


@dataclass(frozen=True, slots=True)
class _Known:
    """What a key stands for: the slot and kind of its values, or what is wrong with it and the mend."""

    slot: Slot | None
    kind: Kind[Any] = kinds.VALUE
    complaint: str = ""
    remedy: str = ""
    step: str = ""  # from the map's path to the member's


@dataclass(frozen=True, slots=True)
class Rows:
    """Reads the rows of one spec. ``sweep_wide`` are the keys that only the sweep as a whole can have."""

    report: Report
    settings: Mapping[str, tuple[str, Kind[Any]]]
    sweep_wide: Collection[str]
    sweep_place: str
    known: dict[str, _Known] = field(default_factory=dict)
    places: dict[tuple[str, ...], tuple[Node, str]] = field(default_factory=dict)  # of each argv template

    def row(self, node: Node, path: str) -> dict[Slot, Any]:
        """Return the values of a map, by slot in order."""
        if not isinstance(node, Map):
            self.report.error(node, path, f"expected a map of settings and parameters, got {describe(node)}")
            return {}
        found: dict[Slot, Any] = {}
        for name, one in node.members.items():
            known = self.key(name, node.keys[name], path)
            at = path + known.step
            value = known.kind.read(one, at, self.report)
            if known.slot is None or value is None:
                continue
            if known.slot in found:
                self.report.error(node.keys[name], at, f"'{known.slot.name}' is given twice")
            found[known.slot] = value
            if isinstance(value, tuple):
                self.places.setdefault(value, (one, at))
        return found

    def axes(self, node: Node, path: str) -> list[Axis]:
        """Return the axes of a grid; an empty one is an error."""
        if not isinstance(node, Map):
            self.report.error(node, path, f"expected a map from names to lists of values, got {describe(node)}")
            return []
        found: dict[Slot, Axis] = {}
        for name, one in node.members.items():
            known = self.key(name, node.keys[name], path)
            at = path + known.step
            values = self.values(known.kind, one, at)
            if known.slot is None or not values:
                continue
            if known.slot in found:
                self.report.error(node.keys[name], at, f"'{known.slot.name}' is given twice")
            found[known.slot] = expand.axis(known.slot, values)
        return list(found.values())

    def values(self, kind: Kind[Any], node: Node, path: str) -> list[Any]:
        texts = axes.listed(node, path, self.report)
        if texts == ():
            self.report.error(
                node, path, "is empty: a grid of no values has no cells", "leave it out, or give it values"
            )
        if not texts or not isinstance(node, List) or kind is kinds.VALUE:
            return list(texts or ())
        return [kind.read(item, f"{path}[{number}]", self.report) for number, item in enumerate(node.items)]

    def key(self, name: str, key: Text, path: str) -> _Known:
        """Return what a key in the map at ``path`` stands for; what is wrong with it lands in the report."""
        known = self.known.get(name)
        if known is None:
            known = self.known[name] = replace(self._classified(name), step=member(".", name)[1:])
        if known.complaint:
            self.report.error(key, path + known.step, known.complaint, known.remedy)
        return known

    def _classified(self, name: str) -> _Known:
        if name in self.settings:
            setting, kind = self.settings[name]
            return _Known(expand.setting(name, setting), kind)
        if name in self.sweep_wide:
            return _Known(
                None, complaint=f"'{name}' is the whole sweep's", remedy=f"put it {self.sweep_place}; {_spelt(name)}"
            )
        own = name.removeprefix(MARK)
        if not kinds.NAME.fullmatch(own):
            return _Known(None, complaint=f"{quoted(own)} is not {PARAMETER}")
        right = suspects.meant(name, [*self.settings, *self.sweep_wide]) if own == name else None
        if right:
            also = f" (a cell) or max_cost_usd {self.sweep_place} (the sweep)" if right == "cost_limit" else ""
            return _Known(None, complaint=f"unknown setting '{name}'", remedy=f"use {right}{also}; {_spelt(name)}")
        return _Known(expand.parameter(own))


def _spelt(name: str) -> str:
    return f"'{MARK}{name}' makes it a parameter"
