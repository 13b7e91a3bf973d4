"""The bytes of a spec go in, its tree comes out: UTF-8, then JSON or YAML, without YAML's guesses at types."""

from __future__ import annotations

import re

from sweeptool.errors import Problem, SweepError
from sweeptool.spec import jsontext, yamltext
from sweeptool.spec.tree import Node, Report

_HALF = re.compile("[\ud800-\udfff]")
_WIDE_BOMS = {b"\xff\xfe": "UTF-16", b"\xfe\xff": "UTF-16", b"\x00\x00\xfe\xff": "UTF-32"}


def parse(data: bytes | str, report: Report) -> Node:
    """Return the tree of a YAML or JSON document.

    Raises SweepError where there is no tree to speak of; lesser problems land in ``report``.
    """
    text = _decode(data, report.source)
    bad = _HALF.search(text)
    if bad:
        line, column = jsontext.place(text, bad.start())
        raise SweepError(Problem("half a character stands here", source=report.source, line=line, column=column))
    if not text.strip():
        raise SweepError(Problem("the spec is empty", source=report.source, remedy="sweeptool init writes a starter"))
    if text.lstrip()[0] not in "{[":
        return yamltext.parse(text, report)
    return _braced(text, report)


def _braced(text: str, report: Report) -> Node:
    """Return the tree of what starts like JSON: JSON where it is, else YAML's flow form."""
    known = len(report.problems)
    try:
        return jsontext.parse(text, report)
    except SweepError as error:
        if report.source.endswith(".json"):
            raise
        del report.problems[known:]
        return _flow(text, report, error)


def _flow(text: str, report: Report, not_json: SweepError) -> Node:
    try:
        return yamltext.parse(text, report)
    except SweepError:
        if jsontext.looks_like(text):
            raise not_json from None
        raise


def _decode(data: bytes | str, source: str) -> str:
    if isinstance(data, str):
        return data.removeprefix("\ufeff")
    for mark, name in _WIDE_BOMS.items():
        if data.startswith(mark):
            raise SweepError(Problem(f"this is {name}", source=source, remedy="save it as UTF-8"))
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        message = f"byte 0x{data[error.start]:02x} is not UTF-8"
        raise SweepError(Problem(message, source=source, line=line, remedy="save it as UTF-8")) from None
