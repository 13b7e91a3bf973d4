"""run, suspend, resume and cancel: from another terminal, on a driver that runs and on one that does not, anywhere."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from sweeptool import launch
from sweeptool.layout import SweepDir
from tests.conftest import Project
from tests.sweepmaker import sweep

# Each cell waits for its file; a runner that is interrupted says so and cleans up.
SLOW = {
    "sweep.yaml": """
        name: slow
        runner: {kind: command, argv: [bash, runner.sh, "{a}"], manifest: m.json}
        cost_cap_usd: 0.10
        max_parallel: 2
        matrix: {params: {a: [1, 2, 3, 4]}}
        """,
    "runner.sh": """
        dir=$PWD/out/$1-$$
        mkdir -p "$dir"
        echo "RUN_DIR=$dir"
        echo "$1" >>ran.txt
        trap 'echo "$1 INT" >>signals.txt; sleep 0.5; echo "$1 clean" >>signals.txt; exit 130' INT
        until [[ -e go ]]; do sleep 0.05; done
        echo '{"failed": false, "estimated_cost_usd": 0.10, "wall_time_sec": 1}' >"$dir/m.json"
        """,
}
FAST = """
    name: fast
    command: 'pwd >>ran.txt'
    matrix: {params: {a: [1, 2]}}
    """


def lines(here: Project, name: str) -> list[str]:
    file = here.path / name
    return sorted(file.read_text().splitlines()) if file.exists() else []


def until(holds: Callable[[], object], seconds: float = 20) -> None:
    deadline = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < deadline
        time.sleep(0.05)


def state(here: Project, name: str = "slow") -> tuple[str, str | None, list[str]]:
    found = json.loads(here.tool("status", name, "--json").stdout)
    return found["phase"], found["reason"], [cell["phase"] for cell in found["cells"]]


@pytest.fixture
def running(project) -> Iterator[tuple[Project, subprocess.Popen[str]]]:
    """A project whose driver has two cells in flight, and the driver."""
    here = project(SLOW)
    driver = subprocess.Popen(
        ["sweeptool", "run", "sweep.yaml"], cwd=here.path, stderr=subprocess.PIPE, text=True, process_group=0
    )
    try:
        until(lambda: lines(here, "ran.txt") == ["1", "2"])
        yield here, driver
    finally:
        (here.path / "go").touch()
        driver.communicate(timeout=30)


# ---- on a driver that runs


def test_suspend_lets_what_runs_end_and_launches_nothing_more(running):
    here, driver = running
    done = here.tool("suspend", "slow")
    assert (done.returncode, done.stdout) == (0, "")
    assert done.stderr.startswith(f"suspended; driver {driver.pid} on ")
    assert state(here)[0] == "Running"
    (here.path / "go").touch()
    assert driver.wait(20) == 4
    assert (lines(here, "ran.txt"), lines(here, "signals.txt")) == (["1", "2"], [])
    assert state(here) == ("Suspended", "Requested", ["Succeeded", "Succeeded", "Pending", "Pending"])


def test_cancel_interrupts_what_runs_within_a_second(running):
    here, driver = running
    began = time.monotonic()
    done = here.tool("cancel", "slow")
    assert done.returncode == 0
    assert done.stderr.startswith(f"cancelled; driver {driver.pid} on ")
    asked = time.monotonic()
    until(lambda: len(lines(here, "signals.txt")) >= 2)
    assert time.monotonic() - asked < 3, asked - began
    assert driver.wait(20) == 4
    assert lines(here, "signals.txt") == ["1 INT", "1 clean", "2 INT", "2 clean"]
    assert state(here) == ("Cancelled", "Requested", ["Cancelled"] * 4)


def test_resume_takes_a_suspension_back_while_the_driver_still_runs(running):
    here, driver = running
    here.tool("suspend", "slow")
    done = here.tool("resume", "slow")
    assert (done.returncode, done.stderr) == (0, "resumed; the driver that runs goes on\n")
    (here.path / "go").touch()
    assert driver.wait(20) == 0
    assert lines(here, "ran.txt") == ["1", "2", "3", "4"]


def test_running_sweep_is_held_and_says_by_whom(running):
    here, driver = running
    before = (here.path / "artifacts/sweeps/slow/driver.sh").read_text()
    for words in (["run", "sweep.yaml"], ["run", "sweep.yaml", "--max-cost-usd", "9"]):
        done = here.tool(*words)
        assert done.returncode == 5
        assert f"driver {driver.pid} on " in done.stderr
        assert len(done.stderr.splitlines()) == 1
    assert (here.path / "artifacts/sweeps/slow/driver.sh").read_text() == before


# ---- on a driver that does not


def test_suspend_before_the_next_run_keeps_it_from_launching(project):
    here = project(SLOW)
    (here.path / "go").touch()
    assert here.tool("run", "sweep.yaml", "--max-cost-usd", "0.15").returncode == 3
    done = here.tool("suspend", "slow")
    assert done.stderr == "suspended; no driver runs, the next one will launch nothing until 'sweeptool resume'\n"
    assert here.tool("run", "sweep.yaml", "--max-cost-usd", "1").returncode == 4
    assert lines(here, "ran.txt") == ["1"]
    assert here.tool("resume", "slow").returncode == 0
    assert lines(here, "ran.txt") == ["1", "2", "3", "4"]


def test_cancel_after_a_killed_driver_interrupts_the_cells_that_it_left(running):
    here, driver = running
    driver.kill()
    driver.wait()
    done = here.tool("cancel", "slow")
    assert (done.returncode, done.stderr.splitlines()[-1]) == (0, "cancelled")
    assert lines(here, "signals.txt") == ["1 INT", "1 clean", "2 INT", "2 clean"]
    assert state(here)[0] == "Cancelled"


def test_cancel_says_so_where_nothing_runs(project):
    here = project(SLOW)
    (here.path / "go").touch()
    assert here.tool("run", "sweep.yaml").returncode == 0
    done = here.tool("cancel", "slow")
    assert (done.returncode, done.stderr) == (0, "cancelled; nothing was running\n")
    assert state(here) == ("Succeeded", None, ["Succeeded"] * 4)


def test_cancelled_sweep_goes_on_after_resume(project):
    here = project(SLOW)
    driver = subprocess.Popen(["sweeptool", "run", "sweep.yaml"], cwd=here.path, stderr=subprocess.DEVNULL)
    until(lambda: lines(here, "ran.txt") == ["1", "2"])
    here.tool("cancel")
    assert driver.wait(20) == 4
    (here.path / "go").touch()
    assert here.tool("resume").returncode == 0
    assert state(here) == ("Succeeded", None, ["Succeeded"] * 4)


def test_resume_without_a_run_starts_nothing(project):
    here = project(SLOW)
    (here.path / "go").touch()
    assert here.tool("run", "sweep.yaml", "--max-cost-usd", "0.15").returncode == 3
    here.tool("suspend", "slow")
    done = here.tool("resume", "slow", "--no-run", "--max-cost-usd", "1")
    assert (done.returncode, done.stderr) == (0, "resumed; run it again to go on\n")
    assert lines(here, "ran.txt") == ["1"]
    assert json.loads(here.tool("status", "slow", "--json").stdout)["cost"]["limitUSD"] == "1.00"
    assert state(here)[:2] == ("Suspended", "Interrupted")


@pytest.mark.parametrize("wish", ["suspend", "cancel"])
def test_wish_that_is_made_twice_stands_once_in_the_ledger(project, wish):
    here = project({"sweep.yaml": FAST})
    here.tool("run", "sweep.yaml")
    for _ in range(2):
        assert here.tool(wish, "fast").returncode == 0
    ledger = (here.path / "artifacts/sweeps/fast/ledger.jsonl").read_text()
    assert ledger.count(f'"event": "{wish}') == 1


@pytest.mark.parametrize("wish", ["suspend", "resume", "cancel"])
@pytest.mark.parametrize(
    ("words", "error"),
    [
        pytest.param(["nosuch"], "no sweep 'nosuch'", id="unknown"),
        pytest.param([], "there is no sweep in artifacts/sweeps", id="none"),
        pytest.param(["../.."], "no sweep '../..'", id="elsewhere"),
        pytest.param(["a", "b"], "Got unexpected extra argument (b)", id="two"),
    ],
)
def test_wish_for_no_sweep_is_one_line(project, wish, words, error):
    done = project().tool(wish, *words)
    assert (done.returncode, done.stdout) == (2, "")
    assert error in done.stderr
    assert len(done.stderr.splitlines()) == 1


@pytest.mark.parametrize("cap", ["lots", "nan", "-1", "1e400", ""])
def test_resume_with_what_is_no_amount_changes_nothing(project, cap):
    here = project({"sweep.yaml": FAST})
    here.tool("run", "sweep.yaml")
    here.tool("suspend", "fast")
    done = here.tool("resume", "fast", f"--max-cost-usd={cap}")
    assert done.returncode == 2
    assert "--max-cost-usd: " in done.stderr
    assert len(done.stderr.splitlines()) == 1
    assert json.loads(here.tool("status", "--json").stdout)["cost"]["limitUSD"] is None
    assert '"event": "resumed"' not in (here.path / "artifacts/sweeps/fast/ledger.jsonl").read_text()


def test_sweep_without_a_driver_cannot_be_resumed(project, tmp_path):
    here = project()
    sweep(tmp_path, FAST, [])
    done = here.tool("resume", "fast")
    assert (done.returncode, done.stderr) == (
        2, "error: artifacts/sweeps/fast: this sweep has no driver (use 'sweeptool run SPEC')\n",
    )  # fmt: skip


def test_renamed_sweep_is_not_taken_for_a_new_one(project):
    here = project({"sweep.yaml": FAST})
    here.tool("run", "sweep.yaml")
    sweeps = here.path / "artifacts/sweeps"
    (sweeps / "fast").rename(sweeps / "old")
    done = here.tool("resume", "old")
    assert done.returncode == 2
    assert done.stderr == "error: artifacts/sweeps/old: this is the sweep 'fast' (call its directory 'fast' again)\n"
    assert [path.name for path in sweeps.iterdir()] == ["old"]


# ---- where a sweep is


def test_run_in_another_project_directory_keeps_everything_there(project):
    here = project({"sweep.yaml": FAST})
    (here.path / "my proj").mkdir()
    done = here.tool("run", "sweep.yaml", "--project-dir", "my proj")
    assert done.returncode == 0
    assert not (here.path / "artifacts").exists()
    there = (here.path / "my proj").resolve()
    assert (there / "ran.txt").read_text() == f"{there}\n" * 2
    assert (there / "artifacts/sweeps/fast/ledger.jsonl").exists()


@pytest.mark.parametrize("absolute", [False, True], ids=["relative", "absolute"])
@pytest.mark.parametrize("by", ["option", "environment"])
def test_sweeps_may_be_kept_elsewhere(project, by, absolute):
    here = project({"sweep.yaml": FAST})
    place = str(here.path / "it's my sweeps") if absolute else "it's my sweeps"
    words, env = (["--sweeps-dir", place], {}) if by == "option" else ([], {"SWEEPTOOL_SWEEPS_DIR": place})
    assert here.tool("run", "sweep.yaml", *words, env=env).returncode == 0
    assert (here.path / "it's my sweeps/fast/ledger.jsonl").exists()
    assert not (here.path / "artifacts/sweeps").exists()
    for command in (["status"], ["list"], ["budget"], ["logs", "fast", "0"], ["suspend"], ["resume"], ["best", "fast"]):
        done = here.tool(*command, *words, env=env)
        assert done.returncode == 0, (command, done.stderr)
    assert lines(here, "ran.txt") == [str(here.path.resolve())] * 2


def test_relative_sweeps_directory_is_relative_to_the_project(project):
    here = project({"sweep.yaml": FAST})
    (here.path / "proj").mkdir()
    env = {"SWEEPTOOL_SWEEPS_DIR": "sw"}
    assert here.tool("run", "sweep.yaml", "--project-dir", "proj", env=env).returncode == 0
    assert (here.path / "proj/sw/fast/ledger.jsonl").exists()
    assert here.tool("render", "sweep.yaml", "-o", "driver.sh").returncode == 0
    again = here.run("bash", "driver.sh", "--project-dir", "proj", env=env)
    assert again.returncode == 0
    assert "nothing to launch" in again.stderr


@pytest.mark.parametrize("named", ["{sweep}", "{sweep}/", "../project/artifacts/sweeps/fast"])
def test_sweep_is_resumed_from_anywhere_in_its_own_project(project, tmp_path, named):
    here = project({"sweep.yaml": FAST})
    here.tool("run", "sweep.yaml")
    here.write({"sweep.yaml": FAST.replace("[1, 2]", "[1, 2, 3]")})
    assert here.tool("render", "sweep.yaml", "-o", "artifacts/sweeps/fast/driver.sh").returncode == 0
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    words = ["sweeptool", "resume", named.format(sweep=here.path / "artifacts/sweeps/fast")]
    done = subprocess.run(words, cwd=elsewhere, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert lines(here, "ran.txt") == [str(here.path.resolve())] * 3
    assert list(elsewhere.iterdir()) == []


def test_sweep_directory_may_be_a_link(project, tmp_path):
    here = project({"sweep.yaml": FAST})
    real = tmp_path / "scratch"
    real.mkdir()
    (here.path / "artifacts").mkdir()
    (here.path / "artifacts/sweeps").symlink_to(real)
    assert here.tool("run", "sweep.yaml").returncode == 0
    assert here.tool("resume", "fast").returncode == 0
    assert [path.name for path in real.iterdir()] == ["fast"]


@pytest.mark.parametrize(
    ("sweeps", "project_dir"),
    [
        ("/home/ada/p/artifacts/sweeps", "/home/ada/p"),
        ("/artifacts/sweeps", "/"),
        ("/scratch/sweeps", "."),
        ("/home/ada/xartifacts/sweeps", "."),
    ],
)
def test_project_of_a_sweep_is_above_the_default_place(sweeps, project_dir):
    assert launch.project_of(SweepDir(Path(sweeps) / "s")) == Path(project_dir)


# ---- run


def test_run_is_the_driver_itself(project):
    here = project(SLOW)
    started = subprocess.Popen(["sweeptool", "run", "sweep.yaml"], cwd=here.path, stderr=subprocess.DEVNULL)
    until(lambda: lines(here, "ran.txt") == ["1", "2"])
    assert json.loads((here.path / "artifacts/sweeps/slow/driver.lock").read_text())["pid"] == started.pid
    started.send_signal(signal.SIGTERM)
    assert started.wait(20) == 143
    assert lines(here, "signals.txt") == ["1 INT", "1 clean", "2 INT", "2 clean"]


@pytest.mark.parametrize(
    ("words", "most"), [(["-j", "1"], 1), (["-j3"], 3), (["-j", "0"], 4), ([], 2)], ids=["1", "3", "all", "spec"]
)
def test_run_with_another_bound(project, words, most):
    here = project(SLOW)
    driver = subprocess.Popen(["sweeptool", "run", "sweep.yaml", *words], cwd=here.path, stderr=subprocess.DEVNULL)
    until(lambda: len(lines(here, "ran.txt")) == most)
    time.sleep(0.5)
    assert len(lines(here, "ran.txt")) == most
    (here.path / "go").touch()
    assert driver.wait(20) == 0


@pytest.mark.parametrize("bound", ["x", "-1", "1.5", ""])
def test_run_with_what_is_no_bound_starts_nothing(project, bound):
    here = project({"sweep.yaml": FAST})
    done = here.tool("run", "sweep.yaml", "-j", bound)
    assert done.returncode == 2
    assert done.stderr == f"error: -j: '{bound}' is not a whole number\n"
    assert lines(here, "ran.txt") == []


def test_run_without_bash_is_one_line(project, tmp_path):
    here = project({"sweep.yaml": FAST})
    done = here.tool("run", "sweep.yaml", env={"PATH": str(tmp_path)})
    assert (done.returncode, done.stderr) == (2, "error: bash is not on PATH (install bash 4.4 or newer)\n")


def test_run_where_nothing_can_be_written_is_one_line(project):
    here = project({"sweep.yaml": FAST, "artifacts": "a file\n"})
    done = here.tool("run", "sweep.yaml")
    assert done.returncode == 2
    assert "artifacts" in done.stderr
    assert "cannot be written" in done.stderr
    assert len(done.stderr.splitlines()) == 1
    assert lines(here, "ran.txt") == []


def test_run_needs_no_home(project):
    here = project({"sweep.yaml": FAST})
    env = {name: value for name, value in os.environ.items() if name in ("PATH", "PYTHONPATH")}
    done = subprocess.run(
        ["sweeptool", "run", "sweep.yaml"], cwd=here.path, env=env, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert lines(here, "ran.txt") == [str(here.path.resolve())] * 2


def test_spec_without_a_name_is_called_like_its_file(project):
    here = project({"My first_sweep!.yaml": "command: 'true'\n", "日本.yaml": "command: 'true'\n"})
    assert here.tool("run", "My first_sweep!.yaml").returncode == 0
    assert here.tool("run", "日本.yaml").returncode == 0
    assert sorted(path.name for path in (here.path / "artifacts/sweeps").iterdir()) == ["my-first-sweep", "sweep"]
