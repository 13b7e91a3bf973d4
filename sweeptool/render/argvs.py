"""The command lines of all cells go in; the few shapes that make them, and each cell's own words, come out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from sweeptool import shell


@dataclass(frozen=True, slots=True)
class Shape:
    """What several command lines share: ``words`` has a positional parameter (``shell.parameter``) where they differ.

    ``name`` is the bash function that fills it in.
    """

    name: str
    words: tuple[str, ...]


def shapes(argvs: Sequence[Sequence[str]]) -> tuple[list[Shape], list[list[str]]]:
    """Return the shapes, and for each command line the call that makes it: a shape's name, then its own words."""
    alike: dict[tuple[object, ...], list[int]] = {}
    for index, argv in enumerate(argvs):
        marks = [(place, *shell.pieces(word)[1::2]) for place, word in enumerate(argv) if "\0" in word]
        alike.setdefault((len(argv), *marks), []).append(index)
    found: list[Shape] = []
    calls: list[list[str]] = [[] for _ in argvs]
    for indexes in alike.values():
        name = f"command_{len(found)}"
        own: list[Sequence[str]] = []
        columns = zip(*(argvs[index] for index in indexes), strict=True)
        found.append(Shape(name, tuple([_word(column, own) for column in columns])))
        for index, *words in zip(indexes, *own, strict=True):
            calls[index] = [name, *words]
    return found, calls


def _word(column: Sequence[str], own: list[Sequence[str]]) -> str:
    """Return one word of a shape from all that stand in its place; append to ``own`` what differs between them."""
    if len(set(column)) == 1:
        return column[0]
    if "\0" not in column[0]:
        own.append(column)
        return shell.parameter(len(own))
    literals = zip(*(shell.pieces(word)[::2] for word in column), strict=True)
    first, *rest = [_word(literal, own) for literal in literals]
    marks = map(shell.mark, shell.pieces(column[0])[1::2])
    return first + "".join(mark + literal for mark, literal in zip(marks, rest, strict=True))
