"""The kinds of value that settings take: a node goes in, text, micro-dollars, seconds, counts or lists come out."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any, TypeVar

from sweeptool import money
from sweeptool.errors import near
from sweeptool.spec import durations
from sweeptool.spec.fields import Kind, Reader
from sweeptool.spec.model import Command
from sweeptool.spec.tree import List, Map, Node, Null, Report, Text, describe, quoted

T = TypeVar("T")
MOST_DOLLARS = 10**9
NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_.-]*")
SCALAR: dict[str, Any] = {"type": ["string", "number", "boolean"]}
_HALF = re.compile("[\ud800-\udfff]")
_LONGEST_COUNT = 9  # digits


def value(node: Node, path: str, report: Report) -> str | None:
    """Return a parameter's value: any text but NUL, exactly as written."""
    if isinstance(node, Text):
        text = node.text
        if "\0" not in text and (text.isascii() or not _HALF.search(text)):
            return text
        what = "NUL, the one character" if "\0" in text else "half a character,"
        report.error(node, path, f"holds {what} that no argument can hold")
        return None
    if isinstance(node, Null):
        report.error(node, path, "null where a value belongs", "\"null\" in quotes is the text, '' the empty one")
    else:
        report.error(node, path, f"{describe(node)} where a value belongs")
    return None


def parsed(parse: Callable[[str], T]) -> Reader[T]:
    """Return a reader that turns a text into a value; ``parse`` raises ValueError with what is wrong."""

    def read(node: Node, path: str, report: Report) -> T | None:
        text = value(node, path, report)
        if text is None:
            return None
        try:
            return parse(text)
        except ValueError as error:
            report.error(node, path, str(error))
            return None

    return read


def line(text: str) -> str:
    """Return a text that is one line and not empty. Raises ValueError for any other."""
    if not text.strip():
        raise ValueError("is empty")
    if not text.isprintable():
        raise ValueError(f"{quoted(text)} is not one line of printable text")
    return text


def matching(pattern: str, what: str) -> Kind[str]:
    """Return the kind of a text that matches a pattern as a whole; ``what`` describes it."""

    def parse(text: str) -> str:
        if not re.fullmatch(pattern, text):
            raise ValueError(f"{quoted(text)} is not {what}")
        return text

    return Kind(parsed(parse), {"type": ["string", "number"], "pattern": f"^({pattern})$"})


def choice(*words: str) -> Kind[str]:
    """Return the kind of one of a few words."""

    def parse(text: str) -> str:
        if text not in words:
            hint = near(text, words)
            raise ValueError(f"{quoted(text)} is not one of {', '.join(words)}" + (f" ({hint})" if hint else ""))
        return text

    return Kind(parsed(parse), {"enum": list(words)})


def count(least: int, most: int | None = None) -> Kind[int]:
    """Return the kind of a whole number within bounds."""
    bounds = f"from {least} to {most}" if most is not None else f"of at least {least}"

    def parse(text: str) -> int:
        if not re.fullmatch("-?[0-9]+", text):
            raise ValueError(f"{quoted(text)} is not a whole number {bounds}")
        if len(text) > _LONGEST_COUNT or int(text) < least or (most is not None and int(text) > most):
            raise ValueError(f"{quoted(text)} is out of bounds, expected a whole number {bounds}")
        return int(text)

    schema: dict[str, Any] = {"type": ["integer", "string"], "minimum": least, "pattern": "^[0-9]+$"}
    return Kind(parsed(parse), schema if most is None else {**schema, "maximum": most})


def dollars(*, zero: bool) -> Kind[int]:
    """Return the kind of an amount in dollars, read to micro-dollars."""

    def parse(text: str) -> int:
        if not text.isascii() or len(text) > 40:
            raise ValueError(f"{quoted(text)} is not an amount of dollars such as 0.75")
        amount = money.parse(text)
        if amount > MOST_DOLLARS * money.MICRO:
            raise ValueError(f"{quoted(text)} is more than {MOST_DOLLARS} dollars")
        if not amount and not zero:
            raise ValueError("is 0, expected more")
        return amount

    return Kind(parsed(parse), {"type": ["number", "string"], "minimum": 0, "pattern": r"^[0-9]*\.?[0-9]{0,6}$"})


def seconds(*, zero: bool) -> Kind[int]:
    """Return the kind of a duration, read to whole seconds; a part of a second is rounded up, with a warning."""
    exact = parsed(durations.parse)

    def read(node: Node, path: str, report: Report) -> int | None:
        length = exact(node, path, report)
        if length is None:
            return None
        if not length and not zero:
            report.error(node, path, "is 0, expected longer")
            return None
        if length != durations.whole(length):
            report.warn(node, path, f"rounded up to {durations.whole(length)}s")
        return durations.whole(length)

    return Kind(read, {"type": ["string", "integer"], "minimum": 0 if zero else 1})


def items(kind: Kind[T], what: str, *, empty: bool = True) -> Kind[tuple[T, ...]]:
    """Return the kind of a list whose members are all of a kind."""

    def read(node: Node, path: str, report: Report) -> tuple[T, ...] | None:
        if not isinstance(node, List):
            report.error(node, path, f"expected a list of {what}, got {describe(node)}")
            return None
        if not node.items and not empty:
            report.error(node, path, f"is empty, expected a list of {what}")
            return None
        found = [kind.read(item, f"{path}[{number}]", report) for number, item in enumerate(node.items)]
        return None if None in found else tuple(item for item in found if item is not None)

    return Kind(
        read,
        {"type": "array", "items": kind.schema} if empty else {"type": "array", "items": kind.schema, "minItems": 1},
    )


def members(kind: Kind[T], name: str = NAME.pattern, what: str = "a name") -> Kind[dict[str, T]]:
    """Return the kind of a map from names to values of a kind."""

    def read(node: Node, path: str, report: Report) -> dict[str, T] | None:
        if not isinstance(node, Map):
            report.error(node, path, f"expected a map, got {describe(node)}")
            return None
        found: dict[str, T] = {}
        for key, one in sorted(node.members.items()):  # keys have no order: the same map, the same bytes
            if not re.fullmatch(name, key):
                report.error(node.keys[key], f"{path}.{key}", f"{quoted(key)} is not {what}")
            made = kind.read(one, f"{path}.{key}", report)
            if made is not None:
                found[key] = made
        return found

    return Kind(read, {"type": "object", "additionalProperties": kind.schema})


def _shell(text: str) -> str:
    if not text.strip():
        raise ValueError("is empty, expected a command")
    return text


def _flag(text: str) -> bool:
    if text not in {"true", "false"}:
        raise ValueError(f"{quoted(text)} is neither true nor false")
    return text == "true"


VALUE: Kind[str] = Kind(value, SCALAR)
LINE: Kind[str] = Kind(parsed(line), {"type": ["string", "number"], "minLength": 1})
FLAG: Kind[bool] = Kind(parsed(_flag), {"enum": [True, False, "true", "false"]})
MONEY = dollars(zero=True)
BOUND_MONEY = dollars(zero=False)
DELAY = seconds(zero=True)
BOUND_SECONDS = seconds(zero=False)
_SHELL: Kind[Command] = Kind(parsed(_shell), {"type": "string", "minLength": 1})


def command(argv: Kind[tuple[str, ...]]) -> Kind[Command]:
    """Return the kind of a command: a text for the shell, or a list of words of their own kind."""

    def read(node: Node, path: str, report: Report) -> Command | None:
        return argv.read(node, path, report) if isinstance(node, List) else _SHELL.read(node, path, report)

    return Kind(read, {"anyOf": [_SHELL.schema, argv.schema]})


COMMAND = command(items(VALUE, "arguments", empty=False))
_MANY: Kind[tuple[Command, ...]] = items(COMMAND, "commands")


def _commands(node: Node, path: str, report: Report) -> tuple[Command, ...] | None:
    if isinstance(node, List):
        return _MANY.read(node, path, report)
    one = _SHELL.read(node, path, report)
    return None if one is None else (one,)


COMMANDS: Kind[tuple[Command, ...]] = Kind(_commands, {"anyOf": [_SHELL.schema, _MANY.schema]})
