"""What a reading command is pointed at goes in: files, a tree, a sweep or nothing; what is found there comes out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from sweeptool import layout
from sweeptool.errors import Problem, SweepError
from sweeptool.layout import SweepDir

if TYPE_CHECKING:
    from sweeptool.runs import Found

TREE = "artifacts"


@dataclass(frozen=True, slots=True)
class Source:
    """Exactly one of the three is given; ``chosen`` says that the user named none."""

    files: tuple[str, ...] = ()
    root: str | None = None
    sweep: SweepDir | None = None
    chosen: bool = False

    def __str__(self) -> str:
        if self.sweep:
            return f"sweep {self.sweep.path.name}"
        return self.root or ", ".join(self.files)


def choose(files: Sequence[str], root: str | None, sweep: str | None, sweeps_dir: Path) -> Source:
    """Return what the user points at; with nothing, the newest sweep, or else the tree ``artifacts``.

    Raises SweepError where that is more than one thing, or nothing that exists.
    """
    given = [name for name, value in (("FILE", files), ("--root", root), ("--sweep", sweep)) if value]
    if len(given) > 1:
        raise SweepError(Problem(f"{' and '.join(given)} exclude each other", remedy="give one of them"))
    if files:
        return Source(files=tuple(files))
    if root is not None:
        return Source(root=root)
    from sweeptool import locate  # noqa: PLC0415 - what reads a tree starts without it

    if sweep is not None or locate.existing(sweeps_dir):
        return Source(sweep=locate.find(sweep, sweeps_dir), chosen=sweep is None)
    if Path(TREE).is_dir():
        return Source(root=TREE, chosen=True)
    remedy = "give --root DIR or --sweep SWEEP"
    raise SweepError(Problem(f"there is neither a sweep in {sweeps_dir} nor a directory {TREE}", remedy=remedy))


def read(source: Source, name: str = layout.MANIFEST) -> Found:
    """Return the runs at ``source``; ``name`` is what a manifest is called where no plan says so.

    Raises SweepError for a root that is missing, and where not one of the named files can be read.
    """
    from sweeptool import runs  # noqa: PLC0415 - what reads events only starts without them

    if source.sweep is not None:
        from sweeptool.runs import sweeps  # noqa: PLC0415 - what reads a tree starts without it

        return sweeps.read(source.sweep).found
    if source.root is not None:
        return runs.under(source.root, name)
    found = runs.of_files(source.files)
    if not found.runs:
        raise SweepError(*(Problem(why, source=path) for path, why in found.skipped))
    return found
