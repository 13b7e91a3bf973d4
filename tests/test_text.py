"""Text of a user's that people read: on a terminal, in a comment of a driver, in an error."""

from __future__ import annotations

import pytest

from sweeptool import shell, text
from sweeptool.spec import tree

CASES = [
    pytest.param("lr=1e-3 日本 ü", "lr=1e-3 日本 ü", id="as-it-is"),
    pytest.param("a\nb\tc", "a\\nb\\tc", id="line-and-tab"),
    pytest.param("\x1b[2Jgone", "\\x1b[2Jgone", id="escape"),
    pytest.param("a\u2028b\x85c", "a\\u2028b\\x85c", id="line-ends-of-unicode"),
    pytest.param("x\u202e}; rm -rf /", "x\\u202e}; rm -rf /", id="turned-direction"),
    pytest.param("a\u200bb\u00a0c", "a\\u200bb\\xa0c", id="unseen"),
    pytest.param("\udc80", "\\udc80", id="half-a-character"),
]


@pytest.mark.parametrize(("given", "shown"), CASES)
def test_what_a_terminal_obeys_or_an_eye_does_not_see_is_written_out(given, shown):
    assert text.printable(given) == shown


@pytest.mark.parametrize(("given", "shown"), CASES)
def test_comments_errors_and_lines_are_all_written_so(given, shown):
    assert shell.comment(given) == shown
    assert tree.quoted(given) == f"'{shown}'"
    assert text.one_line(given) == shown


def test_a_long_line_is_cut_to_its_width():
    assert text.one_line("x" * 400, 10) == "xxxxxxxxx…"


@pytest.mark.parametrize(
    ("seconds", "shown"),
    [(0, "0 s"), (45, "45 s"), (600, "10 min"), (5400, "1 h 30 min"), (187_500, "2 d 4 h")],
)
def test_a_span_of_time_has_its_two_largest_units(seconds, shown):
    assert text.duration(seconds) == shown
