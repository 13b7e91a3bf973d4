"""The rig itself: the real runner runs on it, its faults look like the provider's, and nothing of it leaks."""

from __future__ import annotations

import json
import signal
import subprocess
import time
from pathlib import Path

import pytest

from tests.rig.rig import Rig

RUN = ("runpod-deploy", "run", "--config", "configs/job.yaml", "--print-run-dir")


def run_dir(output: str) -> Path:
    return Path(output.splitlines()[0].removeprefix("RUN_DIR="))


def manifest(where: Path) -> dict[str, object]:
    return dict(json.loads((where / "runpod_deploy_pull_manifest.json").read_text()))


def test_the_real_runner_succeeds_and_leaves_no_pod(rig: Rig) -> None:
    done = rig.run(*RUN, "--var", "seed=3")
    assert done.returncode == 0, done.stderr
    where = run_dir(done.stdout)
    assert manifest(where)["failed"] is False
    assert manifest(where)["gpu_price_per_hour_usd"] == 0.43
    assert json.loads((where / "metrics.json").read_text()) == {"accuracy": 0.93}
    assert len((where / "units.jsonl").read_text().splitlines()) == 4
    assert rig.billing() == []


def test_several_pods_run_at_once_on_one_sshd(rig: Rig) -> None:
    shards = []
    for seed in (1, 2, 3):
        root = rig.project / f"root-{seed}"
        (root / "configs").mkdir(parents=True)
        (root / "configs" / "job.yaml").write_text((rig.project / "configs" / "job.yaml").read_text())
        shards.append(
            subprocess.Popen([*RUN, "--var", f"seed={seed}"], cwd=root, env=rig.env, stdout=subprocess.DEVNULL)
        )
    assert [shard.wait(120) for shard in shards] == [0, 0, 0]
    assert len(rig.pods()) == 3
    assert rig.billing() == []


def test_the_config_of_the_rig_passes_the_runners_own_validation(rig: Rig) -> None:
    done = rig.run("runpod-deploy", "validate", "--config", "configs/job.yaml", "--all")
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize(
    ("fault", "expected"),
    [
        pytest.param("stock-out", "does not have the resources", id="stock-out"),
        pytest.param("stock-gone", "no longer any instances available", id="stock-gone"),
        pytest.param("no-stock", "no configured GPU available across datacenters", id="no-stock"),
        pytest.param("no-money", "balance is insufficient", id="no-money"),
        pytest.param("rate-limit", "429 Too Many Requests", id="rate-limit"),
        pytest.param("unauthorized", '"code": "unauthorized"', id="unauthorized"),
        pytest.param("create-5xx", "502 Bad Gateway", id="create-5xx"),
        pytest.param("create-garbage", "JSONDecodeError", id="create-garbage"),
        pytest.param("get-fails", "503 Service Unavailable", id="get-fails"),
    ],
)
def test_a_fault_before_the_job_fails_the_run_in_the_providers_words(rig: Rig, fault: str, expected: str) -> None:
    rig.fault(fault)
    done = rig.run(*RUN)
    assert done.returncode == 1
    assert expected in done.stderr
    assert not (run_dir(done.stdout) / "runpod_deploy_pull_manifest.json").exists()


@pytest.mark.parametrize("fault", ["create-5xx", "create-garbage"])
def test_a_create_that_fails_can_leave_a_running_pod_behind(rig: Rig, fault: str) -> None:
    rig.fault(fault)
    rig.run(*RUN)
    assert len(rig.running()) == 1


@pytest.mark.parametrize(
    ("fault", "state", "change"),
    [
        pytest.param("outbid", "TERMINATED", "Outbid", id="outbid"),
        pytest.param("evicted", "EXITED", "Exited by Runpod", id="evicted"),
        pytest.param("user-stop", "EXITED", "Exited by user", id="user-stop"),
    ],
)
def test_a_fate_strikes_the_pod_while_its_job_runs(rig: Rig, fault: str, state: str, change: str) -> None:
    rig.fault(fault)
    done = rig.run(*RUN, "--var", "seconds=30")
    assert done.returncode == 1
    where = run_dir(done.stdout)
    assert manifest(where)["failed"] is True
    assert manifest(where)["pod_final_state"] == state
    assert json.loads((where / "pod_describe_end.json").read_text())["lastStatusChange"].startswith(change)
    killed = "pod_killed_unexpected" in (where / "events.jsonl").read_text()
    assert killed == (state == "TERMINATED")


def test_a_fault_that_counts_strikes_that_often(rig: Rig) -> None:
    rig.fault("stock-out", times=1)
    assert rig.run(*RUN).returncode == 1
    assert rig.run(*RUN).returncode == 0


def test_a_fault_strikes_only_pods_of_its_pattern(rig: Rig) -> None:
    rig.fault("stock-out", pods="rehearsal-7-*")
    assert rig.run(*RUN, "--var", "seed=7").returncode == 1
    assert rig.run(*RUN, "--var", "seed=8").returncode == 0


def test_a_delete_that_fails_leaves_the_pod_billing_though_the_run_succeeded(rig: Rig) -> None:
    rig.fault("delete-fails")
    done = rig.run(*RUN)
    assert done.returncode == 0
    assert "[warn] failed to delete pod" in done.stderr
    assert len(rig.billing()) == 1


def test_deleting_a_pod_ends_what_runs_in_it(rig: Rig) -> None:
    shard = subprocess.Popen([*RUN, "--var", "seconds=41.7"], cwd=rig.project, env=rig.env, stdout=subprocess.PIPE)
    try:
        while not sleeping("41.7"):
            assert shard.poll() is None
            time.sleep(0.2)
        shard.send_signal(signal.SIGINT)
        shard.communicate(timeout=60)
    finally:
        shard.kill()
    assert rig.billing() == []
    assert not sleeping("41.7")


def sleeping(seconds: str) -> bool:
    return subprocess.run(["pgrep", "-f", f"^sleep {seconds}$"], capture_output=True, check=False).returncode == 0
