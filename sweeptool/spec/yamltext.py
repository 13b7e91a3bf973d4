"""YAML text goes in, its tree comes out: scalars as written, keys once, no type guessed, no object built."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

import yaml
from yaml.composer import Composer, ComposerError
from yaml.parser import Parser
from yaml.reader import Reader, ReaderError
from yaml.scanner import Scanner

from sweeptool.errors import Problem, SweepError
from sweeptool.spec.jsontext import DEPTH, add, place
from sweeptool.spec.tree import List, Map, Node, Null, Report, Text, Trail, describe, quoted, trodden

_NULLS = frozenset(("", "~", "null", "Null", "NULL"))
_NO_TEXT = re.compile(
    r"[-+]?(\d+|0o[0-7]+|0x[0-9a-fA-F]+|(\d+\.?\d*|\.\d+)([eE][-+]?\d+)?)|true|True|TRUE|false|False|FALSE"
)
# Controls, which YAML refuses, and three line ends of its own, which it would fold into something else.
_UNFIT = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u2028\u2029\ufffe\uffff]")
_TAG = "tag:yaml.org,2002:"
_PLAIN_TAGS = frozenset((None, *(f"{_TAG}{kind}" for kind in ("str", "int", "float", "bool", "map", "seq"))))
_NBSP = "\u00a0"


class _Unresolved:
    """Leaves every tag out that was not written, in place of YAML's resolver."""

    def resolve(self, _kind: Any, _value: Any, _implicit: Any) -> None: ...

    def descend_resolver(self, _parent: Any, _index: Any) -> None: ...

    def ascend_resolver(self) -> None: ...


class _SlowComposer(Reader, Scanner, Parser, Composer, _Unresolved):
    def __init__(self, text: str) -> None:
        Reader.__init__(self, text)
        Scanner.__init__(self)
        Parser.__init__(self)
        Composer.__init__(self)


def _fast_composer() -> Any:
    try:
        from yaml.cyaml import CParser  # type: ignore[attr-defined]  # noqa: PLC0415 - libyaml is optional
    except ImportError:
        return _SlowComposer
    return type("_FastComposer", (CParser, _Unresolved), {})


_COMPOSER = _fast_composer()


def parse(text: str, report: Report) -> Node:
    """Return the tree of a YAML document.

    Raises SweepError where it is not YAML; keys given twice, tags and the like land in ``report``.
    """
    bad = _UNFIT.search(text)
    if bad:
        line, column = place(text, bad.start())
        message = f"the character U+{ord(bad.group()):04X} cannot stand in YAML"
        remedy = "write it as an escape in double quotes"
        raise SweepError(Problem(message, source=report.source, line=line, column=column, remedy=remedy))
    root = _compose(text, report.source)
    if root is None:
        raise SweepError(Problem("the spec is empty", source=report.source, remedy="sweeptool init writes a starter"))
    return _Converter(report, {}, set(), set()).node(root, 0, None)


def _compose(text: str, source: str) -> yaml.Node | None:
    try:
        root: yaml.Node | None = _COMPOSER(text).get_single_node()
    except yaml.MarkedYAMLError as error:
        raise SweepError(_syntax(error, text, source)) from None
    except ReaderError as error:
        line, column = place(text, error.position)
        raise SweepError(Problem(f"not YAML: {error.reason}", source=source, line=line, column=column)) from None
    except RecursionError:
        raise SweepError(Problem(f"nested more than {DEPTH} deep", source=source)) from None
    return root


def _syntax(error: yaml.MarkedYAMLError, text: str, source: str) -> Problem:
    mark = error.problem_mark or error.context_mark
    what = " ".join((error.problem or str(error)).split())
    remedy = ""
    at = _character(text, mark) if mark else ""
    if isinstance(error, ComposerError) and "another document" in f"{error.problem} {error.context}":
        what, remedy = "a second document starts here", "one sweep a file"
    elif at == "\t":
        what, remedy = "a tab", "indent with spaces"
    elif "cannot start any token" in what:
        what, remedy = f"no value can start with {quoted(at)}", "quote it"
    elif error.context and error.context_mark and mark and error.context_mark.line != mark.line:
        what += f" {error.context}, which began in line {error.context_mark.line + 1}"
    return Problem(
        f"not YAML: {what}",
        source=source,
        line=mark.line + 1 if mark else None,
        column=mark.column + 1 if mark else None,
        remedy=remedy,
    )


def _character(text: str, mark: yaml.error.Mark) -> str:
    lines = text.splitlines()
    return lines[mark.line][mark.column : mark.column + 1] if mark.line < len(lines) else ""


@dataclass(frozen=True, slots=True)
class _Converter:
    report: Report
    done: dict[int, Node]  # what an alias refers to is converted once
    open: set[int]
    texts: set[str]  # plain keys that are known to be text

    def node(self, raw: Any, depth: int, trail: Trail) -> Node:
        mark = raw.start_mark
        tag: str | None = raw.tag
        if tag is None and raw.__class__ is yaml.ScalarNode:
            text: str = raw.value
            if raw.style:
                return Text(text, mark.line + 1, mark.column + 1, plain=False)
            if text in _NULLS:
                return Null(mark.line + 1, mark.column + 1)
            if text[0] != _NBSP and text[-1] != _NBSP:
                return Text(text, mark.line + 1, mark.column + 1)
        return self.uncommon(raw, Null(mark.line + 1, mark.column + 1), depth, trail)

    def uncommon(self, raw: Any, at: Null, depth: int, trail: Trail) -> Node:
        """Return a collection, or a scalar with a tag or a no-break space at its edge."""
        tag: str | None = raw.tag
        if tag not in _PLAIN_TAGS:
            message = f"the tag {quoted(tag or '')} is not read"
            self.report.error(at, trodden(trail), message, "write the value as it is")
        if isinstance(raw, yaml.ScalarNode):
            if not raw.style and tag is None:
                message = f"a no-break space at the edge of {quoted(raw.value)}"
                self.report.error(at, trodden(trail), message, "quote it if it is meant")
            return Text(raw.value, at.line, at.column, plain=False)
        seen = self.done.get(id(raw))
        if seen is not None:
            return seen
        if id(raw) in self.open or depth > DEPTH:
            why = "an alias stands inside what it names" if id(raw) in self.open else f"nested more than {DEPTH} deep"
            raise SweepError(Problem(why, source=self.report.source, line=at.line, column=at.column))
        self.open.add(id(raw))
        made = self.collection(raw, at.line, at.column, depth + 1, trail)
        self.open.discard(id(raw))
        self.done[id(raw)] = made
        return made

    def collection(self, raw: yaml.Node, line: int, column: int, depth: int, trail: Trail) -> Node:
        if isinstance(raw, yaml.SequenceNode):
            items = [self.node(item, depth, (trail, number)) for number, item in enumerate(raw.value)]
            return List(tuple(items), line, column)
        made = Map({}, {}, line, column)
        merged: list[Node] = []
        for raw_key, raw_value in raw.value:
            key = self.node(raw_key, depth, trail)
            if not isinstance(key, Text) or (key.plain and key.text not in self.texts and _NO_TEXT.fullmatch(key.text)):
                self.report.error(key, trodden(trail), f"the key {describe(key)} is no text", "quote it")
                continue
            if key.plain:
                self.texts.add(key.text)
            if key.plain and key.text == "<<":
                merged.append(self.node(raw_value, depth, trail))
            else:
                add(made, key, self.node(raw_value, depth, (trail, key.text)), self.report, trail)
        for node in merged:
            self.merge(made, node, trail)
        return made

    def merge(self, made: Map, node: Node, trail: Trail) -> None:
        """Add the members of the maps that ``<<`` names; what is there already wins."""
        for other in node.items if isinstance(node, List) else (node,):
            if not isinstance(other, Map):
                self.report.error(node, trodden(trail), f"expected a map after '<<', got {describe(other)}")
                return
            for name, value in other.members.items():
                if name not in made.members:
                    made.keys[name], made.members[name] = other.keys[name], value
