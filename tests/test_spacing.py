"""No two launches of one project in one second of the clock, whoever launches, whatever the clock does."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from pathlib import Path

import pytest

from sweeptool.layout import AttemptDir
from sweeptool.ledger import spacing

NOON = 1_772_366_400.0  # 2026-03-01T12:00:00Z
STAMP = "20260301T120000Z"
NEXT = AttemptDir(Path("/project/attempt-2"))


def launched(project: Path, *, at: float, said: str | None = None, ended: bool = False) -> Path:
    """Note a launch and what its runner has said since; return the file that says so."""
    attempt = AttemptDir(project / "attempt-1")
    attempt.path.mkdir(exist_ok=True)
    if said is not None:
        attempt.stdout.write_text(said)
    if ended:
        attempt.exit.write_text("1\n")
    with spacing.turn(project) as turn:
        spacing.record(turn, attempt, at)
        return turn


@pytest.mark.parametrize(
    ("later", "clear"),
    [
        pytest.param(0.0, False, id="the-same-instant"),
        pytest.param(0.9, False, id="the-same-second"),
        pytest.param(1.0, True, id="the-next-second"),
        pytest.param(90.0, True, id="much-later"),
        pytest.param(-3.0, False, id="a-clock-a-little-back"),
        pytest.param(-3600.0, True, id="a-clock-an-hour-back"),
    ],
)
def test_second_that_the_last_run_dir_names_is_taken(tmp_path, later, clear):
    turn = launched(tmp_path, at=NOON - 2, said=f"RUN_DIR=/x/{STAMP}\n")
    assert spacing.clear(turn, NEXT, NOON + later) is clear


@pytest.mark.parametrize(
    ("later", "ended", "clear"),
    [
        pytest.param(0.5, False, False, id="silent-so-far"),
        pytest.param(30.0, False, False, id="slow-to-start"),
        pytest.param(0.5, True, True, id="ended-without-a-word"),
        pytest.param(121.0, False, True, id="silent-for-too-long"),
        pytest.param(-3600.0, False, True, id="a-clock-an-hour-back"),
    ],
)
def test_launch_that_has_not_said_its_run_dir_is_waited_for(tmp_path, later, ended, clear):
    turn = launched(tmp_path, at=NOON, ended=ended)
    assert spacing.clear(turn, NEXT, NOON + later) is clear


def test_run_dir_without_a_stamp_counts_by_the_time_of_its_launch(tmp_path):
    turn = launched(tmp_path, at=NOON + 0.2, said="RUN_DIR=/x/out\n")
    assert not spacing.clear(turn, NEXT, NOON + 0.9)
    assert spacing.clear(turn, NEXT, NOON + 1.1)


@pytest.mark.parametrize("text", ["", "{", "[]", '{"attempt": 7}', '{"attempt": "/x", "at": "noon"}', "\0" * 64])
def test_note_that_says_nothing_holds_nobody(tmp_path, text):
    with spacing.turn(tmp_path) as turn:
        turn.write_text(text)
        assert spacing.clear(turn, NEXT, NOON)


def test_attempt_that_was_noted_and_then_found_no_room_does_not_wait_for_itself(tmp_path):
    turn = launched(tmp_path, at=NOON)
    assert spacing.clear(turn, AttemptDir(tmp_path / "attempt-1"), NOON + 0.1)


def test_first_launch_of_a_project(tmp_path):
    with spacing.turn(tmp_path) as turn:
        assert spacing.clear(turn, NEXT, NOON)


def test_processes_that_launch_at_once_never_share_a_second(tmp_path):
    program = """
import sys, time
from pathlib import Path
from sweeptool.layout import AttemptDir
from sweeptool.ledger import spacing
project, name = Path(sys.argv[1]), sys.argv[2]
attempt = AttemptDir(project / name)
attempt.path.mkdir()
while True:
    with spacing.turn(project) as turn:
        if spacing.clear(turn, attempt, time.time()):
            spacing.record(turn, attempt, time.time())
            break
    time.sleep(0.01)
time.sleep(0.05)  # a runner takes a while to choose its run dir
stamp = time.strftime("%Y%m%dT%H%M%SZ", time.gmtime())
attempt.stdout.write_text(f"RUN_DIR=/x/{stamp}\\n")
print(stamp)
"""
    several = [
        subprocess.Popen([sys.executable, "-c", program, tmp_path, f"a{n}"], stdout=subprocess.PIPE, text=True)
        for n in range(4)
    ]
    stamps = [process.communicate(timeout=60)[0].strip() for process in several]
    assert len(set(stamps)) == len(stamps) == 4


def test_turn_is_one_process_at_a_time(tmp_path):
    program = "import sys, time\nfrom pathlib import Path\nfrom sweeptool.ledger import spacing\n"
    program += "with spacing.turn(Path(sys.argv[1])):\n    print('in', flush=True)\n    time.sleep(0.5)\n"
    other = subprocess.Popen([sys.executable, "-c", program, tmp_path], stdout=subprocess.PIPE, text=True)
    assert other.stdout is not None
    other.stdout.readline()
    began = time.monotonic()
    with spacing.turn(tmp_path):
        assert time.monotonic() - began > 0.3
    other.communicate()


def test_note_names_the_attempt_wherever_it_is_read_from(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    turn = launched(Path(), at=NOON)
    assert Path(json.loads(turn.read_text())["attempt"]) == tmp_path / "attempt-1"
