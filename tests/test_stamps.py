"""Times and durations in every form that people and programs write."""

from __future__ import annotations

from decimal import Decimal

import pytest

from sweeptool import stamps

NOON = 1_772_366_400 * 1_000_000  # 2026-03-01T12:00:00Z


@pytest.mark.parametrize(
    "value",
    [
        "2026-03-01T12:00:00Z",
        "2026-03-01T12:00:00+00:00",
        "2026-03-01T12:00:00.000000+00:00",
        "2026-03-01T13:00:00+01:00",
        "2026-03-01T06:30:00-05:30",
        "2026-03-01T12:00:00",
        "2026-03-01 12:00",
        "20260301T1200",
        "20260301 120000",
        "1772366400",
        "1772366400000",
        "1772366400.0",
        1_772_366_400,
        1_772_366_400_000,
        1_772_366_400.0,
        Decimal("1772366400.0"),
    ],
)
def test_every_form_of_one_moment_is_that_moment(value):
    assert stamps.parse(value) == NOON


def test_microseconds_are_kept():
    assert stamps.parse("2026-03-01T12:00:00.000001Z") == NOON + 1


@pytest.mark.parametrize(
    "value",
    [
        "",
        "yesterday",
        "2026-13-01",
        "12:00",
        "17670101123",
        "20260301120000",
        "1772366400Z",
        "17670101.12",
        None,
        True,
        [],
        {},
        -1,
        float("nan"),
        float("inf"),
        1e40,
        Decimal("1e400"),
    ],
    ids=repr,
)
def test_garbage_is_no_time(value):
    assert stamps.parse(value) is None


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("90s", 90),
        ("30m", 1800),
        ("1h30m", 5400),
        ("7d", 604_800),
        ("1w", 604_800),
        ("1.5h", 5400),
        ("500ms", 0.5),
        ("12:30:00", 45_000),
        ("0:10", 600),
        ("0s", 0),
        ("99999999d", 8_639_999_913_600),
    ],
)
def test_durations(text, seconds):
    assert stamps.duration(text) == int(seconds * 1_000_000)


@pytest.mark.parametrize("text", ["", "abc", "5", "1y", "-1h", "1h 30m", "1e3s", "12:75:00", "h"])
def test_what_is_no_duration(text):
    assert stamps.duration(text) is None


def test_since_takes_a_duration_before_now_or_a_time():
    assert stamps.since("90m", NOON) == NOON - 5400 * 1_000_000
    assert stamps.since("2026-03-01T12:00Z", 0) == NOON
    assert stamps.since("2026-03-01", 0) == NOON - 43_200 * 1_000_000
    assert stamps.since("1772366400", 0) == stamps.since("1772366400000", 0) == NOON


@pytest.mark.parametrize("text", ["5", "soon", "", "1y"])
def test_since_refuses_anything_else(text):
    with pytest.raises(ValueError, match="neither a duration"):
        stamps.since(text, NOON)


def test_a_time_is_written_as_it_is_read():
    assert stamps.parse(stamps.text(NOON + 5)) == NOON + 5


@pytest.mark.parametrize(
    ("seconds", "text"), [(0, "0s"), (12.5, "12.50s"), (75, "1m 15s"), (11_100, "3h 05m"), (187_200, "2d 4h")]
)
def test_spans_for_people(seconds, text):
    assert stamps.span_text(seconds) == text
