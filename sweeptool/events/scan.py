"""Event files and a Query go in, the events that match come out, file by file; bad lines are named, none is fatal."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any, NamedTuple

from sweeptool import stamps
from sweeptool.events.filters import MISSING, Filter, lookup
from sweeptool.lines import LONGEST, blocks, reason, small

_BOM = b"\xef\xbb\xbf"
_PADDING = b"\0 \t\r"  # a crash can leave a file's tail full of NULs
_STAMPS = ("ts_utc", "ts", "timestamp", "time")
_DIGITS = 4300  # of a whole number, more than which Python refuses to read
_LONG = re.compile(rb"\d{%d}" % _DIGITS)
_SCAN = json.JSONDecoder(parse_float=Decimal, parse_constant=lambda _: None)


class Stream(NamedTuple):
    """One file of events: where it is, and what its events get added, unless they have it: ``run_dir`` and more."""

    path: str
    added: Mapping[str, Any]


class Event(NamedTuple):
    """One event. ``stamp`` is its time in microseconds, from its field ``clock``; its predecessor's where that is None.

    ``raw`` is its line, empty where no other program could read that; ``own`` are the fields that stand there.
    """

    stamp: int
    clock: str | None
    raw: bytes
    own: Mapping[str, Any]
    stream: Stream

    @property
    def added(self) -> dict[str, Any]:
        """What its stream adds: nothing that the event says itself."""
        return {key: value for key, value in self.stream.added.items() if key not in self.own}

    def value(self, key: str) -> Any:
        """Return a field, dotted or not, its own first; MISSING where there is none."""
        value = lookup(self.own, key)
        return self.stream.added.get(key, MISSING) if value is MISSING else value


@dataclass(frozen=True, slots=True)
class Query:
    """What to let through: every filter, and only what happened from ``since`` until ``until``, in microseconds."""

    filters: tuple[Filter, ...] = ()
    since: int | None = None
    until: int | None = None

    def allows(self, event: Event) -> bool:
        """Say whether ``event`` passes. Without a time of its own none is inside a span of time."""
        if self.since is not None and (event.clock is None or event.stamp < self.since):
            return False
        if self.until is not None and (event.clock is None or event.stamp > self.until):
            return False
        return all(one.allows(event.value(one.key)) for one in self.filters)

    @property
    def needles(self) -> tuple[bytes, ...]:
        """Bytes without which a line that holds no backslash cannot match, so that it need not be parsed."""
        return tuple(one.needle for one in self.filters if one.key not in ADDED and one.needle)


ADDED = ("run_dir", "cell", "index", "attempt")


@dataclass(slots=True)
class Notes:
    """What a search met on its way: lines that were passed over, and events without a time under --since."""

    oddities: list[str] = field(default_factory=list)
    places: set[str] = field(default_factory=set)
    untimed: int = 0
    found: int = 0

    def unread(self, path: str, why: str) -> None:
        """Add a place that was left out, once, however often it is looked at."""
        line = f"{path}: {why}"
        if line not in self.places:
            self.places.add(line)
            self.oddities.append(line)

    def fresh(self) -> list[str]:
        """Return the oddities since the last call."""
        found, self.oddities = self.oddities, []
        return found

    def lines(self) -> list[str]:
        """Return one line for each thing that a reader of the result should know."""
        if not self.untimed:
            return self.oddities
        return [*self.oddities, f"{self.untimed} matching events have no usable time and were left out"]


def search(streams: Iterable[Stream], query: Query, notes: Notes) -> Iterator[Event]:
    """Yield the events of ``streams`` that ``query`` lets through, each file in its own order.

    Lines that cannot match are not even parsed. A file that cannot be read is named in ``notes``.
    """
    needles = query.needles
    for stream in streams:
        try:
            whole = small(stream.path)
            if whole is not None and needles and whole.endswith(b"\n") and not _may_hold(whole, needles):
                continue
            reader = Reader(stream, notes)
            for block in blocks(stream.path) if whole is None else (whole,):
                if needles and not _may_hold(block, needles):
                    reader.passed(block)
                else:
                    yield from _matching(reader.events(block, needles), query, notes)
        except OSError as error:
            notes.unread(stream.path, reason(error))


def _matching(events: Iterable[Event], query: Query, notes: Notes) -> Iterator[Event]:
    spanned = query.since is not None or query.until is not None
    untimed = Query(query.filters)
    for event in events:
        if query.allows(event):
            notes.found += 1
            yield event
        elif spanned and event.clock is None and untimed.allows(event):
            notes.untimed += 1


def _may_hold(text: bytes, needles: tuple[bytes, ...]) -> bool:
    """Say whether every needle is in ``text``, or could be, written with a backslash."""
    for needle in needles:
        if needle not in text:
            return b"\\" in text
    return True


class Reader:
    """Turns the blocks of one file into events; remembers the line number and the last time seen.

    A line that ``blocks`` had to cut is named once and passed over, whatever it holds.
    """

    __slots__ = ("cut", "line", "notes", "stamp", "stream")

    def __init__(self, stream: Stream, notes: Notes) -> None:
        self.stream = stream
        self.notes = notes
        self.cut = False
        self.line = 0
        self.stamp = 0

    def passed(self, block: bytes) -> None:
        """Count the lines of a block that cannot match; a torn last line is still named."""
        block = self._uncut(block)
        self.line += block.count(b"\n")
        if block and not block.endswith(b"\n"):
            self.line += 1
            last = block[block.rfind(b"\n") + 1 :].removeprefix(_BOM).strip(_PADDING)
            if last:
                self._fields(last)

    def events(self, block: bytes, needles: tuple[bytes, ...] = ()) -> Iterator[Event]:
        """Yield the events of a block of whole lines that may hold every needle."""
        *rows, last = self._uncut(block).split(b"\n")
        for raw in rows:
            self.line += 1
            if needles and not _may_hold(raw, needles):
                continue
            yield from self._event(raw)
        if last:  # without its newline it may be torn, which is worth a word whatever it holds
            self.line += 1
            yield from self._event(last)

    def _uncut(self, block: bytes) -> bytes:
        if self.cut:
            _, newline, block = block.partition(b"\n")
            self.cut = not newline
        elif len(block) >= LONGEST and not block.endswith(b"\n"):
            self.line += 1
            self._note(f"is longer than {LONGEST >> 20} MB and was passed over")
            self.cut = True
            return b""
        return block

    def _event(self, raw: bytes) -> Iterator[Event]:
        line = raw.removeprefix(_BOM).strip(_PADDING)
        fields = self._fields(line) if line else None
        if fields is not None:
            if len(line) > _DIGITS and _LONG.search(line):
                line = b""
            clock = None
            for key in _STAMPS:
                stamp = stamps.parse(fields.get(key))
                if stamp is not None:
                    self.stamp, clock = stamp, key
                    break
            yield Event(self.stamp, clock, line, fields, self.stream)

    def _fields(self, line: bytes) -> dict[str, Any] | None:
        try:
            value = _decoded(line.decode(errors="replace"))
        except RecursionError:
            return self._note("is nested too deep")
        except (ValueError, ArithmeticError):
            return self._note("is torn or no JSON")
        if not isinstance(value, dict):
            return self._note("is no JSON object")
        if not _utf8(line):
            self._note("is not UTF-8: the bad bytes are shown as U+FFFD")
        return value

    def _note(self, what: str) -> dict[str, Any] | None:
        self.notes.oddities.append(f"{self.stream.path}:{self.line}: {what}")
        return None


def _utf8(line: bytes) -> bool:
    try:
        line.decode()
    except UnicodeDecodeError:
        return False
    return True


def _decoded(text: str) -> Any:
    try:
        return _SCAN.decode(text)
    except json.JSONDecodeError:
        raise
    except ValueError:
        wide = json.JSONDecoder(parse_float=Decimal, parse_int=_whole, parse_constant=lambda _: None)
        return wide.decode(text)


def _whole(digits: str) -> int | Decimal:
    try:
        return int(digits)
    except ValueError:  # more digits than Python reads as a whole number
        return Decimal(digits)
