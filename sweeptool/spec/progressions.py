"""The ends of a range or a logspace go in as text, its values come out as text, computed in Decimal."""

from __future__ import annotations

import re
from decimal import ROUND_HALF_EVEN, Context, Decimal, localcontext

MOST = 100_000  # values of one axis
_NUMBER = re.compile(r"[-+]?([0-9]+(\.[0-9]*)?|\.[0-9]+)([eE][-+]?[0-9]{1,3})?")
_REACH = 100  # powers of ten either way: nothing that is swept lies beyond
_DIGITS = 12  # significant ones of a computed value
_CONTEXT = Context(prec=60, rounding=ROUND_HALF_EVEN, Emax=10_000, Emin=-10_000)


def number(text: str) -> Decimal:
    """Return a number from its text. Raises ValueError where it is none, or beyond 1e100."""
    if not _NUMBER.fullmatch(text) or len(text) > 60:
        raise ValueError(f"'{text[:60]}' is not a number")
    found = Decimal(text)
    if found and abs(found.adjusted()) > _REACH:
        raise ValueError(f"'{text}' is beyond 1e{_REACH}")
    return found


def steps(start: str, stop: str, step: str) -> list[str]:
    """Return start, start + step … up to stop, which is included where a step ends on it.

    Each value has the decimal places of the more exact of start and step.
    Raises ValueError for a step of 0, one that leads away from stop, and more than 100,000 values.
    """
    first, last, width = number(start), number(stop), number(step)
    if not width:
        raise ValueError("a step of 0 never ends")
    with localcontext(_CONTEXT):
        if (last - first) * width < 0:
            raise ValueError(f"a step of {step} leads from {start} away from {stop}")
        total = int((last - first) / width) + 1
        if total > MOST:
            raise ValueError(f"more than {MOST} values")
        places = max(0, *(-int(part.as_tuple().exponent) for part in (first, width)))
        return [f"{first + width * index:.{places}f}" for index in range(total)]


def logarithmic(start: str, stop: str, count: int) -> list[str]:
    """Return ``count`` values from start to stop in equal ratios; both ends as they were written.

    What lies between has at most 12 significant digits, with an exponent where start has one.
    Raises ValueError for ends that are not positive, fewer than 2 values, and more than 100,000.
    """
    first, last = number(start), number(stop)
    if first <= 0 or last <= 0:
        raise ValueError("a logspace lies between positive numbers")
    if not 2 <= count <= MOST:
        raise ValueError(f"num is {count}, expected a whole number from 2 to {MOST}")
    scientific = "e" in start.lower()
    with localcontext(_CONTEXT) as context:
        low, high = first.ln(), last.ln()
        inner = [(low + (high - low) * index / (count - 1)).exp() for index in range(1, count - 1)]
        context.prec = _DIGITS
        return [start, *(_written(+value, scientific=scientific) for value in inner), stop]


def _written(value: Decimal, *, scientific: bool) -> str:
    if not scientific:
        text = f"{value:f}"
        return text.rstrip("0").rstrip(".") if "." in text else text
    digits = "".join(map(str, value.normalize().as_tuple().digits))
    mantissa = f"{digits[0]}.{digits[1:]}" if len(digits) > 1 else digits
    return f"{mantissa}e{value.adjusted()}"
