"""Axes and rows go in, the sweep's points come out in the contract's order: gpu slowest, repetitions fastest."""

from __future__ import annotations

import hashlib
import heapq
import itertools
import json
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from sweeptool.spec.model import Point, Settings

MOST_CELLS = 1_000_000  # beyond it a typing error is likelier than a sweep


class Slot(NamedTuple):
    """What varies. Order is slowest first: config, gpu, region, then by name in byte order."""

    rank: int
    raw: bytes
    name: str
    is_param: bool


CONFIG = Slot(0, b"config", "config", is_param=False)
GPU = Slot(1, b"gpu", "gpu", is_param=False)
REGION = Slot(2, b"region", "region", is_param=False)
Row = Mapping[Slot, Any]
"""The values of one point: text, and for settings what their kind reads."""


def parameter(name: str) -> Slot:
    """Return the slot of a parameter."""
    return Slot(3, name.encode(), name, is_param=True)


def setting(key: str, field: str) -> Slot:
    """Return the slot of a field of Settings, or of config, gpu and region, that a spec calls ``key``."""
    fixed = {"config": CONFIG, "gpu": GPU, "region": REGION}
    return fixed.get(field) or Slot(3, key.encode(), field, is_param=False)


@dataclass(frozen=True, slots=True)
class Axis:
    """What advances together: one slot and its values, or the slots of a zip and their rows."""

    slots: tuple[Slot, ...]
    rows: tuple[tuple[Any, ...], ...]


def axis(slot: Slot, values: Iterable[Any]) -> Axis:
    """Return the axis of one slot."""
    return Axis((slot,), tuple((value,) for value in values))


def size(axes: Iterable[Axis]) -> int:
    """Return how many rows the product of the axes has."""
    return math.prod(len(one.rows) for one in axes)


def product(axes: Iterable[Axis]) -> Iterator[dict[Slot, Any]]:
    """Yield the rows of the product; an axis stands where its first slot does, the last is the fastest."""
    ordered = sorted(axes, key=lambda one: min(one.slots))
    slots = [slot for one in ordered for slot in one.slots]
    for combination in itertools.product(*(one.rows for one in ordered)):
        yield dict(zip(slots, itertools.chain.from_iterable(combination), strict=True))


def sample(rows: Sequence[Row], count: int, seed: str) -> list[Row]:
    """Return ``count`` of the rows, in their order: those with the smallest hash, the same on every machine."""

    def draw(number: int) -> bytes:
        content = sorted((slot.name, value) for slot, value in rows[number].items())
        return hashlib.sha256(json.dumps([seed, content]).encode()).digest()

    return [rows[number] for number in sorted(heapq.nsmallest(count, range(len(rows)), key=draw))]


def points(rows: Iterable[Row], base: Mapping[str, Any], repetitions: int = 1) -> tuple[Point, ...]:
    """Return each row as a point, its repetitions side by side.

    ``base`` holds the fields of Settings, and config, gpu and region, that hold where a row says nothing else.
    """
    common = {name: value for name, value in base.items() if name not in {"config", "gpu", "region"}}
    known: dict[tuple[tuple[str, Any], ...], Settings] = {}
    config, gpu, region = (base.get(name) for name in ("config", "gpu", "region"))
    made: list[Point] = []
    for row in rows:
        own = tuple(
            [(slot.name, value) for slot, value in row.items() if slot.rank > REGION.rank and not slot.is_param]
        )
        settings = known.get(own) or known.setdefault(own, Settings(**{**common, **dict(own)}))
        params = {slot.name: row[slot] for slot in sorted(row) if slot.is_param}
        where = (row.get(CONFIG, config), row.get(GPU, gpu), row.get(REGION, region))
        made += [Point(params, *where, repetition=number, settings=settings) for number in range(repetitions)]
    return tuple(made)
