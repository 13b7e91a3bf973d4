"""A directory and a file name go in; every file of that name beneath comes out, each once, in path order."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

from sweeptool.errors import Problem, SweepError
from sweeptool.lines import reason


class Skipped(NamedTuple):
    """A file or directory that was left out, and why."""

    path: str
    why: str


def files(root: str, name: str, skipped: list[Skipped]) -> Iterator[str]:
    """Yield the path of each ``name`` under ``root``; symlinked directories are followed, none is read twice.

    What cannot be listed, and links that lead back, are added to ``skipped``. Raises SweepError for a missing root.
    """
    check(root)
    links: list[str] = []
    yield from below([root], name, links, skipped)
    yield from linked(root, name, links, skipped)


def check(root: str) -> None:
    """Raise SweepError where ``root`` is no directory."""
    if not Path(root).is_dir():
        what = "is no directory" if os.path.lexists(root) else "does not exist"
        raise SweepError(Problem(what, source=root))


def top(root: str, name: str, links: list[str], skipped: list[Skipped]) -> tuple[list[str], list[str]]:
    """Return what stands above the first fork in the tree, and the directories there, to be walked one by one.

    ``below`` them, after it, is the rest of the walk.
    """
    found: list[str] = []
    directories = [root]
    while len(directories) == 1:
        here = directories[0]
        present, directories = _listed(here, name, links, skipped)
        found += [here + "/" * (not here.endswith("/")) + name] * present
    return found, directories


def below(directories: Iterable[str], name: str, links: list[str], skipped: list[Skipped]) -> Iterator[str]:
    """Yield each ``name`` in and under these directories; symlinked directories are added to ``links`` instead."""
    stack = [*directories]
    stack.reverse()
    while stack:
        directory = stack.pop()
        present, inner = _listed(directory, name, links, skipped)
        if present:
            yield directory + name if directory.endswith("/") else f"{directory}/{name}"
        inner.reverse()
        stack += inner


def linked(root: str, name: str, links: list[str], skipped: list[Skipped]) -> Iterator[str]:
    """Yield each ``name`` in the trees that ``links``, met under ``root``, lead to, unless it was read already."""
    home = os.path.realpath(root)
    walked, above = {home}, set(_lineage(home))
    for link in links:  # grows while it is walked: a linked tree may hold links of its own
        target = os.path.realpath(link)
        if not walked.isdisjoint(_lineage(target)):
            continue  # read where it really stands
        if target in above:
            skipped.append(Skipped(link, f"links back to {target}, which holds what was read already"))
            continue
        walked.add(target)
        above.update(_lineage(target))
        yield from below([link], name, links, skipped)


def _listed(directory: str, name: str, links: list[str], skipped: list[Skipped]) -> tuple[bool, list[str]]:
    """Return whether ``name`` stands in a directory, and the directories in it by name."""
    inner: list[str] = []
    present = False
    try:
        with os.scandir(directory) as entries:
            for entry in entries:
                if entry.name == name:
                    present = True
                if entry.is_dir(follow_symlinks=False):
                    inner.append(entry.path)
                elif entry.is_symlink() and entry.is_dir():
                    links.append(entry.path)
    except OSError as error:
        skipped.append(Skipped(directory, f"cannot be listed: {reason(error)}"))
    inner.sort()
    return present, inner


def _lineage(path: str) -> Iterator[str]:
    """Yield ``path`` and every directory above it."""
    yield path
    yield from map(str, Path(path).parents)
