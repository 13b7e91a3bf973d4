"""A directory and a runner go in; a starter spec, its job and a Makefile that run as they are come out."""

from __future__ import annotations

import os
from pathlib import Path

from sweeptool import files, layout
from sweeptool.errors import Problem, SweepError


def write(directory: Path, runner: str) -> list[Path]:
    """Write the starter files for ``runner`` into ``directory`` and return them.

    Raises SweepError, before anything is written, where one of them is there already.
    """
    source = layout.resource("templates") / "starter"
    wanted = {
        str(path.relative_to(source / folder)): path.read_bytes()
        for folder in ("common", runner)
        for path in sorted((source / folder).rglob("*"))
        if path.is_file() and path.suffix != ".pyc"  # pip compiles what it installs
    }
    there = [name for name in wanted if os.path.lexists(directory / name)]  # a link into the void is one too
    if there:
        raise SweepError(
            *(Problem("is there already", source=str(directory / name), remedy="nothing was written") for name in there)
        )
    try:
        directory.mkdir(parents=True, exist_ok=True)
        for name, data in wanted.items():
            (directory / name).parent.mkdir(parents=True, exist_ok=True)
            (directory / name).write_bytes(data)
    except OSError as error:
        raise files.refused(error, error.filename or directory) from error
    return [directory / name for name in wanted]
