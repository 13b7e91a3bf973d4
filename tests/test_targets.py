"""make and GNU parallel as schedulers: each cell once, the bound, the budget, what is left, Ctrl-C, odd paths."""

from __future__ import annotations

import itertools
import json
import os
import pty
import re
import select
import signal
import subprocess
import textwrap
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.conftest import Project, require_program

# Each attempt writes down itself when it starts and ends, what signals came, and how many ran with it.
RUNNER = """
    run=$PWD/out/$1-$$
    mkdir -p "$run" running
    echo "RUN_DIR=$run"
    echo "$1" >>ran.txt
    trap 'echo "$1 TERM" >>signals.txt' TERM
    trap 'echo "$1 INT" >>signals.txt; sleep 1; echo "$1 clean" >>signals.txt; rm "running/$1"; exit 130' INT
    touch "running/$1"
    ls running | wc -l >>together.txt
    while [[ -e "slow-$1" ]]; do sleep 0.1; done
    sleep 0.2
    rm "running/$1"
    [[ ! -e "fails-$1" ]] || exit 3
    echo '{"failed": false, "estimated_cost_usd": 0.30, "wall_time_sec": 1}' >"$run/m.json"
    """
SPEC = textwrap.dedent("""
    name: cells
    runner: {kind: command, argv: [bash, runner.sh, "{a}"], manifest: m.json}
    cost_cap_usd: 0.30
    max_parallel: 2
    matrix: {params: {a: [x, y.z, v-w, "u t", --s]}}
    """)
VALUES = ["--s", "u t", "v-w", "x", "y.z"]
TARGETS = {
    "make": ["make", "-k", "-j", "4", "-f", "sweep.mk"],
    "parallel": ["bash", "sweep.parallel.sh", "--jobs", "4"],
}
FAILED = {"make": 2, "parallel": 1}


@pytest.fixture(params=TARGETS)
def target(request) -> str:
    require_program(request.param)
    return request.param


def rendered(here: Project, text: str = SPEC) -> Project:
    here.write({"runner.sh": RUNNER, "sweep.yaml": text})
    for name, file in (("bash", "driver.sh"), ("make", "sweep.mk"), ("parallel", "sweep.parallel.sh")):
        done = here.tool("render", "sweep.yaml", "--target", name, "-o", file)
        assert (done.returncode, done.stderr) == (0, "")
    return here


def lines(here: Project, name: str) -> list[str]:
    file = here.path / name
    return file.read_text().splitlines() if file.exists() else []


def ran(here: Project) -> list[str]:
    return sorted(lines(here, "ran.txt"))


def state(here: Project) -> tuple[str, str | None]:
    found = json.loads(here.tool("status", "cells", "--json").stdout)
    return found["phase"], found["reason"]


def until(holds: Callable[[], object], seconds: float = 30) -> None:
    deadline = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < deadline
        time.sleep(0.05)


def test_every_cell_runs_once_under_the_sweeps_own_bound(project, target):
    here = rendered(project())
    done = here.run(*TARGETS[target])
    assert done.returncode == 0, done.stderr
    assert ran(here) == VALUES
    assert max(map(int, lines(here, "together.txt"))) <= 2
    assert state(here) == ("Succeeded", None)
    assert done.stdout.splitlines()[1].split()[:3] == ["cells", "Succeeded", "5/5"]


def test_again_launches_nothing(project, target):
    here = rendered(project())
    assert here.run(*TARGETS[target]).returncode == 0
    assert here.run(*TARGETS[target]).returncode == 0
    assert ran(here) == VALUES


def test_failed_cell_stops_no_other_and_is_tried_again(project, target):
    here = rendered(project())
    (here.path / "fails-y.z").touch()
    assert here.run(*TARGETS[target]).returncode == FAILED[target]
    assert ran(here) == VALUES
    assert state(here) == ("Failed", "CellsFailed")
    (here.path / "fails-y.z").unlink()
    assert here.run(*TARGETS[target]).returncode == 0
    assert ran(here) == sorted([*VALUES, "y.z"])


def test_budget_stops_in_the_middle_and_a_raised_cap_goes_on(project, target):
    here = rendered(project(), SPEC + "max_cost_usd: 0.75\n")
    done = here.run(*TARGETS[target])
    assert done.returncode == {"make": 2, "parallel": 3}[target]
    assert len(ran(here)) == 2
    assert "budget (raise the cap: --max-cost-usd)" in done.stderr
    assert state(here) == ("Suspended", "MaxCostReached")
    rendered(here, SPEC + "max_cost_usd: 1.5\n")
    assert here.run(*TARGETS[target]).returncode == 0
    assert ran(here) == VALUES


def test_one_cell_by_hand_exits_with_the_drivers_own_code(project):
    here = rendered(project(), SPEC + "max_cost_usd: 0.75\n")
    (here.path / "fails-x").touch()
    codes = [here.run("bash", "driver.sh", "shard", str(index)).returncode for index in (0, 1, 2, 1)]
    assert codes == [1, 0, 3, 0]
    assert here.run("bash", "driver.sh", "shard", "2", "--max-cost-usd", "0.90").returncode == 0
    assert here.run("bash", "driver.sh", "end").returncode == 1


def test_checks_run_before_the_first_cell_and_what_follows_after_the_last(project, target):
    here = rendered(
        project(),
        SPEC + 'before: ["echo before >>ran.txt", "test ! -e refuse"]\nafter: ["echo ~after >>ran.txt"]\n',
    )
    (here.path / "refuse").touch()
    assert here.run(*TARGETS[target]).returncode == 2
    assert ran(here) == ["before"]
    (here.path / "refuse").unlink()
    assert here.run(*TARGETS[target]).returncode == 0
    assert lines(here, "ran.txt")[1] == "before"
    assert lines(here, "ran.txt")[-1] == "~after"
    assert ran(here) == sorted([*VALUES, "before", "before", "~after"])


def test_failure_streak_holds_across_cells_and_another_call_starts_afresh(project, target):
    here = rendered(project(), SPEC + "failure_streak: 2\n")
    for value in VALUES:
        (here.path / f"fails-{value}").touch()
    done = here.run(*TARGETS[target][:-1], "1") if target == "parallel" else here.run("make", "-k", "-f", "sweep.mk")
    assert done.returncode == {"make": 2, "parallel": 6}[target]
    assert len(ran(here)) == 2
    assert state(here) == ("Suspended", "FailureStreak")
    for value in VALUES:
        (here.path / f"fails-{value}").unlink()
    assert here.run(*TARGETS[target]).returncode == 0
    assert state(here) == ("Succeeded", None)


def test_suspended_sweep_launches_nothing_until_it_is_resumed(project, target):
    here = rendered(project())
    assert here.run("bash", "driver.sh", "begin").returncode == 0
    here.tool("suspend", "cells")
    done = here.run(*TARGETS[target])
    assert done.returncode == {"make": 2, "parallel": 4}[target]
    assert "'sweeptool resume cells' takes it back" in done.stderr
    assert ran(here) == []
    assert here.tool("resume", "cells", "--no-run").returncode == 0
    assert ran(here) == []
    assert here.run(*TARGETS[target]).returncode == 0


def test_driver_and_cells_keep_out_of_each_others_way(project, target):
    here = rendered(project())
    (here.path / "slow-x").touch()
    running = subprocess.Popen(TARGETS[target], cwd=here.path, stderr=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
    until(lambda: "x" in ran(here))
    done = here.run("bash", "driver.sh")
    assert done.returncode == 5
    assert "'driver.sh shard' processes" in done.stderr
    (here.path / "slow-x").unlink()
    until(lambda: len(ran(here)) == 5)
    assert running.wait(30) == 0
    assert ran(here) == VALUES


# ---- one cell, called several times at once


def test_one_cell_called_by_five_at_once_runs_once(project):
    here = rendered(project())
    calls = [
        subprocess.Popen(["bash", "driver.sh", "shard", "0"], cwd=here.path, stderr=subprocess.DEVNULL)
        for _ in range(5)
    ]
    assert [call.wait(30) for call in calls] == [0] * 5
    assert ran(here) == ["x"]


def test_cell_that_waited_for_room_and_was_run_by_another_meanwhile_is_not_run_again(project):
    here = rendered(project(), SPEC.replace("max_parallel: 2", "max_parallel: 1"))
    (here.path / "slow-x").touch()
    first = subprocess.Popen(["bash", "driver.sh", "shard", "0"], cwd=here.path, stderr=subprocess.DEVNULL)
    until(lambda: ran(here) == ["x"])
    waiting = [
        subprocess.Popen(["bash", "driver.sh", "shard", "1"], cwd=here.path, stderr=subprocess.DEVNULL)
        for _ in range(3)
    ]
    time.sleep(1)
    claim = next(here.path.glob("artifacts/sweeps/cells/cells/x-*/attempt-1/start")).read_text()
    os.killpg(int(claim.split()[0]), signal.SIGINT)
    assert first.wait(30) == 1
    assert [call.wait(30) for call in waiting] == [0] * 3
    assert ran(here) == ["x", "y.z"]


def test_interrupting_a_call_that_only_waits_leaves_the_cell_to_the_one_that_runs_it(project):
    here = rendered(project())
    (here.path / "slow-x").touch()
    first = subprocess.Popen(["bash", "driver.sh", "shard", "0"], cwd=here.path, stderr=subprocess.DEVNULL)
    until(lambda: ran(here) == ["x"])
    second = subprocess.Popen(["bash", "driver.sh", "shard", "0"], cwd=here.path, stderr=subprocess.PIPE, text=True)
    assert "adopt" in second.stderr.readline()
    second.send_signal(signal.SIGINT)
    second.communicate(timeout=20)
    assert second.returncode == 130
    assert lines(here, "signals.txt") == []
    first.send_signal(signal.SIGINT)
    assert first.wait(20) == 130
    assert lines(here, "signals.txt") == ["x INT", "x clean"]


def test_launch_delay_holds_between_cells_of_different_calls(project):
    here = rendered(project(), SPEC + "launch_delay: 2s\n")
    calls = [
        subprocess.Popen(["bash", "driver.sh", "shard", str(index)], cwd=here.path, stderr=subprocess.DEVNULL)
        for index in range(3)
    ]
    assert [call.wait(30) for call in calls] == [0] * 3
    events = [json.loads(line) for line in (here.path / "artifacts/sweeps/cells/ledger.jsonl").read_text().splitlines()]
    begun = sorted(
        time.mktime(time.strptime(event["ts_utc"][:19], "%Y-%m-%dT%H:%M:%S"))
        for event in events
        if event["event"] == "admitted"
    )
    assert [later - earlier >= 1.9 for earlier, later in itertools.pairwise(begun)] == [True, True]


# ---- Ctrl-C


def on_a_terminal(here: Project, argv: list[str], when: Callable[[], object], keys: bytes) -> tuple[int, str]:
    """Run a program on a terminal of its own, type ``keys`` when it is time; return its exit code and output."""
    pid, terminal = pty.fork()
    if pid == 0:
        os.chdir(here.path)
        os.execvp(argv[0], argv)
    shown, typed = b"", False
    deadline = time.monotonic() + 40
    while time.monotonic() < deadline:
        if not typed and when():
            typed = bool(os.write(terminal, keys))
        if select.select([terminal], [], [], 0.1)[0]:
            try:
                shown += os.read(terminal, 65536)
            except OSError:
                break
    _, status = os.waitpid(pid, 0)
    os.close(terminal)
    return os.waitstatus_to_exitcode(status), shown.decode()


def test_ctrl_c_lets_every_runner_clean_up_before_the_prompt_is_back(project, target):
    here = rendered(project())
    for value in VALUES:
        (here.path / f"slow-{value}").touch()
    code, _ = on_a_terminal(here, TARGETS[target], lambda: len(ran(here)) == 2, b"\x03")
    assert code == {"make": -signal.SIGINT, "parallel": 130}[target]
    begun = ran(here)
    assert sorted(lines(here, "signals.txt")) == sorted(
        f"{value} {word}" for value in begun for word in ("INT", "clean")
    )
    assert len(begun) == 2
    assert state(here) == ("Suspended", "Interrupted")
    for value in VALUES:
        (here.path / f"slow-{value}").unlink()
    assert here.run(*TARGETS[target]).returncode == 0
    assert sorted(set(ran(here))) == VALUES


def test_parallel_that_a_script_started_with_ampersand_hears_sigint(project):
    require_program("parallel")
    here = rendered(project())
    for value in VALUES:
        (here.path / f"slow-{value}").touch()
    script = "bash sweep.parallel.sh & echo $! >pid.new; mv pid.new pid; wait $!"
    running = subprocess.Popen(["bash", "-c", script], cwd=here.path, stderr=subprocess.DEVNULL)
    until(lambda: len(ran(here)) == 2)
    os.kill(int((here.path / "pid").read_text()), signal.SIGINT)
    assert running.wait(30) == 130
    assert (len(ran(here)), state(here)) == (2, ("Suspended", "Interrupted"))


def test_term_lets_every_runner_clean_up(project, target):
    here = rendered(project())
    for value in VALUES:
        (here.path / f"slow-{value}").touch()
    running = subprocess.Popen(TARGETS[target], cwd=here.path, stderr=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
    until(lambda: len(ran(here)) == 2)
    running.terminate()
    assert running.wait(30) == {"make": -signal.SIGTERM, "parallel": 143}[target]
    begun = ran(here)
    until(lambda: len(lines(here, "signals.txt")) == 4)
    assert sorted(lines(here, "signals.txt")) == sorted(
        f"{value} {word}" for value in begun for word in ("INT", "clean")
    )


# ---- where it is called, and what is called how


def test_make_from_another_directory(project):
    here = rendered(project())
    elsewhere = here.path / "elsewhere"
    elsewhere.mkdir()
    done = subprocess.run(
        ["make", "-C", str(here.path), "-f", "sweep.mk", "-j", "2"],
        cwd=elsewhere,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert ran(here) == VALUES


def test_make_with_the_makefile_of_another_directory_names_driver_and_project(project):
    here = rendered(project())
    elsewhere = here.path / "else where"
    elsewhere.mkdir()
    env = {**os.environ, "SWEEP_PROJECT_DIR": ".."}
    done = subprocess.run(
        ["make", "-f", "../sweep.mk", "DRIVER=../driver.sh"],
        cwd=elsewhere,
        env=env,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert ran(here) == VALUES
    assert not (elsewhere / "artifacts").exists()


@pytest.mark.parametrize("name", ["my driver.sh", "it's.sh", 'a"b.sh', "-d.sh", "a;b&c.sh"])
def test_driver_of_any_name(project, target, name):
    here = rendered(project())
    path = f"sub dir/{name}"
    (here.path / "sub dir").mkdir()
    (here.path / "driver.sh").rename(here.path / path)
    done = here.run(*TARGETS[target], env={"DRIVER": path})
    assert done.returncode == 0, done.stderr
    assert ran(here) == VALUES


def test_project_directory_of_any_name(tmp_path, target):
    where = tmp_path / "my project's `dir`; x"
    where.mkdir()
    here = rendered(Project(where))
    done = here.run(*TARGETS[target], env={"SWEEPTOOL_SWEEPS_DIR": "my 'sweeps'"})
    assert done.returncode == 0, done.stderr
    assert ran(here) == VALUES
    assert (where / "my 'sweeps'/cells/ledger.jsonl").exists()


def test_a_cells_environment_holds_nothing_of_the_schedulers_own_scripts(project, target):
    here = rendered(project(), "name: cells\ncommand: 'env >env.txt'\n")
    assert here.run(*TARGETS[target]).returncode == 0
    names = {line.partition("=")[0] for line in lines(here, "env.txt")}
    assert not names & {"DRIVER", "JOBS", "STOPPED", "ONLY", "PART", "CODE", "SIZE", "CHUNK", "OFFSET"}


def test_a_driver_of_other_cells_is_not_called(project, target):
    here = rendered(project())
    here.write({"grown.yaml": SPEC.replace("[x, y.z", "[new, x, y.z")})
    here.write({"driver.sh": here.tool("render", "grown.yaml").stdout})
    done = here.run(*TARGETS[target])
    assert done.returncode == 2
    assert "error: driver.sh holds other cells than the file that calls it: render both again" in done.stderr
    assert ran(here) == []


def test_missing_driver_is_one_line(project, target):
    here = rendered(project())
    (here.path / "driver.sh").unlink()
    done = here.run(*TARGETS[target])
    assert done.returncode != 0
    assert "driver.sh: No such file or directory" in done.stderr
    assert ran(here) == []


def test_make_knows_each_cell_by_its_id(project):
    here = rendered(project())
    listed = here.run("make", "-f", "sweep.mk", "list").stdout
    ids = [line.split("\t")[1] for line in listed.splitlines()]
    assert len(set(ids)) == 5
    assert all(re.fullmatch(r"[A-Za-z0-9._-]+", one) for one in ids)
    for one, value in zip(ids, ["x", "y.z", "v-w", "u t", "--s"], strict=True):
        assert here.run("make", "-f", "sweep.mk", one).returncode == 0
        assert lines(here, "ran.txt")[-1] == value
    assert ran(here) == VALUES
    assert "Succeeded" in here.run("make", "-f", "sweep.mk", "status").stdout


def test_file_named_like_a_cell_keeps_it_from_nothing(project):
    here = rendered(project())
    for line in here.run("bash", "driver.sh", "list").stdout.splitlines():
        (here.path / line.split("\t")[1]).touch()
    for name in ("all", "begin", "list", "status"):
        (here.path / name).touch()
    assert here.run("make", "-f", "sweep.mk").returncode == 0
    assert ran(here) == VALUES


def test_thousand_cells_are_a_makefile_that_make_reads(tmp_path, project):
    here = rendered(project(), f"name: cells\ncommand: 'true'\nmatrix: {{params: {{a: {list(range(3000))}}}}}\n")
    done = here.run("make", "-n", "-f", "sweep.mk")
    assert done.returncode == 0
    assert len(re.findall(r"shard \d+$", done.stdout, re.MULTILINE)) == 3000


def test_options_of_parallel_may_follow(project):
    require_program("parallel")
    here = rendered(project())
    assert here.run("bash", "sweep.parallel.sh", "--joblog", "jobs.txt").returncode == 0
    assert len(lines(here, "jobs.txt")) == 6


def test_files_are_clean_for_shellcheck(project):
    require_program("shellcheck", "shfmt")
    here = rendered(project(), SPEC + "before: ['echo $HOME']\n")
    done = here.run("shellcheck", "driver.sh", "sweep.parallel.sh")
    assert (done.returncode, done.stdout) == (0, "")
    assert Path(here.path / "sweep.mk").read_text().isascii()
