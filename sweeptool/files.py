"""Bytes and a path go in; a file that is either the old or the new one, never half of it, comes out."""

from __future__ import annotations

import errno
import os
from pathlib import Path

from sweeptool.errors import Problem, SweepError

_MENDS = dict.fromkeys((errno.EACCES, errno.EPERM, errno.EROFS), "allow writing")
_MENDS |= dict.fromkeys((errno.ENOSPC, errno.EDQUOT), "make room")  # others say themselves what is wrong


def replace(path: Path, data: bytes, *, mode: int = 0o644) -> None:
    """Write ``data`` to ``path`` at once; nothing is touched where it holds just that. Raises OSError.

    A link stays a link to what is written; a device or a pipe is written to, never replaced. Of ``mode`` remains what
    the user's umask allows.
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
        with os.fdopen(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, mode), "wb") as file:
            file.write(data)
        draft.replace(path)
    except OSError as error:
        draft.unlink(missing_ok=True)
        error.filename, error.filename2 = str(path), None  # nobody knows the draft
        raise


def refused(error: OSError, path: Path | str) -> SweepError:
    """Return the error of a file or directory at ``path`` that cannot be written, with the mend where there is one."""
    remedy = _MENDS.get(error.errno or 0, "")
    return SweepError(Problem(f"cannot be written: {error.strerror}", source=str(path), remedy=remedy))
