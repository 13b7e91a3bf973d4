"""A word of an argv template goes in, with ``{name}`` expanded it comes out; ``{{`` and ``}}`` are braces."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from sweeptool.errors import near

WORDS = ("gpu", "region", "config", "index", "id", "name", "repetition", "attempt", "sweep")
"""The names every cell has beside its parameters. A parameter of the same name wins."""

_PIECE = re.compile(r"\{\{|\}\}|\{([A-Za-z_][A-Za-z0-9_.-]*)\}|[{}]|[^{}]+")


def names(word: str) -> list[str]:
    """Return the names that ``word`` refers to, in order. Raises ValueError for a lone brace."""
    return [name for name, _ in _pieces(word) if name]


def expand(word: str, values: Mapping[str, str]) -> str:
    """Return ``word`` with each ``{name}`` replaced by its value, once: a value's own braces stay.

    Raises ValueError for a lone brace and for a name that ``values`` lacks.
    """
    return "".join(_value(name, values) if name else text for name, text in _pieces(word))


def _value(name: str, values: Mapping[str, str]) -> str:
    if name not in values:
        hint = near(name, values)
        raise ValueError(f"unknown name {{{name}}}" + (f" ({hint})" if hint else ""))
    return values[name]


def _pieces(word: str) -> Iterator[tuple[str, str]]:
    """Yield (name, "") for a reference and ("", text) for what stands as it is."""
    for match in _PIECE.finditer(word):
        text = match.group()
        if text in {"{", "}"}:
            raise ValueError(f"a lone '{text}': write '{text}{text}' for the brace itself")
        name = match.group(1) or ""
        yield name, "" if name else text[:1] if text in {"{{", "}}"} else text
