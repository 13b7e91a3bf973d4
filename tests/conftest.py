"""What every test may ask for: a project directory, the tool itself, a component of the machine."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import textwrap
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import pytest

SECONDS = 300  # that no single call of the tool takes in a test


def require(present: object, reason: str) -> None:
    """Skip the test where a component is not there; fail it where SWEEPTOOL_REQUIRE_ALL=1 says that all must be."""
    if present:
        return
    if os.environ.get("SWEEPTOOL_REQUIRE_ALL") == "1":
        pytest.fail(f"SWEEPTOOL_REQUIRE_ALL=1, but {reason}")
    pytest.skip(reason)


def require_program(*names: str) -> None:
    """Skip, or fail, the test where a program is not on PATH."""
    for name in names:
        require(shutil.which(name), f"{name} is not on PATH")


@dataclass(frozen=True, slots=True)
class Project:
    """A project directory with the files that the test shows."""

    path: Path

    def write(self, files: Mapping[str, str]) -> None:
        for name, text in files.items():
            file = self.path / name
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(textwrap.dedent(text).lstrip("\n"))

    def run(
        self, *argv: str | Path, stdin: str = "", env: Mapping[str, str] | None = None
    ) -> subprocess.CompletedProcess[str]:
        """Run a program here and return its exit code and output as text."""
        return subprocess.run(
            list(map(str, argv)),
            cwd=self.path,
            input=stdin,
            env={**os.environ, **(env or {})},
            capture_output=True,
            text=True,
            timeout=SECONDS,
            check=False,
        )

    def tool(self, *words: str | Path, **options: object) -> subprocess.CompletedProcess[str]:
        """Run ``sweeptool`` here with these words."""
        return self.run(sys.executable, "-m", "sweeptool", *words, **options)  # type: ignore[arg-type]


@pytest.fixture
def project(tmp_path: Path) -> Callable[..., Project]:
    """Return a function that makes a project of the files given as ``{name: text}``."""

    def make(files: Mapping[str, str] | None = None) -> Project:
        made = Project(tmp_path / "project")
        made.path.mkdir(exist_ok=True)
        made.write(files or {})
        return made

    return make


@pytest.fixture(scope="session", autouse=True)
def _isolated(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Give all tests a HOME of their own, this Python's sweeptool on PATH, and none of the user's settings.

    Signals have their defaults, as on a terminal: under nohup, or behind an ``&`` in a script, some are ignored.
    """
    signal.signal(signal.SIGHUP, signal.SIG_DFL)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("HOME", str(tmp_path_factory.mktemp("home")))
        patch.setenv("PATH", f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}")
        for name in list(os.environ):
            if name.startswith(("SWEEP_", "PARAM_", "NODUS_", "GIT_")) or name in ("NO_COLOR", "SWEEPTOOL_SWEEPS_DIR"):
                patch.delenv(name)
        yield


from tests.rig.fixtures import rig, rig_base  # noqa: E402, F401 - fixtures, found by name; they import require
