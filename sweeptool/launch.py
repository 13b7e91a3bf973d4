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
from sweeptool.layout import SWEEPS_DIR, SweepDir
from sweeptool.ledger import hold


def driver(sweep: SweepDir, text: str | None, project: Path, words: Sequence[str]) -> int:
    """Run a sweep's driver with ``words``; return its exit code.

    ``text`` replaces the driver (None: the one that is there). This process becomes the driver, so signals,
    terminal and exit code are the driver's own. Raises SweepError where bash is missing or nothing can be written.
    """
    if text is None:
        check(sweep)
    else:
        place(sweep, text)
    argv, environment = command(sweep, project, words)
    sys.stdout.flush()
    sys.stderr.flush()
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)  # Python ignores it, and what is ignored stays so across exec
    os.execve(argv[0], argv, environment)  # noqa: S606 - argv is ours, no shell reads it


def command(sweep: SweepDir, project: Path, words: Sequence[str]) -> tuple[list[str], Mapping[str, str]]:
    """Return the argv and the environment that run a sweep's own driver with ``words``; SweepError without bash."""
    bash = shutil.which("bash")
    if bash is None:
        raise SweepError(Problem("bash is not on PATH", remedy="install bash 4.4 or newer"))
    where = _absolute(sweep.path)
    environment = {"SWEEPTOOL": own(), **os.environ, "SWEEPTOOL_SWEEPS_DIR": str(where.parent)}
    return [bash, str(where / sweep.driver.name), *words, "--project-dir", str(project.absolute())], environment


def check(sweep: SweepDir) -> None:
    """Raise SweepError where a sweep has no driver, or its directory was renamed: a driver goes by its own name."""
    if not sweep.driver.is_file():
        raise SweepError(Problem("this sweep has no driver", source=str(sweep.path), remedy="use 'sweeptool run SPEC'"))
    name = frozen.from_driver(sweep.driver)[0].name
    if _absolute(sweep.path).name != name:
        raise SweepError(
            Problem(f"this is the sweep '{name}'", source=str(sweep.path), remedy=f"call its directory '{name}' again")
        )


def project_of(sweep: SweepDir) -> Path:
    """Return the project directory of a sweep that lies where sweeps do by default, else the current one."""
    sweeps = _absolute(sweep.path).parent
    default = Path(SWEEPS_DIR)
    own = sweeps.parts[-len(default.parts) :] == default.parts
    return sweeps.parents[len(default.parts) - 1] if own else Path()


def _absolute(path: Path) -> Path:
    return Path(os.path.abspath(path))  # noqa: PTH100 - '..' goes, a link stays


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
        raise files.refused(error, error.filename or sweep.path) from error
