"""A sweep or a tree of runs goes in; one tidy record a cell and attempt comes out, as CSV, JSON or Parquet bytes."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from sweeptool import frame, layout, sources, tables
from sweeptool.analysis import candidates
from sweeptool.errors import Problem, SweepError, near
from sweeptool.frozen import Job
from sweeptool.runs import Found, Run, records, sweeps
from sweeptool.runs.records import Record
from sweeptool.runs.sweeps import Sweep
from sweeptool.sources import Source
from sweeptool.states import PENDING


def tidy(source: Source, name: str = layout.MANIFEST) -> tuple[list[Record], Found]:
    """Return a flat record of each attempt, and of each cell that has none yet; and what is odd.

    Parameters stand under ``param.<name>``, metrics under ``metric.<name>``; every record has every key.
    """
    sweep = sweeps.read(source.sweep) if source.sweep else None
    found = sweep.found if sweep else sources.read(source, name)
    rows = [_record(run, found, sweep) for run in found.runs]
    if sweep is not None:
        tried = {run.cell for run in found.runs}
        rows += [_record(_untried(job), found, sweep) for job in sweep.jobs if job.id not in tried]
    rows.sort(key=lambda row: (row["index"] is None, row["index"] or 0, row["attempt"] or 0))
    return records.flat(rows, ("params", "metrics")), found


def encoded(rows: Sequence[Record], output: str) -> bytes:
    """Return the rows in the format that the name ``output`` ends in; ``-`` is CSV.

    Raises SweepError for any other ending.
    """
    ending = ".csv" if output == "-" else Path(output).suffix.lower()
    if ending not in FORMATS:
        known = ", ".join(FORMATS)
        raise SweepError(Problem(f"'{output}' ends in none of {known}", path="-o", remedy=near(ending, FORMATS)))
    return FORMATS[ending](rows)


def _record(run: Run, found: Found, sweep: Sweep | None) -> dict[str, Any]:
    metrics = candidates.metrics_of(run, found, sweep) if run.run_dir else {}
    return records.record(run) | {"metrics": {name: float(value) for name, value in metrics.items()}}


def _untried(job: Job) -> Run:
    return Run(None, PENDING, job=job)


def _csv(rows: Sequence[Record]) -> bytes:
    header = list(rows[0]) if rows else EMPTY
    lines = tables.comma(header, ([records.cell(row[key]) for key in header] for row in rows))
    return "".join(line + "\n" for line in lines).encode()


def _json(rows: Sequence[Record]) -> bytes:
    finite = [{key: _finite(value) for key, value in row.items()} for row in rows]
    return (json.dumps(finite, indent=2, allow_nan=False) + "\n").encode()


def _finite(value: object) -> object:
    return None if isinstance(value, float) and not math.isfinite(value) else value


EMPTY = [key for key in records.record(Run(None, "")) if key != "params"]
FORMATS: Mapping[str, Callable[[Sequence[Record]], bytes]] = {
    ".csv": _csv,
    ".json": _json,
    ".parquet": frame.parquet,
}
