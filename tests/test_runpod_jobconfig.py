"""The concrete job config of one attempt: nothing shared with a sibling, everything else as the template has it."""

from __future__ import annotations

import json
import subprocess
import textwrap
from pathlib import Path

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from sweeptool.errors import SweepError
from sweeptool.layout import AttemptDir
from sweeptool.runners.runpod import jobconfig
from sweeptool.runners.runpod import template as templates
from sweeptool.runners.runpod.runner import RUNNER

TEMPLATE = """
name: lora-{seed}
state_file: ~/.runpod-deploy-current
local: {project_root: ../.., required_paths: [data]}
pod: {image: org/trainer:1, datacenters: [EU-RO-1], gpu_order: [NVIDIA L4], container_disk_gb: 30}
storage: {mode: ephemeral, volume_gb: 10, volume_mount: /workspace}
budget: {assumed_hourly_rate_usd: 0.5, poll_interval_sec: 20}
variables: {seed: "0", repo: "/workspace/x-{seed}", here: "{config_dir}/x"}
remote_env: {source_files: [/root/.env], exports: {UV_LINK_MODE: copy}}
run:
  script_path: "{repo}/job.sh"
  log_path: "{repo}/run.log"
  success_marker: DONE
  body: |
    set -e
    python3 train.py --seed {seed}
    echo DONE
lifecycle: {on_failure: stop}
"""


def job(**changes: object) -> dict[str, object]:
    settings = {"command": None, "image": None, "env": {}, "secrets": [], "placement": [], "on_complete": None}
    settings |= {"instance_type": None, "datacenter": None, **changes.pop("settings", {})}  # type: ignore[dict-item]
    return {
        "index": 3,
        "id": "41-abc",
        "name": "lora-3",
        "config": "configs/runpod/job.yaml",
        "gpu": None,
        "region": None,
        "params": {"seed": "41"},
        "repetition": 0,
        "price_per_hour_usd": "0.50",
        "cost_cap_usd": "5.00",
        "max_runtime": 90,
        "sweep": "lora",
        "sweep_id": "lora-20261129-031337",
        "sweep_size": 8,
        "attempt": 2,
        "dialect": "native",
        "settings": settings,
        **changes,
    }


def prepared(project: Path, template: str = TEMPLATE, **changes: object) -> dict[str, object]:
    config = project / "configs" / "runpod" / "job.yaml"
    config.parent.mkdir(parents=True, exist_ok=True)
    config.write_text(textwrap.dedent(template))
    attempt = AttemptDir(project / "attempt")
    attempt.path.mkdir(exist_ok=True)
    RUNNER.prepare({**job(), "attempt": 1, **job(**{"attempt": 1, **changes})}, attempt, project)
    return dict(yaml.safe_load(attempt.config.read_text()))


def test_what_is_not_the_cells_stays_as_the_template_has_it(tmp_path: Path) -> None:
    made, template = prepared(tmp_path), yaml.safe_load(TEMPLATE)
    for name in ("name", "storage", "lifecycle", "pod"):
        assert made[name] == template[name]
    assert made["local"] == {"project_root": str(tmp_path), "required_paths": ["data"]}
    assert made["budget"]["poll_interval_sec"] == 20
    assert made["remote_env"]["source_files"] == ["/root/.env"]
    assert made["remote_env"]["exports"]["UV_LINK_MODE"] == "copy"
    assert made["run"]["body"].endswith(template["run"]["body"])


def test_the_cells_values_stand_before_the_variables_that_depend_on_them(tmp_path: Path) -> None:
    variables = prepared(tmp_path)["variables"]
    assert variables["seed"] == "41"
    names = list(variables)
    assert names.index("seed") < names.index("config_dir") < names.index("repo") < names.index("here")
    assert variables["config_dir"] == str(tmp_path / "configs" / "runpod")


def test_state_file_and_pod_name_are_this_attempts_alone(tmp_path: Path) -> None:
    made = prepared(tmp_path)
    assert made["state_file"] == str(tmp_path / "attempt" / "pod.json")
    assert made["run_id_prefix"] == "lora-41-lora-20261129-031337-3-a1"


def test_the_bounds_are_in_the_config_too_so_that_it_can_be_run_by_hand(tmp_path: Path) -> None:
    budget = prepared(tmp_path)["budget"]
    assert (budget["cost_cap_usd"], budget["assumed_hourly_rate_usd"], budget["max_runtime_minutes"]) == (5.0, 0.5, 2)


@pytest.mark.parametrize(
    ("changes", "pod"),
    [
        ({"gpu": "H100!:8"}, {"gpu_order": ["NVIDIA H100 80GB HBM3"], "gpu_count": 8}),
        ({"gpu": "A100"}, {"gpu_order": ["NVIDIA A100 80GB PCIe", "NVIDIA A100-SXM4-80GB"], "gpu_count": 1}),
        ({"gpu": "NVIDIA L40S"}, {"gpu_order": ["NVIDIA L40S"]}),
        ({"settings": {"instance_type": "a40"}}, {"gpu_order": ["NVIDIA A40"]}),
        ({"region": "ca"}, {"datacenters": ["CA-MTL-1", "CA-MTL-3", "CA-MTL-2"]}),
        ({"region": "EU-SE-1"}, {"datacenters": ["EU-SE-1"]}),
        ({"region": "eu", "settings": {"datacenter": "US-TX-3"}}, {"datacenters": ["US-TX-3"]}),
        ({"settings": {"placement": ["ap", "oc"]}}, {"datacenters": ["AP-JP-1", "OC-AU-1"]}),
        ({"settings": {"image": "org/other:2"}}, {"image": "org/other:2"}),
    ],
    ids=[
        "exact-and-count",
        "family",
        "provider's-id",
        "instance-type",
        "region",
        "one",
        "datacenter",
        "placement",
        "image",
    ],
)
def test_gpu_region_and_image_become_the_pods(
    tmp_path: Path, changes: dict[str, object], pod: dict[str, object]
) -> None:
    made = prepared(tmp_path, **changes)["pod"]
    assert {name: made[name] for name in pod} == pod


@pytest.mark.parametrize(
    ("word", "action"), [("terminate", "delete"), ("delete", "delete"), ("stop", "stop"), ("preserve", "preserve")]
)
def test_on_complete_is_the_pods_lifecycle(tmp_path: Path, word: str, action: str) -> None:
    made = prepared(tmp_path, settings={"on_complete": word})
    assert made["lifecycle"] == {"on_success": action, "on_failure": action}


@pytest.mark.parametrize("value", ["a/b c", "50%d-%Y", "日本", "x" * 300])
def test_a_value_in_the_name_of_a_pod_is_made_safe(tmp_path: Path, value: str) -> None:
    prefix = str(prepared(tmp_path, params={"seed": value})["run_id_prefix"])
    assert all(character.isascii() and (character.isalnum() or character in "._-") for character in prefix)
    assert prefix.endswith("-lora-20261129-031337-3-a1")
    assert len(prefix) < 120


def test_secrets_of_the_spec_go_by_name_into_the_runners_own_mechanism(tmp_path: Path) -> None:
    made = prepared(tmp_path, settings={"secrets": ["HF_TOKEN"]})
    assert made["secrets"][-1]["env"] == ["HF_TOKEN"]
    assert "sweeptool.env" in made["run"]["body"]


def test_the_config_is_for_its_owners_eyes(tmp_path: Path) -> None:
    prepared(tmp_path)
    assert (tmp_path / "attempt" / "job.yaml").stat().st_mode & 0o777 == 0o600


def test_a_shebang_stays_the_first_line(tmp_path: Path) -> None:
    body = prepared(tmp_path, TEMPLATE.replace("set -e", "#!/usr/bin/env bash\n    set -e"))["run"]["body"]
    assert body.splitlines()[0] == "#!/usr/bin/env bash"


# ---- an image and a command -------------------------------------------------------------------------------


def translated(project: Path, command: object, **changes: object) -> dict[str, object]:
    settings = {"image": "nodus/pytorch", "command": command, **changes.pop("settings", {})}  # type: ignore[dict-item]
    return prepared(project, config=None, gpu="L4", settings=settings, name="bench-3", **changes)


def test_an_image_and_a_command_become_a_job_that_leaves_no_pod(tmp_path: Path) -> None:
    made = translated(tmp_path, ["python", "bench.py"])
    assert made["pod"]["image"] == "nodus/pytorch"
    assert made["pod"]["gpu_order"] == ["NVIDIA L4"]
    assert made["lifecycle"] == {"on_success": "delete", "on_failure": "delete"}
    assert made["artifacts"][0]["local_path"] == "{run_dir}"


def test_the_defaults_of_such_a_job_are_the_tables(tmp_path: Path) -> None:
    (tmp_path / "runpod.toml").write_text("[job]\nvolume_gb = 55\nssh_key = '~/keys/pod'\n")
    made = translated(tmp_path, ["true"])
    assert (made["storage"]["volume_gb"], made["ssh"]["key_path"]) == (55, "~/keys/pod")


def test_names_in_braces_are_the_cells_in_a_native_command_and_text_in_a_nodus_one(tmp_path: Path) -> None:
    assert "--seed 41" in translated(tmp_path, ["train", "--seed", "{seed}"])["run"]["body"]
    nodus = translated(tmp_path, ["python", "-c", "print(f'{seed}')"], dialect="nodus")["run"]["body"]
    assert "41" not in nodus.splitlines()[-3]


# ---- what the runner makes of it --------------------------------------------------------------------------


def as_the_runner_renders(made: dict[str, object]) -> str:
    """The script as it stands on the pod: variables in order, the body once, then bash's heredoc."""
    values = {"volume_mount": "/workspace", "run_id": "r", "run_dir": "/d", "job_name": "n", "project_root": "/p"}
    values["config_dir"] = "/attempt"
    for name, value in made["variables"].items():  # type: ignore[attr-defined]
        assert templates.names(value) <= values.keys()
        values[name] = templates.expand(value, values)
    body = made["run"]["body"]  # type: ignore[index]
    assert templates.names(body) <= values.keys()
    script = templates.expand(body, values)
    assert "BASH" not in script.split("\n")
    return script


def seen_by(script: str, name: str) -> str:
    """What a program started by the script finds in its environment."""
    probe = f"{script}\npython3 -c 'import os, sys; sys.stdout.buffer.write(os.environb[b\"{name}\"])'"
    done = subprocess.run(["bash", "-c", probe], capture_output=True, check=True)
    return done.stdout.decode()


VALUES = [
    "",
    "it's",
    '"',
    "$HOME",
    "`id`",
    "a\nb",
    "{x}",
    "{{x}}",
    "{work}",
    "BASH",
    "a\nBASH\nb",
    "\\",
    "日本",
    "\t",
    "*",
]


@pytest.mark.parametrize("value", VALUES)
def test_a_variable_of_the_spec_reaches_the_job_byte_for_byte(tmp_path: Path, value: str) -> None:
    script = as_the_runner_renders(translated(tmp_path, ["true"], settings={"env": {"NOTE": value}}))
    head = script.partition("export RUN_DIR")[0]
    assert seen_by(head, "NOTE") == value


@pytest.mark.parametrize("value", VALUES)
def test_an_argument_of_a_command_reaches_the_program_byte_for_byte(tmp_path: Path, value: str) -> None:
    script = as_the_runner_renders(translated(tmp_path, ["printf", "%s", value], dialect="nodus"))
    line = script.partition("export RUN_DIR")[2].partition("\n")[2].partition("\nstatus=")[0]
    assert subprocess.run(["bash", "-c", line], capture_output=True, check=True).stdout.decode() == value


def test_a_python_program_with_braces_survives_as_in_the_nodus_example(tmp_path: Path) -> None:
    program = 'bs = 32\nprint(f"batch {bs}: {1 + 1} {{bs}}")'
    script = as_the_runner_renders(translated(tmp_path, ["python3", "-c", program], dialect="nodus"))
    line = script.partition("export RUN_DIR")[2].partition("\n")[2].partition("\nstatus=")[0]
    done = subprocess.run(["bash", "-c", line], capture_output=True, check=True)
    assert done.stdout.decode() == "batch 32: 2 {bs}\n"


@given(st.dictionaries(st.from_regex(r"[a-z]{1,8}", fullmatch=True), st.text(st.characters(exclude_categories=["Cs"]))))
def test_the_runner_reads_back_the_very_objects_that_were_written(values: dict[str, str]) -> None:
    made = {"variables": values, "run": {"body": "\n".join(values.values())}, "n": [1, 0.5, True, None]}
    assert yaml.safe_load(jobconfig.dump(made)) == made


def test_a_template_that_went_away_is_said_in_one_line(tmp_path: Path) -> None:
    attempt = AttemptDir(tmp_path)
    with pytest.raises(SweepError, match="the job config cannot be read"):
        RUNNER.prepare(job(), attempt, tmp_path)


def test_the_json_of_a_frozen_cell_is_all_that_is_needed(tmp_path: Path) -> None:
    frozen = json.loads(json.dumps(job(attempt=1)))
    assert prepared(tmp_path, **frozen)["variables"]["seed"] == "41"
