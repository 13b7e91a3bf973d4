"""A directory and a file name go in; every file of that name beneath comes out, each once, in path order."""

from __future__ import annotations

import os
from collections.abc import Iterator
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
    if not Path(root).is_dir():
        what = "is no directory" if os.path.lexists(root) else "does not exist"
        raise SweepError(Problem(what, source=root))
    links: list[str] = []
    yield from _below(root, name, links, skipped)
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
        yield from _below(link, name, links, skipped)


def _below(top: str, name: str, links: list[str], skipped: list[Skipped]) -> Iterator[str]:
    stack = [top]
    while stack:
        directory = stack.pop()
        inner: list[str] = []
        found = False
        try:
            with os.scandir(directory) as entries:
                for entry in entries:
                    if entry.name == name:
                        found = True
                    if entry.is_dir(follow_symlinks=False):
                        inner.append(entry.name)
                    elif entry.is_symlink() and entry.is_dir():
                        links.append(entry.path)
        except OSError as error:
            skipped.append(Skipped(directory, f"cannot be listed: {reason(error)}"))
            continue
        prefix = directory if directory.endswith("/") else directory + "/"
        if found:
            yield prefix + name
        inner.sort(reverse=True)
        stack += [prefix + one for one in inner]


def _lineage(path: str) -> Iterator[str]:
    """Yield ``path`` and every directory above it."""
    yield path
    yield from map(str, Path(path).parents)
