"""The text of a duration goes in, seconds come out: ``90s``, ``1h30m``, ``12:30:00``, ``1800``, and Go's own."""

from __future__ import annotations

import re
from decimal import ROUND_CEILING, Decimal

LONGEST = 100_000 * 3600  # seconds: eleven years, beyond any clock that a job is held to
_UNITS = {"h": Decimal(3600), "m": Decimal(60), "s": Decimal(1), "ms": Decimal(10) ** -3}
_UNITS |= {unit: Decimal(10) ** -6 for unit in ("us", "\u00b5s", "\u03bcs")} | {"ns": Decimal(10) ** -9}
_PART = r"([0-9]+(?:\.[0-9]*)?|\.[0-9]+)(h|ms|m|s|us|\u00b5s|\u03bcs|ns)"
_PARTS = re.compile(_PART)
_WHOLE = re.compile(f"(?:{_PART})+")
_CLOCK = re.compile(r"([0-9]+):([0-5][0-9]):([0-5][0-9])")
_EXAMPLES = "90s, 60m, 1h30m, 12:30:00 or an integer of seconds"


def parse(text: str) -> Decimal:
    """Return the seconds of a duration, zero or more, as exact as it was written.

    Raises ValueError, whose text says what is wrong.
    """
    if len(text) > 40:
        raise ValueError(f"a duration of {len(text)} characters, expected {_EXAMPLES}")
    seconds = _seconds(text)
    if seconds > LONGEST:
        raise ValueError(f"'{text}' is longer than {LONGEST // 3600} hours")
    return seconds


def whole(seconds: Decimal) -> int:
    """Return seconds rounded up to a whole one."""
    return int(seconds.to_integral_value(ROUND_CEILING))


def _seconds(text: str) -> Decimal:
    if re.fullmatch("[0-9]+", text):
        return Decimal(text)
    clock = _CLOCK.fullmatch(text)
    if clock:
        hours, minutes, seconds = map(Decimal, clock.groups())
        return hours * 3600 + minutes * 60 + seconds
    if not _WHOLE.fullmatch(text):
        raise ValueError(_complaint(text))
    return sum((Decimal(count) * _UNITS[unit] for count, unit in _PARTS.findall(text)), Decimal(0))


def _complaint(text: str) -> str:
    if text.startswith("-"):
        return f"'{text}' is negative"
    if re.fullmatch(r"[0-9]+:[0-9]+", text):
        return f"'{text}' could be hours or minutes: write {text}:00 or 0:{text}"
    return f"'{text}' is not a duration, expected {_EXAMPLES}"
