"""A sweep directory goes in, its attempts come out as Runs: the plan, the ledger and the manifests joined."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from sweeptool import frozen, locate, rundir, runs, stamps, status
from sweeptool.errors import SweepError
from sweeptool.frozen import Frozen, Job
from sweeptool.layout import MANIFEST, SweepDir
from sweeptool.ledger import state as ledger
from sweeptool.ledger.attempt import Attempt
from sweeptool.ledger.state import State
from sweeptool.manifest import Manifest
from sweeptool.runs import Found, Run
from sweeptool.states import LOST
from sweeptool.walk import Skipped, files


@dataclass(frozen=True, slots=True)
class Sweep:
    """A sweep as it stands: where it is, what was planned (None: the plan is gone), its attempts as Runs."""

    where: SweepDir
    plan: Frozen | None
    state: State
    found: Found

    @property
    def name(self) -> str:
        return self.plan.name if self.plan else self.where.path.name

    @property
    def jobs(self) -> Sequence[Job]:
        return self.plan.jobs if self.plan else ()


def read(where: SweepDir) -> Sweep:
    """Return a sweep, every attempt of it with its manifest. What is missing or odd is named in ``found``."""
    found = Found()
    plan = _plan(where, found)
    state = ledger.load(where)
    found.oddities += state.oddities
    jobs = {job.id: job for job in plan.jobs} if plan else {}
    name = str(plan.sweep["manifest"]) if plan else MANIFEST
    claimed: dict[str, Attempt] = {}
    left = status.unsettled(where, state) if state.running and not status.driven(where) else ()
    for attempt in state.attempts:
        one = _claim(attempt, name, claimed, found)
        state_name = LOST if (attempt.cell, attempt.number) in left else attempt.state
        found.runs.append(_run(attempt, state_name, one, jobs.get(attempt.cell)))
    found.skipped += _foreign(where, name, {*claimed, *_in_flight(where, state)}, state)
    found.oddities += filter(None, (status.unseen(len(left)), ledger.leaking(state, where.path.name)))
    return Sweep(where, plan, state, found)


def _plan(where: SweepDir, found: Found) -> Frozen | None:
    try:
        return frozen.read(where.plan)
    except SweepError as error:
        found.oddities += map(str, error.problems)
        return None


def _claim(attempt: Attempt, name: str, claimed: dict[str, Attempt], found: Found) -> Manifest | None:
    """Return an attempt's own manifest: a run dir belongs to the first attempt that settled with it."""
    if attempt.run_dir is None or claimed.setdefault(attempt.run_dir, attempt) is not attempt:
        return None
    path = f"{attempt.run_dir}/{name}"
    if not os.path.lexists(path):
        return None
    one = runs.load(path, found)
    if one is not None and one.cost != attempt.cost and attempt.reason != "collision":
        found.oddities.append(f"{path}: changed since the ledger settled it; the ledger's cost is counted")
    return one


def _in_flight(where: SweepDir, state: State) -> Iterator[str]:
    """Yield the run dirs of the attempts that the ledger has running: they are theirs already."""
    for key in state.running:
        run_dir = rundir.first(where.attempt(*key).stdout)
        if run_dir is not None:
            yield os.fspath(run_dir)


def _run(attempt: Attempt, state_name: str, one: Manifest | None, job: Job | None) -> Run:
    wall = one.wall_seconds if one and one.wall_seconds is not None else attempt.wall_seconds
    return Run(one, state_name, attempt.cost, wall, attempt.failed, job, attempt)


def _foreign(where: SweepDir, name: str, claimed: Iterable[str], state: State) -> Iterator[Skipped]:
    """Yield the manifests in and beside this sweep's run dirs that are no attempt's own.

    Beside them stand the runs of other sweeps and of other days; only what appeared while this sweep ran, and no
    sweep claims, is named.
    """
    skipped: list[Skipped] = []
    own = {os.path.realpath(run_dir) for run_dir in claimed}
    for place in sorted({os.fspath(where.path), *(place for place in own if Path(place).is_dir())}):
        for path in files(place, name, skipped):
            if _home(path) not in own:
                yield Skipped(path, "a copy inside this sweep's files, no attempt's own manifest")
    yield from skipped
    beside = [path for parent in sorted({_home(place) for place in own}) for path in _meanwhile(parent, name, state)]
    beside = [path for path in beside if _home(path) not in own]
    others = _claimed_by_others(where) if beside else frozenset()
    yield from (Skipped(path, "claimed by no attempt of this sweep") for path in beside if _home(path) not in others)


def _meanwhile(parent: str, name: str, state: State) -> Iterator[str]:
    """Yield the manifests one level below ``parent`` that were written between the sweep's start and its end."""
    began, ended = stamps.parse(state.first_opened_at) or 0, stamps.parse(state.closed_at)
    try:
        with os.scandir(parent) as entries:
            children = sorted(entry.path for entry in entries if entry.is_dir())
    except OSError:
        return
    for child in children:
        path = f"{child}/{name}"
        try:
            written = Path(path).stat().st_mtime_ns // 1000
        except OSError:
            continue
        if began <= written and (ended is None or written <= ended):
            yield path


def _claimed_by_others(where: SweepDir) -> frozenset[str]:
    sweeps = (one for one in locate.existing(where.path.resolve().parent) if not one.path.samefile(where.path))
    return frozenset(
        os.path.realpath(attempt.run_dir)
        for one in sweeps
        for attempt in ledger.load(one).attempts
        if attempt.run_dir is not None
    )


def _home(path: str) -> str:
    return os.path.realpath(path).rpartition("/")[0]
