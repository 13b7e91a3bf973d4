"""Text, counts and spans of time from anywhere go in; text that is safe to show to people comes out."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from decimal import Decimal


def printable(text: str) -> str:
    """Return ``text`` on one line with nothing in it that a terminal obeys or an eye does not see.

    Newlines, escapes, marks that turn the direction of writing and the like are written as escapes.
    """
    if text.isprintable():
        return text
    return "".join(char if char.isprintable() else char.encode("unicode_escape").decode() for char in text)


def encodable(text: str) -> str:
    """Return ``text`` with halves of surrogate pairs, which no file can hold, written as escapes."""
    return text if text.isascii() else text.encode("utf-8", "backslashreplace").decode()


def counted(count: int, noun: str) -> str:
    """Return ``1 cell``, ``6 cells``."""
    return f"{count:,} {noun}" if count == 1 else f"{count:,} {noun}s"


def among(names: Sequence[str]) -> str:
    """Return ``there is lr``, ``there are lr, rank``, ``there is none``: what a name that is unknown could have been."""
    return f"there {'are' if len(names) > 1 else 'is'} {', '.join(names) or 'none'}"


def duration(seconds: int) -> str:
    """Return whole seconds as ``45 s``, ``10 min``, ``1 h 30 min``, ``2 d 4 h``."""
    minutes, rest = divmod(seconds, 60)
    hours, minutes_left = divmod(minutes, 60)
    days, hours_left = divmod(hours, 24)
    units = [(days, "d"), (hours_left, "h"), (minutes_left, "min"), (rest, "s")]
    used = [f"{count} {unit}" for count, unit in units if count]
    return " ".join(used[:2]) or "0 s"


def even(numbers: Iterable[str]) -> list[str]:
    """Return numbers with as many decimal places as the one that has most, so that their points are in one column.

    ``?``, ``-`` and numbers with an exponent stay as they are, and so do all where one has an exponent.
    """
    found = list(numbers)
    if any("e" in text.lower() for text in found):
        return found
    places = max((len(text.partition(".")[2]) for text in found), default=0)
    return [text if text in "?-" else f"{Decimal(text):.{places}f}" for text in found]


def one_line(text: str, width: int = 300) -> str:
    """Return ``text`` as one printable line of at most ``width`` characters."""
    line = printable(text)
    return line if len(line) <= width else f"{line[: width - 1]}…"
