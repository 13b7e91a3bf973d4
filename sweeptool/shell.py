"""Any text goes in, one word of bash comes out. The only code that quotes; nothing else writes a shell word."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from sweeptool.text import one_line, printable

_BARE = re.compile(r"[A-Za-z0-9_@%+=:,./-]+")
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f]")
_RUNTIME = re.compile(r"\0(\$?[A-Za-z0-9_]+|\$\{[0-9]+\})\0")
_PROGRAM = re.compile(r"[A-Za-z0-9_./+-]+")
_KEYWORDS = frozenset(
    "if then else elif fi case esac for select while until do done in function time coproc".split()  # noqa: SIM905
)
_VARIABLES = {
    "attempt": "$attempt",
    "attempt_dir": "$attempt_dir",
    "sweeptool": "$SWEEPTOOL",
    "sweep_dir": "$SWEEP_DIR",
}


def word(value: str | int) -> str:
    """Return ``value`` as exactly one word of bash, byte for byte.

    The marks of ``runners.base`` (NUL, name, NUL) and ``variable`` become variables in double quotes.
    Raises ValueError for any other NUL, the one character that no argument can hold.
    """
    split = pieces(str(value))
    if len(split) == 1:
        return _literal(split[0])
    literals, names = split[::2], split[1::2]
    written = [_literal(literals[0])] if literals[0] else []
    for name, literal in zip(names, literals[1:], strict=True):
        written.append(f'"{name if name.startswith("$") else _VARIABLES[name]}"')
        if literal:
            written.append(_literal(literal))
    return "".join(written)


def pieces(text: str) -> Sequence[str]:
    """Return ``text`` split at its marks: literal text and the names of marks in turn, literal first and last."""
    return _RUNTIME.split(text) if "\0" in text else (text,)


def mark(name: str) -> str:
    """Return the mark that ``pieces`` gave the name of."""
    return f"\0{name}\0"


def parameter(number: int) -> str:
    """Return the mark that ``word`` turns into a function's argument, counted from 1."""
    return mark(f"${number}" if number < 10 else f"${{{number}}}")


def variable(name: str) -> str:
    """Return the mark that ``word`` turns into the value of the environment variable ``name`` at run time."""
    return mark(f"${name}")


def words(values: Iterable[str | int]) -> str:
    """Return ``values`` as words with a space between, for an argv or an array."""
    return " ".join(map(word, values))


def command(values: Iterable[str]) -> str:
    """Return ``values`` as a simple command: its first word is no keyword, assignment or job number."""
    first, *rest = values
    head = word(first) if "\0" in first or (_PROGRAM.fullmatch(first) and first not in _KEYWORDS) else _single(first)
    return " ".join([head, *map(word, rest)])


def line(values: Iterable[str]) -> str:
    """Return ``values`` as a command to be copied out of a comment: on one line, and however long it is, whole."""
    return " ".join(word(value) if printable(value) == value else _visible(value) for value in values)


def comment(value: str) -> str:
    """Return ``value`` as text that cannot leave a comment line."""
    return one_line(str(value), width=400)


def _literal(text: str) -> str:
    if "\0" in text:
        raise ValueError("a NUL cannot stand in an argument")
    if _BARE.fullmatch(text) and "=" not in text[:1]:
        return text
    if _CONTROL.search(text):
        return "$'" + "".join(map(_escaped, text)) + "'"
    return _single(text)


def _single(text: str) -> str:
    return "'" + text.replace("'", "'\\''") + "'"


def _visible(text: str) -> str:
    return "$'" + "".join(map(_bytes, text)) + "'"


def _bytes(character: str) -> str:
    if printable(character) == character:
        return _escaped(character)
    return "".join(f"\\x{byte:02x}" for byte in character.encode(errors="surrogateescape"))


def _escaped(character: str) -> str:
    if character in "'\\":
        return f"\\{character}"
    if character == "\n":
        return "\\n"
    if _CONTROL.match(character):
        return f"\\x{ord(character):02x}"
    return character
