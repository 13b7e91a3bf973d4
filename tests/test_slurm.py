"""sweep.sbatch under a real Slurm of one node: what runs, how much at once, what is left, how it is stopped."""

from __future__ import annotations

import json
import os
import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.conftest import Project, require

HERE = Path(__file__).parent / "slurm"

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
    sleep 0.3
    rm "running/$1"
    [[ ! -e "fails-$1" ]] || exit 3
    echo '{"failed": false, "estimated_cost_usd": 0.30, "wall_time_sec": 1}' >"$run/m.json"
    """


def spec(values: range, **settings: object) -> str:
    lines = "\n".join(f"{key}: {value}" for key, value in settings.items())
    return (
        'name: arrays\nrunner: {kind: command, argv: [bash, runner.sh, "{a}"], manifest: m.json}\ncost_cap_usd: 0.30\n'
        f"max_runtime: 1m\nmatrix: {{params: {{a: {list(values)}}}}}\n{lines}\n"
    )


@pytest.fixture(scope="session")
def slurm(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, str]]:
    """The environment of a cluster of this session's own."""
    base = tmp_path_factory.mktemp("slurm")
    up = subprocess.run([HERE / "up", base], capture_output=True, text=True, timeout=60, check=False)
    require(up.returncode == 0, up.stderr.strip())
    yield {"SLURM_CONF": str(base / "slurm.conf"), "PATH": f"{os.environ['PATH']}:/usr/sbin"}
    subprocess.run([HERE / "down", base], timeout=90, check=True)


@pytest.fixture
def cluster(slurm, project) -> Iterator[Callable[[str], Cluster]]:
    """Return a function that makes a project whose sweep runs on the cluster; no job outlives the test."""
    made = Cluster(project({"runner.sh": RUNNER}), slurm)

    def make(text: str) -> Cluster:
        made.here.write({"sweep.yaml": text})
        made.render()
        return made

    yield make
    made.run("scancel", "--user=root", "--signal=KILL", "--full")
    made.run("scancel", "--user=root")
    made.drained()


class Cluster:
    """A project and the Slurm that runs its sweep."""

    def __init__(self, here: Project, env: dict[str, str]) -> None:
        self.here, self.env = here, env

    def run(self, *argv: str) -> subprocess.CompletedProcess[str]:
        return self.here.run(*argv, env=self.env)

    def render(self) -> None:
        for target, name in (("bash", "driver.sh"), ("slurm", "sweep.sbatch")):
            done = self.here.tool("render", "sweep.yaml", "--target", target, "-o", name)
            assert (done.returncode, done.stderr) == (0, "")

    def submit(self, *options: str) -> list[str]:
        """Submit the sweep; return the ids of the jobs."""
        done = self.run("bash", "sweep.sbatch", *options)
        assert done.returncode == 0, done.stderr
        return [line.split()[1].rstrip(":") for line in done.stdout.splitlines()]

    def drained(self, seconds: float = 60) -> None:
        """Wait until no job is left."""
        self.until(lambda: not self.run("squeue", "--noheader").stdout, seconds)

    def until(self, holds: Callable[[], object], seconds: float = 30) -> None:
        deadline = time.monotonic() + seconds
        while not holds():
            assert time.monotonic() < deadline, self.run("squeue").stdout
            time.sleep(0.1)

    def lines(self, name: str) -> list[str]:
        file = self.here.path / name
        return file.read_text().splitlines() if file.exists() else []

    def ran(self) -> list[int]:
        return sorted(map(int, self.lines("ran.txt")))

    def status(self) -> tuple[str, str | None, list[str]]:
        found = json.loads(self.here.tool("status", "arrays", "--json").stdout)
        return found["phase"], found["reason"], [cell["phase"] for cell in found["cells"]]

    def exit_codes(self, job: str) -> list[str]:
        """Return what the tasks of an array exited with."""
        tasks = self.run("scontrol", "--oneliner", "show", "job", job).stdout.splitlines()
        return sorted(word for task in tasks for word in task.split() if word.startswith("ExitCode="))

    def end(self) -> int:
        return self.run("bash", "driver.sh", "end").returncode


def test_every_cell_runs_once_and_no_more_than_max_parallel_at_a_time(cluster):
    sweep = cluster(spec(range(6), max_parallel=2))
    (job,) = sweep.submit()
    sweep.drained()
    assert sweep.ran() == [0, 1, 2, 3, 4, 5]
    assert max(map(int, sweep.lines("together.txt"))) == 2
    assert sweep.status() == ("Succeeded", None, ["Succeeded"] * 6)
    assert sweep.exit_codes(job) == ["ExitCode=0:0"] * 6
    assert sweep.end() == 0


def test_submitting_again_finishes_what_is_missing_and_runs_nothing_twice(cluster):
    sweep = cluster(spec(range(4)))
    (sweep.here.path / "fails-2").touch()
    (job,) = sweep.submit()
    sweep.drained()
    assert sweep.exit_codes(job) == ["ExitCode=0:0"] * 3 + ["ExitCode=1:0"]
    assert sweep.status() == ("Failed", "CellsFailed", ["Succeeded", "Succeeded", "Failed", "Succeeded"])
    assert sweep.end() == 1
    (sweep.here.path / "fails-2").unlink()
    sweep.submit()
    sweep.drained()
    assert sweep.ran() == [0, 1, 2, 2, 3]
    assert sweep.status()[0] == "Succeeded"


def test_two_arrays_of_the_same_cells_run_each_once_and_cancelling_one_leaves_the_other(cluster):
    sweep = cluster(spec(range(3)))
    for index in range(3):
        (sweep.here.path / f"slow-{index}").touch()
    sweep.submit()
    sweep.until(lambda: len(sweep.ran()) == 3)
    second = sweep.run("sbatch", "--parsable", "sweep.sbatch").stdout.strip()
    sweep.until(lambda: len(list(sweep.here.path.glob(f"slurm-{second}_*.out"))) == 3)
    sweep.until(lambda: all("adopt" in path.read_text() for path in sweep.here.path.glob(f"slurm-{second}_*.out")))
    sweep.run("scancel", second)
    sweep.until(lambda: second not in sweep.run("squeue", "--noheader").stdout)
    assert sweep.lines("signals.txt") == []
    for index in range(3):
        (sweep.here.path / f"slow-{index}").unlink()
    sweep.drained()
    assert sweep.ran() == [0, 1, 2]
    assert sweep.status()[0] == "Succeeded"


def test_budget_holds_across_tasks_and_a_raised_cap_goes_on(cluster):
    sweep = cluster(spec(range(5), max_cost_usd=0.75, max_parallel=4))
    (job,) = sweep.submit()
    sweep.drained()
    assert len(sweep.ran()) == 2
    assert sweep.exit_codes(job) == ["ExitCode=0:0"] * 2 + ["ExitCode=3:0"] * 3
    assert sweep.status()[:2] == ("Suspended", "MaxCostReached")
    assert sweep.end() == 3
    first = sweep.ran()
    sweep.here.write({"sweep.yaml": spec(range(5), max_cost_usd=1.5, max_parallel=4)})
    sweep.render()
    sweep.submit()
    sweep.drained()
    assert sweep.ran() == [0, 1, 2, 3, 4]
    assert set(first) < set(sweep.ran())
    assert sweep.status()[0] == "Succeeded"


def test_failure_streak_stops_the_array_and_a_new_submission_starts_afresh(cluster):
    sweep = cluster(spec(range(6), max_parallel=1, failure_streak=2))
    for index in range(6):
        (sweep.here.path / f"fails-{index}").touch()
    sweep.submit()
    sweep.drained()
    assert len(sweep.ran()) == 2
    assert sweep.status()[:2] == ("Suspended", "FailureStreak")
    assert sweep.end() == 6
    for index in range(6):
        (sweep.here.path / f"fails-{index}").unlink()
    sweep.submit()
    sweep.drained()
    assert sweep.status()[0] == "Succeeded"


@pytest.mark.parametrize(
    "how", [[], ["--signal=INT", "--batch"], ["--signal=TERM", "--batch"]], ids=["plain", "INT", "TERM"]
)
def test_scancel_lets_the_runners_clean_up_and_the_next_submission_goes_on(cluster, how):
    sweep = cluster(spec(range(4), max_parallel=2))
    for index in range(2):
        (sweep.here.path / f"slow-{index}").touch()
    (job,) = sweep.submit()
    sweep.until(lambda: len(sweep.ran()) == 2)
    sweep.run("scancel", *how, job)
    if how:
        sweep.until(lambda: len(sweep.lines("signals.txt")) == 4)
        sweep.run("scancel", job)
    sweep.drained()
    assert sorted(sweep.lines("signals.txt")) == ["0 INT", "0 clean", "1 INT", "1 clean"]
    phase, reason, cells = sweep.status()
    assert (phase, reason, cells[:2]) == ("Suspended", "Interrupted", ["Pending", "Pending"])
    for index in range(2):
        (sweep.here.path / f"slow-{index}").unlink()
    sweep.submit()
    sweep.drained()
    assert sweep.status()[0] == "Succeeded"
    assert sorted(set(sweep.ran())) == [0, 1, 2, 3]
    assert sweep.ran().count(2) == sweep.ran().count(3) == 1


def test_cancel_from_another_terminal_stops_the_array(cluster):
    sweep = cluster(spec(range(4), max_parallel=2))
    for index in range(4):
        (sweep.here.path / f"slow-{index}").touch()
    (job,) = sweep.submit()
    sweep.until(lambda: len(sweep.ran()) == 2)
    assert sweep.here.tool("cancel", "arrays").returncode == 0
    sweep.drained()
    assert sweep.status() == ("Cancelled", "Requested", ["Cancelled"] * 4)
    assert sweep.exit_codes(job) == ["ExitCode=4:0"] * 4
    assert len(sweep.ran()) == 2


def test_task_at_its_time_limit_is_asked_to_clean_up(cluster):
    sweep = cluster(spec(range(1)))
    (sweep.here.path / "slow-0").touch()
    script = sweep.here.path / "sweep.sbatch"
    script.write_text(script.read_text().replace("INT@120", "INT@50"))
    sweep.submit("--time=1")
    sweep.until(lambda: sweep.lines("signals.txt") == ["0 INT", "0 clean"], 60)
    sweep.drained()
    assert sweep.status() == ("Suspended", "Interrupted", ["Pending"])


def test_more_cells_than_an_array_takes_are_several_arrays_one_after_the_other(cluster):
    sweep = cluster(spec(range(7), max_parallel=2))
    script = sweep.here.path / "sweep.sbatch"
    script.write_text(script.read_text().replace("CHUNK=1000", "CHUNK=3"))
    jobs = sweep.submit("--comment=several arrays")
    assert len(jobs) == 3
    sweep.drained(120)
    assert sweep.ran() == list(range(7))
    assert max(map(int, sweep.lines("together.txt"))) == 2
    assert sweep.status()[0] == "Succeeded"


def test_part_of_the_cells_by_hand_with_offset(cluster):
    sweep = cluster(spec(range(5)))
    done = sweep.run("bash", "-c", "OFFSET=3 sbatch --array=0-999%2 sweep.sbatch")
    assert done.returncode == 0, done.stderr
    sweep.until(lambda: len(sweep.ran()) == 2)
    sweep.run("scancel", "--user=root")
    assert sweep.ran() == [3, 4]


def test_checks_come_before_the_first_submission(cluster):
    sweep = cluster(spec(range(2), before='["touch checked", "test ! -e refuse"]'))
    (sweep.here.path / "refuse").touch()
    done = sweep.run("bash", "sweep.sbatch")
    assert (done.returncode, done.stdout) == (2, "")
    assert (sweep.here.path / "checked").exists()
    assert sweep.run("squeue", "--noheader").stdout == ""
    (sweep.here.path / "refuse").unlink()
    sweep.submit()
    sweep.drained()
    assert sweep.ran() == [0, 1]


def test_two_thousand_cells_are_whole_submissions_to_slurm(cluster):
    sweep = cluster(spec(range(2500), max_parallel=0))
    jobs = sweep.submit("--hold")
    arrays = [sweep.run("squeue", "--noheader", f"--job={job}", "--format=%K").stdout.strip() for job in jobs]
    assert arrays == ["0-999%2500", "0-999%2500", "0-499%2500"]


def test_scancel_of_real_runners_leaves_no_pod_rented(slurm, rig):
    job = rig.project / "configs" / "job.yaml"
    job.write_text(job.read_text().replace("sleep {seconds}", "sleep 3000"))
    (rig.project / "sweep.yaml").write_text(
        "name: pods\nrunner: runpod-deploy\nconfig: configs/job.yaml\nvalidate: false\nmax_cost_usd: 1\n"
        "cost_cap_usd: 0.05\nmax_runtime: 5m\nmatrix: {params: {seed: [41, 42]}}\n"
    )
    rig.env.update(slurm | {"PATH": f"{rig.env['PATH']}:/usr/sbin"})
    for target, name in (("bash", "driver.sh"), ("slurm", "sweep.sbatch")):
        assert rig.run("sweeptool", "render", "sweep.yaml", f"--target={target}", "-o", name).returncode == 0
    submitted = rig.run("bash", "sweep.sbatch")
    assert submitted.returncode == 0, submitted.stderr
    deadline = time.monotonic() + 60
    while len(busy(rig)) < 2:
        assert time.monotonic() < deadline, rig.pods()
        time.sleep(0.2)
    rig.run("scancel", submitted.stdout.split()[1].rstrip(":"))
    while rig.run("squeue", "--noheader").stdout:
        assert time.monotonic() < deadline
        time.sleep(0.2)
    assert [pod["deleted"] is not None for pod in rig.pods()] == [True, True]
    found = json.loads(rig.run("sweeptool", "status", "pods", "--json").stdout)
    assert (found["phase"], found["reason"]) == ("Suspended", "Interrupted")


def busy(rig) -> list[Path]:
    """Return the output of each attempt whose job has begun on its pod."""
    logs = rig.project.glob("artifacts/sweeps/pods/cells/*/attempt-1/stdout.log")
    return [log for log in logs if "RUNNING ssh=" in log.read_text()]
