"""Commands whose words hold ``{name}`` go in; a lone brace or a name that a cell lacks lands in the report."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from sweeptool.errors import near
from sweeptool.spec import braces, kinds
from sweeptool.spec.fields import Kind
from sweeptool.spec.model import Command, Point
from sweeptool.spec.tree import List, Node, Report, Text


def _word(node: Node, path: str, report: Report) -> str | None:
    text = kinds.value(node, path, report)
    try:
        braces.names(text or "")
    except ValueError as error:
        report.error(node, path, str(error), "or write the command as one text, which bash reads and nothing expands")
    return text


WORDS: Kind[tuple[str, ...]] = kinds.items(Kind(_word, kinds.SCALAR), "arguments", empty=False)
COMMAND: Kind[Command] = kinds.command(WORDS)
Places = Mapping[tuple[str, ...], tuple[Node, str]]
"""Where each argv template stands: its node and its path."""


def said(cell: Mapping[str, Any]) -> dict[tuple[str, ...], tuple[Node, str]]:
    """Return the place of an argv that was given on the command line."""
    command = cell.get("command")
    return {command: (Text(""), "--command")} if isinstance(command, tuple) else {}


def check(points: Iterable[Point], places: Places, argv: tuple[str, ...], report: Report) -> None:
    """Report each ``{name}`` of a point's command, or of the runner's ``argv``, that the point has no value for."""
    used: dict[tuple[str, ...], list[tuple[int, str]]] = {}
    told: set[tuple[tuple[str, ...], int, str]] = set()
    seen: set[object] = set()
    for index, point in enumerate(points):
        shape = (id(point.settings), tuple(point.params), point.gpu is None, point.region is None, point.config is None)
        if shape in seen:
            continue
        seen.add(shape)
        for template in (point.settings.command, argv):
            if not template or isinstance(template, str):
                continue
            if template not in used:
                used[template] = [(number, name) for number, word in enumerate(template) for name in _names(word)]
            for number, name in used[template]:
                if not _has(point, name) and (template, number, name) not in told:
                    told.add((template, number, name))
                    node, path = _place(places.get(template), number)
                    report.error(node, path, *_complaint(name, index, point))


def _names(word: str) -> list[str]:
    """Return the names in a word, none where it has a lone brace, which is reported where it is read."""
    try:
        return braces.names(word)
    except ValueError:
        return []


def _has(point: Point, name: str) -> bool:
    if name in point.params:
        return True
    optional = {"gpu": point.gpu, "region": point.region, "config": point.config}
    return name in braces.WORDS and (name not in optional or optional[name] is not None)


def _place(where: tuple[Node, str] | None, number: int) -> tuple[Node, str]:
    node, path = where or (List(()), "command")
    if isinstance(node, List) and number < len(node.items):
        return node.items[number], f"{path}[{number}]"
    return node, path


def _complaint(name: str, index: int, point: Point) -> tuple[str, str]:
    """Return what is wrong with a name that a cell lacks, and the mend."""
    if name in braces.WORDS:
        return f"cell {index} has no {name} for {{{name}}}", ""
    known = [*point.params, *braces.WORDS]
    return f"{{{name}}} is no parameter of cell {index}", near(name, known) or f"known: {', '.join(known)}"
