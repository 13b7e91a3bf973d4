"""A function and many items go in; its results for parts of them come out in order, from as many processes as help."""

from __future__ import annotations

import fcntl
import marshal
import os
import signal
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from typing import IO, Any

BATCH = 500  # items done at once: worth a message, and little memory
_SIZE = 8  # bytes that say how long a result is
_ROOM = 1 << 20  # bytes of results that may wait, so that nobody works in step


def share(work: Callable[[Sequence[str]], Any], items: list[str], batch: int = BATCH) -> Iterator[Any]:
    """Yield ``work(part)`` for contiguous parts of ``items`` that make up all of them, in order; ``items`` is emptied.

    ``work`` has no effect but its result, which is of types that ``marshal`` writes. The processes take parts in
    turn; with one part, one processor or other threads about there is only this one. What a process that dies
    leaves undone is done here.
    """
    parts = [items[start : start + batch] for start in range(0, len(items), batch)]
    items.clear()
    parts.reverse()
    count = max(1, min(_processors(), len(parts)))
    others: list[tuple[int, IO[bytes]]] = []
    try:
        for number in range(1, count):
            mine = [part for place, part in enumerate(reversed(parts)) if place % count == number]
            others.append(_start(work, mine, [stream for _, stream in others]))
        place = 0
        while parts:
            part = parts.pop()  # what is done takes no more memory
            yield work(part) if place % count == 0 else _result(others[place % count - 1][1], work, part)
            place += 1
    finally:
        for pid, stream in others:
            stream.close()
            if pid > 0:
                os.kill(pid, signal.SIGKILL)  # nobody wants the rest; one that is stopped would not notice
                os.waitpid(pid, 0)


def _result(stream: IO[bytes], work: Callable[[Sequence[str]], Any], part: Sequence[str]) -> Any:
    try:
        size = int.from_bytes(stream.read(_SIZE), "big")
        return marshal.loads(stream.read(size))  # noqa: S302 - our own child wrote it; load() would read word by word
    except (EOFError, ValueError, TypeError):
        return work(part)


def _start(
    work: Callable[[Sequence[str]], Any], parts: Sequence[Sequence[str]], others: Sequence[IO[bytes]]
) -> tuple[int, IO[bytes]]:
    source, sink = os.pipe()
    with suppress(OSError, AttributeError):  # not everywhere, nor for everyone
        fcntl.fcntl(sink, fcntl.F_SETPIPE_SZ, _ROOM)
    try:
        pid = os.fork()
    except OSError:  # there are too many processes: an empty stream, so that all is done here
        pid = -1
    if pid:
        os.close(sink)
        return pid, os.fdopen(source, "rb")
    status = 1
    try:
        for inherited in (*(stream.fileno() for stream in others), source):
            os.close(inherited)  # a pipe ends only when nobody holds its reading end
        with os.fdopen(sink, "wb") as stream:
            for part in parts:
                result = marshal.dumps(work(part))
                stream.write(len(result).to_bytes(_SIZE, "big") + result)
                stream.flush()
        status = 0
    finally:
        os._exit(status)  # nothing of the parent's is flushed or cleaned up here


def _processors() -> int:
    """Return how many processes may run at once; 1 where forking is not safe."""
    threading = sys.modules.get("threading")
    if not hasattr(os, "fork") or (threading is not None and threading.active_count() > 1):
        return 1
    usable = getattr(os, "sched_getaffinity", None)
    return len(usable(0)) if usable else os.cpu_count() or 1
