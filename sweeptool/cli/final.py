"""A sweep directory goes in; what a driver shows when it ends is printed, and the code it would exit with comes out."""

from __future__ import annotations

from pathlib import Path

from sweeptool import status
from sweeptool.layout import SweepDir
from sweeptool.status import show


def main(directory: str) -> int:
    """Print a sweep's table, what failed and where to look; click is not needed for that, and would be half the time."""
    found = status.read(SweepDir(Path(directory)), ending=True)
    print(show.final(found))  # noqa: T201 - a part of the command line
    return status.exit_code(found)
