"""The values of one axis: a list, a range or a logspace goes in, the texts in order come out, each once."""

from __future__ import annotations

import re
from collections.abc import Callable

from sweeptool.spec import progressions
from sweeptool.spec.fields import Key, Kind, Table
from sweeptool.spec.kinds import SCALAR, value
from sweeptool.spec.tree import List, Map, Node, Report, Text, describe, quoted

TEXT: Kind[str] = Kind(value, SCALAR)
_START = Key("start", TEXT, "the first value", required=True)
_STOP = Key("stop", TEXT, "the last value, included where a step ends on it", required=True)
_STEP = Key("step", TEXT, "from one value to the next", required=True)
_NUM = Key("num", TEXT, "how many values, both ends included", required=True)
_RANGE = Table((_START, _STOP, _STEP))
_LOGSPACE = Table((_START, _STOP, _NUM))
_FORMS = {"range": (_RANGE, _STEP), "logspace": (_LOGSPACE, _NUM)}
LIST_SCHEMA = {"type": "array", "items": SCALAR}
AXIS_SCHEMA = {
    "anyOf": [
        LIST_SCHEMA,
        *(
            {
                "type": "object",
                "additionalProperties": False,
                "required": [form],
                "properties": {form: table.kind().schema},
            }
            for form, (table, _) in _FORMS.items()
        ),
    ]
}


def listed(node: Node, path: str, report: Report, check: Callable[[str], str] = str) -> tuple[str, ...] | None:
    """Return the values of an axis written as a list; each may stand there once.

    ``check`` raises ValueError for a value that this axis cannot take, and returns what makes two values one.
    """
    if not isinstance(node, List):
        remedy = f"write [{node.text}]" if isinstance(node, Text) else ""
        report.error(node, path, f"expected a list of values, got {describe(node)}", remedy)
        return None
    found: list[str] = []
    seen: dict[str, Node] = {}
    known = len(report.problems)
    for number, item in enumerate(node.items):
        text = value(item, f"{path}[{number}]", report)
        if text is None:
            continue
        try:
            first = seen.setdefault(check(text), item)
        except ValueError as error:
            report.error(item, f"{path}[{number}]", str(error))
            continue
        if first is not item:
            where = f", first in line {first.line}" if first.line else ""
            report.error(
                item, f"{path}[{number}]", f"{quoted(text)} stands there twice{where}", "repetitions runs it again"
            )
        found.append(text)
    return tuple(found) if len(report.problems) == known else None


def computed(node: Node, path: str, report: Report) -> tuple[str, ...] | None:
    """Return the values of a native axis: a list, ``{range: …}`` or ``{logspace: …}``."""
    if not isinstance(node, Map):
        return listed(node, path, report)
    form = next(iter(node.members), "")
    if form not in _FORMS or len(node.members) > 1:
        report.error(node, path, "expected a list of values, {range: …} or {logspace: …}")
        return None
    table, third = _FORMS[form]
    at = f"{path}.{form}"
    fields = table.read(node.members[form], at, report)
    texts = [fields.get(key) for key in (_START, _STOP, third)] if fields else []
    if fields is None or None in texts:
        return None
    try:
        values = _values(form, *(text or "" for text in texts))
    except ValueError as error:
        report.error(fields.node, at, str(error))
        return None
    if len(set(values)) < len(values):
        report.error(fields.node, at, "its values are not all different")
        return None
    return tuple(values)


def _values(form: str, start: str, stop: str, third: str) -> list[str]:
    if form == "range":
        return progressions.steps(start, stop, third)
    if not re.fullmatch("[0-9]{1,6}", third):
        raise ValueError(f"num is {quoted(third)}, expected a whole number")
    return progressions.logarithmic(start, stop, int(third))


def named(node: Node, path: str, report: Report, pattern: re.Pattern[str], what: str) -> dict[str, Node]:
    """Return the members of a map whose keys must match a pattern; what else stands there is reported."""
    if not isinstance(node, Map):
        report.error(node, path, f"expected a map from names to lists of values, got {describe(node)}")
        return {}
    for name, key in node.keys.items():
        if not pattern.fullmatch(name):
            report.error(key, f"{path}.{name}", f"{quoted(name)} is not {what}")
    return {name: one for name, one in node.members.items() if pattern.fullmatch(name)}
