"""Stamped lines go in, in any order; they come out by time, in flat memory: what does not fit waits on disk."""

from __future__ import annotations

import heapq
import marshal
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import ExitStack
from typing import IO

Line = tuple[int, int, str]  # microseconds since 1970, place in the order of reading, text

_HELD = 16 << 20  # characters held in memory
_FAN = 16  # files merged at once: far below any limit on open files


def by_time(lines: Iterable[tuple[int, str]], held: int = _HELD) -> Iterator[str]:
    """Yield the texts of ``lines`` by their stamps; equal stamps keep the order in which they came."""
    with ExitStack() as stack:
        files: list[IO[bytes]] = []
        batch: list[Line] = []
        size = 0
        for place, (stamp, text) in enumerate(lines):
            batch.append((stamp, place, text))
            size += len(text)
            if size > held:
                batch.sort()
                files.append(_spill(stack, batch))
                batch, size = [], 0
                if len(files) == _FAN:
                    files = [_spill(stack, heapq.merge(*map(_lines, files)))]
        batch.sort()
        for _, _, text in heapq.merge(*map(_lines, files), batch):
            yield text


def _spill(stack: ExitStack, lines: Iterable[Line]) -> IO[bytes]:
    file = stack.enter_context(tempfile.TemporaryFile(prefix="sweeptool-"))  # noqa: SIM115 - the stack closes it
    for line in lines:
        marshal.dump(line, file)
    return file


def _lines(file: IO[bytes]) -> Iterator[Line]:
    file.seek(0)
    while True:
        try:
            line: Line = marshal.load(file)  # noqa: S302 - our own temporary file
        except EOFError:
            file.close()
            return
        yield line
