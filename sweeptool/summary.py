"""What a tree or a sweep holds goes in; its summary comes out: a table, blocks, Markdown, CSV or JSON."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from sweeptool import money, tables
from sweeptool.runs import Found, Run, records, totals
from sweeptool.runs.totals import Key, Totals
from sweeptool.text import even, printable

if TYPE_CHECKING:  # a tree without a sweep needs no plan
    from sweeptool.frozen import Job

RIGHT = ("CELL", "TRY", "REP", "N", "FAILED", "UNKNOWN", "WALL_SEC", "COST_USD")
_RESERVED = ("n", "failed", "interrupted", "lost", "unknown_cost", "cost_usd", "wall_time_sec")
_BLOCK = (
    "job_name run_id failed state reason detail index cell attempt instance_type gpu region config params pod_id pod_final_state"
    " wall_time_sec gpu_price_per_hour_usd gpu_price_source estimated_cost_usd units_per_second git_sha git_dirty"
)


def lines(found: Found, by: Sequence[str], form: str) -> Iterator[str]:
    """Yield the lines of a summary in the format ``form``, with groups by the keys in ``by`` where there are any.

    Raises SweepError for a key that these runs do not have.
    """
    groups = totals.by(found.runs, by) if by else None
    return FORMATS[form](found, by, groups)


Groups = list[tuple[Key, Totals]] | None


def _table(found: Found, by: Sequence[str], groups: Groups) -> Iterator[str]:
    yield from tables.plain(*_grid(found.runs, by, groups), RIGHT)
    yield ""
    yield from footer(found)


def _markdown(found: Found, by: Sequence[str], groups: Groups) -> Iterator[str]:
    yield from tables.markdown(*_grid(found.runs, by, groups), RIGHT)
    yield ""
    rows = [tuple(line.split(":", 1)) for line in footer(found) if ":" in line]
    yield from tables.markdown(("TOTALS", ""), [(name, value.strip()) for name, value in rows])


def _blocks(found: Found, by: Sequence[str], groups: Groups) -> Iterator[str]:
    for run in found.runs:
        one = records.record(run)
        yield f"== {printable(one['path'] or run.run_dir or f'cell {run.index} attempt {run.attempt}')} =="
        for name in _BLOCK.split():
            value = one[name]
            if isinstance(value, Mapping):
                value = " ".join(f"{key}={text}" for key, text in value.items())
            if value not in (None, ""):
                yield f"{name + ':':<24}{printable(records.cell(value))}"
            elif name == "estimated_cost_usd":
                yield f"{name + ':':<24}unknown"
        yield ""
    if groups is not None:
        yield from tables.plain(*_grid(found.runs, by, groups), RIGHT)
        yield ""
    yield from footer(found)


def _csv(found: Found, by: Sequence[str], groups: Groups) -> Iterator[str]:
    if groups is not None:
        rows = [_group(by, key, totals_) for key, totals_ in groups]
        header = list(_group(by, (None,) * len(by), totals.of(())))
    else:
        rows = records.flat([records.record(run) for run in found.runs])
        header = list(rows[0]) if rows else [key for key in records.record(_NOTHING) if key != "params"]
    return tables.comma(header, ([records.cell(row[key]) for key in header] for row in rows))


def _json(found: Found, by: Sequence[str], groups: Groups) -> Iterator[str]:
    sums = totals.of(found.runs)
    shape: dict[str, Any] = {
        "runs": [records.record(run) for run in found.runs],
        "totals": {
            "manifests": sums.manifests,
            "failed": sums.failed,
            "wall_time_sec": records.plain(sums.wall_seconds),
            "estimated_cost_usd": money.text(sums.cost),
            "unknown_cost": sums.unknown_cost,
            "unknown_charged_usd": money.text(sums.charged),
            "unknown_wall_time": sums.unknown_wall,
            "attempts": sums.runs,
            "succeeded": sums.succeeded,
            "interrupted": sums.interrupted,
            "lost": sums.lost,
            "cancelled": sums.cancelled,
            "running": sums.running,
            "unknown_outcome": sums.unknown,
            "skipped": len(found.skipped),
        },
        "skipped": [{"path": path, "why": why} for path, why in found.skipped],
        "oddities": found.oddities,
    }
    if groups is not None:
        shape["groups"] = [_group(by, key, totals_) for key, totals_ in groups]
    yield json.dumps(shape, indent=2)


FORMATS: Mapping[str, Callable[[Found, Sequence[str], Groups], Iterator[str]]] = {
    "table": _table,
    "blocks": _blocks,
    "markdown": _markdown,
    "csv": _csv,
    "json": _json,
}


def footer(found: Found) -> Iterator[str]:
    """Yield the ``== TOTALS ==`` lines, the runner's own four first and rounded as it rounds them."""
    sums = totals.of(found.runs)
    exact = money.text(sums.cost)
    cost = f"{float(exact):.2f}"
    yield "== TOTALS =="
    yield f"manifests:        {sums.manifests}"
    yield f"failed:           {sums.failed}"
    yield f"wall_time_sec:    {float(sums.wall_seconds):.1f}"
    yield f"estimated_cost:   ${cost}" + (f" (exactly ${exact})" if exact != cost else "")
    charged = f" (charged at ${money.text(sums.charged)})" if sums.charged else ""
    yield f"unknown_cost:     {sums.unknown_cost}{charged}"
    yield f"interrupted:      {sums.interrupted}"
    yield f"lost:             {sums.lost}"
    if sums.running:
        yield f"running:          {sums.running}"
    if sums.cancelled:
        yield f"cancelled:        {sums.cancelled}"
    if sums.unknown:
        yield f"unknown_outcome:  {sums.unknown}"
    yield f"skipped:          {len(found.skipped)}"


def _grid(runs: Sequence[Run], by: Sequence[str], groups: Groups) -> tuple[tuple[str, ...], Iterable[Sequence[str]]]:
    if groups is not None:
        header = (*by, "N", "FAILED", "WALL_SEC", "COST_USD", "UNKNOWN")
        return header, [_group_row(key, sums) for key, sums in groups]
    if any(run.attempt is not None for run in runs):
        return attempts(runs)
    header = ("RUN", "JOB", "GPU", "DATACENTER", "STATE", "WALL_SEC", "COST_USD")
    return header, tables.Each(_run_row, runs)  # there may be a hundred thousand


def _run_row(run: Run) -> tuple[str, ...]:
    one = run.manifest
    name = (run.run_dir or "-").rpartition("/")[2]
    job, gpu, place = (one.job_name, one.gpu_id, one.datacenter_id) if one else (None, None, None)
    return name, job or "-", gpu or "-", place or "-", run.state, _seconds(run), _cost(run)


def attempts(runs: Sequence[Run]) -> tuple[tuple[str, ...], list[tuple[str, ...]]]:
    """Return the titles and a row for each attempt of a sweep; what no cell has is no column."""
    names = sorted({name for run in runs for name in run.params}, key=str.encode)
    jobs = [run.job for run in runs if run.job]
    asked = [key for key in ("config", "instance_type", "gpu", "region") if any(map(_asked(key), jobs))]
    repeated = any(job.record["repetition"] for job in jobs)
    header = ("CELL", *(key.upper() for key in asked), *names, *(("REP",) if repeated else ()), "TRY")
    rows = []
    for run in runs:
        job = run.job
        varied = [str(_asked(key)(job) or "-") if job else getattr(run, key) or "-" for key in asked]
        varied += [run.params.get(name, "-") for name in names]
        if repeated:
            varied.append(str(job.record["repetition"]) if job else "-")
        rows.append(
            (str(run.index) if run.job else f"({run.index})", *varied, str(run.attempt), run.state, run.reason or "-")
        )
    amounts = zip(even(map(_seconds, runs)), even(map(_cost, runs)), strict=True)
    rows = [(*row, *pair) for row, pair in zip(rows, amounts, strict=True)]
    return (*header, "STATE", "REASON", "WALL_SEC", "COST_USD"), rows


def _asked(key: str) -> Callable[[Job], str | None]:
    """Return what a cell asked for by this name."""
    return lambda job: job.instance_type if key == "instance_type" else job.record[key]


def _group(by: Sequence[str], key: Key, sums: Totals) -> dict[str, Any]:
    named = {f"param.{name}" if name in _RESERVED else name: value for name, value in zip(by, key, strict=True)}
    return named | {
        "n": sums.runs,
        "failed": sums.failed,
        "interrupted": sums.interrupted,
        "lost": sums.lost,
        "cost_usd": money.text(sums.cost),
        "unknown_cost": sums.unknown_cost,
        "wall_time_sec": records.plain(sums.wall_seconds),
    }


def _group_row(key: Key, sums: Totals) -> tuple[str, ...]:
    values = tuple("-" if value is None else value for value in key)
    counts = (str(sums.runs), str(sums.failed), f"{float(sums.wall_seconds):.1f}")
    return *values, *counts, money.text(sums.cost), str(sums.unknown_cost)


def _seconds(run: Run) -> str:
    seconds = run.wall_seconds
    return "?" if seconds is None else f"{seconds if seconds == round(seconds, 3) else round(seconds, 3):f}"


def _cost(run: Run) -> str:
    return "?" if run.cost is None else money.text(run.cost)


_NOTHING = Run(None, "")
