"""Events go in as whole JSON lines at the end of one file; they come out in order, and bad lines are named."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from sweeptool.errors import INTERNAL, Problem, SweepError

Event = dict[str, Any]


def stamp() -> str:
    """Return now as the journal writes it: UTC, ISO 8601, microseconds."""
    return datetime.now(UTC).isoformat(timespec="microseconds")


@dataclass(slots=True)
class Reader:
    """Follows a journal that grows: each call of ``new`` yields what was appended since the last one.

    ``oddities`` names every line that was passed over, with its number. A journal that became shorter is not
    followed: what was read of it counted.
    """

    path: Path
    offset: int = 0
    line: int = 0
    oddities: list[str] = field(default_factory=list)

    def new(self) -> Iterator[Event]:
        """Yield the new events. Raises SweepError (exit 70) where the file was cut or deleted since the last call."""
        size = self._size()
        if size < self.offset:
            remedy = "put it back, or what it knew is lost"
            problem = Problem("the ledger was cut or deleted while it was in use", source=str(self.path), remedy=remedy)
            raise SweepError(problem, exit_code=INTERNAL)
        if size == self.offset:
            return
        with self.path.open("rb") as file:
            file.seek(self.offset)
            data = file.read()
        whole = data.rfind(b"\n") + 1
        for raw in data[:whole].split(b"\n")[:-1]:
            self.line += 1
            event = self._parse(raw)
            if event is not None:
                yield event
        self.offset += whole

    def skip(self, lines: int, offset: int) -> None:
        """Pass over ``lines`` whole lines that end at ``offset`` bytes."""
        self.line += lines
        self.offset = offset

    def behind(self) -> bool:
        """Say whether something was appended that ``new`` has not yielded yet."""
        return self._size() != self.offset

    def _size(self) -> int:
        try:
            return os.stat(self.path).st_size  # noqa: PTH116 - at every question; pathlib takes twice as long
        except FileNotFoundError:
            return 0

    def _parse(self, raw: bytes) -> Event | None:
        text = raw.strip(b"\0 \r\t")  # a crash can leave a file's tail full of NULs
        if not text:
            if raw:
                self.oddities.append(f"{self.path.name}:{self.line}: padding")
            return None
        try:
            event = json.loads(text)
        except (ValueError, RecursionError):
            self.oddities.append(f"{self.path.name}:{self.line}: a torn or foreign line")
            return None
        if not isinstance(event, dict) or not isinstance(event.get("event"), str):
            self.oddities.append(f"{self.path.name}:{self.line}: not an event")
            return None
        return event


def append(path: Path, events: Sequence[Mapping[str, Any]], *, sync: bool) -> tuple[int, int]:
    """Append ``events`` as whole lines; return where the file ended before and ends now, in bytes.

    With ``sync`` the lines are on the disk when this returns. Raises SweepError (exit 70) where there is no room;
    the file is as long as before then.
    """
    data = "".join([json.dumps(event) + "\n" for event in events]).encode()
    try:
        handle = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o644)
    except OSError as error:
        raise _unwritable(path, error) from error
    try:
        size = os.fstat(handle).st_size
        if size and os.pread(handle, 1, size - 1) != b"\n":
            data = b"\n" + data  # a torn line stays a line of its own
        try:
            written = 0
            while written < len(data):
                written += os.write(handle, data[written:])
            if sync:
                os.fdatasync(handle) if hasattr(os, "fdatasync") else os.fsync(handle)
        except OSError:
            os.ftruncate(handle, size)
            raise
        return size, size + len(data)
    except OSError as error:
        raise _unwritable(path, error) from error
    finally:
        os.close(handle)


def _unwritable(path: Path, error: OSError) -> SweepError:
    return SweepError(
        Problem(
            f"the ledger cannot be written: {error.strerror}", source=str(path), remedy="make room or allow writing"
        ),
        exit_code=INTERNAL,
    )
