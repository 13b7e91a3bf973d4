"""A Plan goes in, the lines of the frozen plan come out, which ``frozen`` reads: the sweep's own, then one a cell."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any

from sweeptool import frozen, layout, money
from sweeptool.plan.model import Plan, Shard


def freeze(plan: Plan) -> Iterable[str]:
    """Return the lines of the frozen plan: the sweep's, then one a cell with what is not common to all."""
    spec = plan.spec
    records = [_record(plan, shard) for shard in plan.shards]
    common = {key: value for key, value in records[0].items() if all(record[key] == value for record in records[1:])}
    sweep = {
        "format": frozen.FORMAT,
        "name": spec.name,
        "cells": len(records),
        "runner": spec.runner.kind,
        "manifest": spec.runner.manifest or layout.MANIFEST,
        "events": spec.runner.events or layout.EVENTS,
        "max_parallel": spec.max_parallel,
        "max_cost_usd": money.text_or_none(spec.max_cost),
        "budget_policy": spec.budget_policy,
        "failure_streak": plan.failure_streak,
        "launch_delay": spec.launch_delay,
        "retry": {"max_attempts": plan.retry.max_attempts, "on": plan.retry.on, "delay": plan.retry.delay},
        "metrics": {
            "file": spec.metrics.file,
            "patterns": dict(spec.metrics.patterns),
            "best": spec.metrics.best,
            "goal": spec.metrics.goal,
        },
        "units": spec.units,
        "configs": dict(plan.digests),
        "state": spec.state,
        "common": common,
    }
    yield json.dumps(sweep, ensure_ascii=True)
    for record in records:
        yield json.dumps({key: value for key, value in record.items() if key not in common}, ensure_ascii=True)


def _record(plan: Plan, shard: Shard) -> Mapping[str, Any]:
    cell, settings = shard.cell, shard.cell.settings
    return {
        "index": cell.index,
        "id": cell.id,
        "name": cell.name,
        "config": cell.config,
        "gpu": cell.gpu,
        "region": cell.region,
        "params": dict(cell.params),
        "repetition": cell.repetition,
        "label": plan.label(shard),
        "price_per_hour_usd": money.text_or_none(shard.price),
        "reservation_usd": money.text_or_none(shard.reservation),
        "cost_cap_usd": money.text_or_none(settings.cost_cap),
        "max_runtime": settings.max_runtime,
        "dialect": plan.spec.dialect,
        "settings": {
            "command": settings.command,
            "image": settings.image,
            "env": dict(settings.env),
            "instance_type": settings.instance_type,
            "datacenter": settings.datacenter,
            "spot": settings.spot,
            "on_complete": settings.on_complete,
            "secrets": sorted(settings.secrets),
            "placement": list(settings.placement),
        },
    }
