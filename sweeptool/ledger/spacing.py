"""A project's last launch goes in; whether the next would share its run directory comes out.

A runner that names its run directories by the UTC second gives two launches of one second the same one, so
the next launch waits until the last one has printed its RUN_DIR and the clock's second has moved on.
The last launch stands in one file under the project, so this holds between processes and hosts alike.
"""

from __future__ import annotations

import fcntl
import json
import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path

from sweeptool import rundir
from sweeptool.layout import AttemptDir

_FILE = "artifacts/.sweeptool-launch"
_SILENT = 120.0  # seconds after which a launch that printed nothing is waited for no longer
_STAMP = re.compile(r"\d{8}T\d{6}Z")
_SKEW = 5.0  # seconds a stamp may lie ahead of this clock


@contextmanager
def turn(project: Path) -> Iterator[Path]:
    """Hold this project's launches: between the question and the record no other process may launch."""
    path = project / _FILE
    path.parent.mkdir(parents=True, exist_ok=True)
    handle = os.open(path, os.O_RDWR | os.O_CREAT, 0o644)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX)
        yield path
    finally:
        os.close(handle)


def clear(path: Path, attempt: AttemptDir, now: float) -> bool:
    """Say whether a launch of ``attempt`` at ``now`` (seconds since 1970) gets a second of its own."""
    try:
        last = json.loads(path.read_text())
        before, launched = AttemptDir(Path(last["attempt"])), float(last["at"])
    except (OSError, ValueError, KeyError, TypeError):
        return True
    if before.path == attempt.path.absolute():
        return True  # noted, but then there was no room to admit it
    found = rundir.first(before.stdout)
    if found is not None:
        stamp = _STAMP.fullmatch(found.name)
        taken = _seconds(found.name) if stamp else launched
        return int(now) > int(taken) or taken - now > _SKEW
    return before.ended or not 0 <= now - launched < _SILENT


def record(path: Path, attempt: AttemptDir, now: float) -> None:
    """Note the launch of ``attempt`` as the project's last."""
    path.write_text(json.dumps({"attempt": str(attempt.path.absolute()), "at": now}))


def _seconds(stamp: str) -> float:
    return datetime.strptime(stamp, "%Y%m%dT%H%M%SZ").replace(tzinfo=UTC).timestamp()
