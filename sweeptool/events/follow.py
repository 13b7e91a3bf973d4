"""Event files that grow, and new ones beside them, go in; each event that matches comes out as it is written."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterable, Iterator

from sweeptool.events.order import by_time
from sweeptool.events.scan import Event, Notes, Query, Reader, Stream
from sweeptool.lines import BLOCK, open_plain

PAUSE = 0.5  # seconds between two looks


class _Tail:
    """One file: how far it was read, and the half line that waits for its end."""

    __slots__ = ("offset", "reader", "rest")

    def __init__(self, stream: Stream, notes: Notes) -> None:
        self.reader = Reader(stream, notes)
        self.offset = 0
        self.rest = b""

    def new(self) -> Iterator[Event]:
        """Yield the events on the lines that were finished since the last call."""
        try:
            handle, size = open_plain(self.reader.stream.path)
        except OSError:
            return  # gone, or not yet there: looked for again
        try:
            if size < self.offset:  # written anew
                self.offset, self.rest = 0, b""
            os.lseek(handle, self.offset, os.SEEK_SET)
            while data := os.read(handle, BLOCK):
                self.offset += len(data)
                whole, newline, self.rest = (self.rest + data).rpartition(b"\n")
                if newline:
                    yield from self.reader.events(whole + newline)
        finally:
            os.close(handle)


def follow(
    streams: Callable[[], Iterable[Stream]],
    wanted: Query,
    notes: Notes,
    show: Callable[[Event], str],
    sleep: Callable[[float], None] = time.sleep,
) -> Iterator[str]:
    """Yield the events that are there, by time, and then those that are added, until the caller stops asking."""
    tails: dict[str, _Tail] = {}
    while True:
        current = (tails.setdefault(stream.path, _Tail(stream, notes)) for stream in streams())
        found = (event for tail in current for event in tail.new() if wanted.allows(event))
        yield from by_time((event.stamp, show(event)) for event in found)
        sleep(PAUSE)
