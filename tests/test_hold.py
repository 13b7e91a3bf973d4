"""One driver a sweep: who holds it, who may look, what a dead one leaves, what another host's looks like."""

from __future__ import annotations

import fcntl
import json
import os
import socket
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from sweeptool.errors import SweepError
from sweeptool.layout import SweepDir
from sweeptool.ledger import hold
from sweeptool.ledger.ticks import ticks


@pytest.fixture
def sweep(tmp_path: Path) -> SweepDir:
    return SweepDir(tmp_path)


def elsewhere(sweep: SweepDir, *, seconds_ago: float) -> None:
    """Leave what a driver of another host writes, last seen so long ago."""
    sweep.driver_lock.write_text('{"host": "node7", "pid": 4711, "since": "2026-03-01T10:00:00+00:00"}\n')
    seen = time.time() - seconds_ago
    os.utime(sweep.driver_lock, (seen, seen))


def holder(sweep: SweepDir, code: str) -> subprocess.Popen[str]:
    """Start a process that runs ``code`` with ``sweep`` and ``hold``, says a word when done, and stays."""
    program = (
        "import sys, os, time; from pathlib import Path; from sweeptool.ledger import hold;"
        f"from sweeptool.layout import SweepDir; sweep = SweepDir(Path({str(sweep.path)!r})); {code};"
        "print('held', flush=True); time.sleep(60)"
    )
    process = subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    assert process.stdout.readline() == "held\n"
    return process


def end(process: subprocess.Popen[str]) -> None:
    process.kill()
    process.wait()
    if process.stdout is not None:
        process.stdout.close()


def test_second_driver_is_refused_by_name_host_and_time(sweep):
    held = hold.take(sweep, os.getpid())
    with pytest.raises(SweepError) as refusal:
        hold.take(sweep, 1)
    assert refusal.value.exit_code == 5
    assert f"driver {os.getpid()} on {socket.gethostname()} since 20" in str(refusal.value)
    held.release()


def test_driver_that_lets_go_leaves_nothing(sweep):
    hold.take(sweep, os.getpid()).release()
    assert hold.driving(sweep) is None
    hold.take(sweep, os.getpid()).release()


def test_driver_that_was_killed_with_its_ledger_holds_nothing(sweep):
    end(holder(sweep, "held = hold.take(sweep, os.getpid())"))
    assert sweep.driver_lock.read_text() != ""
    assert hold.driving(sweep) is None
    hold.take(sweep, os.getpid()).release()


def test_ledger_whose_driver_was_just_killed_is_waited_for(sweep):
    dead = subprocess.Popen(["true"])
    dead.wait()
    process = holder(sweep, f"held = hold.take(sweep, {dead.pid})")
    threading.Timer(0.3, end, [process]).start()
    began = time.monotonic()
    hold.take(sweep, os.getpid()).release()
    assert 0.2 < time.monotonic() - began < 3


def test_driver_whose_number_another_process_got_is_dead(sweep):
    process = holder(sweep, "held = hold.take(sweep, os.getpid())")
    who = json.loads(sweep.driver_lock.read_text()) | {"pid": os.getpid(), "ticks": "1"}
    sweep.driver_lock.write_text(json.dumps(who))
    threading.Timer(0.3, end, [process]).start()
    hold.take(sweep, os.getpid()).release()


def test_who_holds_it_says_when_it_started(sweep):
    held = hold.take(sweep, os.getpid())
    assert json.loads(sweep.driver_lock.read_text())["ticks"] == ticks(os.getpid())
    held.release()


@pytest.mark.parametrize("look", [hold.driving, hold.check])
def test_looking_keeps_no_driver_out(sweep, look):
    hold.take(sweep, os.getpid()).release()
    over = threading.Event()

    def watch() -> None:
        while not over.is_set():
            try:
                look(sweep)
            except SweepError:
                continue  # a driver was there: that is what check says

    watchers = [threading.Thread(target=watch) for _ in range(3)]
    for watcher in watchers:
        watcher.start()
    try:
        for _ in range(100):
            hold.take(sweep, os.getpid()).release()
    finally:
        over.set()
        for watcher in watchers:
            watcher.join()


def test_shards_share_and_keep_a_driver_out(sweep):
    handles = [hold.share(sweep), hold.share(sweep)]
    with pytest.raises(SweepError, match=r"held by 'driver.sh shard' processes") as refusal:
        hold.take(sweep, os.getpid())
    assert refusal.value.exit_code == 5
    assert hold.driving(sweep) == {}
    for handle in handles:
        os.close(handle)
    hold.take(sweep, os.getpid()).release()


def test_driver_keeps_shards_out(sweep):
    held = hold.take(sweep, os.getpid())
    with pytest.raises(SweepError, match=f"driver {os.getpid()} on"):
        hold.share(sweep)
    held.release()


def test_shards_after_a_killed_driver_are_not_taken_for_it(sweep):
    end(holder(sweep, "held = hold.take(sweep, os.getpid())"))
    handle = hold.share(sweep)
    with pytest.raises(SweepError, match=r"held by 'driver.sh shard' processes"):
        hold.take(sweep, os.getpid())
    os.close(handle)


def test_orphan_that_inherited_every_descriptor_holds_nothing(sweep):
    held = hold.take(sweep, os.getpid())
    orphan = subprocess.Popen(["sleep", "60"], close_fds=False)
    held.release()
    try:
        hold.take(sweep, os.getpid()).release()
    finally:
        orphan.kill()
        orphan.wait()


@pytest.mark.parametrize("enter", [lambda sweep: hold.take(sweep, os.getpid()), hold.share], ids=["driver", "shard"])
def test_another_hosts_live_driver_is_recognised_where_locks_do_not_travel(sweep, enter):
    elsewhere(sweep, seconds_ago=3)
    assert hold.driving(sweep)["host"] == "node7"
    with pytest.raises(SweepError, match=r"driver 4711 on node7 since 2026-03-01T10:00:00") as refusal:
        enter(sweep)
    assert refusal.value.exit_code == 5


def test_another_hosts_driver_without_a_sign_of_life_is_gone(sweep):
    elsewhere(sweep, seconds_ago=120)
    assert hold.driving(sweep) is None
    hold.take(sweep, os.getpid()).release()


def test_beat_is_the_sign_of_life(sweep):
    held = hold.take(sweep, os.getpid())
    os.utime(sweep.driver_lock, (1, 1))
    held.beat()
    assert time.time() - sweep.driver_lock.stat().st_mtime < 5
    held.release()


@pytest.mark.parametrize("text", ["", "not json", "[1]", '{"host": 7}', "\0\0\0"])
def test_lock_file_that_says_nothing_is_no_obstacle(sweep, text):
    sweep.driver_lock.write_text(text)
    hold.take(sweep, os.getpid()).release()


def test_lock_of_a_sweep_that_never_ran(sweep):
    assert hold.driving(sweep) is None


def test_lock_is_of_the_kind_that_dies_with_its_process(sweep):
    held = hold.take(sweep, os.getpid())
    other = os.open(sweep.driver_lock, os.O_RDWR)
    with pytest.raises(BlockingIOError):
        fcntl.flock(other, fcntl.LOCK_EX | fcntl.LOCK_NB)
    os.close(other)
    held.release()
