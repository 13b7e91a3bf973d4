"""Whole sweeps through the real runpod-deploy: outcomes, signals, crashes, and the provider's account afterwards."""

from __future__ import annotations

import json
import os
import pty
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from decimal import Decimal
from pathlib import Path

import pytest

from tests.rig.rig import Rig

SEEDS = """\
name: seeds
runner: runpod-deploy
config: configs/job.yaml
max_parallel: 3
max_cost_usd: 1
cost_cap_usd: 0.05
max_runtime: 5m
validate: false
retry: {delay: 1s}
metrics: {best: {name: accuracy, goal: max}}
matrix: {params: {seed: [41, 42, 43]}}
"""


def render(rig: Rig, spec: str = SEEDS) -> Path:
    (rig.project / "spec.yaml").write_text(spec)
    done = rig.run("sweeptool", "render", "spec.yaml", "-o", "driver.sh")
    assert done.returncode == 0, done.stderr
    return rig.project / "driver.sh"


def render_long(rig: Rig) -> None:
    """Render a sweep whose jobs work until ``shorten``."""
    job = rig.project / "configs" / "job.yaml"
    job.write_text(job.read_text().replace("sleep {seconds}", "[ -e '{project_root}/short' ] || sleep 3000"))
    render(rig)


def shorten(rig: Rig) -> None:
    (rig.project / "short").touch()


def drive(rig: Rig, spec: str = SEEDS) -> subprocess.CompletedProcess[str]:
    render(rig, spec)
    return rig.run("bash", "driver.sh")


def events(rig: Rig, kind: str = "settled", name: str = "seeds") -> list[dict[str, object]]:
    ledger = rig.project / "artifacts" / "sweeps" / name / "ledger.jsonl"
    lines = ledger.read_text().splitlines() if ledger.exists() else []
    return [event for event in map(json.loads, lines) if event["event"] == kind]


def run_dirs(rig: Rig) -> list[Path]:
    return sorted((rig.project / "artifacts" / "runpod").iterdir())


def until(true: Callable[[], object], what: str, seconds: float = 300) -> None:
    deadline = time.monotonic() + seconds
    while not true():
        assert time.monotonic() < deadline, f"never: {what}"
        time.sleep(0.1)


def jobs_run(rig: Rig, count: int = 3) -> bool:
    """Whether that many jobs work in their pods: the runner has seen their logs."""
    logs = (rig.project / "artifacts").glob("sweeps/*/cells/*/attempt-*/stdout.log")
    return sum("[monitor] polling" in log.read_text() for log in logs) >= count


@contextmanager
def driver(rig: Rig, *argv: str, **options: object) -> Iterator[subprocess.Popen[bytes]]:
    process = subprocess.Popen(
        argv or ("bash", "driver.sh"), cwd=rig.project, env=rig.env, stdin=subprocess.DEVNULL, **options
    )
    try:
        yield process
    finally:
        if process.poll() is None:
            process.kill()
            process.wait()


def totals(text: str) -> dict[str, str]:
    lines = text.partition("== TOTALS ==")[2].splitlines()
    return {name.strip(): value.strip() for name, colon, value in (line.partition(":") for line in lines) if colon}


def test_three_seeds_at_once_get_three_run_dirs_and_the_runners_own_totals(rig: Rig) -> None:
    done = drive(rig)
    assert done.returncode == 0, done.stderr
    assert len(run_dirs(rig)) == 3
    ours = rig.run("sweeptool", "manifest-summary", "--root", "artifacts/runpod")
    theirs = rig.run("runpod-deploy", "manifest-summary", "--root", "artifacts/runpod")
    expected = totals(theirs.stdout)
    assert expected["manifests"] == "3"
    found = totals(ours.stdout)
    assert {name: found[name].partition(" ")[0] for name in expected} == expected  # "$0.00 (exactly $0.0022)"
    best = rig.run("sweeptool", "best", "--by", "accuracy", "--json")
    assert json.loads(best.stdout)["cells"][0]["params"] == {"seed": "43"}
    assert rig.billing() == []


def test_a_parameter_reaches_the_job_in_its_environment(rig: Rig) -> None:
    job = rig.project / "configs" / "job.yaml"
    job.write_text(job.read_text().replace("    sleep {seconds}\n", "    env >environment.txt\n"))
    spec = SEEDS.replace("[41, 42, 43]}", "[41], text: ['a b; $(touch x) \"q\"']}")
    done = drive(rig, spec)
    assert done.returncode == 0, done.stderr
    found = dict(
        line.split("=", 1) for line in (run_dirs(rig)[0] / "environment.txt").read_text().splitlines() if "=" in line
    )
    assert found["PARAM_text"] == found["NODUS_PARAM_text"] == 'a b; $(touch x) "q"'
    assert (found["SWEEP_NAME"], found["SWEEP_INDEX"], found["SWEEP_SIZE"]) == ("seeds", "0", "1")
    assert found["SWEEP_ID"].startswith("seeds-")


NODUS = """\
apiVersion: nodus.dev/v1
kind: Sweep
metadata: {name: batch-size}
spec:
  maxCostUSD: "0.75"
  maxParallel: 2
  matrix:
    gpu: [L4, A40]
    params: {BATCH_SIZE: ["32"]}
  template:
    kind: Job
    spec:
      image: ghcr.io/nodus/pytorch:1
      timeout: 10m
      command:
        - python3
        - -c
        - |
          import json, os
          bs = int(os.environ["NODUS_PARAM_BATCH_SIZE"])
          for number in range(4):
              print("nodus.unit_done", json.dumps({"id": number, "ms": 5}))
          with open(os.environ["RUN_DIR"] + "/metrics.json", "w") as file:
              json.dump({"loss": 1 / bs}, file)
          print(f"batch {bs}: {4 * bs} samples")
"""


def test_a_nodus_sweep_becomes_jobs_of_the_runner(rig: Rig) -> None:
    (rig.project / "runpod.toml").write_text("[job]\npoll_interval_sec = 1\n")
    (rig.project / "sweep.yaml").write_text(NODUS)
    done = rig.run("sweeptool", "run", "sweep.yaml", "--runner", "runpod-deploy")
    assert done.returncode == 0, done.stderr
    state = json.loads(rig.run("sweeptool", "status", "--json").stdout)
    assert [(cell["gpu"], cell["phase"]) for cell in state["cells"]] == [("L4", "Succeeded"), ("A40", "Succeeded")]
    assert all(cell["unitsPerSecond"] > 0 for cell in state["cells"])
    assert [pod["gpu"] for pod in rig.pods()] == ["NVIDIA L4", "NVIDIA A40"]
    assert all("batch 32: 128 samples\n" in (where / "run.log").read_text() for where in run_dirs(rig))
    assert [json.loads((where / "metrics.json").read_text()) for where in run_dirs(rig)] == [{"loss": 1 / 32}] * 2
    assert rig.billing() == []


def test_nothing_in_stock_fails_every_cell_after_its_attempts_at_no_cost(rig: Rig) -> None:
    rig.fault("stock-out")
    done = drive(rig)
    assert done.returncode == 1, done.stderr
    settled = events(rig)
    assert [event["reason"] for event in settled] == ["stock_out"] * 6
    assert sorted((event["index"], event["attempt"]) for event in settled) == [(i, a) for i in range(3) for a in (1, 2)]
    assert {event["charged_usd"] for event in settled} == {"0.00"}
    assert rig.pods() == []


def test_pods_killed_once_are_rented_again_and_every_attempt_is_paid_for(rig: Rig) -> None:
    for index in (0, 2):
        rig.fault("outbid", times=1, pods=f"*-{index}-a1-*")
    done = drive(rig, SEEDS.replace("seed: [41", 'seconds: ["6"], seed: [41'))
    assert done.returncode == 0, done.stderr
    settled = events(rig)
    assert sorted((event["index"], event["attempt"], event["state"]) for event in settled) == [
        (0, 1, "failed"),
        (0, 2, "succeeded"),
        (1, 1, "succeeded"),
        (2, 1, "failed"),
        (2, 2, "succeeded"),
    ]
    assert {event["reason"] for event in settled if event["state"] == "failed"} == {"pod_killed"}
    spent = sum(Decimal(str(event["cost_usd"])) for event in settled)
    budget = json.loads(rig.run("sweeptool", "budget", "--json").stdout)
    assert Decimal(budget["spent_usd"]) == spent
    assert rig.billing() == []


@pytest.mark.parametrize(
    ("number", "code"),
    [
        pytest.param(signal.SIGINT, 130, id="INT"),
        pytest.param(signal.SIGTERM, 143, id="TERM"),
    ],
)
@pytest.mark.parametrize(
    "start",
    [
        pytest.param(("bash", "driver.sh"), id="foreground"),
        pytest.param(("bash", "-c", "bash driver.sh & echo $! >driver.pid; wait $!"), id="started-with-ampersand"),
    ],
)
def test_a_signal_releases_every_pod_and_running_again_finishes(
    rig: Rig, number: signal.Signals, code: int, start: tuple[str, ...]
) -> None:
    render_long(rig)
    with driver(rig, *start) as process:
        until(lambda: jobs_run(rig), "three jobs running")
        pid = rig.project / "driver.pid"
        os.kill(int(pid.read_text()) if pid.exists() else process.pid, number)
        assert process.wait(300) == code
    assert rig.billing() == []
    assert [event["state"] for event in events(rig)] == ["interrupted"] * 3
    shorten(rig)
    done = rig.run("bash", "driver.sh")
    assert done.returncode == 0, done.stderr
    assert len(rig.pods()) == 6


def test_interrupted_cells_alone_are_run_again(rig: Rig) -> None:
    spec = SEEDS.replace("max_parallel: 3", "max_parallel: 1")
    render(rig, spec)
    with driver(rig) as process:
        until(lambda: len(events(rig)) == 1 and jobs_run(rig, 2), "the first cell done, the second running")
        process.send_signal(signal.SIGINT)
        assert process.wait(300) == 130
    done = rig.run("bash", "driver.sh")
    assert done.returncode == 0, done.stderr
    assert sorted((event["index"], event["state"]) for event in events(rig)) == [
        (0, "succeeded"),
        (1, "interrupted"),
        (1, "succeeded"),
        (2, "succeeded"),
    ]


def test_after_kill_9_recover_names_the_pod_releases_it_and_the_sweep_goes_on(rig: Rig) -> None:
    render_long(rig)
    with driver(rig) as process:
        until(lambda: jobs_run(rig), "three jobs running")
        process.kill()
        process.wait()
    (victim,) = (rig.project / "artifacts" / "sweeps" / "seeds" / "cells").glob("*41*/attempt-1")
    kill_group(victim)
    found = rig.run("sweeptool", "recover", "--json")
    assert found.returncode == 0, found.stderr
    (left,) = json.loads(found.stdout)["attempts"]
    lost = next(pod for pod in rig.pods() if pod["name"].startswith("rehearsal-41-"))
    assert (left["pod_id"], left["state"]) == (lost["id"], "RUNNING")
    assert left["release"] == ["runpodctl", "pod", "delete", lost["id"]]
    released = rig.run("sweeptool", "recover", "--release", "--yes")
    assert released.returncode == 0, released.stderr
    assert str(lost["name"]) not in rig.billing()
    assert len(rig.running()) == 2
    with driver(rig) as process:
        until(lambda: jobs_run(rig, 4), "the lost cell running again beside the two adopted ones")
        process.send_signal(signal.SIGINT)
        assert process.wait(300) == 130
    assert rig.billing() == []
    shorten(rig)
    done = rig.run("bash", "driver.sh")
    assert done.returncode == 0, done.stderr
    assert rig.billing() == []


def kill_group(attempt: Path) -> None:
    os.killpg(int((attempt / "start").read_text().split()[0]), signal.SIGKILL)


def test_a_terminal_that_closes_releases_the_pods(rig: Rig) -> None:
    render_long(rig)
    master, slave = pty.openpty()

    code = "import fcntl, os, termios; os.setsid(); fcntl.ioctl(0, termios.TIOCSCTTY, 0); os.execvp('bash', ['bash', 'driver.sh'])"
    process = subprocess.Popen(
        (sys.executable, "-c", code), cwd=rig.project, env=rig.env, stdin=slave, stdout=slave, stderr=slave
    )
    os.close(slave)
    try:
        until(lambda: jobs_run(rig), "three jobs running")
        os.close(master)
        assert process.wait(300) == 129
    finally:
        if process.poll() is None:
            process.kill()
    assert rig.billing() == []


def test_under_nohup_the_sweep_outlives_the_terminal(rig: Rig) -> None:
    render(rig, SEEDS)
    code = "import os, sys; os.setsid(); os.execvp('nohup', ['nohup', 'bash', 'driver.sh'])"
    with driver(rig, sys.executable, "-c", code, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
        until(lambda: jobs_run(rig, 1), "a job running")
        os.killpg(process.pid, signal.SIGHUP)
        assert process.wait(300) == 0
    assert [event["state"] for event in events(rig)] == ["succeeded"] * 3


def test_a_key_that_is_refused_stops_the_sweep_at_once(rig: Rig) -> None:
    rig.fault("unauthorized")
    done = drive(rig, SEEDS.replace("max_parallel: 3", "max_parallel: 1"))
    assert done.returncode == 6, done.stderr
    assert [(event["reason"], event["halt"]) for event in events(rig)] == [("credentials", True)]


def test_a_second_cell_whose_pod_the_provider_ended_stops_the_sweep(rig: Rig) -> None:
    rig.fault("evicted")
    done = drive(rig, SEEDS.replace("max_parallel: 3", "max_parallel: 1").replace("41, 42, 43", "41, 42, 43, 44"))
    assert done.returncode == 6, done.stderr
    assert [(event["index"], event["reason"], event["halt"]) for event in events(rig)] == [
        (0, "pod_killed", False),  # its retry waits for its delay
        (1, "pod_killed", True),
    ]
    assert "(and so a pod before: is there money left?)" in done.stderr
    assert rig.billing() == []


def test_a_pod_of_an_unclear_creation_is_deleted_before_the_next_attempt(rig: Rig) -> None:
    rig.fault("create-5xx", times=1)
    done = drive(rig, SEEDS.replace("[41, 42, 43]", "[41]"))
    assert done.returncode == 0, done.stderr
    assert [(event["reason"], event["flags"]) for event in events(rig)] == [("create_unclear", []), ("", [])]
    assert rig.billing() == []


def test_a_signal_while_pods_are_still_being_rented_leaves_none(rig: Rig) -> None:
    rig.fault("never-ready")  # the runner waits for ssh, where an interruption makes it forget its pod
    render(rig)
    with driver(rig) as process:
        until(lambda: len(rig.running()) == 3, "three pods rented")
        process.send_signal(signal.SIGINT)
        assert process.wait(300) == 130
    assert rig.billing() == []
    assert [(event["state"], event["flags"]) for event in events(rig)] == [("interrupted", [])] * 3


def test_a_pod_that_could_not_be_deleted_is_flagged_and_recovered(rig: Rig) -> None:
    rig.fault("delete-fails")
    done = drive(rig, SEEDS.replace("[41, 42, 43]", "[41]"))
    assert done.returncode == 0, done.stderr
    assert [(event["state"], event["flags"]) for event in events(rig)] == [("succeeded", ["leaked"])]
    assert "\nbills     1 attempt may have left a pod that still bills: sweeptool recover" in done.stdout + done.stderr
    refused = rig.run("sweeptool", "recover", "--release", "--yes")
    assert refused.returncode == 1
    rig.mend("delete-fails")
    assert rig.run("sweeptool", "recover", "--release", "--yes").returncode == 0
    assert "bills" not in rig.run("sweeptool", "status").stdout
    assert rig.billing() == []
    assert rig.run("sweeptool", "recover").stdout == "nothing is left behind\n"
