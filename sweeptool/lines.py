"""The path of a file of lines goes in, its lines come out as bytes, in blocks: flat memory whatever its size."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator

SMALL = 1 << 16  # bytes
BLOCK = 1 << 20  # bytes read at once
LONGEST = 1 << 24  # bytes; a longer line is cut into several blocks
_PLAIN_FILE = os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC  # a named pipe must not block the reader


def open_plain(path: str) -> tuple[int, int]:
    """Return the descriptor and the size in bytes of a regular file, which the caller closes; raises OSError."""
    handle = os.open(path, _PLAIN_FILE)
    try:
        return handle, _check(handle)
    except OSError:
        os.close(handle)
        raise


def _check(handle: int) -> int:
    status = os.fstat(handle)
    if stat.S_ISREG(status.st_mode):
        return status.st_size
    raise OSError("is a directory" if stat.S_ISDIR(status.st_mode) else "is no regular file")


def small(path: str) -> bytes | None:
    """Return the whole of a regular file of less than 64 KB, None for a larger one; raises OSError."""
    handle = os.open(path, _PLAIN_FILE)
    try:
        data = os.read(handle, SMALL)
        if not data:
            _check(handle)  # a pipe that nobody writes to looks empty too
        return data if len(data) < SMALL else None
    finally:
        os.close(handle)


def blocks(path: str) -> Iterator[bytes]:
    """Yield the file in blocks of whole lines; only the last may end without a newline. Raises OSError.

    Only a newline ends a line: U+2028 and its kin stand inside JSON strings. A line longer than ``LONGEST`` is cut:
    blocks without a newline, each of them that long, and its end at the head of the block after them.
    """
    whole = small(path)
    if whole is not None:
        yield whole
        return
    handle, _ = open_plain(path)
    try:
        rest = b""
        while read := os.read(handle, BLOCK):
            end = read.rfind(b"\n") + 1
            if end:
                yield rest + read[:end]
                rest = read[end:]
            else:
                rest += read
                if len(rest) >= LONGEST:
                    yield rest
                    rest = b""
        if rest:
            yield rest
    finally:
        os.close(handle)


def lines(path: str) -> Iterator[bytes]:
    """Yield each line of the file without its newline, one that is too long in pieces. Raises OSError."""
    for block in blocks(path):
        yield from block.removesuffix(b"\n").split(b"\n")


def reason(error: Exception) -> str:
    """Return why a file could not be read, without the path that the caller names anyway."""
    if isinstance(error, IsADirectoryError):
        return "is a directory"
    return getattr(error, "strerror", None) or str(error)
