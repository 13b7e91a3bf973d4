"""A GPU or instance type goes in, what an hour of it plausibly costs comes out, so that local sweeps rehearse money.

A plausible price, no offer: ``prices`` and ``price_per_hour_usd`` in a spec say what holds for you.
"""

from __future__ import annotations

from collections.abc import Mapping

from sweeptool import money
from sweeptool.spec import gpus

GPUS = {
    "T4": "0.35",
    "RTX3090": "0.46",
    "RTX4090": "0.69",
    "RTX5090": "0.94",
    "A4000": "0.25",
    "A5000": "0.36",
    "A6000": "0.49",
    "V100": "0.55",
    "L4": "0.43",
    "A10": "0.52",
    "A10G": "0.75",
    "A40": "0.44",
    "L40": "0.82",
    "L40S": "0.86",
    "A100": "1.89",
    "H100": "2.99",
    "H200": "3.99",
    "B200": "5.98",
    "MI300X": "2.49",
}
INSTANCES = {
    "t3.micro": "0.0104",
    "t3.small": "0.0208",
    "t3.medium": "0.0416",
    "t3.large": "0.0832",
    "c5.large": "0.085",
    "c5.xlarge": "0.17",
    "m5.large": "0.096",
    "m5.xlarge": "0.192",
    "r5.large": "0.126",
    "g4dn.xlarge": "0.526",
    "g5.xlarge": "1.006",
    "g6.xlarge": "0.8048",
    "p3.2xlarge": "3.06",
    "p4d.24xlarge": "32.77",
    "p5.48xlarge": "98.32",
}


def of_gpu(request: str, own: Mapping[str, int]) -> int | None:
    """Return micro-dollars an hour for a GPU request such as ``L4``, ``H100!`` or ``H100:8``; None if unknown.

    ``own`` are the spec's prices, by request or by type; they come before the shipped table.
    """
    said = stated(request, own)
    if said is not None:
        return said
    kind, count = _split(request)
    one = _shipped(GPUS, kind.replace(" ", "").replace("-", "").upper())
    return None if one is None else one * count


def stated(request: str | None, own: Mapping[str, int]) -> int | None:
    """Return micro-dollars an hour for a GPU request by the spec's own prices only."""
    if request is None or request in own:
        return own.get(request or "")
    kind, count = _split(request)
    return own[kind] * count if kind in own else None


def of_instance(kind: str, own: Mapping[str, int]) -> int | None:
    """Return micro-dollars an hour for an instance type; None if unknown. ``own`` as above."""
    return own[kind] if kind in own else _shipped(INSTANCES, kind)


def _shipped(table: Mapping[str, str], kind: str) -> int | None:
    return money.parse(table[kind]) if kind in table else None


def _split(request: str) -> tuple[str, int]:
    try:
        parsed = gpus.parse(request)
    except ValueError:  # a label that is no request, such as "RTX 4090"
        return request, 1
    return parsed.type, parsed.count
