"""US dollars: decimal text goes in, whole micro-dollars come out, and back. Never a float."""

from __future__ import annotations

import re
from decimal import ROUND_CEILING, ROUND_HALF_UP, Decimal, InvalidOperation
from functools import lru_cache

MICRO = 1_000_000
_NUMBERS = (int, Decimal, float)
_ABSURD = Decimal(10) ** 12  # dollars
_ONE = Decimal(1)
_PLAIN = re.compile(r"\d+(\.\d*)?|\.\d+")


def parse(text: str) -> int:
    """Return ``text``, a plain decimal of dollars such as ``0.75``, in micro-dollars.

    Raises ValueError, whose text says what is wrong: sign, exponent, currency sign or a seventh place.
    """
    if not _PLAIN.fullmatch(text):
        raise ValueError(f"'{text}' is not an amount of dollars such as 0.75")
    places = len(text.partition(".")[2])
    if places > 6:
        raise ValueError(f"'{text}' has {places} decimal places, at most 6 are kept")
    return int(Decimal(text) * MICRO)


def measured(value: object) -> int | None:
    """Return a number from a manifest in micro-dollars, or None where it is no cost.

    A cost is a finite JSON number, zero or more: text, booleans, NaN and negatives are unknown, not 0.
    ``value`` comes from ``json.loads(..., parse_float=Decimal)``.
    """
    if isinstance(value, bool) or not isinstance(value, _NUMBERS):
        return None
    try:
        amount = Decimal(value)
        if not amount.is_finite() or amount < 0 or amount >= _ABSURD:
            return None
        return int((amount * MICRO).quantize(_ONE, ROUND_HALF_UP))
    except InvalidOperation:
        return None


@lru_cache(maxsize=4096)  # a sweep's cells share few prices and bounds
def text(micro: int) -> str:
    """Return micro-dollars as exact decimal text with at least two places: ``0.75``, ``0.000061``."""
    sign = "-" if micro < 0 else ""
    whole, rest = divmod(abs(micro), MICRO)
    places = f"{rest:06d}".rstrip("0").ljust(2, "0")
    return f"{sign}{whole}.{places}"


def text_or_none(micro: int | None) -> str | None:
    """Return ``text(micro)``, and None for an unknown amount."""
    return None if micro is None else text(micro)


def dollars(micro: int | None, *, down: bool = False) -> str:
    """Return an amount for people: ``$0.31``, more places the smaller it is, but none for whole cents; ``?`` for unknown.

    It is rounded to the nearest, or ``down``, as what is left must be.
    """
    if micro is None:
        return "?"
    cents = micro % (MICRO // 100) == 0
    places = 2 if cents or abs(micro) >= MICRO // 10 else 4 if abs(micro) >= MICRO // 1000 else 6
    if down:
        micro -= micro % 10 ** (6 - places)
    return f"{'-' if micro < 0 else ''}${Decimal(abs(micro)) / MICRO:.{places}f}"


def priced(per_hour: int, seconds: int | Decimal) -> int:
    """Return what ``seconds`` cost at ``per_hour`` micro-dollars an hour, rounded up to a micro-dollar."""
    return int((Decimal(per_hour) * Decimal(seconds) / 3600).to_integral_value(ROUND_CEILING))
