"""A driver's or a sweep directory's plan lines go in; the frozen plan, one Job a cell, comes out."""

from __future__ import annotations

import hashlib
import json
import os
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sweeptool import money
from sweeptool.errors import Problem, SweepError, raise_all
from sweeptool.layout import PLAN_MARK
from sweeptool.lines import open_plain

FORMAT = 1
_HEADER = 4096  # bytes of a driver in which it says what it was made from
_MADE = re.compile(rb"^# Made by sweeptool \S+ from (?P<spec>.+) \(sha256 (?P<sha256>[0-9a-f]{64})\)", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Job:
    """One cell as the frozen plan has it. ``reservation`` is micro-dollars; ``record`` the whole line."""

    index: int
    id: str
    name: str
    reservation: int | None
    max_runtime: int | None
    record: Mapping[str, Any]

    @property
    def params(self) -> Mapping[str, str]:
        params: Mapping[str, str] = self.record["params"]
        return params

    @property
    def instance_type(self) -> str | None:
        found: str | None = self.record.get("settings", {}).get("instance_type")
        return found

    @property
    def setup(self) -> str:
        """What beside the parameters makes two cells no repetitions of each other: all their settings, as text."""
        return json.dumps(self.record.get("settings", {}), sort_keys=True)

    @property
    def label(self) -> str:
        """What tells this cell from its siblings, for people."""
        return str(self.record["label"])


@dataclass(frozen=True, slots=True)
class Frozen:
    """A plan as it was rendered: ``sweep`` is the sweep's own line, ``jobs`` are in index order."""

    sweep: Mapping[str, Any]
    jobs: tuple[Job, ...]
    digest: str

    @property
    def name(self) -> str:
        return str(self.sweep["name"])

    @property
    def max_cost(self) -> int | None:
        """The fleet's cap as rendered, in micro-dollars."""
        text = self.sweep["max_cost_usd"]
        return None if text is None else money.parse(text)


def from_driver(path: Path) -> tuple[Frozen, bytes]:
    """Return the plan inside a rendered driver, and its lines as ``plan.jsonl`` holds them.

    Raises SweepError where the file is no driver, or was cut.
    """
    mark = PLAN_MARK.encode()
    try:
        data = path.read_bytes()
    except OSError as error:
        raise SweepError(Problem(f"the driver cannot be read: {error.strerror}", source=str(path))) from error
    lines = [line[len(mark) :] for line in data.splitlines(keepends=True) if line.startswith(mark)]
    text = b"".join(lines)
    return _parse(text, str(path)), text


def read(path: Path) -> Frozen:
    """Return the frozen plan at ``path`` (``plan.jsonl``); SweepError where it is missing or torn."""
    try:
        return _parse(path.read_bytes(), str(path))
    except OSError as error:
        if isinstance(error, FileNotFoundError):
            raise SweepError(Problem("there is no plan: no driver ever ran this sweep", source=str(path))) from error
        raise SweepError(Problem(f"the plan cannot be read: {error.strerror}", source=str(path))) from error


def cells_digest(name: str, ids: Iterable[str]) -> str:
    """Return what tells one list of cells from another: whoever calls a driver by index holds it too."""
    return hashlib.sha256("\n".join([name, *ids]).encode()).hexdigest()[:12]


def orphan(cell: str, index: int) -> Job:
    """Return a stand-in for a cell that an earlier plan had and this one has not."""
    record = {
        "index": index,
        "id": cell,
        "name": cell,
        "label": "of an earlier plan",
        "config": None,
        "gpu": None,
        "region": None,
        "params": {},
        "repetition": 0,
    }
    return Job(index, cell, cell, None, None, record)


def check_configs(plan: Frozen, project: Path) -> None:
    """Raise SweepError for each job config that is not what it was when ``plan`` was rendered: other cells by now."""
    changed = [
        Problem("it was changed since the driver was rendered", source=config, remedy="render the spec again")
        for config, digest in plan.sweep["configs"].items()
        if hashlib.sha256(_content(project / config)).hexdigest() != digest
    ]
    raise_all(changed)


def changed_spec(driver: Path, project: Path) -> str | None:
    """Return the path of the spec that ``driver`` was rendered from, where it says something else by now.

    None where it does not, or is no longer there. Raises OSError where the driver cannot be read.
    """
    with driver.open("rb") as file:
        made = _MADE.search(file.read(_HEADER))
    if made is None:
        return None
    spec = os.fsdecode(made["spec"])
    try:
        handle, _ = open_plain(str(project / spec))  # not /dev/stdin, which is something else by now
        with os.fdopen(handle, "rb") as file:
            content = file.read()
    except (OSError, ValueError):
        return None
    return None if hashlib.sha256(content).hexdigest() == made["sha256"].decode() else spec


def _content(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise SweepError(Problem(f"cannot be read: {error.strerror}", source=str(path))) from error


def _parse(text: bytes, source: str) -> Frozen:
    remedy = "render the spec again"
    try:
        head, *rest = map(json.loads, text.decode().splitlines())
        if head["format"] != FORMAT:
            raise SweepError(Problem(f"plan format {head['format']} is not {FORMAT}", source=source, remedy=remedy))
        common = head["common"]
        jobs = tuple(_job({**common, **line}) for line in rest)
        if len(jobs) != head["cells"]:
            raise SweepError(Problem(f"{len(jobs)} of {head['cells']} cells", source=source, remedy=remedy))
    except (ValueError, KeyError, TypeError) as error:
        raise SweepError(Problem("holds no whole plan", source=source, remedy=remedy)) from error
    return Frozen(head, jobs, hashlib.sha256(text).hexdigest())


def _job(record: Mapping[str, Any]) -> Job:
    reservation = record["reservation_usd"]
    return Job(
        record["index"],
        record["id"],
        record["name"],
        None if reservation is None else money.parse(reservation),
        record["max_runtime"],
        record,
    )
