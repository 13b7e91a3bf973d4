"""A directory and a file name go in; every file of that name beneath comes out, each once, in path order."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable, Iterator
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


def below(
    directories: Iterable[str], name: str, links: list[str], skipped: list[Skipped], without: Collection[str] = ()
) -> Iterator[str]:
    """Yield each ``name`` in and under these directories, but not under those ``without``.

    Symlinked directories are added to ``links`` instead.
    """
    stack = [*directories]
    stack.reverse()
    while stack:
        directory = stack.pop()
        present, inner = _listed(directory, name, links, skipped)
        if present:
            yield directory + name if directory.endswith("/") else f"{directory}/{name}"
        inner.reverse()
        stack += [one for one in inner if one not in without] if without else inner


def linked(root: str, name: str, links: list[str], skipped: list[Skipped]) -> Iterator[str]:
    """Yield each ``name`` in the trees that ``links``, met under ``root``, lead to, unless it was read already."""
    home = os.path.realpath(root)
    walked, above = {home}, set(_lineage(home))
    beyond: dict[str, set[str]] = {}  # a directory -> the linked trees beneath it that were read before it
    for link in links:  # grows while it is walked: a linked tree may hold links of its own
        target = os.path.realpath(link)
        if not walked.isdisjoint(_lineage(target)):
            continue  # read where it really stands
        if target in above:
            skipped.append(Skipped(link, f"links back to {target}, which holds what was read already"))
            continue
        yield from below([link], name, links, skipped, {link + one[len(target) :] for one in beyond.get(target, ())})
        walked.add(target)
        for place in _lineage(target):
            beyond.setdefault(place, set()).add(target)


def _listed(directory: str, name: str, links: list[str], skipped: list[Skipped]) -> tuple[bool, list[str]]:
    """Return whether ``name`` stands in a directory, and the directories in it by name."""
    inner: list[str] = []
    leading: list[str] = []
    present = False
    try:
        with os.scandir(directory) as entries:
            for entry in entries:
                if entry.name == name:
                    present = True
                if entry.is_dir(follow_symlinks=False):
                    inner.append(entry.path)
                elif entry.is_symlink() and _leads(entry, skipped):
                    leading.append(entry.path)
    except OSError as error:
        skipped.append(Skipped(directory, f"cannot be listed: {reason(error)}"))
    inner.sort()
    links += sorted(leading)
    return present, inner


def _leads(entry: os.DirEntry[str], skipped: list[Skipped]) -> bool:
    """Say whether a link leads to a directory; one link that cannot be followed costs nothing but itself."""
    try:
        return entry.is_dir()
    except OSError as error:
        skipped.append(Skipped(entry.path, f"cannot be followed: {reason(error)}"))
        return False


def _lineage(path: str) -> Iterator[str]:
    """Yield ``path`` and every directory above it."""
    yield path
    yield from map(str, Path(path).parents)
