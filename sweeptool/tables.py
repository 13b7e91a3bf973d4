"""Columns and rows of text go in; an aligned table, Markdown or CSV comes out, safe wherever it is shown."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from itertools import chain, islice
from typing import Any

from sweeptool.text import encodable, printable

Row = Sequence[str]
_KEPT = 20_000  # rows: a few megabytes
_BLOCK = 500  # rows measured at once
_FORMULA = ("=", "+", "-", "@", "\t", "\r")


class Each:
    """The rows that ``function`` makes of ``items``; of many none is kept, they are made anew when asked for again."""

    __slots__ = ("function", "items", "kept")

    def __init__(self, function: Callable[[Any], Row], items: Collection[Any]) -> None:
        self.function = function
        self.items = items
        self.kept = list(map(function, items)) if len(items) <= _KEPT else None

    def __iter__(self) -> Iterator[Row]:
        return map(self.function, self.items) if self.kept is None else iter(self.kept)


def plain(header: Row, rows: Iterable[Row], right: Collection[str] = ()) -> Iterator[str]:
    """Yield the lines of a table for people, its columns two spaces apart; ``right`` names the columns of numbers.

    ``rows`` are gone through twice.
    """
    shown = [printable(title) for title in header]
    widths = list(map(width, shown))
    simple = "".join(shown).isascii()
    every = iter(rows)
    while block := list(islice(every, _BLOCK)):
        whole = "".join(chain.from_iterable(block))
        if whole.isascii() and whole.isprintable():
            widths = [max(wide, *map(len, cells)) for wide, cells in zip(widths, zip(*block, strict=True), strict=True)]
        else:
            simple = False
            for row in block:
                widths = list(map(max, widths, (width(printable(cell)) for cell in row)))
    sides = [">" if title in right else "<" for title in header]
    if simple:
        pattern = "  ".join(f"{{:{side}{wide}}}" for side, wide in zip(sides, widths, strict=True))
        yield pattern.format(*shown).rstrip()
        yield from (pattern.format(*row).rstrip() for row in rows)
        return
    for row in (shown, *rows):
        cells = (_padded(printable(cell), side, wide) for cell, side, wide in zip(row, sides, widths, strict=True))
        yield "  ".join(cells).rstrip()


def _padded(text: str, side: str, wide: int) -> str:
    room = " " * (wide - width(text))
    return room + text if side == ">" else text + room


def markdown(header: Row, rows: Iterable[Row], right: Collection[str] = ()) -> Iterator[str]:
    """Yield the lines of a Markdown table; no value can end a cell, a line or the table."""
    yield _marked(header)
    yield "| " + " | ".join("--:" if title in right else ":--" for title in header) + " |"
    yield from map(_marked, rows)


def comma(header: Row, rows: Iterable[Row]) -> Iterator[str]:
    """Yield the lines of a CSV file.

    Text that a spreadsheet would run as a formula gets an apostrophe before it; numbers stay as they are.
    """
    import csv
    import io

    stream = io.StringIO()
    writer = csv.writer(stream)  # what ends its lines is what it quotes: a carriage return must be among it
    for row in (header, *rows):
        writer.writerow([_inert(cell) for cell in row])
        yield stream.getvalue().removesuffix("\r\n")
        stream.seek(0)
        stream.truncate()


def width(text: str) -> int:
    """Return how many columns of a terminal ``text`` takes."""
    if text.isascii():
        return len(text)
    import unicodedata

    return sum(0 if unicodedata.combining(char) else 1 + (unicodedata.east_asian_width(char) in "WF") for char in text)


def _marked(row: Row) -> str:
    cells = (printable(cell).replace("\\", "\\\\").replace("|", "\\|").replace("<", "&lt;") for cell in row)
    return "| " + " | ".join(cells) + " |"


def _inert(cell: str) -> str:
    cell = encodable(cell)
    return "'" + cell if cell.startswith(_FORMULA) and not _number(cell) else cell


def _number(cell: str) -> bool:
    try:
        float(cell)
    except ValueError:
        return False
    return True
