"""Sweeps end to end through the local and the command runner: what a cell's outcome, cost and run dir become."""

from __future__ import annotations

import json

import pytest

from tests.conftest import Project

# A single-job runner of fifteen lines. FAULT says what it does wrong.
RUNNER = r"""
    #!/usr/bin/env bash
    dir="artifacts/my runs/$1"
    mkdir -p "$dir"
    case ${FAULT:-} in
      silent) ;;
      twice) printf 'RUN_DIR=%s\nRUN_DIR=/nowhere\n' "$PWD/$dir" ;;
      bare) printf 'RUN_DIR=%s' "$PWD/$dir" ;;
      late) head -c 3000000 /dev/zero | tr '\0' 'x' ; printf '\nRUN_DIR=%s\n' "$PWD/$dir" ;;
      relative) printf 'RUN_DIR=%s\n' "$dir" ;;
      *) printf 'RUN_DIR=%s\n' "$PWD/$dir" ;;
    esac
    [[ ${FAULT:-} == no-manifest ]] && exit 0
    [[ ${FAULT:-} == torn ]] && { printf '{"failed": fal' >"$dir/result.json"; exit 0; }
    [[ ${FAULT:-} == says-failed ]] && failed=true || failed=false
    printf '{"schema_version": "v2", "failed": %s, "wall_time_sec": 2, "estimated_cost_usd": 0.30}\n' \
      "$failed" >"$dir/result.json"
    [[ ${FAULT:-} == exits-3 ]] && exit 3
    exit 0
"""
SPEC = """
    name: mine
    runner: {kind: command, argv: [./my-runner, "{name} of {lr}"], manifest: result.json}
    max_parallel: 1
    cost_cap_usd: 0.30
    matrix: {params: {lr: [1e-3, 1e-2]}}
"""


@pytest.fixture
def mine(project) -> Project:
    here = project({"my-runner": RUNNER, "sweep.yaml": SPEC})
    (here.path / "my-runner").chmod(0o755)
    return here


def state(here: Project, name: str) -> dict:
    return json.loads(here.tool("status", name, "--json").stdout)


@pytest.mark.parametrize("fault", ["", "twice", "bare", "late", "relative"])
def test_command_runner_that_keeps_the_contract_succeeds_however_it_prints_its_run_dir(mine, fault):
    done = mine.tool("run", "sweep.yaml", env={"FAULT": fault})
    found = state(mine, "mine")
    assert (done.returncode, found["phase"]) == (0, "Succeeded")
    assert [cell["run_dir"] for cell in found["cells"]] == [
        str(mine.path / f"artifacts/my runs/mine-{index} of {lr}") for index, lr in enumerate(["1e-3", "1e-2"])
    ]
    assert found["cost"]["totalUSD"] == "0.60"


@pytest.mark.parametrize(
    ("fault", "reason", "total", "unknown"),
    [
        pytest.param("silent", "no_run_dir", "0.00", "0.60", id="no-RUN_DIR"),
        pytest.param("no-manifest", "no_manifest", "0.00", "0.60", id="no-manifest"),
        pytest.param("torn", "no_manifest", "0.00", "0.60", id="torn-manifest"),
        pytest.param("says-failed", "manifest", "0.60", "0.00", id="manifest-says-failed"),
        pytest.param("exits-3", "exit", "0.60", "0.00", id="exit-code"),
    ],
)
def test_command_runner_that_breaks_the_contract_fails_with_the_reason_and_its_cost(
    mine, fault, reason, total, unknown
):
    done = mine.tool("run", "sweep.yaml", env={"FAULT": fault})
    found = state(mine, "mine")
    assert (done.returncode, found["phase"], found["reason"]) == (1, "Failed", "CellsFailed")
    events = [
        json.loads(line)
        for line in mine.tool("events-query", "--json", "--filter", "event=settled").stdout.splitlines()
    ]
    assert [event["reason"] for event in events] == [reason, reason]
    assert (found["cost"]["totalUSD"], found["cost"]["unknownUSD"]) == (total, unknown)


def test_parameters_reach_the_command_runner_in_its_environment(project):
    here = project(
        {
            "sweep.yaml": SPEC.replace("./my-runner", "./env"),
            "env": "#!/bin/sh\nprintenv PARAM_lr NODUS_PARAM_lr SWEEP_INDEX\n",
        }
    )
    (here.path / "env").chmod(0o755)
    here.tool("run", "sweep.yaml")
    assert here.tool("logs", "mine", "1").stdout.splitlines() == ["1e-2", "1e-2", "1"]


def test_local_cells_that_fail_are_told_apart_and_the_others_run(project):
    here = project({"sweep.yaml": """
        name: mixed
        command: 'case $PARAM_how in (ok) ;; (bad) echo "no such data" >&2; exit 4;; (slow) sleep 60;; esac'
        max_runtime: 1
        price_per_hour_usd: 36
        matrix: {params: {how: [ok, bad, slow]}}
    """})  # fmt: skip
    done = here.tool("run", "sweep.yaml")
    assert done.returncode == 1
    cells = {cell["params"]["how"]: cell for cell in state(here, "mixed")["cells"]}
    assert {how: (cell["phase"], cell["exit_code"], cell["failed"]) for how, cell in cells.items()} == {
        "ok": ("Succeeded", 0, False),
        "bad": ("Failed", 4, True),
        "slow": ("Failed", 124, True),
    }
    assert cells["slow"]["costUSD"] == "0.01"
    assert "exit 4: no such data" in done.stderr
    assert "stopped at its limit" in done.stderr


def test_command_that_is_not_there_launches_nothing_more(project):
    here = project({"sweep.yaml": "name: typo\ncommand: [./trian.sh]\nmax_parallel: 1\nrepetitions: 3\n"})
    done = here.tool("run", "sweep.yaml")
    assert done.returncode != 0
    assert [cell["phase"] for cell in state(here, "typo")["cells"]] == ["Failed", "Pending", "Pending"]
    assert "./trian.sh: command not found" in done.stderr
