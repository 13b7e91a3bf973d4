"""A process id goes in, the tick of this boot at which it started comes out: two processes never share both."""

from __future__ import annotations

from pathlib import Path


def ticks(pid: int) -> str:
    """Return the start tick of the process ``pid`` as the kernel counts it, empty where nothing says."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(") ")[2].split()[19]
    except (OSError, IndexError):
        return ""
