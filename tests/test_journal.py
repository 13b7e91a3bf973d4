"""The ledger's lines: whole, in order, never glued, and every bad one survived and named."""

from __future__ import annotations

import errno
import json
import os
import subprocess
import sys
from pathlib import Path
from unittest import mock

import pytest

from sweeptool.errors import SweepError
from sweeptool.ledger import journal
from sweeptool.ledger.journal import Reader, append

ONE = {"event": "one", "n": 1}
TWO = {"event": "two", "n": 2}


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "ledger.jsonl"


def names(reader: Reader) -> list[str]:
    return [event["event"] for event in reader.new()]


def line(event: dict[str, object]) -> bytes:
    return json.dumps(event).encode() + b"\n"


def test_events_come_back_in_order(path):
    append(path, [ONE, TWO], sync=True)
    append(path, [ONE], sync=False)
    assert list(Reader(path).new()) == [ONE, TWO, ONE]


def test_reader_yields_each_event_once(path):
    reader = Reader(path)
    assert names(reader) == []
    append(path, [ONE], sync=False)
    assert (names(reader), names(reader)) == (["one"], [])
    append(path, [TWO], sync=False)
    assert reader.behind()
    assert names(reader) == ["two"]
    assert not reader.behind()


def test_append_says_where_its_lines_stand(path):
    append(path, [ONE], sync=False)
    before, after = append(path, [TWO], sync=False)
    assert path.read_bytes()[before:after] == line(TWO)


def test_line_is_ascii_whatever_the_values(path):
    append(path, [{"event": "one", "why": "日本\u2028\n\x00é"}], sync=False)
    assert path.read_bytes().isascii()
    assert path.read_bytes().count(b"\n") == 1
    assert next(Reader(path).new())["why"] == "日本\u2028\n\x00é"


@pytest.mark.parametrize("tail", [b'{"event": "ha', b"\0" * 600, b"\xff\xfe", b"x", b'"', line(ONE)[:-1]])
def test_nothing_is_glued_to_a_torn_line(path, tail):
    path.write_bytes(line(ONE) + tail)
    append(path, [TWO], sync=False)
    assert path.read_bytes() == line(ONE) + tail + b"\n" + line(TWO)
    assert names(Reader(path))[-1] == "two"


@pytest.mark.parametrize(
    ("middle", "oddity"),
    [
        pytest.param(b'{"event": "ha\n', "ledger.jsonl:2: a torn or foreign line", id="torn"),
        pytest.param(b"words of somebody else\n", "ledger.jsonl:2: a torn or foreign line", id="foreign"),
        pytest.param(b"\xff\xfe\x00\n", "ledger.jsonl:2: a torn or foreign line", id="not-utf-8"),
        pytest.param(b'{"event": "h\xff"}\n', "ledger.jsonl:2: a torn or foreign line", id="not-utf-8-inside"),
        pytest.param(b"[" * 100_000 + b"\n", "ledger.jsonl:2: a torn or foreign line", id="deeply-nested"),
        pytest.param(b"\0" * 4096 + b"\n", "ledger.jsonl:2: padding", id="NULs"),
        pytest.param(b"  \t\r\n", "ledger.jsonl:2: padding", id="blanks"),
        pytest.param(b"[1, 2]\n", "ledger.jsonl:2: not an event", id="a-list"),
        pytest.param(b"null\n", "ledger.jsonl:2: not an event", id="null"),
        pytest.param(b"NaN\n", "ledger.jsonl:2: not an event", id="NaN"),
        pytest.param(b'{"n": 1}\n', "ledger.jsonl:2: not an event", id="an-object-without-an-event"),
        pytest.param(b'{"event": 7}\n', "ledger.jsonl:2: not an event", id="an-event-that-is-no-name"),
        pytest.param(b"\n", None, id="an-empty-line"),
    ],
)
def test_bad_line_is_passed_over_and_named(path, middle, oddity):
    path.write_bytes(line(ONE) + middle + line(TWO))
    reader = Reader(path)
    assert names(reader) == ["one", "two"]
    assert reader.oddities == ([oddity] if oddity else [])


def test_event_behind_padding_is_not_lost(path):
    path.write_bytes(line(ONE) + b"\0" * 512 + line(TWO))
    assert names(Reader(path)) == ["one", "two"]


def test_line_that_is_still_being_written_is_waited_for(path):
    whole = line(TWO)
    path.write_bytes(line(ONE) + whole[:9])
    reader = Reader(path)
    assert names(reader) == ["one"]
    with path.open("ab") as file:
        file.write(whole[9:])
    assert names(reader) == ["two"]
    assert reader.oddities == []


@pytest.mark.parametrize("room", [0, 1, 7, 40])
def test_full_disk_leaves_the_file_as_it_was(path, room):
    append(path, [ONE], sync=False)
    before, real, wrote = path.read_bytes(), os.write, []

    def write(handle: int, data: bytes) -> int:
        if wrote or not room:
            raise OSError(errno.ENOSPC, "No space left on device")
        wrote.append(data[:room])
        return real(handle, data[:room])

    with (
        mock.patch("sweeptool.ledger.journal.os.write", write),
        pytest.raises(SweepError, match="No space left on device") as full,
    ):
        append(path, [TWO, TWO], sync=False)
    assert full.value.exit_code == 70
    assert "make room" in str(full.value)
    assert path.read_bytes() == before


def test_full_disk_leaves_a_torn_file_as_it_was(path):
    path.write_bytes(line(ONE) + b"torn")
    refuse = mock.patch("sweeptool.ledger.journal.os.write", side_effect=OSError(errno.EDQUOT, "Disk quota exceeded"))
    with refuse, pytest.raises(SweepError, match="Disk quota exceeded"):
        append(path, [TWO], sync=False)
    assert path.read_bytes() == line(ONE) + b"torn"


def test_line_that_may_not_have_reached_the_disk_is_taken_back(path):
    append(path, [ONE], sync=True)
    before = path.read_bytes()
    refuse = mock.patch("sweeptool.ledger.journal.os.fdatasync", side_effect=OSError(errno.EIO, "Input/output error"))
    with refuse, pytest.raises(SweepError, match="Input/output error"):
        append(path, [TWO], sync=True)
    assert path.read_bytes() == before


def test_line_is_on_the_disk_before_append_returns(path):
    with mock.patch("sweeptool.ledger.journal.os.fdatasync", wraps=os.fdatasync) as sync:
        append(path, [ONE], sync=False)
        assert not sync.called
        append(path, [ONE], sync=True)
        assert sync.called


def test_size_limit_is_no_end_of_the_process(path):
    """ulimit -f sends SIGXFSZ, which ends a process that does not expect it."""
    program = "import sys; from pathlib import Path; from sweeptool.ledger import journal\n"
    program += "journal.append(Path(sys.argv[1]), [{'event': 'x' * 2000}], sync=False)"
    done = subprocess.run(
        ["bash", "-c", 'ulimit -f 1; exec "$@"', "-", sys.executable, "-c", program, path],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "PYTHONDONTWRITEBYTECODE": "1"},
    )
    assert "SweepError" in done.stderr
    assert "File too large" in done.stderr
    assert path.read_bytes() == b""


def test_ledger_that_cannot_be_opened_is_named(tmp_path):
    (tmp_path / "ledger.jsonl").mkdir()
    with pytest.raises(SweepError, match=r"ledger\.jsonl: the ledger cannot be written: Is a directory"):
        append(tmp_path / "ledger.jsonl", [ONE], sync=False)


@pytest.mark.parametrize(
    "harm", [Path.unlink, lambda path: path.write_bytes(path.read_bytes()[:-5])], ids=["deleted", "cut"]
)
def test_ledger_that_became_shorter_in_use_is_not_followed(path, harm):
    append(path, [ONE, TWO], sync=False)
    reader = Reader(path)
    assert names(reader) == ["one", "two"]
    harm(path)
    assert reader.behind()
    with pytest.raises(SweepError, match="was cut or deleted while it was in use") as caught:
        names(reader)
    assert caught.value.exit_code == 70


def test_many_writers_of_many_lines_tear_none(path):
    program = "import sys; from pathlib import Path; from sweeptool.ledger.book import Book\n"
    program += "from sweeptool.layout import SweepDir\nbook = Book.open(SweepDir(Path(sys.argv[1])))\n"
    program += "for n in range(50):\n    with book.writing():\n"
    program += "        book.record({'event': sys.argv[2], 'n': n, 'x': 'y' * 5000})"
    writers = [subprocess.Popen([sys.executable, "-c", program, path.parent, name]) for name in ("one", "two", "three")]
    assert [writer.wait(60) for writer in writers] == [0, 0, 0]
    reader = Reader(path)
    events = list(reader.new())
    assert reader.oddities == []
    for name in ("one", "two", "three"):
        assert [event["n"] for event in events if event["event"] == name] == list(range(50))


def test_stamp_is_utc_to_the_microsecond():
    assert len(journal.stamp()) == len("2026-03-01T10:00:00.000000+00:00")
    assert journal.stamp().endswith("+00:00")
