"""Text from anywhere goes in; text that is safe to show on a terminal comes out."""

from __future__ import annotations

import re
from collections.abc import Sequence

_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff]")


def printable(text: str) -> str:
    r"""Return ``text`` with control characters (newlines and escapes too) written as ``\\n``, ``\\x1b``."""
    return _CONTROL.sub(lambda match: match.group().encode("unicode_escape").decode(), text)


def counted(count: int, noun: str) -> str:
    """Return ``1 cell``, ``6 cells``."""
    return f"{count:,} {noun}" if count == 1 else f"{count:,} {noun}s"


def among(names: Sequence[str]) -> str:
    """Return ``there is lr``, ``there are lr, rank``, ``there is none``: what a name that is unknown could have been."""
    return f"there {'are' if len(names) > 1 else 'is'} {', '.join(names) or 'none'}"


def one_line(text: str, width: int = 300) -> str:
    """Return ``text`` as one printable line of at most ``width`` characters."""
    line = printable(text)
    return line if len(line) <= width else f"{line[: width - 1]}…"
