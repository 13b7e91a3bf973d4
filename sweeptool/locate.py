"""What a user calls a sweep goes in: a name, a directory or nothing; the sweep's directory comes out."""

from __future__ import annotations

import os
from pathlib import Path

from sweeptool.errors import Problem, SweepError, near
from sweeptool.layout import SweepDir
from sweeptool.text import among


def find(sweep: str | None, sweeps_dir: Path) -> SweepDir:
    """Return the sweep that is meant; None means the one there is, or the newest.

    Raises SweepError, which lists the sweeps in ``sweeps_dir``.
    """
    if sweep is None:
        return _newest(sweeps_dir)
    for place in (sweeps_dir / sweep, Path(sweep)):
        if _is_sweep(place):
            return SweepDir(place)
    known = [one.path.name for one in existing(sweeps_dir)]
    message = f"no sweep '{sweep}': {_listed(known, sweeps_dir)}"
    raise SweepError(Problem(message, remedy=near(Path(sweep).name, known)))


def existing(sweeps_dir: Path) -> list[SweepDir]:
    """Return every sweep in ``sweeps_dir``, by name; none where the directory is not there."""
    try:
        with os.scandir(sweeps_dir) as entries:
            names = sorted(entry.name for entry in entries if entry.is_dir())
    except OSError:
        return []
    return [SweepDir(sweeps_dir / name) for name in names if _is_sweep(sweeps_dir / name)]


def touched(where: SweepDir) -> int:
    """Return when anything last happened in a sweep, in nanoseconds since 1970."""
    return max(_written(where.ledger), _written(where.plan))


def _newest(sweeps_dir: Path) -> SweepDir:
    sweeps = existing(sweeps_dir)
    if not sweeps:
        raise SweepError(Problem(_listed([], sweeps_dir), remedy="name one, or run one first"))
    return max(sweeps, key=touched)


def _listed(known: list[str], sweeps_dir: Path) -> str:
    return f"{among(known)} in {sweeps_dir}" if known else f"there is no sweep in {sweeps_dir}"


def _is_sweep(place: Path) -> bool:
    where = SweepDir(place)
    try:
        return where.plan.is_file() or where.ledger.is_file()
    except (OSError, ValueError):
        return False


def _written(path: Path) -> int:
    try:
        return path.stat().st_mtime_ns
    except OSError:
        return 0
