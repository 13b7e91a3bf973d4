"""Work shared by processes: the same results in the same order, whoever dies."""

from __future__ import annotations

import os
import subprocess
import sys
import threading

import pytest

from sweeptool import layout, runs
from sweeptool.runs import crew
from tests import sweepmaker

ITEMS = [str(number) for number in range(100)]


@pytest.fixture
def four(monkeypatch):
    monkeypatch.setattr(os, "sched_getaffinity", lambda _pid: {0, 1, 2, 3}, raising=False)


def pids(part):
    return os.getpid(), list(part)


def test_parts_come_in_order_and_make_up_the_whole(four):
    found = list(crew.share(pids, list(ITEMS), 10))
    assert [item for _, part in found for item in part] == ITEMS
    assert len({pid for pid, _ in found}) == 4
    assert [pid == os.getpid() for pid, _ in found] == [True, False, False, False] * 2 + [True, False]


def test_few_items_are_not_worth_a_process(four):
    assert [pid for pid, _ in crew.share(pids, list(ITEMS), 100)] == [os.getpid()]
    assert list(crew.share(pids, [], 10)) == []


def test_with_one_processor_all_is_done_here(monkeypatch):
    monkeypatch.setattr(os, "sched_getaffinity", lambda _pid: {0}, raising=False)
    assert {pid for pid, _ in crew.share(pids, list(ITEMS), 10)} == {os.getpid()}


def test_with_other_threads_about_nothing_is_forked(four):
    waiting = threading.Event()
    thread = threading.Thread(target=waiting.wait)
    thread.start()
    try:
        assert {pid for pid, _ in crew.share(pids, list(ITEMS), 10)} == {os.getpid()}
    finally:
        waiting.set()
        thread.join()


def test_the_part_of_a_process_that_dies_is_done_here(four):
    here = os.getpid()

    def work(part):
        if os.getpid() != here and "60" in part:
            os.kill(os.getpid(), 9)
        return list(part)

    assert [item for part in crew.share(work, list(ITEMS), 10) for item in part] == ITEMS


def test_an_error_in_a_process_is_raised_here(four):
    def work(part):
        return [1 // (int(item) - 60) for item in part]

    with pytest.raises(ZeroDivisionError):
        list(crew.share(work, list(ITEMS), 10))


def test_who_stops_asking_leaves_no_process_behind(four):
    def work(part):
        return ["x" * 1_000_000 for _ in part]

    shared = crew.share(work, list(ITEMS), 10)
    next(shared)
    shared.close()
    with pytest.raises(ChildProcessError):
        os.waitpid(-1, os.WNOHANG)


def test_who_stops_asking_waits_for_none_that_is_stopped():
    program = "import os, signal\nfrom sweeptool.runs import crew\nos.sched_getaffinity = lambda _pid: {0, 1}\n"
    program += "parent = os.getpid()\n"
    program += "work = lambda part: os.getpid() == parent or os.kill(os.getpid(), signal.SIGSTOP)\n"
    program += "shared = crew.share(work, ['a', 'b', 'c'], 1)\nprint(next(shared))\nshared.close()\n"
    done = subprocess.run((sys.executable, "-c", program), capture_output=True, text=True, timeout=60, check=False)
    assert (done.returncode, done.stdout) == (0, "True\n")


def test_a_tree_read_by_several_is_the_tree_read_by_one(four, tmp_path, monkeypatch):
    for number in range(60):
        cost = None if number % 7 == 0 else number / 1000
        path = sweepmaker.manifest(tmp_path / "t" / f"{number:03d}", estimated_cost_usd=cost, wall_time_sec=number)
        if number % 10 == 3:
            path.write_text("{")
        if number % 10 == 5:
            path.write_text(path.read_text().replace('"failed": false', '"failed": 0'))
    sweepmaker.manifest(tmp_path / "far" / "a")
    (tmp_path / "t" / "041" / "link").symlink_to(tmp_path / "far")
    (tmp_path / "t" / "059" / layout.MANIFEST).write_bytes((tmp_path / "t" / "002" / layout.MANIFEST).read_bytes())
    monkeypatch.setattr(crew.share, "__defaults__", (10,))
    several = runs.under(str(tmp_path / "t"))
    monkeypatch.setattr(crew.share, "__defaults__", (10_000,))
    one = runs.under(str(tmp_path / "t"))
    assert several == one
    assert (len(one.runs), len(one.skipped), len(one.oddities)) == (54, 7, 6)
