"""Tables that stay tables whatever stands in a cell."""

from __future__ import annotations

import csv

import pytest

from sweeptool import tables
from sweeptool.text import printable


def test_columns_are_aligned_and_numbers_stand_right():
    assert list(tables.plain(("NAME", "COST"), [("a", "0.31"), ("long name", "12.5")], ("COST",))) == [
        "NAME       COST",
        "a          0.31",
        "long name  12.5",
    ]


def test_wide_characters_count_for_the_columns_they_take():
    assert list(tables.plain(("A", "B"), [("日本", "x"), ("ab", "y")])) == ["A     B", "日本  x", "ab    y"]


def test_an_empty_table_is_its_header():
    assert list(tables.plain(("A", "B"), [])) == ["A  B"]
    assert list(tables.comma(("A", "B"), [])) == ["A,B"]


@pytest.mark.parametrize(
    "text", ["713752e1", "1e400", "007", "1_000", "0x10", "NaN", "9007199254740993", "1e-4", "0.10", "true"]
)
def test_text_that_looks_like_a_number_is_printed_as_it_is(text):
    assert text in "\n".join(tables.plain(("ID",), [(text,)]))
    assert list(tables.comma(("ID",), [(text,)]))[1] == text


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("\x1b[31mred", "\\x1b[31mred"),
        ("a\nb", "a\\nb"),
        ("a\tb\rc", "a\\tb\\rc"),
        ("\x9b1m", "\\x9b1m"),
        ("\u202eabc", "\\u202eabc"),
        ("\u2028", "\\u2028"),
        ("\ud800", "\\ud800"),
        ("\U000e0001", "\\U000e0001"),
        ("\0", "\\x00"),
        ("ümlaut 日本 🎉", "ümlaut 日本 🎉"),
    ],
)
def test_what_a_terminal_obeys_becomes_visible(text, shown):
    assert printable(text) == shown
    assert list(tables.plain(("X",), [(text,)]))[1] == shown


def test_no_value_ends_a_markdown_cell_or_row():
    rows = list(tables.markdown(("A|B", "N"), [("x|y", "1"), ("new\nline", "2"), ("<img src=x>", "\\|")], ("N",)))
    assert rows == [
        "| A\\|B | N |",
        "| :-- | --: |",
        "| x\\|y | 1 |",
        "| new\\\\nline | 2 |",
        "| &lt;img src=x> | \\\\\\| |",
    ]


@pytest.mark.parametrize("text", ["=cmd()", "+1+1", "-2+3", "@SUM(A1)", "\tx", "\rx", "=1"])
def test_a_spreadsheet_runs_no_cell_of_a_csv_file(text):
    assert next(csv.reader(list(tables.comma(("A",), [(text,)]))[1:])) == ["'" + text]


@pytest.mark.parametrize("text", ["-0.07", "+5", "-1e-3", "a=b", ""])
def test_numbers_and_harmless_text_keep_their_form_in_a_csv_file(text):
    assert next(csv.reader([list(tables.comma(("A", "B"), [(text, "x")]))[1]])) == [text, "x"]


def test_commas_quotes_and_newlines_survive_a_csv_file():
    text = "\n".join(tables.comma(("A", "B"), [('say "hi", you', "two\nlines")]))
    assert list(csv.reader(text.splitlines(keepends=True))) == [["A", "B"], ['say "hi", you', "two\nlines"]]


def test_half_a_surrogate_pair_can_be_written():
    assert list(tables.comma(("A",), [("\udcff\ud800",)]))[1].encode() == b"\\udcff\\ud800"
