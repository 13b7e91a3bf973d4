"""Durations, braces, progressions and GPU requests: text in, value out, and what each refuses."""

from __future__ import annotations

from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sweeptool.spec import braces, durations, gpus, progressions
from sweeptool.spec.gpus import Request


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("90s", "90"),
        ("60m", "3600"),
        ("1h30m", "5400"),
        ("12:30:00", "45000"),
        ("100:00:01", "360001"),
        ("1800", "1800"),
        ("0", "0"),
        ("0s", "0"),
        ("1.5h", "5400"),
        (".5m", "30"),
        ("1.s", "1"),
        ("30s1m", "90"),
        ("1m1m", "120"),
        ("1h0m0.5s", "3600.5"),
        ("500ms", "0.5"),
        ("1us", "0.000001"),
        ("1µs", "0.000001"),
        ("1ns", "0.000000001"),
        ("007", "7"),
    ],
)
def test_a_duration(text, seconds):
    assert durations.parse(text) == Decimal(seconds)


BROKEN = "abc -5m +5m 5d 1h30 30.0 1e3 12:30 12:60:00 12:00:60 :30:00 1:2:3:4 5M 5H m s . 1..5s ٣s 1_000 0x10 1h-5m inf"


@pytest.mark.parametrize(
    "text", [*BROKEN.split(), "", " 5s", "5s ", "5 s", "5s\n", "9" * 30, "9" * 300 + "s", "100001h"]
)
def test_a_broken_duration(text):
    with pytest.raises(ValueError):
        durations.parse(text)


@given(st.integers(0, 99999), st.integers(0, 59), st.integers(0, 59))
def test_the_forms_of_a_duration_agree(hours, minutes, seconds):
    total = hours * 3600 + minutes * 60 + seconds
    for text in (f"{hours}h{minutes}m{seconds}s", f"{hours}:{minutes:02}:{seconds:02}", str(total), f"{total}s"):
        assert durations.parse(text) == total
        assert durations.whole(durations.parse(text)) == total


@pytest.mark.parametrize(
    ("word", "expected"),
    [
        ("plain", "plain"),
        ("{lr}", "1e-3"),
        ("--lr={lr}-{model}", "--lr=1e-3-{s}"),
        ("{{lr}}", "{lr}"),
        ("{{{lr}}}", "{1e-3}"),
        ("{{}}", "{}"),
        ("", ""),
        ("a\n{lr}\n", "a\n1e-3\n"),
        ("{a-b.c}", "x"),
    ],
)
def test_a_name_in_braces_expands_once(word, expected):
    assert braces.expand(word, {"lr": "1e-3", "model": "{s}", "a-b.c": "x"}) == expected


@pytest.mark.parametrize(
    "word", ["{", "}", "{}", "{lr", "lr}", "{ lr }", "{0}", "{lr!r}", "{lr:d}", "{{}", "{}}", "{lr}}", "{{lr}"]
)
def test_a_lone_brace_is_an_error(word):
    with pytest.raises(ValueError, match=r"a lone '[{}]'"):
        braces.expand(word, {"lr": "1"})


def test_an_unknown_name_is_an_error_with_the_near_match():
    with pytest.raises(ValueError, match=r"unknown name \{lrr\} \(did you mean 'lr'\?\)"):
        braces.expand("{lrr}", {"lr": "1"})


def test_names_are_listed_in_order():
    assert braces.names("{b}{{c}}{a}-{b}") == ["b", "a", "b"]


@given(st.text())
def test_doubled_braces_are_the_text_itself(text):
    assert braces.expand(text.replace("{", "{{").replace("}", "}}"), {}) == text


@given(st.text(), st.dictionaries(st.from_regex(r"[a-z_][a-z0-9_]{0,3}", fullmatch=True), st.text()))
def test_expansion_raises_only_what_it_says(word, values):
    try:
        braces.expand(word, values)
    except ValueError as error:
        assert "lone" in str(error) or "unknown name" in str(error)  # noqa: PT017


@pytest.mark.parametrize(
    ("start", "stop", "step", "values"),
    [
        ("0.1", "0.5", "0.1", ["0.1", "0.2", "0.3", "0.4", "0.5"]),
        ("0", "1", "0.25", ["0.00", "0.25", "0.50", "0.75", "1.00"]),
        ("1", "10", "4", ["1", "5", "9"]),
        ("5", "1", "-2", ["5", "3", "1"]),
        ("1", "1", "1", ["1"]),
        ("-0.2", "0.2", "0.2", ["-0.2", "0.0", "0.2"]),
        ("1e-5", "3e-5", "1e-5", ["0.00001", "0.00002", "0.00003"]),
        ("0", "2e3", "1e3", ["0", "1000", "2000"]),
        ("0.10", "0.3", "0.1", ["0.10", "0.20", "0.30"]),
    ],
)
def test_a_range(start, stop, step, values):
    assert progressions.steps(start, stop, step) == values


@given(st.integers(-1000, 1000), st.integers(1, 100), st.integers(0, 200), st.integers(0, 6))
def test_a_range_never_loses_its_end(first, width, count, places):
    def text(units):
        return f"{Decimal(units).scaleb(-places):f}"

    found = progressions.steps(text(first), text(first + width * count), text(width))
    assert [Decimal(one) for one in found] == [Decimal(text(first + width * index)) for index in range(count + 1)]


@pytest.mark.parametrize(
    ("start", "stop", "count", "values"),
    [
        ("1e-5", "1e-1", 5, ["1e-5", "1e-4", "1e-3", "1e-2", "1e-1"]),
        ("0.001", "10", 5, ["0.001", "0.01", "0.1", "1", "10"]),
        ("1", "8", 4, ["1", "2", "4", "8"]),
        ("100", "1", 3, ["100", "10", "1"]),
        ("1", "10", 3, ["1", "3.16227766017", "10"]),
        ("1E0", "1E1", 3, ["1E0", "3.16227766017e0", "1E1"]),
        ("1000", "10", 2, ["1000", "10"]),
    ],
)
def test_a_logspace(start, stop, count, values):
    assert progressions.logarithmic(start, stop, count) == values


@pytest.mark.parametrize(
    ("text", "request_"),
    [
        ("L4", Request("L4")),
        ("H100:8", Request("H100", count=8)),
        ("H100!", Request("H100", exact=True)),
        ("H100!:8", Request("H100", exact=True, count=8)),
        ("RTX-4090", Request("RTX-4090")),
    ],
)
def test_a_gpu_request(text, request_):
    assert gpus.parse(text) == request_


def test_two_requests_for_the_same_are_the_same():
    assert gpus.identity("H100") == gpus.identity("H100:1") != gpus.identity("H100!")
