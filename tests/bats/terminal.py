"""A command goes in and runs at a terminal of its own; the terminal closes when a file named ``close`` appears.

What it prints comes out, what stands in a file named ``keys`` is typed, and the exit code is the command's.
"""

from __future__ import annotations

import os
import pty
import select
import sys
from pathlib import Path

_TICK = 0.02  # seconds between two looks for those files


def main(words: list[str]) -> int:
    """Run ``words``; return the exit code, 128 and more for a signal."""
    pid, terminal = pty.fork()
    if pid == 0:
        os.execvp(words[0], words)
    while _copy(terminal) and not Path("close").exists():
        if Path("keys").exists():
            os.write(terminal, Path("keys").read_bytes())
            Path("keys").unlink()
    os.close(terminal)
    code = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
    return code if code >= 0 else 128 - code


def _copy(terminal: int) -> bool:
    """Pass on what is printed, if anything; return whether the command still has its terminal open."""
    if not select.select([terminal], [], [], _TICK)[0]:
        return True
    try:
        data = os.read(terminal, 65536)
    except OSError:  # Linux says so when the last process has closed it
        return False
    os.write(1, data)
    return bool(data)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
