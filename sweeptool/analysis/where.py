"""``KEY OP VALUE and …`` and cells go in; the cells that pass come out. Nothing is ever evaluated as code."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal

from sweeptool.analysis.candidates import Candidate
from sweeptool.errors import Problem, SweepError, near
from sweeptool.measures import BUILT_IN
from sweeptool.natural import ORDER, number
from sweeptool.text import among, printable

_TOKEN = re.compile(
    r"""\s*(?:(?P<quoted>"[^"]*"|'[^']*')|(?P<op>!=|<=|>=|==|=|<|>|~)|(?P<word>(?:[^\s=!<>~"']|!(?!=))+))"""
)
_FIELDS = ("index", "id", "config", "instance_type", "gpu", "region", "repetition")
_REMEDY = "write KEY OP VALUE, OP one of = != < <= > >= ~, several joined by 'and'; quote a value that holds spaces"


@dataclass(frozen=True, slots=True)
class Condition:
    """``key op value``. Quoted values are text; others are numbers where both sides are."""

    key: str
    op: str
    value: str
    number: Decimal | None
    pattern: re.Pattern[str] | None

    def allows(self, value: str | Decimal | None) -> bool:
        """Say whether ``value`` passes; what is missing or NaN never does."""
        if value is None or (isinstance(value, Decimal) and value.is_nan()):
            return False
        own = number(value) if isinstance(value, str) else value
        if self.pattern is not None:
            return self.pattern.search(str(value)) is not None
        if self.op in ("=", "!="):
            same = own == self.number if own is not None and self.number is not None else str(value) == self.value
            return same == (self.op == "=")
        compare = ORDER[self.op]
        if self.number is not None:
            return own is not None and compare(own, self.number)
        return isinstance(value, str) and compare(value, self.value)


def parse(text: str) -> tuple[Condition, ...]:
    """Return the conditions in ``text``, all of which must hold. Raises SweepError for anything else."""
    tokens = _tokens(text)
    conditions: list[Condition] = []
    while True:
        if len(tokens) < 3 or tokens[0][0] == "op" or tokens[1][0] != "op" or tokens[2][0] == "op":
            raise SweepError(Problem(f"'{text}' is no condition", path="--where", remedy=_REMEDY))
        (_, key), (_, op), (kind, value) = tokens[:3]
        conditions.append(_condition(key, "=" if op == "==" else op, value, quoted=kind == "quoted"))
        if len(tokens) == 3:
            return tuple(conditions)
        if tokens[3] not in (("word", "and"), ("word", "AND")):
            raise SweepError(
                Problem(f"'{tokens[3][1]}' stands where 'and' is expected", path="--where", remedy=_REMEDY)
            )
        tokens = tokens[4:]


def select(cells: Sequence[Candidate], conditions: Sequence[Condition]) -> list[Candidate]:
    """Return the cells that pass every condition. Raises SweepError for a key that no cell has."""
    for condition in conditions:
        if cells and all(_value(cell, condition.key) is None for cell in cells):
            keys = _keys(cells)
            if printable(condition.key) not in keys:
                message = f"no key '{condition.key}': {among(keys)}"
                raise SweepError(Problem(message, path="--where", remedy=near(condition.key, keys)))
    return [cell for cell in cells if all(one.allows(_value(cell, one.key)) for one in conditions)]


def _tokens(text: str) -> list[tuple[str, str]]:
    tokens = []
    place = 0
    text = text.rstrip()
    while place < len(text):
        match = _TOKEN.match(text, place)
        if match is None:
            raise SweepError(Problem(f"a quote is not closed in '{text}'", path="--where", remedy=_REMEDY))
        kind = str(match.lastgroup)
        word = match[kind]
        tokens.append((kind, word[1:-1] if kind == "quoted" else word))
        place = match.end()
    return tokens


def _condition(key: str, op: str, value: str, *, quoted: bool) -> Condition:
    pattern = None
    if op == "~":
        try:
            pattern = re.compile(value)
        except re.error as error:
            raise SweepError(Problem(f"'{value}' is no regular expression: {error}", path="--where")) from error
    return Condition(key, op, value, None if quoted else number(value), pattern)


def _value(cell: Candidate, key: str) -> str | Decimal | None:
    """Return what ``key`` names: a parameter, a measure or a field; ``param.`` and ``metric.`` say which of the two."""
    if key in cell.params:
        return cell.params[key]
    if key in cell.values:
        return cell.values[key]
    if key in _FIELDS:
        value = getattr(cell, key)
        return Decimal(value) if isinstance(value, int) else value
    kind, _, name = key.partition(".")
    return cell.params.get(name) if kind == "param" else cell.values.get(name) if kind == "metric" else None


def _keys(cells: Sequence[Candidate]) -> list[str]:
    params = sorted({name for cell in cells for name in cell.params})
    measures = [*BUILT_IN, *sorted({name for cell in cells for name in cell.values} - set(BUILT_IN))]
    measures = [f"metric.{name}" if name in params else name for name in measures]
    return list(dict.fromkeys(map(printable, (*params, *_FIELDS, *measures))))
