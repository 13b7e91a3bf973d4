"""Rows and the entries of exclude and include go in, the rows without the ones and with the others come out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from sweeptool.errors import near
from sweeptool.spec import expand, gpus, kinds
from sweeptool.spec.expand import GPU, Axis, Row, Slot
from sweeptool.spec.tree import Map, Node, Report, Text, quoted

PARAMETER = "a parameter's name: letters, digits, '_', '-' and '.', no digit first"


def chosen(name: str, key: Text, at: str, report: Report) -> Slot | None:
    """Return the slot that a zip, exclude or include names: gpu, region, config or a parameter."""
    if name in {"gpu", "region", "config"}:
        return expand.setting(name, name)
    if name in {"regions", "configs"}:
        report.error(key, at, f"'{name}' names a list", f"use {name[:-1]}")
        return None
    if not kinds.NAME.fullmatch(name):
        report.error(key, at, f"{quoted(name)} is not {PARAMETER}")
        return None
    return expand.parameter(name)


def value_of(slot: Slot | None, node: Node, at: str, report: Report) -> str | None:
    """Return the value that a zip, exclude or include has for a slot."""
    kind = gpus.LABEL if slot == GPU else kinds.VALUE if slot is None or slot.is_param else kinds.LINE
    return kind.read(node, at, report)


@dataclass(frozen=True, slots=True)
class Selection:
    """What exclude and include say about the product of the axes."""

    axes: list[Axis]
    report: Report

    def without(self, rows: list[Row], entries: Sequence[Map], path: str) -> list[Row]:
        """Return the rows that no entry of exclude matches; an entry that matches nothing is reported."""
        for number, entry in enumerate(entries):
            at = f"{path}[{number}]"
            wanted = self.entry(entry, at)
            if wanted is None:
                continue
            known = {slot for axis in self.axes for slot in axis.slots}
            unknown = [slot.name for slot in wanted if slot not in known]
            for name in unknown:
                hint = near(name, [slot.name for slot in known])
                self.report.error(entry.keys[name], f"{at}.{name}", f"'{name}' is no axis of this matrix", hint)
            left = [row for row in rows if not wanted.items() <= row.items()]
            if len(left) == len(rows) and not unknown:
                self.report.error(entry, at, "matches nothing that is left")
            rows = left
        if entries and not rows:
            self.report.error(entries[-1], path, "leaves no combination")
        return rows

    def extended(self, rows: list[Row], entries: Sequence[Map], path: str) -> list[Row]:
        """Return the rows with what include adds: keys to those that match, and further rows at the end."""
        made: list[dict[Slot, Any]] = [dict(row) for row in rows] if self.axes else []
        extra: list[Row] = []
        seen: set[frozenset[tuple[Slot, Any]]] = set()  # the rows of extra
        varied = {slot for axis in self.axes for slot in axis.slots}
        for number, entry in enumerate(entries):
            at = f"{path}[{number}]"
            wanted = self.entry(entry, at)
            if wanted is None:
                continue
            on_axes = {slot: value for slot, value in wanted.items() if slot in varied}
            added = {slot: value for slot, value in wanted.items() if slot not in varied}
            matching = [row for row in made if on_axes.items() <= row.items()]
            if matching and added:
                self.add(matching, added, entry, at)
                continue
            further = wanted if matching else self.completed(wanted, entry, at)
            whole = frozenset(further.items())
            if matching or whole in seen:
                self.report.error(entry, at, "adds nothing: such a combination is there already")
            seen.add(whole)
            extra.append(further)
        return [*(made if self.axes or entries else rows), *extra]

    def add(self, rows: list[dict[Slot, Any]], added: Row, entry: Map, at: str) -> None:
        for slot, value in added.items():
            if any(row.get(slot, value) != value for row in rows):
                self.report.error(
                    entry.keys[slot.name],
                    f"{at}.{slot.name}",
                    f"'{slot.name}' was added to the same combination before, with another value",
                )
        for row in rows:
            row.update(added)

    def completed(self, wanted: dict[Slot, Any], entry: Map, at: str) -> dict[Slot, Any]:
        """Return a further row with the config, gpu and region of the sweep, where there is but one."""
        for axis in self.axes:
            for slot, values in zip(axis.slots, zip(*axis.rows, strict=True), strict=True):
                if slot.is_param or slot in wanted:
                    continue
                if len(set(values)) > 1:
                    self.report.error(
                        entry,
                        at,
                        f"a combination of its own needs its {slot.name}",
                        f"one of {', '.join(sorted(set(values)))}",
                    )
                wanted[slot] = values[0]
        return wanted

    def entry(self, entry: Map, at: str) -> dict[Slot, str] | None:
        """Return the values that an entry names, None where one of them is wrong."""
        found: dict[Slot, str] = {}
        for name, node in entry.members.items():
            slot = chosen(name, entry.keys[name], f"{at}.{name}", self.report)
            text = value_of(slot, node, f"{at}.{name}", self.report)
            if slot is not None and text is not None:
                found[slot] = text
        return found if len(found) == len(entry.members) else None
