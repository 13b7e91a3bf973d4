"""Whether anything of an attempt still runs: its shard, its group, whatever it started, and who is none of these."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

import pytest

from sweeptool.layout import AttemptDir
from sweeptool.ledger import liveness
from sweeptool.ledger.liveness import ALIVE, DEAD, REMOTE, UNSTARTED, look
from sweeptool.ledger.ticks import ticks

MARKER = "demo-20260301-000001/a-1/1"
Start = Callable[..., subprocess.Popen[str]]


@pytest.fixture
def attempt(tmp_path: Path) -> AttemptDir:
    where = AttemptDir(tmp_path / "attempt-1")
    where.path.mkdir()
    return where


@pytest.fixture
def start() -> Iterator[Start]:
    """Return a function that starts a bash script in a group of its own, and ends all of them."""
    started: list[subprocess.Popen[str]] = []

    def begin(script: str, env: Mapping[str, str] | None = None) -> subprocess.Popen[str]:
        process = subprocess.Popen(
            ["bash", "-c", script],
            stdout=subprocess.PIPE,
            text=True,
            start_new_session=True,
            env={**os.environ, **(env or {})},
        )
        started.append(process)
        return process

    yield begin
    for process in started:
        subprocess.run(["pkill", "-KILL", "-s", str(process.pid)], check=False)
        process.kill()
        process.wait()
        if process.stdout is not None:
            process.stdout.close()


def claim(attempt: AttemptDir, pid: int, **others: str) -> None:
    """Claim an attempt as the shard ``pid`` does."""
    words = {"ticks": ticks(pid) or "1", "boot": liveness.boot(), "host": socket.gethostname()} | others
    attempt.start.write_text(f"{pid} {words['ticks']} {words['boot']} {words['host']}\n")


def reap(process: subprocess.Popen[str]) -> int:
    """Kill a process, wait for it, and return its number, which is nobody's now."""
    process.kill()
    process.wait()
    return process.pid


def words(process: subprocess.Popen[str]) -> list[int]:
    assert process.stdout is not None
    return [int(word) for word in process.stdout.readline().split()]


def eventually(attempt: AttemptDir, expected: str) -> str:
    """Look until the answer is as expected: what was killed takes a moment to go."""
    until = time.monotonic() + 5
    while (found := look(attempt, MARKER)) != expected and time.monotonic() < until:
        time.sleep(0.02)
    return found


def test_attempt_that_nobody_claimed_is_given_up_for_good(attempt):
    assert look(attempt, MARKER) == UNSTARTED
    late = subprocess.run(["bash", "-c", 'set -C; : >"$1"', "-", attempt.start], capture_output=True, check=False)
    assert late.returncode != 0
    assert look(attempt, MARKER) == UNSTARTED


def test_attempt_whose_directory_was_never_made_is_given_up_too(tmp_path):
    attempt = AttemptDir(tmp_path / "cells" / "a-1" / "attempt-1")
    assert look(attempt, MARKER) == UNSTARTED
    assert attempt.start.exists()


def test_shard_that_runs_is_alive(attempt, start):
    claim(attempt, start("sleep 60").pid)
    assert look(attempt, MARKER) == ALIVE


def test_shard_that_ended_is_dead(attempt, start):
    process = start("sleep 60")
    claim(attempt, process.pid)
    reap(process)
    assert look(attempt, MARKER) == DEAD


def test_shard_that_nobody_has_waited_for_is_dead(attempt, start):
    process = start("sleep 60")
    claim(attempt, process.pid)
    process.kill()
    assert eventually(attempt, DEAD) == DEAD
    assert process.returncode is None


def test_runner_of_a_killed_shard_is_alive_in_its_group(attempt, start):
    process = start("sleep 60 & echo $!; wait")
    [runner] = words(process)
    claim(attempt, process.pid)
    reap(process)
    assert look(attempt, MARKER) == ALIVE
    assert liveness.groups(attempt, MARKER) == [process.pid]
    os.kill(runner, 9)
    assert eventually(attempt, DEAD) == DEAD


@pytest.mark.parametrize(("marker", "expected"), [(MARKER, ALIVE), (MARKER.replace("/1", "/2"), DEAD), ("", DEAD)])
def test_grandchild_in_a_session_of_its_own_is_found_by_its_marker(attempt, start, marker, expected):
    process = start("setsid sleep 60 >/dev/null & echo $!; wait", {"SWEEPTOOL_ATTEMPT": marker})
    [grandchild] = words(process)
    claim(attempt, process.pid)
    time.sleep(0.1)  # until setsid has done its work
    reap(process)
    try:
        assert look(attempt, MARKER) == expected
        assert liveness.groups(attempt, MARKER) == ([grandchild] if expected == ALIVE else [])
    finally:
        os.kill(grandchild, 9)


def test_process_that_got_the_shards_number_later_is_another(attempt, start):
    claim(attempt, start("sleep 60").pid, ticks="1")
    assert look(attempt, MARKER) == DEAD
    assert liveness.groups(attempt, MARKER) == []


def test_group_that_got_the_shards_number_later_is_another(attempt, start):
    process = start("sleep 60 & echo $!; wait")
    words(process)
    claim(attempt, process.pid, ticks="1")
    assert look(attempt, MARKER) == DEAD


def test_shard_of_another_boot_is_dead_whoever_has_its_number_now(attempt, start):
    claim(attempt, start("sleep 60").pid, boot="00000000-0000-4000-8000-000000000000")
    assert look(attempt, MARKER) == DEAD


def test_shard_of_another_host_is_none_of_our_processes(attempt, start):
    claim(attempt, start("sleep 60").pid, boot="00000000-0000-4000-8000-000000000000", host="node7")
    assert look(attempt, MARKER) == REMOTE
    assert liveness.groups(attempt, MARKER) == []


def test_machine_that_was_renamed_knows_its_own(attempt, start):
    process = start("sleep 60")
    claim(attempt, process.pid, host="old-name")
    assert look(attempt, MARKER) == ALIVE
    reap(process)
    assert look(attempt, MARKER) == DEAD


@pytest.mark.parametrize("host", ["here", "node7"])
def test_where_nothing_tells_a_boot_the_host_decides(attempt, start, host):
    claim(attempt, start("sleep 60").pid, boot="-", host=socket.gethostname() if host == "here" else host)
    assert look(attempt, MARKER) == (ALIVE if host == "here" else REMOTE)


def test_empty_claim_of_a_dead_shard_started_nothing(attempt):
    attempt.start.touch()
    assert look(attempt, MARKER) == UNSTARTED


def test_empty_claim_that_a_slow_shard_is_about_to_write_is_alive(attempt, start):
    process = start(f"exec 5>'{attempt.start}'; echo 1; sleep 60")
    words(process)
    assert look(attempt, MARKER) == ALIVE
    subprocess.run(["pkill", "-KILL", "-s", str(process.pid)], check=False)
    assert eventually(attempt, UNSTARTED) == UNSTARTED


@pytest.mark.parametrize("text", [b"given up\n", b"1 2\n", b"x 1 b h\n", b"\xff\xfe\n", b"-1 2 3 4\n", b"1 2 3 4 5\n"])
def test_claim_that_is_none_started_nothing(attempt, text):
    attempt.start.write_bytes(text)
    assert look(attempt, MARKER) == UNSTARTED


@pytest.mark.parametrize(("text", "over"), [(None, False), ("", False), ("0\n", True), ("137\n", True)])
def test_exit_file_that_is_still_empty_ends_no_attempt(attempt, start, text, over):
    process = start("sleep 60")
    claim(attempt, process.pid)
    if text is not None:
        attempt.exit.write_text(text)
    assert liveness.over(attempt, MARKER) is over
    assert attempt.ended is over


def test_giving_up_fails_where_a_shard_was_first(attempt):
    claim(attempt, os.getpid())
    before = attempt.start.read_bytes()
    assert liveness.give_up(attempt) is False
    assert attempt.start.read_bytes() == before


def test_ticks_tell_two_processes_apart_and_an_absent_one_has_none(start):
    first = start("sleep 60")
    time.sleep(0.05)
    second = start("sleep 60")
    assert ticks(first.pid).isdecimal()
    assert ticks(first.pid) != ticks(second.pid)
    assert ticks(reap(first)) == ""


def test_a_name_with_parentheses_does_not_confuse_the_ticks(tmp_path):
    program = tmp_path / "a) 1 2 (b"
    program.symlink_to(sys.executable)
    process = subprocess.Popen([program, "-c", "import time; time.sleep(60)"])
    try:
        assert ticks(process.pid).isdecimal()
    finally:
        process.kill()
        process.wait()
