"""Two programs go in, called in turn; their median times and the median of their ratios come out, as a table's row."""

from __future__ import annotations

import os
import statistics
import subprocess
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

Timed = Callable[[], float]
"""Does the work once and returns the seconds it took; what it has to prepare does not count."""


@dataclass(frozen=True, slots=True)
class Row:
    """One line of the table. Times are seconds (memory: bytes or megabytes, as ``unit`` says); ``target`` bounds the ratio, or our time where there is no peer."""

    what: str
    ours: float
    target: float
    against: str = ""
    peer: float | None = None
    ratio: float | None = None
    unit: str = "s"

    @property
    def kept(self) -> bool:
        return (self.ours if self.ratio is None else self.ratio) <= self.target


def against(what: str, ours: Timed, name: str, peer: Timed, target: float, rounds: int, unit: str = "s") -> Row:
    """Measure both in turn, so that a busy machine is busy for both: a ratio of each round, the median of all."""
    times = [(ours(), peer()) for _ in range(rounds)]
    mine, theirs = zip(*times, strict=True)
    ratio = statistics.median(a / b for a, b in times)
    return Row(what, statistics.median(mine), target, name, statistics.median(theirs), ratio, unit)


def alone(what: str, ours: Timed, target: float, rounds: int) -> Row:
    """Measure against a number of seconds."""
    return Row(what, statistics.median(ours() for _ in range(rounds)), target)


def wall(argv: Sequence[str | Path], where: Path, env: Mapping[str, str] | None = None) -> float:
    """Return the seconds that a program takes; what it prints is thrown away. Raises where it fails."""
    started = time.perf_counter()
    subprocess.run(
        list(map(str, argv)),
        cwd=where,
        env={**_as_installed(), **(env or {})},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        check=True,
    )
    return time.perf_counter() - started


def memory(argv: Sequence[str | Path], where: Path) -> float:
    """Return the most memory, in bytes, that a program held at once."""
    with subprocess.Popen(list(map(str, argv)), cwd=where, stdout=subprocess.DEVNULL, env=_as_installed()) as process:
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise subprocess.CalledProcessError(process.returncode, argv)
    return usage.ru_maxrss * 1024.0


def table(rows: Sequence[Row]) -> str:
    """Return the rows as one markdown table."""
    head = ("measured", "ours", "against", "theirs", "ratio", "target", "")
    lines = [head, ("---", "---:", "---", "---:", "---:", "---:", "---"), *map(_cells, rows)]
    return "\n".join("| " + " | ".join(cell.replace("|", "\\|") for cell in line) + " |" for line in lines)


def _as_installed() -> dict[str, str]:
    """Return the environment in which both sides may keep their modules compiled, as pip leaves them."""
    return {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}


def _cells(row: Row) -> tuple[str, ...]:
    verdict = "" if row.kept else "MISSED"
    if row.ratio is None or row.peer is None:
        return row.what, _time(row.ours, row.unit), "", "", "", f"≤ {_time(row.target, row.unit)}", verdict
    times = _time(row.ours, row.unit), row.against, _time(row.peer, row.unit)
    return row.what, *times, f"{row.ratio:.2f}", f"≤ {row.target:g}", verdict


def _time(seconds: float, unit: str) -> str:
    if unit in ("B", "MB"):
        return f"{seconds:.0f} {unit}"
    return f"{seconds * 1000:.2f} ms" if unit == "ms" else f"{seconds:.2f} s"
