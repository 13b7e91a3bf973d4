"""The make side of runpod-deploy: what it refuses before a cent is spent, what it assumes, what it will call."""

from __future__ import annotations

import json
import textwrap
from dataclasses import replace
from pathlib import Path

import pytest

from sweeptool import cells, money
from sweeptool import spec as specs
from sweeptool.runners.runpod.runner import RUNNER
from sweeptool.spec.model import Spec

JOB = """
name: lora-{seed}
pod: {image: rig.invalid/trainer:1, datacenters: [EU-RO-1], gpu_order: [NVIDIA L4]}
storage: {mode: ephemeral, volume_gb: 10, volume_mount: /workspace}
variables: {seed: "0"}
run:
  script_path: /workspace/job.sh
  log_path: /workspace/run.log
  success_marker: DONE
  body: "python3 train.py --seed {seed}"
"""
SPEC = """
name: lora
runner: runpod-deploy
config: job.yaml
cost_cap_usd: 5
max_runtime: 60m
matrix: {params: {seed: [1, 2]}}
"""
NODUS = """
apiVersion: nodus.dev/v1
kind: Sweep
metadata: {name: bench}
spec:
  matrix: {gpu: [L4]}
  template: {kind: Job, spec: {image: nodus/pytorch, timeout: 10m, command: [python, bench.py]}}
"""


def load(text: str, project: Path, job: str | None = JOB) -> Spec:
    if job is not None:
        (project / "job.yaml").write_text(textwrap.dedent(job))
    flags = specs.Flags(runner="runpod-deploy") if "nodus.dev" in text else None
    return RUNNER.complete(specs.load(text, "spec.yaml", flags=flags, project=project), project)


def problems(text: str, project: Path, job: str | None = JOB) -> list[str]:
    return [str(problem) for problem in RUNNER.check(load(text, project, job), project)]


def complaint(text: str, project: Path, job: str | None = JOB) -> str:
    found = problems(text, project, job)
    assert len(found) == 1, found
    return found[0]


def argv(text: str, project: Path, job: str | None = JOB, index: int = 0) -> tuple[str, ...]:
    spec = load(text, project, job)
    assert not RUNNER.check(spec, project)
    return RUNNER.argv(cells.number(spec, {})[index], spec) or ()


def with_params(params: dict[str, str]) -> str:
    return SPEC.replace("{seed: [1, 2]}", "{" + ", ".join(f"{k}: [{json.dumps(v)}]" for k, v in params.items()) + "}")


def test_a_plain_sweep_over_a_config_is_fine(tmp_path: Path) -> None:
    assert problems(SPEC, tmp_path) == []


def test_the_command_line_of_a_cell_names_its_own_config_its_values_and_its_bounds(tmp_path: Path) -> None:
    assert argv(SPEC, tmp_path, index=1) == (
        "runpod-deploy",
        "run",
        "--config",
        "\0attempt_dir\0/job.yaml",
        "--var",
        "seed=2",
        "--print-run-dir",
        "--cost-cap-usd",
        "5.00",
        "--max-runtime-minutes",
        "60",
    )


@pytest.mark.parametrize(
    ("limit", "minutes"),
    [("60m", "60"), ("90s", "2"), ("1", "1"), ("1h30m", "90"), ("61", "2")],
    ids=["minutes", "rounded-up", "a-second", "hours", "just-over"],
)
def test_a_time_limit_is_passed_in_whole_minutes_rounded_up(tmp_path: Path, limit: str, minutes: str) -> None:
    assert argv(SPEC.replace("60m", limit), tmp_path)[-1] == minutes


def test_a_value_that_looks_like_an_option_stays_a_value(tmp_path: Path) -> None:
    assert "lr=--x=y" in argv(with_params({"lr": "--x=y"}), tmp_path)


def test_a_pair_of_options_names_the_machine_where_the_cell_leaves_no_choice(tmp_path: Path) -> None:
    pinned = SPEC + "gpu: L4\ndatacenter: EU-SE-1\n"
    assert argv(pinned, tmp_path)[-4:] == ("--gpu-id", "NVIDIA L4", "--datacenter-id", "EU-SE-1")


@pytest.mark.parametrize(
    "more", ["gpu: L4\nregion: eu\n", "gpu: H100\ndatacenter: EU-SE-1\n", "gpu: L4\n", "region: eu\n"]
)
def test_where_there_is_a_choice_the_config_holds_it_and_the_runner_may_fall_back(tmp_path: Path, more: str) -> None:
    assert not {"--gpu-id", "--datacenter-id"} & set(argv(SPEC + more, tmp_path))


def test_without_a_command_there_is_no_command_line_yet(tmp_path: Path) -> None:
    spec = load("name: x\nrunner: runpod-deploy\ncost_cap_usd: 1\n", tmp_path)
    assert RUNNER.argv(cells.number(spec, {})[0], spec) is None


@pytest.mark.parametrize(
    ("change", "words"),
    [
        pytest.param("spot: true", ["spot", "on demand"], id="spot"),
        pytest.param("idle_timeout: 10m", ["idle_timeout", "max_runtime"], id="idle"),
        pytest.param("on_complete: explode", ["on_complete", "explode", "terminate"], id="on_complete"),
        pytest.param("command: [python, x.py]", ["command", "run.body"], id="command-beside-config"),
        pytest.param("gpu: RTX9999", ["RTX9999", "table", "runpod.toml"], id="unmapped-gpu"),
        pytest.param("gpu: l44", ["l44", "did you mean 'L4'?"], id="misspelt-gpu"),
        pytest.param("region: mars", ["regions", "mars", "table"], id="unmapped-region"),
        pytest.param("instance_type: t3.micro", ["instance_type", "t3.micro", "table"], id="unmapped-instance"),
        pytest.param("gpu: L4\ninstance_type: A40", ["instance_type", "L4", "A40"], id="two-machines"),
    ],
)
def test_a_setting_it_cannot_honour_is_refused(tmp_path: Path, change: str, words: list[str]) -> None:
    found = complaint(SPEC + change + "\n", tmp_path)
    assert all(word in found for word in words), found


@pytest.mark.parametrize(
    ("params", "words"),
    [
        pytest.param({"learning-rate": "1"}, ["learning-rate", "variable"], id="no-identifier"),
        pytest.param({"run_dir": "/x"}, ["run_dir", "own variable"], id="reserved-run_dir"),
        pytest.param({"config_dir": "/x"}, ["config_dir", "own variable"], id="reserved-config_dir"),
        pytest.param({"job_name": "x"}, ["job_name", "own variable"], id="reserved-job_name"),
        pytest.param({"HF_TOKEN": "x"}, ["HF_TOKEN", "secret"], id="secret-token"),
        pytest.param({"wandb_api_key": "x"}, ["wandb_api_key", "secret"], id="secret-key"),
        pytest.param({"prompt": "say {name}"}, ["prompt", "{name}", "expand"], id="expanded-again"),
        pytest.param({"text": "a\nBASH\nrm -rf x"}, ["text", "BASH", "script"], id="heredoc"),
    ],
)
def test_a_parameter_it_would_mangle_is_refused(tmp_path: Path, params: dict[str, str], words: list[str]) -> None:
    found = complaint(with_params(params), tmp_path)
    assert all(word in found for word in words), found


@pytest.mark.parametrize(
    "value",
    ['{"a": 1}', "50%d", "a b", "it's", "$HOME", "`x`", "{", "{1}", "BASHFUL", "日本", "", "num_tokens"],
)
def test_a_value_that_arrives_as_it_is_is_no_problem(tmp_path: Path, value: str) -> None:
    spec = load(SPEC, tmp_path)
    points = tuple(replace(point, params={"max_tokens": value}) for point in spec.points[:1])
    job = JOB.replace("{seed}", "x")
    (tmp_path / "job.yaml").write_text(job)
    assert not RUNNER.check(replace(spec, points=points), tmp_path)


def test_each_refusal_of_a_big_sweep_is_said_once(tmp_path: Path) -> None:
    text = SPEC.replace("[1, 2]", f"[{', '.join(map(str, range(200)))}]") + "spot: true\n"
    assert "spot" in complaint(text, tmp_path)


# ---- money ------------------------------------------------------------------------------------------------


def test_a_cap_below_the_assumed_rate_times_the_limit_is_refused_with_the_numbers(tmp_path: Path) -> None:
    found = complaint(SPEC.replace("cost_cap_usd: 5", "cost_cap_usd: 1"), tmp_path)
    assert all(word in found for word in ("cost_cap_usd", "$1.00", "60 minutes", "$1.65", "refuse to start")), found


def test_a_cap_of_just_the_assumed_rate_times_the_limit_is_fine(tmp_path: Path) -> None:
    assert problems(SPEC.replace("cost_cap_usd: 5", "cost_cap_usd: 1.65"), tmp_path) == []


def test_the_limit_is_compared_in_the_whole_minutes_that_will_be_passed(tmp_path: Path) -> None:
    text = SPEC.replace("60m", "90s").replace("cost_cap_usd: 5", "cost_cap_usd: 0.05\nprice_per_hour_usd: 1.8")
    assert "2 minutes" in complaint(text, tmp_path)


@pytest.mark.parametrize(
    ("more", "job", "price"),
    [
        pytest.param("price_per_hour_usd: 0.9\ngpu: L4\n", "", "0.90", id="the-spec's"),
        pytest.param("prices: {H100: 2.5}\ngpu: 'H100:2'\n", "", "5.00", id="the-spec's-by-type-and-count"),
        pytest.param("gpu: L4\n", "budget: {assumed_hourly_rate_usd: 3.0}", "0.44", id="the-table's-for-a-chosen-gpu"),
        pytest.param("gpu: 'L4:4'\n", "", "1.76", id="times-count"),
        pytest.param("gpu: H100\n", "", "3.07", id="a-family-at-its-dearest"),
        pytest.param("gpu: 'H100!'\n", "", "2.99", id="the-first-of-a-family"),
        pytest.param("instance_type: A40\n", "", "0.44", id="instance-type"),
        pytest.param("", "budget: {assumed_hourly_rate_usd: 0.5}", "0.50", id="the-config's"),
        pytest.param("", "", "1.65", id="the-runner's-own-assumption"),
    ],
)
def test_the_assumed_price_of_an_hour(tmp_path: Path, more: str, job: str, price: str) -> None:
    text = SPEC.replace("cost_cap_usd: 5", "cost_cap_usd: 50") + more
    spec = load(text, tmp_path, f"{JOB}\n{job}\n")
    assert not RUNNER.check(spec, tmp_path)
    cell = cells.number(spec, {})[0]
    assert money.text(RUNNER.price(cell, spec) or 0) == price


def test_bounds_that_stand_in_the_config_bound_the_cell(tmp_path: Path) -> None:
    text = SPEC.replace("cost_cap_usd: 5\nmax_runtime: 60m\n", "")
    job = JOB + "budget: {cost_cap_usd: 2.5, max_runtime_minutes: 30}\n"
    assert argv(text, tmp_path, job)[-4:] == ("--cost-cap-usd", "2.50", "--max-runtime-minutes", "30")


def test_a_limit_alone_gives_the_cap_that_the_runner_is_told(tmp_path: Path) -> None:
    text = SPEC.replace("cost_cap_usd: 5\n", "")
    assert argv(text, tmp_path)[-4:] == ("--cost-cap-usd", "1.65", "--max-runtime-minutes", "60")


def test_a_limit_whose_price_is_no_whole_micro_dollar_gives_a_cap_that_the_runner_does_not_find_too_low(
    tmp_path: Path,
) -> None:
    text = SPEC.replace("cost_cap_usd: 5\n", "").replace("60m", "10m") + "price_per_hour_usd: 0.44\n"
    assert argv(text, tmp_path)[-4:] == ("--cost-cap-usd", "0.073334", "--max-runtime-minutes", "10")


def test_a_cap_alone_leaves_the_time_to_the_runner(tmp_path: Path) -> None:
    assert argv(SPEC.replace("max_runtime: 60m\n", ""), tmp_path)[-2:] == ("--cost-cap-usd", "5.00")


def test_a_cell_without_any_bound_is_refused(tmp_path: Path) -> None:
    found = complaint(SPEC.replace("cost_cap_usd: 5\nmax_runtime: 60m\n", ""), tmp_path)
    assert "nothing bounds" in found


def test_a_cap_that_is_no_number_in_the_config_is_no_bound(tmp_path: Path) -> None:
    text = SPEC.replace("cost_cap_usd: 5\nmax_runtime: 60m\n", "")
    assert "nothing bounds" in complaint(text, tmp_path, JOB + "budget: {cost_cap_usd: .nan}\n")


# ---- the template -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("job", "words"),
    [
        pytest.param(
            JOB + "artifacts: [{label: out, remote_path: /workspace/out/, local_path: results}]",
            ["artifacts[0].local_path", "wipe", "{run_dir}"],
            id="siblings-wiped",
        ),
        pytest.param(
            JOB + "artifacts: [{label: out, remote_path: /workspace/out/, local_path: '{run_dir}'}]",
            ["artifacts[0].local_path", "records", "delete: false"],
            id="own-records-wiped",
        ),
        pytest.param(
            JOB + "lifecycle: {on_success: recycle}", ["lifecycle.on_success", "recycle", "billing"], id="recycle"
        ),
        pytest.param(
            JOB.replace("gpu_order", "spot: true, gpu_order"), ["pod.spot", "on demand"], id="spot-in-the-config"
        ),
        pytest.param(
            JOB.replace("success_marker", "failure_markers: []\n  success_marker"),
            ["run.failure_markers", "empty"],
            id="no-failure-marker",
        ),
        pytest.param(
            JOB + "secrets: [{name: hf, destination: /root/.hf, env: [SWEEPTOOL_TEST_ABSENT]}]",
            ["secrets[0].env", "SWEEPTOOL_TEST_ABSENT", "not set"],
            id="secret-missing",
        ),
        pytest.param(
            JOB.replace("--seed {seed}", "--out ${HOME}/x"), ["run.body", "{HOME}", "$HOME"], id="shell-braces-in-body"
        ),
        pytest.param(
            JOB.replace("--seed {seed}", "--seed {sed}"), ["run.body", "{sed}", "did you mean 'seed'?"], id="misspelt"
        ),
        pytest.param(
            JOB.replace('seed: "0"', 'seed: "0", a: "{b}", b: x'),
            ["variables.a", "{b}", "before"],
            id="variable-used-before-it-is-defined",
        ),
        pytest.param(
            JOB.replace("rig.invalid/trainer:1", "'rig.invalid/trainer:{seed}'"),
            ["pod.image", "{seed}", "expands nothing there"],
            id="placeholder-where-nothing-is-expanded",
        ),
        pytest.param(
            JOB.replace("mode: ephemeral, volume_gb: 10", "mode: network_volume, volume_name: data").replace(
                "/workspace/run.log", "/workspace/{run_id}.log"
            ),
            ["run.script_path", "network volume", "{run_id}"],
            id="shared-path-on-a-network-volume",
        ),
        pytest.param("name: [", ["job.yaml", "is no YAML"], id="no-yaml"),
        pytest.param("- a\n", ["job.yaml", "no mapping"], id="no-mapping"),
    ],
)
def test_a_template_that_breaks_under_parallel_shards_is_refused(tmp_path: Path, job: str, words: list[str]) -> None:
    found = complaint(SPEC, tmp_path, job)
    assert all(word in found for word in words), found


@pytest.mark.parametrize(
    "artifact",
    [
        pytest.param("local_path: '{run_dir}/out'", id="in-the-run-dir"),
        pytest.param("local_path: 'results/{run_id}'", id="by-run-id"),
        pytest.param("local_path: 'results/{seed}'", id="by-every-swept-parameter"),
        pytest.param("local_path: 'results/{where}'", id="through-a-variable"),
        pytest.param("local_path: results, delete: false", id="nothing-deleted"),
        pytest.param("local_path: 'results/{job_name}'", id="through-the-name"),
    ],
)
def test_results_that_stay_apart_are_fine(tmp_path: Path, artifact: str) -> None:
    job = JOB.replace('seed: "0"', 'seed: "0", where: "s-{seed}"')
    job += f"artifacts: [{{label: out, remote_path: /workspace/out/, {artifact}}}]"
    assert problems(SPEC, tmp_path, job) == []


def test_a_path_by_parameter_alone_is_not_apart_where_the_gpu_is_swept_too(tmp_path: Path) -> None:
    job = JOB + "artifacts: [{label: out, remote_path: /workspace/out/, local_path: 'results/{seed}'}]"
    text = SPEC.replace("{params", "{gpu: [L4, A40], params")
    assert "artifacts[0].local_path" in complaint(text, tmp_path, job)


def test_one_cell_has_no_siblings_to_wipe(tmp_path: Path) -> None:
    job = JOB + "artifacts: [{label: out, remote_path: /workspace/out/, local_path: results}]"
    assert problems(SPEC.replace("[1, 2]", "[1]"), tmp_path, job) == []


def test_a_network_volume_is_fine_for_one_shard_at_a_time(tmp_path: Path) -> None:
    job = JOB.replace("mode: ephemeral, volume_gb: 10", "mode: network_volume, volume_name: data")
    assert problems(SPEC + "max_parallel: 1\n", tmp_path, job) == []


def test_run_dirs_that_cannot_be_written_are_noticed_before_a_pod_is(tmp_path: Path) -> None:
    (tmp_path / "artifacts").write_text("a file where a directory belongs\n")
    assert "cannot be written" in complaint(SPEC, tmp_path)


# ---- nodus.dev --------------------------------------------------------------------------------------------


def test_an_image_and_a_command_need_no_config(tmp_path: Path) -> None:
    assert argv(NODUS, tmp_path, None)[:4] == ("runpod-deploy", "run", "--config", "\0attempt_dir\0/job.yaml")


@pytest.mark.parametrize(
    ("change", "words"),
    [
        pytest.param(("L4", "A10"), ["A10", "table"], id="unmapped"),
        pytest.param(("gpu: [L4]", ""), ["gpu", "which GPU"], id="no-gpu"),
    ],
)
def test_a_template_that_names_no_machine_of_the_provider_is_refused(
    tmp_path: Path, change: tuple[str, str], words: list[str]
) -> None:
    found = " ".join(problems(NODUS.replace(*change), tmp_path, None))
    assert all(word in found for word in words), found


def test_a_command_without_an_image_is_refused(tmp_path: Path) -> None:
    text = "name: x\nrunner: runpod-deploy\ncommand: [python, x.py]\ngpu: L4\ncost_cap_usd: 1\n"
    assert "image" in complaint(text, tmp_path, None)
