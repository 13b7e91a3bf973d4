"""Lines of files of any size, with any bytes, in flat memory."""

from __future__ import annotations

import os
import tracemalloc

import pytest

from sweeptool import lines


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        pytest.param(b"", [b""], id="empty"),
        pytest.param(b"a\nb\n", [b"a", b"b"], id="whole"),
        pytest.param(b"a\nb", [b"a", b"b"], id="no-last-newline"),
        pytest.param(b"a\r\n\nb\n", [b"a\r", b"", b"b"], id="crlf-and-blank"),
        pytest.param("a\u2028b\x85c\n".encode(), ["a\u2028b\x85c".encode()], id="unicode-separators"),
        pytest.param(b"\0\0\xff\n", [b"\0\0\xff"], id="any-bytes"),
    ],
)
def test_only_a_newline_ends_a_line(tmp_path, content, expected):
    path = tmp_path / "f"
    path.write_bytes(content)
    assert list(lines.lines(str(path))) == expected


@pytest.mark.parametrize("size", [lines.BLOCK - 1, lines.BLOCK, lines.BLOCK + 1, 3 * lines.BLOCK + 17])
def test_lines_across_blocks_stay_whole(tmp_path, size):
    path = tmp_path / "f"
    line = b"x" * 99 + b"\n"
    content = line * (size // 100) + b"y" * (size % 100)
    path.write_bytes(content)
    assert b"".join(lines.blocks(str(path))) == content
    assert set(map(len, lines.lines(str(path)))) <= {99, size % 100}


def test_memory_does_not_grow_with_the_file(tmp_path):
    path = tmp_path / "f"
    with path.open("wb") as file:
        for _ in range(64):
            file.write((b"x" * 1023 + b"\n") * 1024)
    tracemalloc.start()
    for _ in lines.blocks(str(path)):
        pass
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 6 * lines.BLOCK


def test_a_line_without_end_is_cut_and_does_not_fill_memory(tmp_path):
    path = tmp_path / "f"
    with path.open("wb") as file:
        file.truncate(3 * lines.LONGEST)
    assert max(map(len, lines.blocks(str(path)))) <= lines.LONGEST + lines.BLOCK


@pytest.mark.parametrize("make", [os.mkfifo, os.mkdir], ids=["named-pipe", "directory"])
def test_what_is_no_file_is_refused_and_never_blocks(tmp_path, make):
    make(tmp_path / "f")
    with pytest.raises(OSError) as caught:
        list(lines.blocks(str(tmp_path / "f")))
    assert lines.reason(caught.value) in ("is a directory", "is no regular file")
