"""A Run goes in, a flat record of JSON values comes out: what every machine-readable format holds of a run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from decimal import Decimal
from typing import Any

from sweeptool import money
from sweeptool.runs import Run

Record = dict[str, Any]


def record(run: Run) -> Record:
    """Return everything known of a run: every key always there, None where unknown, money as decimal text."""
    one, job = run.manifest, run.job
    return {
        "path": one.source if one else None,
        "run_dir": run.run_dir,
        "job_name": one.job_name if one else None,
        "run_id": one.run_id if one else None,
        "failed": run.failed,
        "state": run.state,
        "gpu_id": one.gpu_id if one else None,
        "datacenter_id": one.datacenter_id if one else None,
        "wall_time_sec": plain(run.wall_seconds),
        "estimated_cost_usd": money.text_or_none(run.cost),
        "gpu_price_per_hour_usd": money.text_or_none(one.price_per_hour) if one else None,
        "gpu_price_source": one.price_source if one else None,
        "pod_id": one.pod_id if one else None,
        "pod_final_state": one.pod_final_state if one else None,
        "pulled_at_utc": one.pulled_at if one else None,
        "git_sha": one.git_sha if one else None,
        "git_dirty": one.git_dirty if one else None,
        "cell": run.cell,
        "index": run.index,
        "name": job.name if job else None,
        "attempt": run.attempt,
        "reason": run.reason,
        "detail": run.detail,
        "flags": list(run.flags),
        "exit_code": run.exit_code,
        "config": run.config,
        "instance_type": run.instance_type,
        "gpu": run.gpu,
        "region": run.region,
        "repetition": job.record["repetition"] if job else None,
        "params": dict(run.params),
        "reserved_usd": money.text_or_none(run.reserved),
        "units_per_second": run.units_per_second,
        "admitted_at": run.admitted_at,
        "settled_at": run.settled_at,
    }


def flat(records: Sequence[Mapping[str, Any]], nested: Sequence[str] = ("params",)) -> list[Record]:
    """Return the records with each mapping in ``nested`` spread out: ``params`` becomes ``param.lr`` and so on.

    Every record gets every such key, None where it has no value.
    """
    names = {key: sorted({name for one in records for name in one[key]}) for key in nested}
    return [
        {key: _joined(value) for key, value in one.items() if key not in nested}
        | {f"{key.removesuffix('s')}.{name}": one[key].get(name) for key in nested for name in names[key]}
        for one in records
    ]


def plain(value: Decimal | None) -> int | float | None:
    """Return a finite number as JSON writes it: whole where it is whole."""
    if value is None:
        return None
    return int(value) if value == value.to_integral_value() else float(value)


def cell(value: object) -> str:
    """Return a record's value as the text of a CSV cell: nothing for None."""
    if value is None:
        return ""
    return str(value).lower() if isinstance(value, bool) else str(value)


def _joined(value: object) -> object:
    return " ".join(map(str, value)) if isinstance(value, list) else value
