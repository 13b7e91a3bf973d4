"""A document as nodes: the text of every scalar exactly as it was written, and the place where it stands."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from sweeptool.errors import Problem, raise_all
from sweeptool.text import printable


class Text(NamedTuple):
    """A scalar. ``plain``: written without quotes. Lines and columns count from 1; 0 is nowhere."""

    text: str
    line: int = 0
    column: int = 0
    plain: bool = True


class Null(NamedTuple):
    """A null, or nothing where a value could stand."""

    line: int = 0
    column: int = 0


class List(NamedTuple):
    """A sequence."""

    items: tuple[Node, ...]
    line: int = 0
    column: int = 0


class Map(NamedTuple):
    """A mapping: each member's value by its key, and the key's own node for its place."""

    members: dict[str, Node]
    keys: dict[str, Text]
    line: int = 0
    column: int = 0


Node = Text | Null | List | Map


Trail = tuple["Trail", str | int] | None
"""The way to a node under construction: what leads to its parent, and its key or number there."""


def trodden(trail: Trail) -> str:
    """Return a trail as a path: ``params[1].lr``."""
    steps: list[str | int] = []
    while trail is not None:
        trail, step = trail
        steps.append(step)
    path = ""
    for step in reversed(steps):
        path = member(path, step) if isinstance(step, str) else f"{path}[{step}]"
    return path


def describe(node: Node) -> str:
    """Return what a node is, for an error: ``null``, ``a list``, ``a map`` or the text in quotes."""
    match node:
        case Null():
            return "null"
        case List():
            return "a list"
        case Map():
            return "a map"
        case Text(text):
            return quoted(text)


def quoted(text: str) -> str:
    """Return ``text`` on one line in quotes, cut where it is long."""
    shown = text if len(text) <= 60 else text[:57] + "..."
    return f"'{printable(shown)}'"


def member(path: str, name: str) -> str:
    """Return the path of a map's member."""
    shown = name if name.replace("_", "").replace("-", "").isalnum() else quoted(name)
    return f"{path}.{shown}" if path else shown


@dataclass(frozen=True, slots=True)
class Report:
    """Collects what is wrong with one document, so that all of it is said at once."""

    source: str
    problems: list[Problem]
    warnings: list[Problem]

    def error(self, at: Node, path: str, message: str, remedy: str = "") -> None:
        """Note a problem at a node."""
        self.problems.append(self._problem(at, path, message, remedy))

    def warn(self, at: Node, path: str, message: str, remedy: str = "") -> None:
        """Note what is allowed and yet hardly meant."""
        self.warnings.append(self._problem(at, path, message, remedy))

    def finish(self) -> None:
        """Raise a SweepError of every problem, in the document's order, each said once."""
        ordered = sorted(self.problems, key=lambda problem: (problem.line or 0, problem.column or 0))
        raise_all(list(dict.fromkeys(ordered)))

    def _problem(self, at: Node, path: str, message: str, remedy: str) -> Problem:
        from_flag = path.startswith("--")
        return Problem(
            printable(message),
            path=printable(path),
            source="" if from_flag else self.source,
            line=at.line or None,
            column=(at.column or None) if at.line else None,
            remedy=printable(remedy),
        )


def report(source: str) -> Report:
    """Return an empty report on ``source``."""
    return Report(source, [], [])
