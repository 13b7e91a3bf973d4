"""Writing a file at once: the old or the new one, and never in place of what is no plain file."""

from __future__ import annotations

import os
import stat
import threading

import pytest

from sweeptool import files


def test_file_is_written_with_its_mode_and_nothing_beside_it(tmp_path):
    files.replace(tmp_path / "a", b"one", mode=0o755)
    files.replace(tmp_path / "a", b"two", mode=0o755)
    assert (tmp_path / "a").read_bytes() == b"two"
    assert stat.S_IMODE((tmp_path / "a").stat().st_mode) == 0o755
    assert [path.name for path in tmp_path.iterdir()] == ["a"]


def test_umask_of_the_user_holds(tmp_path):
    before = os.umask(0o077)
    try:
        files.replace(tmp_path / "a", b"one", mode=0o755)
    finally:
        os.umask(before)
    assert stat.S_IMODE((tmp_path / "a").stat().st_mode) == 0o700


def test_same_content_touches_nothing(tmp_path):
    files.replace(tmp_path / "a", b"one")
    os.utime(tmp_path / "a", (1, 1))
    files.replace(tmp_path / "a", b"one")
    assert (tmp_path / "a").stat().st_mtime == 1


def test_link_stays_a_link(tmp_path):
    (tmp_path / "real").write_bytes(b"old")
    (tmp_path / "link").symlink_to("real")
    files.replace(tmp_path / "link", b"new")
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "real").read_bytes() == b"new"


def test_pipe_is_written_to_not_replaced(tmp_path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    read: list[bytes] = []
    reader = threading.Thread(target=lambda: read.append(pipe.read_bytes()))
    reader.start()
    files.replace(pipe, b"data")
    reader.join(5)
    assert read == [b"data"]
    assert pipe.is_fifo()


def test_directory_is_refused_and_nothing_left_behind(tmp_path):
    (tmp_path / "a").mkdir()
    with pytest.raises(IsADirectoryError):
        files.replace(tmp_path / "a", b"x")
    assert [path.name for path in tmp_path.iterdir()] == ["a"]
