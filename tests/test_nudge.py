"""When a driver that may be asleep is woken, and when it is left to the signal that is on its way."""

from __future__ import annotations

import os
import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from sweeptool.ledger import nudge
from tests.conftest import require


@pytest.fixture
def sleeper() -> Iterator[subprocess.Popen[bytes]]:
    with subprocess.Popen(("sleep", "60")) as process:
        yield process
        process.kill()


def test_a_driver_that_sleeps_is_woken(sleeper):
    assert nudge.wake(sleeper.pid)
    assert sleeper.wait(10) == -signal.SIGTRAP


@pytest.mark.parametrize("name", ["HUP", "INT", "TERM"])
def test_a_signal_that_is_on_its_way_is_not_overtaken(sleeper, name):
    require(Path("/proc/self/status").exists(), "there is no /proc")
    sleeper.send_signal(signal.SIGSTOP)
    os.waitid(os.P_PID, sleeper.pid, os.WSTOPPED)
    sleeper.send_signal(signal.Signals[f"SIG{name}"])
    assert not nudge.wake(sleeper.pid)
    sleeper.send_signal(signal.SIGCONT)
    assert sleeper.wait(10) == -signal.Signals[f"SIG{name}"]


def test_a_driver_that_is_gone_is_not_woken(sleeper):
    sleeper.kill()
    sleeper.wait()
    assert not nudge.wake(sleeper.pid)
