"""A seed and kinds of kill go in; one round is played to its end, and what it broke comes out."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psutil

from tests.torture import count, world
from tests.torture.kills import KINDS, PATIENCE
from tests.torture.world import RESERVED, World

_RESUMES = 40  # drivers that one round may need
_DISK = "size=24m"  # room for the runners that print a megabyte
_ENDS = frozenset({0, 1, 3, 4, 5, 129, 130, 143, -signal.SIGKILL, -signal.SIGHUP, -signal.SIGINT, -signal.SIGTERM})


@dataclass(frozen=True, slots=True)
class Round:
    """One round: which kinds of kill it had, what it broke, and where its files are."""

    number: int
    kinds: tuple[str, ...]
    broken: tuple[tuple[str, str], ...]
    path: Path
    seconds: float


def play(number: int, seed: int, tree: Path, root: Path, kinds: Sequence[str] = tuple(KINDS), **shape: Any) -> Round:
    """Play round ``number``; its files stay only where it broke something.

    ``shape`` is ``world.make``'s; ``pause`` in it is the time before each kill, in seconds.
    """
    path = Path(tempfile.mkdtemp(prefix=f"round-{number}-", dir=root)).resolve()
    began = time.monotonic()
    pause = shape.pop("pause", None)
    made = world.make(path, tree, f"{seed}:{number}", **shape)
    chosen = (kinds[number % len(kinds)], *made.dice.choices(kinds, k=made.dice.randint(0, 3)))
    mounted = "disk full" in chosen and _mount(path / "sweeps")
    made.small = mounted
    try:
        for kind in chosen:
            _go_on(made)
            moment = made.dice.choice((0.05, 0.2, 0.5, 0.9)) * made.dice.uniform(0.5, 1.5)
            time.sleep(moment if pause is None else pause)
            KINDS[kind](made)
        _finish(made)
        broken = tuple(count.broken(made))
    except subprocess.TimeoutExpired as late:
        broken = (("ends", f"no end after {late.timeout:.0f} s"),)
        _describe(made)
    finally:
        _clean(made, mounted=mounted)
    if not broken:
        shutil.rmtree(path)
    return Round(number, chosen, broken, path, time.monotonic() - began)


def _go_on(made: World) -> None:
    """Have a driver run: the same command again where none does."""
    _judge(made)
    if not made.alive():
        made.start()


def _finish(made: World) -> None:
    """Run the same command again until all is done, and once more: it must have nothing left to do."""
    for _ in range(_RESUMES):
        for driver in list(made.drivers):
            driver.wait(PATIENCE)
        _judge(made)
        if not made.drivers and made.start().wait(PATIENCE) == 0 and _newest(made):
            break
    else:
        made.blame("ends", f"not complete after {_RESUMES} drivers")
    before = len(made.record())
    if (code := made.start().wait(PATIENCE)) != 0 or len(made.record()) != before:
        made.blame("ends", f"run again when complete: exit {code}, {len(made.record()) - before} new facts")
    made.drivers.clear()


def _judge(made: World) -> set[int]:
    """Take the exit codes of the drivers that ended, and do what a user would: raise the cap, resume."""
    codes = {driver.returncode for driver in made.drivers if driver.poll() is not None}
    made.drivers = [driver for driver in made.drivers if driver.returncode is None]
    for code in codes - _ENDS - made.excused:
        made.blame("ends", f"a driver exited {code}")
    if codes:
        made.excused.clear()
    if 3 in codes:
        made.raise_cap(RESERVED * made.dice.randint(1, 4))
    if 4 in codes:
        made.follow(made.tool_driver("resume", "torture"))
    return codes


def _newest(made: World) -> bool:
    """Say whether the plan that is complete is the one rendered last."""
    return (made.sweep / "driver.sh").read_bytes() == (made.path / "driver.sh").read_bytes()


def _mount(path: Path) -> bool:
    """Put a small disk of its own on ``path``; False where only root could."""
    return (
        subprocess.run(
            ["mount", "-t", "tmpfs", "-o", _DISK, "tmpfs", path], check=False, capture_output=True
        ).returncode
        == 0
    )


def _describe(made: World) -> None:
    """Note what every process of a round that hangs waits for."""
    lines = []
    for process in psutil.process_iter():
        with suppress(psutil.Error, OSError):
            if Path(process.cwd()).is_relative_to(made.path):
                place = Path(f"/proc/{process.pid}")
                waits = f"{(place / 'wchan').read_text()} {(place / 'syscall').read_text().strip()}"
                lines.append(f"{process.pid} {process.ppid()} {process.status()} {waits} {' '.join(process.cmdline())}")
    (made.path / "stuck").write_text("\n".join([*lines, ""]))


def _clean(made: World, *, mounted: bool) -> None:
    """Leave no process and no mount behind."""
    for process in psutil.process_iter():
        with suppress(psutil.Error, OSError):
            if Path(process.cwd()).is_relative_to(made.path) and process.pid != os.getpid():
                process.kill()
    for driver in made.drivers:
        with suppress(subprocess.TimeoutExpired):
            driver.wait(5)
    if mounted:
        shutil.copytree(made.path / "sweeps", made.path / "kept", dirs_exist_ok=True)
        subprocess.run(["umount", "-l", made.path / "sweeps"], check=False)
