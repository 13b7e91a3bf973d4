"""A map of a spec goes in, its members come out typed; every known key stands in a table, said once."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Generic, TypeVar

from sweeptool.errors import near
from sweeptool.spec.tree import Map, Node, Report, describe, member, quoted

_FEW = 12  # names that a line still holds
T = TypeVar("T")
Reader = Callable[[Node, str, Report], T | None]
"""Takes a node, its path and the report; returns the value, or None after noting a problem."""


@dataclass(frozen=True, slots=True)
class Kind(Generic[T]):
    """What may stand somewhere: how it is read, and its JSON Schema."""

    read: Reader[T]
    schema: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Key(Generic[T]):
    """A known key: its name, what may stand there, and what it says, in a line."""

    name: str
    kind: Kind[T]
    about: str
    required: bool = False


@dataclass(frozen=True, slots=True)
class Fields:
    """A map whose keys are all known or reported."""

    node: Map
    path: str
    report: Report

    def has(self, key: Key[T]) -> bool:
        return key.name in self.node.members

    def get(self, key: Key[T]) -> T | None:
        """Return a member's value; None where it is absent or wrong. To be called once a key."""
        node = self.node.members.get(key.name)
        return None if node is None else key.kind.read(node, self.at(key), self.report)

    def at(self, key: Key[T]) -> str:
        """Return the path of a member."""
        return member(self.path, key.name)

    def key(self, key: Key[T]) -> Node:
        """Return the place of a member's key, or of the map where it is absent."""
        return self.node.keys.get(key.name, self.node)


@dataclass(frozen=True, slots=True)
class Table:
    """The known keys of one kind of map, and for other names of the same thing what to write instead."""

    keys: tuple[Key[Any], ...]
    other: Mapping[str, str] = field(default_factory=dict)

    def read(self, node: Node, path: str, report: Report) -> Fields | None:
        """Return a map's fields; what is unknown or missing lands in the report."""
        if not isinstance(node, Map):
            report.error(node, path, f"expected a map, got {describe(node)}")
            return None
        known = [key.name for key in self.keys]
        unknown = [name for name in node.keys if name not in known]
        for name in unknown:
            report.error(node.keys[name], member(path, name), f"unknown setting {quoted(name)}", self.hint(name, known))
        for wanted in self.keys:
            misspelt = any(near(name, [wanted.name]) for name in unknown)
            if wanted.required and wanted.name not in node.members and not misspelt:
                report.error(node, path, f"'{wanted.name}' is missing", wanted.about)
        return Fields(node, path, report)

    def hint(self, name: str, known: Sequence[str]) -> str:
        """Return what to write instead of an unknown name."""
        other = self.other.get(folded(name))
        if other:
            return f"use {other}"
        listed = f"known: {', '.join(known)}" if len(known) <= _FEW else "'sweeptool schema' lists the known ones"
        return near(name, known) or listed

    def kind(self) -> Kind[Fields]:
        """Return the kind of a map with these keys."""
        schema: dict[str, Any] = {"type": "object", "additionalProperties": False}
        schema["properties"] = {key.name: {"description": key.about, **key.kind.schema} for key in self.keys}
        required = [key.name for key in self.keys if key.required]
        return Kind(self.read, {**schema, "required": required} if required else schema)


def folded(name: str) -> str:
    """Return a name without case, hyphens and underscores, as people misremember it."""
    return name.lower().replace("-", "").replace("_", "").replace(" ", "")
