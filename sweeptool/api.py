"""A job and a grid go in from Python; the same sweep that the command line runs comes out, with its report."""

from __future__ import annotations

import json
import subprocess
import time
import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from decimal import Decimal
from numbers import Number
from pathlib import Path

from sweeptool import control, launch, layout, locate, money, render
from sweeptool import plan as plans
from sweeptool import spec as specs
from sweeptool import status as statuses
from sweeptool.errors import USAGE, Problem, SweepError, Unsupported, raise_all
from sweeptool.layout import SweepDir
from sweeptool.plan import bounds
from sweeptool.plan.model import Plan
from sweeptool.status import CellStatus

Scalar = str | int | float | bool
_EVERY = 0.2  # seconds between two looks at a driver that this process did not start


@dataclass(frozen=True, slots=True)
class CellReport:
    """One cell as it stands. ``cost_usd`` is that of all its attempts, None where it is unknown."""

    index: int
    id: str
    gpu: str | None
    region: str | None
    params: Mapping[str, str]
    repetition: int
    phase: str
    cost_usd: Decimal | None
    wall_seconds: float | None
    units_per_second: float | None
    run_dir: str | None


@dataclass(frozen=True, slots=True)
class Best:
    """The indexes of the cheapest and of the fastest cell, None where there is none."""

    by_cost: int | None
    by_throughput: int | None


@dataclass(frozen=True, slots=True)
class Report:
    """A sweep as it stands; ``reason`` is empty where the phase says it all."""

    phase: str
    reason: str
    best: Best
    cost_usd: Decimal
    cells: tuple[CellReport, ...]


class Sweep:
    """A sweep from Python: ``Sweep(job, grid=…).run().wait()``.

    ``job`` is the Job spec that every cell runs: ``command``, ``image``, ``timeout``, ``env``. ``grid`` maps ``gpu``,
    ``region`` and parameter names to lists of values; a number becomes its ``str()``, a bool ``true`` or ``false``.
    ``max_cost`` is dollars. Raises SweepError for what a spec would be refused for, Unsupported for a target
    that is no Job.
    """

    plan: Plan | None

    def __init__(
        self,
        job: Mapping[str, object],
        *,
        grid: Mapping[str, Sequence[Scalar]] | None = None,
        repetitions: int = 1,
        max_parallel: int = 4,
        max_cost: Scalar | Decimal | None = None,
        name: str = "sweep",
        runner: str = "local",
        project: Path | str = ".",
    ) -> None:
        if not isinstance(job, Mapping):
            raise Unsupported(
                Problem(f"a {type(job).__name__} cannot be swept yet", remedy="give a Job spec, a mapping")
            )
        body: dict[str, object] = {"template": {"kind": "Job", "spec": dict(job)}, "matrix": _matrix(grid or {})}
        body |= {"repetitions": repetitions, "maxParallel": max_parallel}
        if max_cost is not None:
            body["maxCostUSD"] = str(max_cost)
        if not isinstance(name, str):
            raise SweepError(Problem(f"{name!r} is no text", "name", "Sweep()"))
        text = json.dumps({"apiVersion": "nodus.dev/v1", "kind": "Sweep", "metadata": {"name": name}, "spec": body})
        self.project = Path(project)
        flags = specs.Flags(runner=runner)
        try:
            found = specs.load(text, "Sweep()", flags=flags, project=self.project)
            self.plan = plans.runnable(plans.make(found, self.project))
        except SweepError as error:
            raise type(error)(*map(_argument, error.problems), exit_code=error.exit_code) from None
        for problem in self.plan.warnings:
            warnings.warn(str(_argument(problem)), stacklevel=2)
        self.where = SweepDir(layout.sweeps_root(self.project) / name)
        self.driver: subprocess.Popen[bytes] | None = None

    @classmethod
    def from_name(cls, name: str, project: Path | str = ".") -> Sweep:
        """Return the sweep ``name`` that exists under ``project``. Raises SweepError where there is none."""
        found = cls.__new__(cls)
        found.project = Path(project)
        found.where = locate.find(name, layout.sweeps_root(found.project))
        found.plan = found.driver = None
        return found

    def run(self) -> Sweep:
        """Start the driver, or go on with what is missing, and return at once."""
        if self.plan is not None:
            launch.place(self.where, render.render(self.plan, remake=lambda _target: "run the same Python"))
        self._start()
        return self

    def wait(self, timeout: float | None = None) -> Report:
        """Return the report when no driver runs any more; TimeoutError after ``timeout`` seconds."""
        deadline = None if timeout is None else time.monotonic() + timeout
        while self._running():
            if deadline is not None and time.monotonic() > deadline:
                raise TimeoutError(f"{self.where.path.name} still runs after {timeout} s")
            time.sleep(_EVERY)
        return self.report()

    def report(self) -> Report:
        """Return the sweep as it stands. Raises SweepError where the driver refused to start."""
        if self.driver is not None and self.driver.poll() == USAGE:
            raise SweepError(Problem("the driver refused to start; it said why on stderr", source=str(self.where.path)))
        found = statuses.read(self.where)
        cheapest, fastest = statuses.best(found)
        best = Best(cheapest.job.index if cheapest else None, fastest.job.index if fastest else None)
        cells = tuple(map(_cell, found.cells))
        return Report(found.phase, found.reason, best, _dollars(found.state.spent), cells)

    def cells(self) -> tuple[CellReport, ...]:
        """Return every cell, in index order."""
        return self.report().cells

    def suspend(self) -> None:
        """Launch nothing more; what runs goes on to its end."""
        control.suspend(self.where)

    def resume(self, max_cost: Scalar | Decimal | None = None) -> Sweep:
        """Take back suspend or cancel, raise the cap (dollars), and go on."""
        if control.resume(self.where, None if max_cost is None else str(max_cost)):
            self._start()
        return self

    def cancel(self) -> None:
        """Launch nothing more and interrupt what runs."""
        control.cancel(self.where, lambda _line: None)

    def _start(self) -> None:
        launch.check(self.where)
        argv, environment = launch.command(self.where, self.project, [])
        self.driver = subprocess.Popen(argv, env=environment, stdin=subprocess.DEVNULL, start_new_session=True)

    def _running(self) -> bool:
        if self.driver is not None and self.driver.poll() is None:
            return True
        return statuses.driven(self.where)


_ARGUMENTS = {
    "spec.matrix.params.": "grid.",
    "spec.matrix.gpu": "grid.gpu",
    "spec.matrix.regions": "grid.region",
    "spec.template.spec.": "job.",
    "spec.repetitions": "repetitions",
    "spec.maxParallel": "max_parallel",
    "spec.maxCostUSD": "max_cost",
    "metadata.name": "name",
    "max_cost_usd": "max_cost",
}
_REMEDIES = {
    bounds.BOUND_EACH: "bound each: a 'timeout' in the job, and a gpu whose price is known",
    bounds.FIT_ONE: "raise max_cost, or lower the job's 'timeout'",
}


def _argument(problem: Problem) -> Problem:
    """Return a problem of the spec as one of the arguments it was made of, which stand in no line of a file."""
    path = problem.path
    for inside, argument in _ARGUMENTS.items():
        if path.startswith(inside):
            path = argument + path.removeprefix(inside)
            break
    remedy = _REMEDIES.get(problem.remedy, problem.remedy)
    return Problem(problem.message, path, problem.source or "Sweep()", remedy=remedy)


def _matrix(grid: Mapping[str, Sequence[Scalar]]) -> dict[str, object]:
    """Return a grid as a spec's matrix: ``gpu`` and ``region`` are dimensions, the rest are parameters."""
    if not isinstance(grid, Mapping):
        raise SweepError(Problem(f"{grid!r} is no mapping of names to lists", "grid", "Sweep()"))
    raise_all([problem for key in grid for problem in _problems(key, grid[key])])
    named = {"gpu": "gpu", "region": "regions"}
    values = {key: list(map(_text, grid[key])) for key in grid}
    matrix: dict[str, object] = {named[key]: values[key] for key in grid if key in named}
    return {**matrix, "params": {key: values[key] for key in grid if key not in named}}


def _problems(key: str, values: object) -> list[Problem]:
    path = f"grid.{key}"
    one_pass = isinstance(values, Iterator)
    if not isinstance(values, Iterable) or one_pass or isinstance(values, str | bytes | Mapping | AbstractSet):
        return [Problem(f"{values!r} is no list of values", path, "Sweep()", remedy="[value, ...]")]
    wrong = [value for value in values if not isinstance(_plain(value), str | bool | Number)]
    return [Problem(f"{value!r} is no value: text, a number or a bool", path, "Sweep()") for value in wrong]


def _plain(value: object) -> object:
    """Return a numpy scalar as Python's own, anything else as it is."""
    item = getattr(value, "item", None)
    return item() if callable(item) and getattr(value, "shape", None) == () else value


def _text(value: object) -> str:
    value = _plain(value)
    return str(value).lower() if isinstance(value, bool) else str(value)


def _cell(cell: CellStatus) -> CellReport:
    record, last = cell.job.record, cell.last
    wall = last.wall_seconds if last else None
    return CellReport(
        cell.job.index,
        cell.job.id,
        record["gpu"],
        record["region"],
        cell.job.params,
        record["repetition"],
        cell.phase,
        None if cell.cost is None else _dollars(cell.cost),
        None if wall is None else float(wall),
        last.units_per_second if last else None,
        last.run_dir if last else None,
    )


def _dollars(micro: int) -> Decimal:
    return Decimal(money.text(micro))
