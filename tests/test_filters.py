"""Filters on events: every operator against every kind of JSON value."""

from __future__ import annotations

import json
from decimal import Decimal

import pytest

from sweeptool.errors import SweepError
from sweeptool.events import filters


def passes(text: str, fields: str) -> bool:
    one = filters.parse(text)
    return one.allows(filters.lookup(json.loads(fields, parse_float=Decimal), one.key))


@pytest.mark.parametrize(
    ("text", "fields"),
    [
        ("event=gpu_selected", '{"event": "gpu_selected"}'),
        ("failed=true", '{"failed": true}'),
        ("failed=false", '{"failed": false}'),
        ("to=null", '{"to": null}'),
        ("n=1", '{"n": 1}'),
        ("n=1", '{"n": 1.0}'),
        ("n=1.0", '{"n": 1}'),
        ("n=1e2", '{"n": 100}'),
        ("n=0.1", '{"n": 0.10}'),
        ("n=1", '{"n": "1"}'),
        ("a.b=2", '{"a": {"b": 2}}'),
        ("a.1.c=x", '{"a": [0, {"c": "x"}]}'),
        ("a.b=2", '{"a.b": 2}'),
        ('l=["a",1]', '{"l": ["a", 1]}'),
        ('o={"k":true}', '{"o": {"k": true}}'),
        ('d={"k":1.5,"l":[0.5,1]}', '{"d": {"k": 1.5, "l": [0.5, 1]}}'),
        ('l=["1E+400"]', '{"l": [1e400]}'),
        ("note=", '{"note": ""}'),
        ("note=a=b", '{"note": "a=b"}'),
        ("note=a b", '{"note": "a b"}'),
        ("n==5", '{"n": 5}'),
        ("note == b", '{"note": "b"}'),
        ("n != 2", '{"n": 3}'),
        ("event!=x", '{"event": "y"}'),
        ("path~^/data/.*\\.pt$", '{"path": "/data/a.pt"}'),
        ("failed~tr", '{"failed": true}'),
        ("n<2", '{"n": 1.5}'),
        ("n <= 2", '{"n": 2}'),
        ("n>-1", '{"n": 0}'),
        ("n>=1e-4", '{"n": 0.0001}'),
        ("n>9", '{"n": 100}'),
        ("n>9", '{"n": "100"}'),
        ("when>2026-03-01T12:00Z", '{"when": "2026-03-01T13:30:00+01:00"}'),
        ("name<b", '{"name": "a"}'),
    ],
)
def test_what_passes(text, fields):
    assert passes(text, fields)


@pytest.mark.parametrize(
    ("text", "fields"),
    [
        ("event=gpu", '{"event": "gpu_selected"}'),
        ("failed=True", '{"failed": true}'),
        ("failed=1", '{"failed": true}'),
        ("n=true", '{"n": 1}'),
        ("n=01", '{"n": "1"}'),
        ("missing=null", "{}"),
        ("missing!=x", "{}"),
        ("missing~.*", "{}"),
        ("missing<1", "{}"),
        ("n<1", '{"n": null}'),
        ("n<1", '{"n": true}'),
        ("n<x", '{"n": 1}'),
        ("t>50", '{"t": "n/a"}'),
        ("t<50", '{"t": ""}'),
        ("t>50", '{"t": "2026-03-01T12:00:00Z"}'),
        ("when>2026-03-01T11:30:00Z", '{"when": "garbage"}'),
        ("when<2026-03-01", '{"when": "1"}'),
        ("a.b=2", '{"a": 2}'),
        ("a.5=2", '{"a": [1]}'),
        ("n!=1", '{"n": 1.0}'),
    ],
)
def test_what_does_not_pass(text, fields):
    assert not passes(text, fields)


@pytest.mark.parametrize("text", ["", "event", "=x", "~x", "  =x", "event pod_killed"])
def test_what_is_no_filter_is_an_error_that_shows_one(text):
    with pytest.raises(SweepError, match=r"is no filter .*KEY=VALUE"):
        filters.parse(text)


def test_a_regular_expression_that_is_none_is_an_error():
    with pytest.raises(SweepError, match="no regular expression"):
        filters.parse("event~(")


@pytest.mark.parametrize(
    ("text", "needle"),
    [
        ("event=pod_killed", b'"pod_killed"'),
        ("failed=true", b"true"),
        ("note=日本", '"日本"'.encode()),
        ("to=null", None),
        ("note=caf\ufffd", None),
        ("n=1", None),
        ("n=1e3", None),
        ('l=["a"]', None),
        ('note=say "hi"', None),
        ("note=a\\b", None),
        ("event!=x", None),
        ("event~x", None),
        ("event<x", None),
    ],
)
def test_only_what_must_stand_in_a_line_byte_for_byte_is_looked_for(text, needle):
    assert filters.parse(text).needle == needle
