"""A JSON object goes in; its values by dotted name come out, as text for people, and whether two are the same."""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterator, Mapping
from decimal import Decimal
from typing import Any

from sweeptool.natural import number

_NUMBERS = (int, float, Decimal)
_WORDS = {"", "-", "true", "false", "null", "NaN", "Infinity", "-Infinity"}


def of(raw: Mapping[str, Any]) -> dict[str, Any]:
    """Return every value that holds no other: ``deploy_metadata.git_sha``, ``artifacts.out.status``; no null.

    A list of plain values is one; in other lists an entry is known by its label, or else by its place. Where one
    name stands for several values, the second is ``name (2)``.
    """
    found: dict[str, Any] = {}
    waiting = [*reversed(list(_inside("", raw)))]
    while waiting:  # and no recursion: a file may be nested as deep as JSON can be read
        name, value = waiting.pop()
        inner = list(_inside(f"{name}.", value))
        if inner:
            waiting += reversed(inner)
        elif value is not None:
            found[_free(name, found)] = value
    return found


def text(value: object) -> str:
    """Return a leaf on one line, no two of them alike: a text is quoted where it could be taken for anything else."""
    if isinstance(value, str):
        plain = value == value.strip() and value not in _WORDS and value[0] not in '"[{' and value.isprintable()
        return value if plain and number(value) is None else _json(value)
    return f"[{', '.join(map(_json, value))}]" if isinstance(value, list) else _json(value)


def same(a: object, b: object) -> bool:
    """Say whether two leaves are the same value: 1 and 1.0 are; 1, "1" and true are three."""
    if isinstance(a, list) and isinstance(b, list):
        return len(a) == len(b) and all(map(same, a, b))
    if type(a) in _NUMBERS and type(b) in _NUMBERS:
        return a == b or text(a) == text(b)
    return type(a) is type(b) and a == b


def _inside(prefix: str, value: object) -> Iterator[tuple[str, Any]]:
    if isinstance(value, dict):
        yield from ((f"{prefix}{key}", inner) for key, inner in value.items())
    elif isinstance(value, list) and any(isinstance(one, dict | list) for one in value):
        for place, one in enumerate(value):
            label = one.get("label") if isinstance(one, dict) else None
            yield f"{prefix}{label if isinstance(label, str) else place}", one


def _free(name: str, found: Mapping[str, Any]) -> str:
    later = (f"{name} ({count})" for count in itertools.count(2))
    return next(one for one in itertools.chain([name], later) if one not in found)


def _json(value: object) -> str:
    return str(value) if isinstance(value, Decimal) else json.dumps(value, ensure_ascii=False)
