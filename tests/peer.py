"""The runner's own tool, where it is installed, to compare our reading with."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from pathlib import Path

from tests.conftest import require

_RIG = Path(__file__).parent.parent / ".rig" / "venv" / "bin" / "runpod-deploy"


def find() -> str | None:
    """Return the path of ``runpod-deploy``: SWEEPTOOL_RUNPOD_DEPLOY, the rig's own, or the one on PATH."""
    named = os.environ.get("SWEEPTOOL_RUNPOD_DEPLOY")
    return named or (str(_RIG) if _RIG.exists() else shutil.which("runpod-deploy"))


def run(*words: str | Path) -> subprocess.CompletedProcess[str]:
    """Run it; skip the test, or fail it under SWEEPTOOL_REQUIRE_ALL=1, where it is not there."""
    program = find()
    require(program, "runpod-deploy is not installed: tests/rig/setup, or SWEEPTOOL_RUNPOD_DEPLOY")
    return subprocess.run([str(program), *map(str, words)], capture_output=True, text=True, timeout=120, check=False)


def footer(text: str) -> dict[str, str]:
    """Return the ``== TOTALS ==`` lines of a summary, ours or theirs, by name; without what ours adds in brackets."""
    lines = text.partition("== TOTALS ==\n")[2].splitlines()
    pairs = (line.split(":", 1) for line in lines if ":" in line)
    return {name: re.sub(r" \(.*\)$", "", value.strip()) for name, value in pairs}
