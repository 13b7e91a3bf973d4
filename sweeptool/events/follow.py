"""Event files that grow, and new ones beside them, go in; each event that matches comes out as it is written."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterable, Iterator

from sweeptool.events.order import by_time
from sweeptool.events.scan import Event, Notes, Query, Reader, Stream
from sweeptool.lines import BLOCK, LONGEST, open_plain, reason

PAUSE = 0.5  # seconds between two looks
_MARK = 256  # bytes by which a file is known again


class _Tail:
    """One file: which one it is, how far it was read, and the half line that waits for its end."""

    __slots__ = ("identity", "mark", "notes", "offset", "reader", "rest", "stream")

    def __init__(self, stream: Stream, notes: Notes) -> None:
        self.stream = stream
        self.notes = notes
        self._restart()

    def _restart(self, identity: tuple[int, int] | None = None) -> None:
        self.identity = identity
        self.reader = Reader(self.stream, self.notes)
        self.offset = 0
        self.mark = b""  # the last bytes before the offset
        self.rest = b""

    def new(self) -> Iterator[Event]:
        """Yield the events on the lines that were finished since the last call; all, where the file is another one."""
        try:
            handle, _ = open_plain(self.stream.path)
        except FileNotFoundError:
            self._restart()
            return
        except OSError as error:
            self.notes.unread(self.stream.path, reason(error))
            return  # looked for again
        try:
            self._recognise(handle)
            os.lseek(handle, self.offset, os.SEEK_SET)
            while data := os.read(handle, BLOCK):
                self.offset += len(data)
                self.mark = (self.mark + data[-_MARK:])[-_MARK:]
                whole, newline, self.rest = (self.rest + data).rpartition(b"\n")
                if newline:
                    yield from self.reader.events(whole + newline)
                elif len(self.rest) >= LONGEST:
                    yield from self.reader.events(self.rest)
                    self.rest = b""
        finally:
            os.close(handle)

    def _recognise(self, handle: int) -> None:
        """Start anew in a file that was moved here, made anew under an old number, or written over."""
        status = os.fstat(handle)
        identity = status.st_dev, status.st_ino
        start = self.offset - len(self.mark)
        if identity != self.identity or os.pread(handle, len(self.mark), start) != self.mark:
            self._restart(identity)


def follow(
    streams: Callable[[], Iterable[Stream]],
    wanted: Query,
    notes: Notes,
    show: Callable[[Event], str],
    tell: Callable[[list[str]], None],
    sleep: Callable[[float], None] = time.sleep,
) -> Iterator[str]:
    """Yield the events that are there, by time, and then those that are added, until the caller stops asking.

    ``tell`` is given what became odd at each look.
    """
    tails: dict[str, _Tail] = {}
    while True:
        for stream in streams():
            if stream.path not in tails:
                tails[stream.path] = _Tail(stream, notes)
        found = (event for tail in tails.values() for event in tail.new() if wanted.allows(event))
        yield from by_time((event.stamp, show(event)) for event in found)
        tell(notes.fresh())
        sleep(PAUSE)
