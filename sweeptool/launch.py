"""A rendered driver goes in; it is put into its sweep directory and run there in place of this process."""

from __future__ import annotations

import os
import shutil
import signal
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from sweeptool import files, frozen
from sweeptool.errors import Problem, SweepError
from sweeptool.layout import SweepDir
from sweeptool.ledger import hold


def driver(sweep: SweepDir, text: str | None, project: Path, sweeps_dir: Path, words: Sequence[str]) -> int:
    """Run a sweep's driver with ``words``; return its exit code.

    ``text`` replaces the driver (None: the one that is there). This process becomes the driver, so signals,
    terminal and exit code are the driver's own. Raises SweepError where bash is missing or nothing can be written.
    """
    if text is not None:
        place(sweep, text)
    argv, environment = command(sweep, project, sweeps_dir, words)
    sys.stdout.flush()
    sys.stderr.flush()
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)  # Python ignores it, and what is ignored stays so across exec
    os.execve(argv[0], argv, environment)  # noqa: S606 - argv is ours, no shell reads it


def command(
    sweep: SweepDir, project: Path, sweeps_dir: Path, words: Sequence[str]
) -> tuple[list[str], Mapping[str, str]]:
    """Return the argv and the environment that run a sweep's own driver with ``words``."""
    bash = shutil.which("bash")
    if bash is None:
        raise SweepError(Problem("bash is not on PATH", remedy="install bash 4.4 or newer"))
    if not sweep.driver.is_file():
        raise SweepError(Problem("this sweep has no driver", source=str(sweep.path), remedy="use 'sweeptool run SPEC'"))
    environment = {"SWEEPTOOL": own(), **os.environ, "SWEEPTOOL_SWEEPS_DIR": str(sweeps_dir.absolute())}
    return [bash, str(sweep.driver.absolute()), *words, "--project-dir", str(project.absolute())], environment


def own() -> str:
    """Return the path of the command that this process was started as, or ``sweeptool``."""
    started = Path(sys.argv[0])
    beside = Path(sys.executable).with_name("sweeptool")
    for candidate in (started, beside):
        if candidate.name == "sweeptool" and os.access(candidate, os.X_OK) and candidate.is_file():
            return str(candidate.absolute())
    return "sweeptool"


def place(sweep: SweepDir, text: str) -> None:
    """Put a driver and its plan into their sweep directory.

    Raises SweepError where that cannot be written, or (exit 5) while another driver runs from there.
    """
    try:
        sweep.path.mkdir(parents=True, exist_ok=True)
        hold.check(sweep)
        files.replace(sweep.driver, text.encode(), mode=0o755)
        files.replace(sweep.plan, frozen.from_driver(sweep.driver)[1])
    except OSError as error:
        place = str(error.filename or sweep.path)
        raise SweepError(Problem(f"cannot be written: {error.strerror}", source=place, remedy="allow writing")) from error
