"""JSON text goes in, its tree comes out: numbers as written, every member kept, the place of each."""

from __future__ import annotations

import bisect
import json
import re
from dataclasses import dataclass

from sweeptool.errors import Problem, SweepError
from sweeptool.spec.tree import List, Map, Node, Null, Report, Text, Trail, quoted, trodden

DEPTH = 64  # no spec is nested deeper; a document that is would only exhaust the stack
_TOKEN = re.compile(
    r"""[ \t\r\n]*(?:
        (?P<mark>[{}\[\],:])
      | (?P<string>"(?:[^"\\\x00-\x1f]|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*")
      | (?P<number>-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?)(?![\w.+-])
      | (?P<word>true|false|null)(?!\w)
      | (?P<end>\Z)
    )""",
    re.VERBOSE,
)


def looks_like(text: str) -> bool:
    """Tell whether a text was meant as JSON rather than YAML's flow form."""
    return re.match(r'\s*(\{\s*["}]|\[\s*["{\[\]])', text) is not None


def place(text: str, offset: int) -> tuple[int, int]:
    """Return the line and column of an offset, both from 1."""
    return text.count("\n", 0, offset) + 1, offset - text.rfind("\n", 0, offset)


def parse(text: str, report: Report) -> Node:
    """Return the tree of a JSON text.

    Raises SweepError where it is not JSON; a member given twice lands in ``report``.
    """
    starts = [0, *(match.end() for match in re.finditer("\n", text))]
    reader = _Reader(text, starts, report, [0])
    node = reader.value(*reader.token(), DEPTH, None)
    kind, token, at = reader.token()
    if kind != "end":
        raise reader.failure(at, f"unexpected {quoted(token)} after the end of the document")
    return node


@dataclass(frozen=True, slots=True)
class _Reader:
    text: str
    starts: list[int]  # offset of each line
    report: Report
    position: list[int]  # of the next token: the one thing that moves

    def token(self) -> tuple[str, str, int]:
        """Return the next token's kind, its text and its offset."""
        match = _TOKEN.match(self.text, self.position[0])
        if match is None:
            offset = self.position[0]
            while self.text[offset] in " \t\r\n":
                offset += 1
            raise self.failure(offset, _why(self.text, offset))
        self.position[0] = match.end()
        kind = match.lastgroup or ""
        return kind, match[kind], match.start(kind)

    def value(self, kind: str, token: str, at: int, depth: int, trail: Trail) -> Node:
        """Return the value that begins with a token."""
        line, column = self.where(at)
        if kind == "string":
            return Text(self.string(token, at), line, column, plain=False)
        if kind == "number" or token in {"true", "false"}:
            return Text(token, line, column)
        if token == "null":  # noqa: S105
            return Null(line, column)
        if token not in {"{", "["}:
            raise self.failure(at, f"expected a value, got {_named(kind, token)}")
        if not depth:
            raise self.failure(at, f"nested more than {DEPTH} deep")
        made = self.members if token == "{" else self.items  # noqa: S105
        return made(line, column, depth - 1, trail)

    def items(self, line: int, column: int, depth: int, trail: Trail) -> List:
        items: list[Node] = []
        kind, token, at = self.token()
        if (kind, token) == ("mark", "]"):
            return List((), line, column)
        while True:
            items.append(self.value(kind, token, at, depth, (trail, len(items))))
            if self.separated("]"):
                return List(tuple(items), line, column)
            kind, token, at = self.token()

    def members(self, line: int, column: int, depth: int, trail: Trail) -> Map:
        node = Map({}, {}, line, column)
        kind, token, at = self.token()
        if (kind, token) == ("mark", "}"):
            return node
        while True:
            if kind != "string":
                raise self.failure(at, f"expected a key in double quotes, got {_named(kind, token)}")
            key = Text(self.string(token, at), *self.where(at), plain=False)
            kind, token, at = self.token()
            if token != ":":  # noqa: S105
                raise self.failure(at, f"expected ':' after the key {quoted(key.text)}, got {_named(kind, token)}")
            add(node, key, self.value(*self.token(), depth, (trail, key.text)), self.report, trail)
            if self.separated("}"):
                return node
            kind, token, at = self.token()

    def separated(self, closing: str) -> bool:
        """Read what follows an element; tell whether it closes the collection."""
        kind, token, at = self.token()
        if kind == "mark" and token in {",", closing}:
            return token == closing
        raise self.failure(at, f"expected ',' or '{closing}', got {_named(kind, token)}")

    def string(self, token: str, at: int) -> str:
        if "\\" not in token:
            return token[1:-1]
        text: str = json.loads(token)
        if any("\ud800" <= char <= "\udfff" for char in text):
            raise self.failure(at, "half a character: a surrogate stands alone")
        return text

    def where(self, offset: int) -> tuple[int, int]:
        line = bisect.bisect_right(self.starts, offset)
        return line, offset - self.starts[line - 1] + 1

    def failure(self, offset: int, message: str) -> SweepError:
        line, column = self.where(offset)
        return SweepError(Problem(f"not JSON: {message}", source=self.report.source, line=line, column=column))


def add(node: Map, key: Text, value: Node, report: Report, trail: Trail) -> None:
    """Add a member to a map under construction; note a key that is there already, with both lines."""
    first = node.keys.setdefault(key.text, key)
    if first is not key:
        path = trodden((trail, key.text))
        report.error(key, path, f"the key {quoted(key.text)} is given twice, first in line {first.line}")
        return
    node.members[key.text] = value


def _named(kind: str, token: str) -> str:
    return "the end of the document" if kind == "end" else quoted(token)


def _why(text: str, offset: int) -> str:
    control = re.match(r'"[^"\\\\]*?([\x00-\x1f])', text[offset:])
    if control:
        return f"the character U+{ord(control[1]):04X} in a text must be written as an escape"
    if text[offset] == '"':
        return "a text that is not closed, or holds a bad escape"
    word = re.match(r"[\w.+-]+|.", text[offset:])
    return f"unexpected {quoted(word.group() if word else text[offset])}"
