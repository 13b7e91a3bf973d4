"""The path of a manifest goes in, the JSON object in it comes out, its fractions as Decimal; or one clear error."""

from __future__ import annotations

import codecs
import json
import os
from decimal import Decimal
from typing import Any

from sweeptool.errors import Problem, SweepError
from sweeptool.lines import open_plain, reason, small

_LARGEST = 64 * 1024 * 1024  # bytes; a manifest has a few thousand
_KNOWN = frozenset({"failed", "run_id", "job_name", "estimated_cost_usd", "schema_version", "wall_time_sec"})
_BLANK = " \t\r\n"
_DECODER = json.JSONDecoder(parse_float=Decimal)


def load(source: str, text: bytes | None = None) -> dict[str, Any]:
    """Return the object in the file ``source``; ``text`` is its content where the caller has it already.

    Raises SweepError where it cannot be read, is torn, or is no manifest at all.
    """
    return _object(_content(source) if text is None else text, source)


def _content(source: str) -> bytes:
    try:
        text = small(source)
        return _large(source) if text is None else text
    except (OSError, ValueError) as error:
        raise SweepError(Problem(f"cannot be read: {reason(error)}", source=source)) from error


def _large(source: str) -> bytes:
    handle, size = open_plain(source)
    with os.fdopen(handle, "rb") as file:
        if size > _LARGEST:
            raise OSError(f"has {size} bytes, more than {_LARGEST}")
        return file.read()


def _object(text: bytes, source: str) -> dict[str, Any]:
    try:
        raw = _decoded(text.removeprefix(codecs.BOM_UTF8).decode())
    except UnicodeDecodeError as error:
        raise SweepError(Problem(f"is not UTF-8: byte {error.start}", source=source)) from error
    except json.JSONDecodeError as error:
        what = "is empty" if not text.strip() else f"is torn or no JSON: {error.msg}"
        raise SweepError(Problem(what, source=source, line=error.lineno, column=error.colno)) from error
    except RecursionError as error:
        raise SweepError(Problem("is nested too deep for a manifest", source=source)) from error
    except (ValueError, ArithmeticError) as error:
        raise SweepError(Problem("holds a number too long to read", source=source)) from error
    if not isinstance(raw, dict):
        raise SweepError(Problem(f"is {_kind(raw)}, not a JSON object", source=source))
    if _KNOWN.isdisjoint(raw):
        raise SweepError(Problem("is no run's manifest: it has none of its members", source=source))
    return raw


def _decoded(text: str) -> Any:
    """Return the value in ``text``, as ``JSONDecoder.decode`` does: it looks for blanks around it first, at a cost."""
    if text.startswith("{"):
        value, end = _DECODER.raw_decode(text)
        if not text[end:].strip(_BLANK):
            return value
    return _DECODER.decode(text)


def _kind(value: object) -> str:
    names = {list: "a list", str: "text", bool: "a boolean", type(None): "null"}
    return names.get(type(value), "a number")
