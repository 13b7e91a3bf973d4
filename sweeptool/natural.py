"""Texts go in, their natural order comes out: that of numbers where all of them are numbers."""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable, Mapping
from decimal import Decimal, InvalidOperation
from typing import Any

ORDER: Mapping[str, Callable[[Any, Any], bool]] = {
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}
"""What the user writes between two values that have an order."""


def natural(values: Iterable[str | None]) -> dict[str | None, int]:
    """Return each value's rank: as numbers where all of them are numbers, else as text; None last."""
    texts = sorted({value for value in values if value is not None})
    numbers = {text: number(text) for text in texts}
    if all(value is not None for value in numbers.values()):
        texts.sort(key=lambda text: numbers[text] or Decimal(0))
    ranks: dict[str | None, int] = {text: rank for rank, text in enumerate(texts)}
    ranks[None] = len(texts)
    return ranks


def number(text: str) -> Decimal | None:
    """Return finite decimal text as a number, None for anything else; ``1_0`` is one to Python only."""
    if "_" in text:
        return None
    try:
        value = Decimal(text)
    except InvalidOperation:
        return None
    return value if value.is_finite() else None
