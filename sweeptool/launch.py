"""A rendered driver goes in; it is put into its sweep directory and run there as this process's child."""

from __future__ import annotations

import os
import shutil
import signal
import sys
from collections.abc import Sequence
from pathlib import Path

from sweeptool import files
from sweeptool.errors import Problem, SweepError
from sweeptool.layout import SweepDir


def driver(sweep: SweepDir, text: str | None, project: Path, sweeps_dir: Path, words: Sequence[str]) -> int:
    """Run a sweep's driver with ``words``; return its exit code.

    ``text`` replaces the driver (None: the one that is there). This process becomes the driver, so signals,
    terminal and exit code are the driver's own. Raises SweepError where bash is missing or nothing can be written.
    """
    bash = shutil.which("bash")
    if bash is None:
        raise SweepError(Problem("bash is not on PATH", remedy="install bash 4.4 or newer"))
    if text is not None:
        _place(sweep, text)
    elif not sweep.driver.is_file():
        raise SweepError(Problem("this sweep has no driver", source=str(sweep.path), remedy="use 'sweeptool run SPEC'"))
    environment = os.environ | {"SWEEPTOOL_SWEEPS_DIR": str(sweeps_dir)}
    if "SWEEPTOOL" not in environment:
        environment["SWEEPTOOL"] = own()
    argv = [bash, str(sweep.driver.absolute()), *words, "--project-dir", str(project)]
    sys.stdout.flush()
    sys.stderr.flush()
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)  # Python ignores it, and what is ignored stays so across exec
    os.execve(bash, argv, environment)  # noqa: S606 - argv is ours, no shell reads it


def own() -> str:
    """Return the path of the command that this process was started as, or ``sweeptool``."""
    started = Path(sys.argv[0])
    beside = Path(sys.executable).with_name("sweeptool")
    for candidate in (started, beside):
        if candidate.name == "sweeptool" and os.access(candidate, os.X_OK) and candidate.is_file():
            return str(candidate.absolute())
    return "sweeptool"


def _place(sweep: SweepDir, text: str) -> None:
    try:
        sweep.path.mkdir(parents=True, exist_ok=True)
        files.replace(sweep.driver, text.encode(), mode=0o755)
    except OSError as error:
        place = str(error.filename or sweep.path)
        raise SweepError(
            Problem(f"cannot be written: {error.strerror}", source=place, remedy="allow writing")
        ) from error
