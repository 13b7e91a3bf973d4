"""A sweep or a tree of runs goes in; Candidates come out: each cell with what it cost, took and measured."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path

from sweeptool import layout, measures
from sweeptool.frozen import Job
from sweeptool.measures import BUILT_IN, COST, THROUGHPUT, TIME
from sweeptool.money import MICRO
from sweeptool.runs import Found, Run
from sweeptool.runs.sweeps import Sweep
from sweeptool.states import PENDING, SUCCEEDED


@dataclass(frozen=True, slots=True)
class Candidate:
    """One cell. ``values`` are dollars, seconds, units a second and metrics; ``why`` it is out, empty where it is in.

    ``missing`` says of a built-in value why it is not known; ``setup`` tells apart what no parameter does.
    """

    index: int
    id: str | None
    params: Mapping[str, str]
    config: str | None
    gpu: str | None
    region: str | None
    repetition: int
    why: str
    values: Mapping[str, Decimal]
    missing: Mapping[str, str]
    instance_type: str | None = None
    setup: str = ""


def of_sweep(sweep: Sweep) -> list[Candidate]:
    """Return the cells of a sweep's plan in index order, each with the sum of its attempts' costs."""
    attempts: dict[str, list[Run]] = {}
    for run in sweep.found.runs:
        if run.cell is not None:
            attempts.setdefault(run.cell, []).append(run)
    return [_cell(job, attempts.get(job.id, []), sweep) for job in sweep.jobs]


def of_runs(tree: Found) -> list[Candidate]:
    """Return runs that no sweep tells of, in their order; runs of one job on one GPU are its repetitions.

    What is odd about their metrics is added to the oddities of ``tree``.
    """
    seen: dict[tuple[str | None, ...], int] = {}
    found = []
    for index, run in enumerate(tree.runs):
        params = {"job_name": run.manifest.job_name} if run.manifest and run.manifest.job_name else {}
        key = (run.config, run.gpu, run.region, *params.values())
        seen[key] = seen.get(key, -1) + 1
        values, missing = _measured(run, [run], tree)
        found.append(
            Candidate(
                index=index,
                id=run.run_dir and run.run_dir.rpartition("/")[2],
                params=params,
                config=run.config,
                gpu=run.gpu,
                region=run.region,
                repetition=seen[key],
                why="" if run.state == SUCCEEDED else run.state,
                values=values,
                missing=missing,
            )
        )
    return found


def label(cell: Candidate, without: Sequence[str] = ()) -> str:
    """Return what tells a cell from its siblings, for people: ``L4 eu lr=1e-3``, empty where nothing does."""
    words = [word for word in (cell.config, cell.instance_type, cell.gpu, cell.region) if word]
    return " ".join([*words, *(f"{name}={value}" for name, value in cell.params.items() if name not in without)])


def _cell(job: Job, attempts: Sequence[Run], sweep: Sweep) -> Candidate:
    record = job.record
    done = [run for run in attempts if run.state == SUCCEEDED]
    values, missing = _measured(done[-1] if done else None, attempts, sweep.found, sweep)
    return Candidate(
        index=job.index,
        id=job.id,
        params=job.params,
        config=record["config"],
        gpu=record["gpu"],
        region=record["region"],
        repetition=record["repetition"],
        why="" if done else _why(attempts),
        values=values,
        missing=missing,
        instance_type=job.instance_type,
        setup=job.setup,
    )


def _why(attempts: Sequence[Run]) -> str:
    if not attempts:
        return PENDING
    last = attempts[-1]
    return f"{last.state} ({last.reason})" if last.reason else last.state


def _measured(
    run: Run | None, attempts: Iterable[Run], found: Found, sweep: Sweep | None = None
) -> tuple[dict[str, Decimal], dict[str, str]]:
    """Return what is known of a cell, and of each built-in value that is not known, why."""
    values: dict[str, Decimal] = {}
    missing: dict[str, str] = {}
    costs = [attempt.cost for attempt in attempts]
    if None in costs:
        missing[COST] = "the cost of an attempt is unknown" if len(costs) > 1 else "its cost is unknown"
    elif costs:
        values[COST] = Decimal(sum(cost for cost in costs if cost is not None)) / MICRO
    if run is None:
        return values, missing
    run_dir = Path(run.run_dir) if run.run_dir else None
    if run.wall_seconds is None:
        missing[TIME] = "its wall time is unknown"
    else:
        values[TIME] = run.wall_seconds
    rate = run.units_per_second
    if rate is None and sweep is None and run_dir is not None:
        rate = measures.units_per_second(run_dir, measures.logs(run_dir), run.wall_seconds)
    if rate is not None:
        values[THROUGHPUT] = Decimal(str(rate))
    else:
        missing[THROUGHPUT] = "it reported no units" if run.wall_seconds else missing.get(TIME, "its wall time is 0")
    values |= {name: value for name, value in metrics_of(run, found, sweep).items() if name not in BUILT_IN}
    return values, missing


def metrics_of(run: Run, found: Found, sweep: Sweep | None = None) -> dict[str, Decimal]:
    """Return the numbers that a run reported, read where the sweep's plan says they are; oddities go to ``found``."""
    run_dir = Path(run.run_dir) if run.run_dir else None
    if sweep is None or sweep.plan is None:
        metrics, problems = measures.metrics(run_dir)
    else:
        wanted = sweep.plan.sweep["metrics"]
        logs: list[Path] = []
        if wanted["patterns"]:
            attempt = sweep.where.attempt(str(run.cell), run.attempt or 1)
            logs = [attempt.stdout, attempt.stderr, *(measures.logs(run_dir) if run_dir else [])]
        metrics, problems = measures.metrics(run_dir, logs, wanted["file"] or layout.METRICS, wanted["patterns"])
    found.oddities += problems
    return metrics
