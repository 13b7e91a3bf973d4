"""status --watch and logs -f: what is followed while a sweep runs, on a terminal and in a pipe, until it ends."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from sweeptool import frozen
from tests.conftest import Project, require_program
from tests.sweepmaker import sweep

# Each cell says what it is, waits for its file, and says goodbye.
SLOW = """
    name: slow
    command: 'echo "begin $PARAM_a"; echo "warn $PARAM_a" >&2; until test -e "go-$PARAM_a"; do sleep 0.05; done; echo "end $PARAM_a"'
    max_parallel: 1
    matrix: {params: {a: [1, 2]}}
    """


@pytest.fixture
def slow(project) -> Iterator[Project]:
    """A project whose sweep runs in the background until its files are there."""
    here = project({"sweep.yaml": SLOW})
    driver = subprocess.Popen(
        ["sweeptool", "run", "sweep.yaml"], cwd=here.path, stderr=subprocess.DEVNULL, process_group=0
    )
    try:
        until(lambda: "begin 1" in here.tool("logs", "slow", "0").stdout)
        yield here
    finally:
        for name in ("go-1", "go-2"):
            (here.path / name).touch()
        assert driver.wait(30) in (0, -signal.SIGKILL)


def until(holds, seconds: float = 20) -> None:
    """Wait until something holds."""
    deadline = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < deadline
        time.sleep(0.05)


def start(here: Project, *argv: str, **options: object) -> subprocess.Popen[str]:
    return subprocess.Popen(argv, cwd=here.path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, **options)


def kill(here: Project) -> None:
    """Kill the driver and its shard at once."""
    where = here.path / "artifacts/sweeps/slow"
    claim = next(where.glob("cells/*/attempt-1/start")).read_text()
    os.kill(json.loads((where / "driver.lock").read_text())["pid"], signal.SIGKILL)
    os.killpg(int(claim.split()[0]), signal.SIGKILL)


def finish(here: Project, watching: subprocess.Popen[str]) -> tuple[str, str]:
    """Let both cells end, one after the other; return what was printed."""
    for name in ("go-1", "go-2"):
        time.sleep(0.7)
        (here.path / name).touch()
    return watching.communicate(timeout=30)


def test_watch_in_a_pipe_prints_the_head_once_and_a_line_a_change(slow):
    watching = start(slow, "sweeptool", "status", "slow", "--watch")
    assert watching.stdout.readline().split() == ["NAME", "PHASE", "CELLS", "COST", "BEST-COST", "AGE"]
    assert watching.stdout.readline().split()[:3] == ["slow", "Running", "0/2"]
    out, err = finish(slow, watching)
    assert [line.split()[1:3] for line in out.splitlines()] == [["Running", "1/2"], ["Succeeded", "2/2"]]
    assert (watching.returncode, err) == (0, "")


def test_watch_on_a_terminal_redraws_and_leaves_the_last_state(slow):
    require_program("script")
    watching = start(slow, "script", "-qec", "stty cols 100 rows 30; sweeptool status slow --watch", "/dev/null")
    out, _ = finish(slow, watching)
    assert watching.returncode == 0
    assert "Running" in out
    assert "\x1b[" in out  # it moved the cursor
    last = out[out.rindex("NAME ") :]
    assert last.splitlines()[1].split()[:3] == ["slow", "Succeeded", "2/2"]
    assert out.rstrip().endswith("\x1b[?25h")  # the cursor is visible again


def test_watch_on_a_small_terminal_still_ends(slow):
    require_program("script")
    watching = start(slow, "script", "-qec", "stty cols 20 rows 3; sweeptool status slow --watch", "/dev/null")
    finish(slow, watching)
    assert watching.returncode == 0


def test_watch_of_a_finished_sweep_prints_it_and_ends(project, tmp_path):
    here = project()
    sweep(tmp_path, "name: done\ncommand: 'true'\n", [{"cell": 0, "state": "succeeded"}])
    done = here.tool("status", "--watch")
    assert [line.split()[0] for line in done.stdout.splitlines()] == ["NAME", "done"]


def test_watch_is_left_by_ctrl_c_and_the_sweep_goes_on(slow):
    watching = start(slow, "sweeptool", "status", "--watch", process_group=0)
    watching.stdout.readline()
    watching.send_signal(signal.SIGINT)
    _, err = watching.communicate(timeout=10)
    assert (watching.returncode, err) == (130, "")
    assert "Running" in slow.tool("status").stdout


def test_watch_whose_reader_has_gone_ends(slow):
    watching = start(slow, "bash", "-c", "set -o pipefail; sweeptool status --watch | head -n 1")
    out, err = finish(slow, watching)
    assert (watching.returncode, err) == (0, "")
    assert len(out.splitlines()) == 1


def test_watch_sees_a_killed_driver(slow):
    watching = start(slow, "sweeptool", "status", "--watch")
    watching.stdout.readline()
    kill(slow)
    out, _ = watching.communicate(timeout=20)
    assert watching.returncode == 0
    assert "Suspended (Interrupted)" in out.splitlines()[-1]


# ---- logs


def test_logs_follow_ends_when_the_attempt_ends(slow):
    following = start(slow, "sweeptool", "logs", "slow", "0", "-f")
    lines = [following.stdout.readline() for _ in range(2)]
    assert lines[1] == "begin 1\n"
    assert following.poll() is None
    (slow.path / "go-1").touch()
    out, err = following.communicate(timeout=20)
    assert (following.returncode, out, err) == (0, "end 1\n", "warn 1\n")


def test_logs_follow_ends_when_driver_and_shard_are_killed(slow):
    following = start(slow, "sweeptool", "logs", "slow", "0", "-f")
    following.stdout.readline()
    kill(slow)
    following.communicate(timeout=20)
    assert following.returncode == 0


def test_logs_follow_waits_for_a_cell_that_is_not_launched_yet(slow):
    following = start(slow, "sweeptool", "logs", "slow", "1", "-f")
    time.sleep(0.5)
    assert following.poll() is None
    out, err = finish(slow, following)
    assert (following.returncode, out.splitlines()[-2:], err) == (0, ["begin 2", "end 2"], "warn 2\n")


def test_logs_follow_does_not_wait_where_no_driver_runs(slow):
    kill(slow)
    done = slow.tool("logs", "slow", "1", "-f")
    assert (done.returncode, done.stderr) == (2, "error: cell 1 of slow was not launched yet\n")


def test_logs_without_follow_print_what_there_is(slow):
    done = slow.tool("logs", "slow", "0")
    assert (done.returncode, done.stdout.splitlines()[-1], done.stderr) == (0, "begin 1", "warn 1\n")


def test_logs_of_a_cell_that_was_not_launched_yet(slow):
    done = slow.tool("logs", "slow", "1")
    assert (done.returncode, done.stdout, done.stderr) == (2, "", "error: cell 1 of slow was not launched yet\n")


TWICE = "name: twice\ncommand: 'true'\nmatrix: {params: {a: [x, y]}}\n"


@pytest.fixture
def twice(project, tmp_path) -> tuple[Project, Path]:
    """A sweep whose cell 0 was tried twice; each attempt's output says which it is."""
    where = sweep(tmp_path, TWICE, [{"cell": 0, "state": "failed"}, {"cell": 0, "state": "succeeded"}])
    cell = where.cells / frozen.read(where.plan).jobs[0].id
    for number in (1, 2):
        (cell / f"attempt-{number}").mkdir(parents=True)
        (cell / f"attempt-{number}" / "stdout.log").write_bytes(b"try %d \xff\x00\n" % number)
        (cell / f"attempt-{number}" / "stderr.log").write_text(f"err {number}\n")
    return project(), cell


@pytest.mark.parametrize("by", ["index", "name", "id"])
def test_logs_know_a_cell_by_index_name_and_id_and_print_its_newest_attempt(twice, by):
    here, cell = twice
    known = {"index": "0", "name": "twice-0", "id": cell.name}[by]
    done = subprocess.run(["sweeptool", "logs", "twice", known], cwd=here.path, capture_output=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (0, b"try 2 \xff\x00\n", b"err 2\n")


def test_logs_of_an_earlier_attempt(twice):
    here, _ = twice
    done = subprocess.run(
        ["sweeptool", "logs", "twice", "0", "--attempt", "1"], cwd=here.path, capture_output=True, check=True
    )
    assert done.stdout == b"try 1 \xff\x00\n"


def test_logs_of_a_cell_of_an_earlier_plan_by_its_id(twice):
    here, cell = twice
    here.write({"sweep.yaml": TWICE.replace("[x, y]", "[z]")})
    assert here.tool("run", "sweep.yaml").returncode == 0
    done = subprocess.run(["sweeptool", "logs", "twice", cell.name], cwd=here.path, capture_output=True, check=True)
    assert done.stdout == b"try 2 \xff\x00\n"


@pytest.mark.parametrize(
    ("words", "error"),
    [
        pytest.param(["twice", "2"], "no cell '2' in twice (an index from 0 to 1, a name or an id)", id="index"),
        pytest.param(["twice", "zz"], "no cell 'zz' in twice (an index from 0 to 1, a name or an id)", id="name"),
        pytest.param(["twice", ""], "no cell '' in twice (an index from 0 to 1, a name or an id)", id="empty"),
        pytest.param(["twice", "1"], "cell 1 of twice was not launched yet", id="unlaunched"),
        pytest.param(["twice", "0", "--attempt", "3"], "cell 0 has no attempt 3 (it has 1, 2)", id="attempt"),
        pytest.param(["twice", "0", "--attempt", "0"], "cell 0 has no attempt 0 (it has 1, 2)", id="attempt-0"),
        pytest.param(
            ["twcie", "0"], "no sweep 'twcie': there is twice in artifacts/sweeps (did you mean 'twice'?)", id="sweep"
        ),
    ],
)
def test_logs_of_what_is_not_there(twice, words, error):
    here, _ = twice
    done = here.tool("logs", *words)
    assert (done.returncode, done.stdout, done.stderr) == (2, "", f"error: {error}\n")


def test_logs_whose_reader_has_gone_are_no_error(twice):
    here, cell = twice
    (cell / "attempt-2/stdout.log").write_text("line\n" * 200_000)
    done = here.run("bash", "-c", "set -o pipefail; sweeptool logs twice 0 2>&1 | head -n 1")
    assert (done.returncode, done.stdout) == (0, "line\n")
