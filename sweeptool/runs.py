"""Manifest files or a directory of them go in; Runs come out, each manifest once, and what was left out with why."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from decimal import Decimal

from sweeptool import layout, manifest
from sweeptool.errors import SweepError
from sweeptool.frozen import Job
from sweeptool.manifest import Manifest
from sweeptool.walk import Skipped, files

SUCCEEDED, FAILED, INTERRUPTED, UNKNOWN = "succeeded", "failed", "interrupted", "unknown"


@dataclass(frozen=True, slots=True)
class Run:
    """One attempt of a cell, or one manifest where no ledger tells of attempts.

    ``cost`` and ``reserved`` are micro-dollars; ``reserved`` is what an unknown cost is charged at.
    """

    run_dir: str | None
    manifest: Manifest | None
    state: str
    cost: int | None
    wall_seconds: Decimal | None
    job: Job | None = None
    cell: str | None = None
    index: int | None = None
    attempt: int | None = None
    reason: str | None = None
    detail: str | None = None
    flags: tuple[str, ...] = ()
    exit_code: int | None = None
    failed: bool | None = None
    reserved: int | None = None
    units_per_second: float | None = None
    admitted_at: str | None = None
    settled_at: str | None = None

    @property
    def params(self) -> Mapping[str, str]:
        return self.job.params if self.job else {}

    @property
    def gpu(self) -> str | None:
        """What the cell asked for, or else what the runner says it got."""
        return (self.job.record["gpu"] if self.job else None) or (self.manifest.gpu_id if self.manifest else None)

    @property
    def region(self) -> str | None:
        asked = self.job.record["region"] if self.job else None
        return asked or (self.manifest.datacenter_id if self.manifest else None)

    @property
    def config(self) -> str | None:
        return (self.job.record["config"] if self.job else None) or (
            self.manifest.config_path if self.manifest else None
        )


@dataclass(slots=True)
class Found:
    """What a tree or a sweep holds: the runs that count, what was left out, and what is odd, one line each."""

    runs: list[Run] = field(default_factory=list)
    skipped: list[Skipped] = field(default_factory=list)
    oddities: list[str] = field(default_factory=list)

    def lines(self) -> list[str]:
        """Return one line for each thing that a reader of the result should know."""
        return [f"skipped: {path}: {why}" for path, why in self.skipped] + self.oddities


def under(root: str, name: str = layout.MANIFEST) -> Found:
    """Return every run under ``root`` whose manifest is called ``name``. Raises SweepError for a missing root."""
    found = Found()
    _collect(files(root, name, found.skipped), found)
    return found


def of_files(paths: Iterable[str]) -> Found:
    """Return the runs of these manifest files; one that cannot be read is left out, with why."""
    found = Found()
    _collect(paths, found)
    return found


def load(path: str, found: Found, *, slim: bool = True) -> Manifest | None:
    """Return one manifest; name its oddities in ``found``, and the file itself where it cannot be read."""
    try:
        one = manifest.read(path, slim=slim)
    except SweepError as error:
        problem = error.problems[0]
        place = f" at line {problem.line}, column {problem.column}" if problem.line else ""
        found.skipped.append(Skipped(path, problem.message + place))
        return None
    if one.oddities:
        found.oddities += [f"{path}: {oddity}" for oddity in one.oddities]
    return one


def from_manifest(one: Manifest) -> Run:
    """Return the run of a manifest that stands alone.

    A run that was interrupted says ``failed: false``, but never pulled its required artifacts.
    """
    failed = one.failed
    if failed is None:
        state = UNKNOWN
    elif failed:
        state = FAILED
    else:
        state = INTERRUPTED if one.untried else SUCCEEDED
    return Run(one.source.rpartition("/")[0] or ".", one, state, one.cost, one.wall_seconds, failed=failed)


def _collect(paths: Iterable[str], found: Found) -> None:
    first: dict[tuple[str, str], int] = {}
    for path in paths:
        one = load(path, found)
        if one is None:
            continue
        if one.run_id and (mark := one.pod_id or one.pulled_at):
            place = first.setdefault((one.run_id, mark), len(found.runs))
            if place != len(found.runs):
                _twice(found, place, one)
                continue
        found.runs.append(from_manifest(one))


def _twice(found: Found, place: int, other: Manifest) -> None:
    """Count the newer of two manifests of one run, or else the one nearer to the root, and name the other."""
    known = found.runs[place].manifest
    if known is None:
        return
    keep, drop = sorted((known, other), key=_freshness)
    if keep is other:
        found.runs[place] = from_manifest(other)
    found.skipped.append(Skipped(drop.source, f"a copy of run {drop.run_id}, counted at {keep.source}"))


def _freshness(one: Manifest) -> tuple[tuple[int, ...], int, str]:
    return tuple(-ord(char) for char in one.pulled_at or ""), one.source.count("/"), one.source
