"""The command lines of all cells go in; the few shapes that make them, and each cell's own words, come out."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
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
    pieces = [[shell.pieces(word) for word in argv] for argv in argvs]
    alike: dict[tuple[tuple[str, ...], ...], list[int]] = {}
    for index, words in enumerate(pieces):
        alike.setdefault(tuple(tuple(word[1::2]) for word in words), []).append(index)
    found: list[Shape] = []
    calls: list[list[str]] = [[] for _ in argvs]
    for indexes in alike.values():
        name = f"command_{len(found)}"
        rows = [[literal for word in pieces[index] for literal in word[::2]] for index in indexes]
        differs = [len(set(column)) > 1 for column in zip(*rows, strict=True)]
        found.append(Shape(name, tuple(_words(pieces[indexes[0]], differs))))
        for index, row in zip(indexes, rows, strict=True):
            own = [literal for literal, differing in zip(row, differs, strict=True) if differing]
            calls[index] = [name, *own]
    return found, calls


def _words(pieces: Iterable[Sequence[str]], differs: Iterable[bool]) -> Iterable[str]:
    differing = iter(differs)
    number = 0
    for word in pieces:
        written = []
        for place, piece in enumerate(word):
            if place % 2:
                written.append(shell.mark(piece))
            elif next(differing):
                number += 1
                written.append(shell.parameter(number))
            else:
                written.append(piece)
        yield "".join(written)
