"""The stdout of an attempt goes in, the run directory that its runner named comes out: the first ``RUN_DIR=`` line."""

from __future__ import annotations

import os
import re
from pathlib import Path

from sweeptool.lines import blocks

_LINE = re.compile(rb"^RUN_DIR=([^\n\0]+)$", re.MULTILINE)


def first(stdout: Path) -> Path | None:
    """Return the path on the first ``RUN_DIR=`` line of ``stdout``, None where there is none, or no such file.

    Reads no further than that line, in flat memory; the line may lack its newline, the path may hold spaces.
    """
    try:
        for block in blocks(os.fspath(stdout)):
            for match in _LINE.finditer(block):
                if path := match[1].strip(b"\r"):
                    return Path(os.fsdecode(path))
    except OSError:
        return None
    return None
