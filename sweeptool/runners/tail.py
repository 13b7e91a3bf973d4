"""A log goes in, its last line that says something comes out, safe to show."""

from __future__ import annotations

import os
from pathlib import Path

from sweeptool.lines import open_plain
from sweeptool.text import one_line

_LOOK = 4096  # bytes before the end


def last_line(path: Path) -> str:
    """Return the last line of ``path`` that is not blank, shortened; empty where there is none, or no file."""
    try:
        handle, size = open_plain(os.fspath(path))
    except OSError:
        return ""
    try:
        data = os.pread(handle, _LOOK, max(0, size - _LOOK))
    finally:
        os.close(handle)
    lines = [line for line in data.decode(errors="replace").splitlines() if line.strip()]
    return one_line(lines[-1].strip(), 200) if lines else ""
