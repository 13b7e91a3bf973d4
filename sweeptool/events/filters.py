"""``KEY OP VALUE`` goes in; a Filter that says yes or no to an event's fields comes out."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from math import isfinite
from typing import Any

from sweeptool import stamps
from sweeptool.errors import Problem, SweepError
from sweeptool.natural import ORDER, number

_PARTS = re.compile(r"([^=!<>~]*[^=!<>~\s])(\s*)(!=|<=|>=|==?|<|>|~)(.*)", re.DOTALL)
_WORDS = ("true", "false")
MISSING = object()


@dataclass(frozen=True, slots=True)
class Filter:
    """One condition on the field ``key``, dotted where it stands inside an object; a field that is missing fails it.

    A JSON number is compared as a number, a boolean, null and containers by their JSON text, text as text. Below or
    above a number is no text but a number's, before or after a time none but a time's.
    """

    key: str
    op: str
    value: str
    number: Decimal | None
    stamp: int | None
    pattern: re.Pattern[str] | None

    @property
    def needle(self) -> bytes | None:
        """Bytes that stand in every line this filter lets through, unless the line holds a backslash."""
        if self.op != "=" or self.number is not None or self.value[:1] in ("{", "["):
            return None
        if self.value == "null" or "\ufffd" in self.value:
            return None  # NaN is read as null, bytes that are no UTF-8 as U+FFFD
        text = json.dumps(self.value, ensure_ascii=False)
        if "\\" in text:
            return None  # only a line with a backslash can hold it, and those are always looked at
        return (self.value if self.value in _WORDS else text).encode("utf-8", "surrogateescape")

    def allows(self, value: object) -> bool:
        """Say whether an event passes whose field ``key`` is ``value``."""
        if value is MISSING:
            return False
        match self.op:
            case "=":
                return self._equal(value)
            case "!=":
                return not self._equal(value)
            case "~":
                return self.pattern is not None and self.pattern.search(text(value)) is not None
            case _:
                return self._ordered(value)

    def _equal(self, value: object) -> bool:
        if self.number is not None and _numeric(value):
            return value == self.number
        return text(value) == self.value

    def _ordered(self, value: object) -> bool:
        compare = ORDER[self.op]
        if _numeric(value):
            return self.number is not None and compare(value, self.number)
        if not isinstance(value, str):
            return False
        if self.number is not None and (own := number(value)) is not None:
            return compare(own, self.number)
        if self.stamp is not None and (moment := stamps.parse(value)) is not None:
            return compare(moment, self.stamp)
        return self.number is None and self.stamp is None and compare(value, self.value)


def parse(text: str) -> Filter:
    """Return the filter that ``text`` writes: ``event=pod_killed_unexpected``, ``duration_sec>=1.5``, ``path~^/data``.

    Raises SweepError for text that is no condition, and for a regular expression that is none.
    """
    match = _PARTS.fullmatch(text)
    if match is None:
        remedy = "write KEY=VALUE, or one of != ~ < <= > >= in place of ="
        raise SweepError(Problem(f"'{text}' is no filter", path="--filter", remedy=remedy))
    key, space, op, value = match.groups()
    key, value = key.strip(), value.strip() if space else value
    pattern = None
    if op == "~":
        try:
            pattern = re.compile(value)
        except re.error as error:
            raise SweepError(Problem(f"'{value}' is no regular expression: {error}", path="--filter")) from error
    return Filter(key, "=" if op == "==" else op, value, number(value), stamps.parse(value), pattern)


def lookup(fields: Mapping[str, Any], key: str) -> Any:
    """Return the field ``key``; where there is none of that name, dots lead into objects and lists; else MISSING."""
    if key in fields:
        return fields[key]
    value: Any = fields
    for part in key.split("."):
        if isinstance(value, Mapping) and part in value:
            value = value[part]
        elif isinstance(value, list) and part.isdecimal() and int(part) < len(value):
            value = value[int(part)]
        else:
            return MISSING
    return value


def text(value: object) -> str:
    """Return a field's value as text: a string as it is, anything else as its JSON."""
    if isinstance(value, str):
        return value
    if isinstance(value, Decimal):
        return str(value)
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"), default=fraction)


def fraction(value: Decimal) -> float | str:
    """Return a fraction as JSON writes it: a number, or text where it is beyond what other programs read as one."""
    plain = float(value)
    return plain if isfinite(plain) else str(value)


def _numeric(value: object) -> bool:
    return isinstance(value, int | Decimal) and not isinstance(value, bool)
