"""An event goes in, its line comes out: JSON for programs, a line of a timeline for people."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from sweeptool.events.filters import fraction, text
from sweeptool.events.scan import Event
from sweeptool.tables import plain
from sweeptool.text import printable

_HIDDEN = ("event", "run_dir", "cell", "index", "attempt")
_LONGEST = 200  # characters of one value on a timeline


def as_json(event: Event) -> str:
    """Return the event as one line of JSON, its own text where that is safe, with what is added at its end."""
    added = event.added
    body = event.raw.decode(errors="replace")
    if body and event.own and body.isascii() and body.isprintable() and not _constants(event.raw):
        return f"{body[:-1]}, {json.dumps(added)[1:]}" if added else body
    return json.dumps({**event.own, **added}, default=fraction)


def as_line(event: Event) -> str:
    """Return the event as a line of a timeline: when, where, what, and its fields."""
    fields = {**event.own, **event.added}
    clock = event.clock or "ts_utc"
    hidden = (clock, *_HIDDEN)
    words = [f"[{printable(text(fields.get(clock, '-')))}]", printable(_place(fields))]
    words.append(printable(text(fields.get("event", "-"))))
    words += [f"{printable(key)}={_word(value)}" for key, value in fields.items() if key not in hidden]
    return " ".join(words)


def counted(
    counts: Sequence[tuple[tuple[str | None, ...], int]], keys: Sequence[str], *, as_json: bool
) -> Iterator[str]:
    """Yield the lines of a table of counts, or of a JSON list; a missing or empty value is ``-``; missing is null in JSON.

    There a key that is called ``count`` itself is ``field.count``.
    """
    if as_json:
        names = ["field.count" if key == "count" else key for key in keys]
        yield json.dumps([{**dict(zip(names, values, strict=True)), "count": number} for values, number in counts])
        return
    rows = [(*(value or "-" for value in values), str(number)) for values, number in counts]
    yield from plain((*(key.upper() for key in keys), "COUNT"), rows, ("COUNT",))


def _place(fields: Mapping[str, Any]) -> str:
    if (index := fields.get("index")) is not None:
        return f"#{index}/{fields.get('attempt') or '-'}"
    run_dir = fields.get("run_dir")
    return run_dir if isinstance(run_dir, str) else "driver"


def _word(value: object) -> str:
    word = printable(text(value))
    if len(word) > _LONGEST:
        word = word[: _LONGEST - 1] + "…"
    return json.dumps(word, ensure_ascii=False) if not word or " " in word or '"' in word else word


def _constants(raw: bytes) -> bool:
    return b"NaN" in raw or b"Infinity" in raw
