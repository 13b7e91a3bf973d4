"""An argv template and a cell go in; the words of that cell's command come out, each argument still one argument."""

from __future__ import annotations

from collections.abc import Sequence

from sweeptool.cells import Cell
from sweeptool.errors import Problem, near
from sweeptool.runners.base import ATTEMPT
from sweeptool.spec import braces
from sweeptool.spec.model import Point, Spec


def expand(template: Sequence[str], cell: Cell, spec: Spec) -> tuple[str, ...]:
    """Return the template's words with each ``{name}`` replaced; ``check`` has seen that all are known."""
    known = {
        "index": str(cell.index),
        "id": cell.id,
        "name": cell.name,
        "repetition": str(cell.repetition),
        "attempt": ATTEMPT,
        "sweep": spec.name,
        **{name: text for name in ("gpu", "region", "config") if (text := getattr(cell, name)) is not None},
        **cell.params,
    }
    return tuple(braces.expand(word, known) for word in template)


def check(template: Sequence[str], points: Sequence[Point], path: str, source: str) -> list[Problem]:
    """Return a problem for each lone brace and for each name that some point has no value for."""
    wanted: dict[str, str] = {}
    problems = []
    for number, word in enumerate(template):
        place = f"{path}[{number}]"
        try:
            wanted = dict.fromkeys(braces.names(word), place) | wanted
        except ValueError as error:
            problems.append(Problem(str(error), place, source))
    unknown: dict[str, str] = {}
    known = {name for point in points for name in _known(point)}
    for point in points:
        unknown |= {name: wanted[name] for name in wanted.keys() - _known(point)}
    for name, place in sorted(unknown.items()):
        what = f"not every cell has a value for {{{name}}}" if name in known else f"unknown name {{{name}}}"
        hint = near(name, known - {name}) or f"write '{{{{{name}}}}}' for the text itself"
        problems.append(Problem(what, place, source, remedy=hint))
    return problems


def _known(point: Point) -> set[str]:
    absent = {name for name in ("gpu", "region", "config") if getattr(point, name) is None}
    return (set(braces.WORDS) - absent) | point.params.keys()
