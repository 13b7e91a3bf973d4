"""Timestamps and durations go in as people and programs write them; whole microseconds come out."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from decimal import Decimal

SECOND = 1_000_000  # microseconds
_UNITS = {"ms": SECOND // 1000, "s": SECOND, "m": 60 * SECOND, "h": 3600 * SECOND, "d": 86400 * SECOND}
_UNITS["w"] = 7 * _UNITS["d"]
_PART = re.compile(r"(\d+(?:\.\d+)?)(ms|[smhdw])")
_DURATION = re.compile(rf"(?:{_PART.pattern})+")
_CLOCK = re.compile(r"(\d+):([0-5]\d)(?::([0-5]\d))?")
_COUNT = re.compile(r"(\d{10}|\d{13})(\.\d+)?", re.ASCII)  # of seconds or milliseconds, from 2001 on
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MILLISECONDS = 10**11  # as seconds that would be the year 5138, so such a number counts milliseconds
_LATEST = 253_402_300_800 * SECOND  # the end of the year 9999


def parse(value: object) -> int | None:
    """Return a timestamp in microseconds since 1970, UTC, or None where it is none.

    ISO 8601 text with ``Z``, an offset or no zone (which means UTC); or a number of seconds or milliseconds, as text
    only with the digits that one has today.
    """
    if isinstance(value, str):
        if value[:8].isdecimal() and value[8:9] not in ("", "T", "t", " "):  # fromisoformat takes any digit for the T
            return parse(Decimal(value)) if _COUNT.fullmatch(value) else None
        try:
            stamp = datetime.fromisoformat(value)
        except ValueError:
            return None
        span = (stamp if stamp.tzinfo else stamp.replace(tzinfo=UTC)) - _EPOCH
        return (span.days * 86400 + span.seconds) * SECOND + span.microseconds
    if isinstance(value, bool) or not isinstance(value, int | float | Decimal):
        return None
    number = Decimal(value)
    if not number.is_finite() or not 0 <= number < _LATEST // 1000:
        return None
    return int(number * (1000 if number >= _MILLISECONDS else SECOND))


def since(text: str, now: int) -> int:
    """Return the moment that ``text`` means: ``90m`` is that long before ``now``, anything else a timestamp.

    Microseconds since 1970. Raises ValueError, whose text says what is wrong.
    """
    span = duration(text)
    if span is not None:
        return now - span
    stamp = parse(text.strip())
    if stamp is None:
        raise ValueError(
            f"'{text}' is neither a duration such as 90s, 1h30m or 7d nor a time such as 2026-03-01T12:00Z"
        )
    return stamp


def duration(text: str) -> int | None:
    """Return a duration such as ``90s``, ``1h30m``, ``7d``, ``12:30:00`` in microseconds, None where it is none."""
    word = text.strip()
    if _DURATION.fullmatch(word):
        return int(sum(Decimal(number) * _UNITS[unit] for number, unit in _PART.findall(word)))
    if clock := _CLOCK.fullmatch(word):
        hours, minutes, seconds = (int(part or 0) for part in clock.groups())
        return (hours * 3600 + minutes * 60 + seconds) * SECOND
    return None


def now() -> int:
    """Return the present in microseconds since 1970."""
    span = datetime.now(UTC) - _EPOCH
    return (span.days * 86400 + span.seconds) * SECOND + span.microseconds


def text(stamp: int) -> str:
    """Return microseconds since 1970 as ISO 8601 text in UTC."""
    seconds, micro = divmod(stamp, SECOND)
    moment = datetime.fromtimestamp(seconds, UTC).replace(microsecond=micro)
    return moment.isoformat()


def span_text(seconds: Decimal | float) -> str:
    """Return seconds for people: ``45s``, ``12m 30s``, ``3h 05m``, ``2d 4h``; tenths and hundredths below a minute."""
    whole = int(seconds)
    if whole < 60:
        return f"{float(seconds):.2f}s".replace(".00s", "s")
    if whole < 3600:
        return f"{whole // 60}m {whole % 60:02d}s"
    if whole < 86400:
        return f"{whole // 3600}h {whole % 3600 // 60:02d}m"
    return f"{whole // 86400}d {whole % 86400 // 3600}h"
