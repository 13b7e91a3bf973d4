"""Manifest files or a directory of them go in; Runs come out, each manifest once, and what was left out with why."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from functools import partial
from typing import TYPE_CHECKING, Any

from sweeptool import layout, manifest, stamps, walk
from sweeptool.errors import SweepError
from sweeptool.manifest import Manifest
from sweeptool.runs import crew
from sweeptool.states import FAILED, INTERRUPTED, SUCCEEDED, UNKNOWN
from sweeptool.walk import Skipped

if TYPE_CHECKING:  # a tree without a sweep needs neither the plan nor the ledger
    from sweeptool.frozen import Job
    from sweeptool.ledger.attempt import Attempt


@dataclass(frozen=True, slots=True)
class Run:
    """One attempt of a cell, or one manifest where no ledger tells of attempts: ``entry`` is the ledger's record.

    ``cost`` and ``reserved`` are micro-dollars; ``reserved`` is what an unknown cost is charged at.
    """

    manifest: Manifest | None
    state: str
    cost: int | None = None
    wall_seconds: Decimal | None = None
    failed: bool | None = None
    job: Job | None = None
    entry: Attempt | None = None

    @property
    def run_dir(self) -> str | None:
        """Where the run's files are, None where nobody knows."""
        if self.manifest:
            return self.manifest.directory
        return self.entry.run_dir if self.entry else None

    @property
    def cell(self) -> str | None:
        return self.entry.cell if self.entry else self.job.id if self.job else None

    @property
    def index(self) -> int | None:
        """The cell's index in the plan; where the plan no longer has it, the index that it had."""
        if self.job:
            return self.job.index
        return self.entry.index if self.entry else None

    @property
    def attempt(self) -> int | None:
        return self.entry.number if self.entry else None

    @property
    def reason(self) -> str | None:
        return (self.entry.reason or None) if self.entry else None

    @property
    def detail(self) -> str | None:
        return (self.entry.detail or None) if self.entry else None

    @property
    def flags(self) -> tuple[str, ...]:
        return self.entry.flags if self.entry else ()

    @property
    def exit_code(self) -> int | None:
        return self.entry.exit_code if self.entry else None

    @property
    def reserved(self) -> int | None:
        return self.entry.reserved if self.entry else None

    @property
    def units_per_second(self) -> float | None:
        return self.entry.units_per_second if self.entry else None

    @property
    def admitted_at(self) -> str | None:
        return (self.entry.admitted_at or None) if self.entry else None

    @property
    def settled_at(self) -> str | None:
        return self.entry.settled_at if self.entry else None

    @property
    def params(self) -> Mapping[str, str]:
        return self.job.params if self.job else {}

    @property
    def gpu(self) -> str | None:
        """What the cell asked for, or else what the runner says it got."""
        return (self.job.record["gpu"] if self.job else None) or (self.manifest.gpu_id if self.manifest else None)

    @property
    def instance_type(self) -> str | None:
        return self.job.instance_type if self.job else None

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
    copies: set[str] = field(default_factory=set)  # paths of ``skipped`` whose run is counted elsewhere

    def lines(self) -> list[str]:
        """Return one line for each thing that a reader of the result should know."""
        return [f"skipped: {path}: {why}" for path, why in self.skipped] + self.oddities


def under(root: str, name: str = layout.MANIFEST) -> Found:
    """Return every run under ``root`` whose manifest is called ``name``. Raises SweepError for a missing root."""
    walk.check(root)
    found = Found()
    links: list[str] = []
    paths, directories = walk.top(root, name, links, found.skipped)
    _collect(paths, found)
    for manifests, skipped, oddities, more in crew.share(partial(_part, name), directories):
        found.runs += [from_manifest(manifest.unpacked(values)) for values in manifests]
        found.skipped += [Skipped(*pair) for pair in skipped]
        found.oddities += oddities
        links += more
    _collect(walk.linked(root, name, links, found.skipped), found)
    _drop_copies(found)
    return found


def _part(name: str, directories: Sequence[str]) -> tuple[list[Any], list[Any], list[str], list[str]]:
    """Return the manifests in and under ``directories``, what was left out, what is odd, and the links met."""
    found = Found()
    links: list[str] = []
    paths = walk.below(directories, name, links, found.skipped)
    manifests = [manifest.packed(one) for path in paths if (one := load(path, found))]
    return manifests, [tuple(pair) for pair in found.skipped], found.oddities, links


def of_files(paths: Iterable[str]) -> Found:
    """Return the runs of these manifest files, each once; ``-`` is stdin. What cannot be read is left out, with why."""
    found = Found()
    named: dict[str, str] = {}
    for path in paths:
        named.setdefault(os.path.realpath(path), path)
    _collect(named.values(), found)
    _drop_copies(found)
    return found


def load(path: str, found: Found, *, slim: bool = True) -> Manifest | None:
    """Return one manifest; name its oddities in ``found``, and the file itself where it cannot be read."""
    try:
        one = manifest.read(path, sys.stdin.buffer.read() if path == "-" else None, slim=slim)
    except SweepError as error:
        problem = error.problems[0]
        place = f" (line {problem.line}, column {problem.column})" if problem.line else ""
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
    return Run(one, state, one.cost, one.wall_seconds, failed)


def _collect(paths: Iterable[str], found: Found) -> None:
    found.runs += [from_manifest(one) for path in paths if (one := load(path, found))]


def _drop_copies(found: Found) -> None:
    """Of all manifests of one run count the newest, or else the one with the shortest path, and name the others.

    It is one run where the pod is one too, or, where there was none, where both were written at one instant.
    """
    named = [one for run in found.runs if (one := run.manifest) and one.run_id]
    if len({one.run_id for one in named}) == len(named):
        return
    groups: dict[tuple[str, str], list[Manifest]] = {}
    for run in found.runs:
        one = run.manifest
        if one and one.run_id and (mark := one.pod_id or one.pulled_at):
            groups.setdefault((one.run_id, mark), []).append(one)
    copies: dict[str, str] = {}
    for group in groups.values():
        kept, *others = sorted(group, key=_freshness) if len(group) > 1 else group
        copies |= {other.source: f"a copy of run {kept.run_id}, counted at {kept.source}" for other in others}
    found.runs[:] = [run for run in found.runs if run.manifest is None or run.manifest.source not in copies]
    found.skipped += [Skipped(path, why) for path, why in copies.items()]
    found.copies.update(copies)


def _freshness(one: Manifest) -> tuple[int, int, int, str]:
    return -(stamps.parse(one.pulled_at) or 0), one.source.count("/"), len(one.source), one.source
