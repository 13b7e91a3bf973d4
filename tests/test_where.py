"""The little language of ``--where``: what it means, and that it is no code."""

from __future__ import annotations

from decimal import Decimal

import pytest

from sweeptool.analysis import where
from sweeptool.errors import SweepError


def holds(text: str, **values: str | Decimal | None) -> bool:
    return all(one.allows(values.get(one.key)) for one in where.parse(text))


@pytest.mark.parametrize(
    "text",
    [
        "gpu = L4",
        "gpu=L4",
        "gpu == L4",
        "gpu != A10",
        "accuracy > 0.9",
        "accuracy >= 0.91 and accuracy <= 0.91",
        "gpu = L4 and lr = 1e-3 and accuracy < 1",
        "gpu = L4 AND lr=0.001",
        "lr = 1e-3",
        "lr < 0.01",
        "model ~ ^llama",
        "exact = H100!",
        "exact=H100! and gpu!=A10",
        "exact!=H100",
        "model ~ b$",
        "model = 'llama 7b'",
        'model = "llama 7b"',
        "n > 9",
        "n = 100",
        "code = '007'",
        "code = 7",
        "neg > -1",
        "neg = -0.5",
        "'spaced key' = x",
        "path = /data/a.pt",
        "url = a:b,c;d",
    ],
)
def test_what_holds(text):
    values = {"gpu": "L4", "lr": "1e-3", "accuracy": Decimal("0.91"), "model": "llama 7b", "n": "100", "code": "007"}
    values |= {"exact": "H100!", "neg": "-0.5", "spaced key": "x", "path": "/data/a.pt", "url": "a:b,c;d"}
    assert holds(text, **values)


@pytest.mark.parametrize(
    "text",
    [
        "gpu = L",
        "gpu = l4",
        "n < 9",
        "n = 1_00",
        "code = '7'",
        "accuracy > 0.91",
        "missing = x",
        "missing != x",
        "nan > 0",
        "nan != 1",
        "nan <= 0",
        "gpu > 3",
        "gpu = L4 and n = 1",
    ],
)
def test_what_does_not_hold(text):
    assert not holds(text, gpu="L4", n="100", code="007", accuracy=Decimal("0.91"), nan=Decimal("NaN"))


@pytest.mark.parametrize(
    "text",
    [
        "",
        " ",
        "gpu",
        "gpu =",
        "= L4",
        "gpu = L4 and",
        "gpu = L4 or gpu = A10",
        "gpu = L4 lr = 1",
        "and and and",
        "gpu L4",
        "gpu = = L4",
        "gpu = 'L4",
        "a = b, c = d",
        "model = llama 7b",
    ],
)
def test_anything_else_is_an_error_that_shows_the_form(text):
    with pytest.raises(SweepError, match="KEY OP VALUE"):
        where.parse(text)


@pytest.mark.parametrize("text", ["__import__('os').system('x') = 1", "x = __import__('os')", "(1).real = 1"])
def test_nothing_is_ever_run(text):
    try:
        conditions = where.parse(text)
    except SweepError:
        return
    assert all(isinstance(one.value, str) for one in conditions)


def test_a_regular_expression_that_is_none_is_an_error():
    with pytest.raises(SweepError, match="no regular expression"):
        where.parse("gpu ~ (")
