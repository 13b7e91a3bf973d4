"""A member of a manifest goes in, its value comes out, typed; what is of another type is None, and named as odd.

``oddities`` gets a line for it. Missing is None, and not odd.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from decimal import Decimal
from typing import Any, TypeGuard

from sweeptool import money

_LONGEST = Decimal(10) ** 10  # seconds; three centuries


def shown(value: object) -> str:
    """Return a JSON value as it would stand in a file, short enough for a message."""
    if isinstance(value, list | dict):
        return "a list" if isinstance(value, list) else "an object"
    text = str(value) if isinstance(value, Decimal) else json.dumps(value, default=str)
    return text if len(text) <= 40 else text[:37] + "..."


def text(name: str, value: object, oddities: list[str]) -> str | None:
    """Return a text or None; anything else is None and odd."""
    if value is None or isinstance(value, str):
        return value
    oddities.append(f"{name} is {shown(value)}, not text")
    return None


def failed(raw: Mapping[str, Any], oddities: list[str]) -> bool | None:
    """Return the outcome, None and odd where it is neither true nor false."""
    value = raw.get("failed")
    if isinstance(value, bool):
        return value
    what = f"failed is {shown(value)}, neither true nor false" if "failed" in raw else "failed is missing"
    oddities.append(f"{what}: the outcome is unknown")
    return None


def dollars(raw: Mapping[str, Any], key: str, oddities: list[str]) -> int | None:
    """Return dollars in micro-dollars, None where there is no amount, odd where it is no amount."""
    value = raw.get(key)
    if value is None:
        return None
    amount = money.measured(value)
    if amount is None:
        oddities.append(f"{key} is {shown(value)}, not an amount of dollars: unknown, not 0")
    return amount


def seconds(raw: Mapping[str, Any], key: str, oddities: list[str]) -> Decimal | None:
    """Return a span of time, None where there is none, odd where it is none."""
    value = raw.get(key)
    if value is None:
        return None
    if type(value) in (int, Decimal, float):
        span = Decimal(value)
        if span.is_finite() and 0 <= span < _LONGEST:
            return span
    oddities.append(f"{key} is {shown(value)}, not a number of seconds: unknown, not 0")
    return None


def untried(raw: Mapping[str, Any], oddities: list[str]) -> bool:
    """Say whether a required artifact was never pulled."""
    entries = raw.get("artifacts")
    if entries is None:
        return False
    if not objects(entries):
        oddities.append("artifacts is not a list of objects")
        return False
    for entry in entries:
        if "status" in entry and entry["status"] is None and entry.get("required") is not False:
            return True
    return False


def objects(entries: object) -> TypeGuard[list[dict[str, Any]]]:
    """Say whether ``entries`` is a list of objects."""
    if type(entries) is not list:
        return False
    for entry in entries:  # noqa: SIM110 - ten thousand times, so no generator
        if type(entry) is not dict:
            return False
    return True
