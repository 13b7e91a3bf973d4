"""A function and many items go in; its results for parts of them come out in order, from as many processes as help."""

from __future__ import annotations

import marshal
import os
import sys
from collections.abc import Callable, Iterator, Sequence
from typing import Any

LEAST = 500  # items that are worth a process


def crew(work: Callable[[Sequence[str]], Any], items: Sequence[str], least: int = LEAST) -> Iterator[Any]:
    """Yield ``work(part)`` for contiguous parts of ``items`` that make up all of them, in order.

    ``work`` has no effect but its result, which is of types that ``marshal`` writes. With few items, one processor
    or other threads about, all is done right here; so is the part of a process that dies.
    """
    count = min(_processors(), len(items) // least)
    if count < 2:
        yield work(items)
        return
    size = -(-len(items) // count)
    first, *rest = (items[start : start + size] for start in range(0, len(items), size))
    started: list[tuple[int, int, Sequence[str]]] = []
    try:
        for part in rest:
            started.append((*_start(work, part, [source for _, source, _ in started]), part))
        yield work(first)
        while started:
            pid, source, part = started.pop(0)
            with os.fdopen(source, "rb") as stream:
                data = stream.read()
            _, status = os.waitpid(pid, 0)
            yield marshal.loads(data) if status == 0 else work(part)  # noqa: S302 - our own child wrote it
    finally:
        for _, source, _ in started:
            os.close(source)  # nobody wants the rest: a closed pipe ends each of them
        for pid, _, _ in started:
            os.waitpid(pid, 0)


def _start(work: Callable[[Sequence[str]], Any], part: Sequence[str], others: Sequence[int]) -> tuple[int, int]:
    source, sink = os.pipe()
    pid = os.fork()
    if pid:
        os.close(sink)
        return pid, source
    status = 1
    try:
        for inherited in (*others, source):
            os.close(inherited)  # a pipe ends only when nobody holds its reading end
        with os.fdopen(sink, "wb") as stream:
            stream.write(marshal.dumps(work(part)))
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
