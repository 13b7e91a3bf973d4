"""Bytes and a path go in; a file that is either the old or the new one, never half of it, comes out."""

from __future__ import annotations

import os
from pathlib import Path


def replace(path: Path, data: bytes, *, mode: int = 0o644) -> None:
    """Write ``data`` to ``path`` at once; nothing is touched where it holds just that. Raises OSError.

    A link stays a link to what is written; a device or a pipe is written to, never replaced.
    """
    if path.exists() and not path.is_file():
        path.write_bytes(data)  # before the link is resolved: what /dev/stdout leads to has no path
        return
    path = path.resolve()
    try:
        if path.read_bytes() == data:
            return
    except OSError:
        pass  # not there, or not readable: written anew
    draft = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        draft.write_bytes(data)
        draft.chmod(mode)
        draft.replace(path)
    except OSError:
        draft.unlink(missing_ok=True)
        raise
