"""What an attempt of runpod-deploy was, by what it left behind: a row a class, in the words of the real tools."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from sweeptool import manifest
from sweeptool.layout import MANIFEST, AttemptDir
from sweeptool.runners.base import Evidence, Verdict
from sweeptool.runners.runpod.reasons import REASONS
from sweeptool.runners.runpod.runner import RUNNER

TRACE = 'Traceback (most recent call last):\n  File "runpod_deploy/cli.py", line 351, in _cmd_run\n    run_job(\n'
CREATE = (
    "$ [runpodctl] runpodctl pod create --gpu-id 'NVIDIA L4' --image rig.invalid/t:1 --ports 22/tcp "
    "--name lora-41-lora-20261129-031337-0-a1-20261129T153055Z --volume-in-gb 10 --container-disk-in-gb 10\n"
)
RENTED = (
    CREATE + "$ [local] runpodctl pod get k3v9x2m1q8zt4a -o json\n"
    "[pod] k3v9x2m1q8zt4a RUNNING ssh=203.0.113.7:22022 gpu=NVIDIA L4\n"
)
DELETED = (
    "$ [runpodctl] runpodctl pod delete k3v9x2m1q8zt4a\n"
    "[lifecycle] pod 'k3v9x2m1q8zt4a' deleted; volume disk released\n"
)
HEALTHY = RENTED + "$ [ssh] ssh -T root@203.0.113.7 'grep -F Traceback run.log || grep -F Killed run.log'\n" + DELETED
MARKER = TRACE + "RuntimeError: remote log contains failure marker; tail:\n"
RSYNC = (
    TRACE + "subprocess.CalledProcessError: Command '['rsync', '-az', '-e', 'ssh -p 22022', "
    "'root@203.0.113.7:/workspace/out/', '/home/ada/lora/out']' returned non-zero exit status {}.\n"
)
SSHD = TRACE + (
    "RuntimeError: sshd never became ready; last_error=RemoteRunError('ssh command failed with exit 255: true\\n"
    "stdout=\\nstderr={}\\n')\n"
)
OUTBID = "Outbid: Sun Nov 29 2026 15:31:19 GMT+0000 (Coordinated Universal Time)"


def refused(answer: str, code: str = "bad_request") -> str:
    text = json.dumps({"error": answer, "code": code}, indent=2)
    return f"{TRACE}RuntimeError: pod create failed exit=1: stdout= stderr={text}\n\n"


def client(what: str, answer: str, code: str = "server_error") -> str:
    text = json.dumps({"error": answer, "code": code}, indent=2)
    return (
        f"{TRACE}RuntimeError: command failed: ['runpodctl', 'pod', '{what}', 'k3v9x2m1q8zt4a', '-o', 'json']\n"
        f"stdout=\nstderr={text}\n\n"
    )


@dataclass(frozen=True)
class Left:
    """What one attempt left behind; by default that of a job that ran, failed or not, on a healthy pod."""

    exit_code: int | None = 1
    stderr: str = ""
    stdout: str = HEALTHY
    failed: bool | None = True  # None: no manifest
    state: str | None = "RUNNING"
    change: str = ""
    events: tuple[str, ...] = ("gpu_selected",)
    artifact: str | None = "success"
    manifest: dict[str, object] = field(default_factory=dict)
    metrics: tuple[dict[str, object], ...] = ()
    interrupted: bool = False
    log: str = ""  # as it was pulled


def judge(left: Left, where: Path) -> Verdict:
    attempt, run_dir = AttemptDir(where / "attempt-1"), where / "run"
    attempt.path.mkdir()
    run_dir.mkdir()
    attempt.stdout.write_text(f"RUN_DIR={run_dir}\n{left.stdout}")
    attempt.stderr.write_text(left.stderr)
    attempt.config.write_text(
        "run_id_prefix: lora-41-lora-20261129-031337-0-a1\nvariables: {rank: '8'}\n"
        "run: {log_path: '{remote_workspace_dir}/train-{rank}.log', failure_markers: [LORA_FAILED, Traceback]}\n"
    )
    if left.log:
        (run_dir / "train-8.log").write_text(left.log)
    (run_dir / "events.jsonl").write_text("".join(json.dumps({"event": each}) + "\n" for each in left.events))
    (run_dir / "metrics.jsonl").write_text("".join(json.dumps(each) + "\n" for each in left.metrics))
    if left.change:
        (run_dir / "pod_describe_end.json").write_text(json.dumps({"lastStatusChange": left.change}))
    found = None
    if left.failed is not None:
        said = {
            "schema_version": "v2",
            "failed": left.failed,
            "run_id": "lora-41-lora-20261129-031337-0-a1-20261129T153055Z",
            "pod_id": "k3v9x2m1q8zt4a",
            "pod_final_state": left.state,
            "estimated_cost_usd": 0.0011,
            "artifacts": [{"label": "results", "required": True, "status": left.artifact}],
            **left.manifest,
        }
        (run_dir / MANIFEST).write_text(json.dumps(said))
        found = manifest.read(run_dir / MANIFEST)
    return RUNNER.verdict(Evidence(left.exit_code, run_dir, found, attempt, {}, left.interrupted))


AGAIN, HALT, FREE = "again", "halt", "free"
NO_POD = {"stdout": "", "failed": None, "events": ()}
UNCREATED = {"stdout": CREATE, "failed": None, "events": ()}
UNREADY = {"stdout": RENTED + DELETED.splitlines(keepends=True)[0], "failed": None, "events": ()}
ORPHANED = "[lifecycle] pod 'k3v9x2m1q8zt4a' failed to reach SSH-ready; deleting to release compute + disk billing\n"

CLASSES = [
    # ---- this side
    ("usage", {HALT, FREE}, Left(2, "usage: runpod-deploy run [-h]\nrunpod-deploy run: error: argument --var\n", **NO_POD)),
    ("not_found", {HALT, FREE}, Left(127, "driver.sh: line 9: runpod-deploy: command not found\n", **NO_POD)),
    ("config", {HALT, FREE}, Left(1, TRACE + "KeyError: \"unknown pod keys: ['gpus']; expected subset of [...]\"\n", **NO_POD)),
    ("config", {HALT, FREE}, Left(1, TRACE + "ValueError: pod.image must be non-empty\n", **NO_POD)),
    ("config", {HALT, FREE}, Left(1, TRACE + "TypeError: variables['seed'] must be str, got int\n", **NO_POD)),
    ("config", {HALT, FREE}, Left(1, TRACE + "yaml.scanner.ScannerError: mapping values are not allowed\n", **NO_POD)),
    ("config", {HALT, FREE}, Left(1, TRACE + "FileNotFoundError: required local paths are missing: ['d']\n", **NO_POD)),
    ("config", {HALT}, Left(1, TRACE + "KeyError: \"unknown template variable 'HOME' in 'cd {HOME}'\"\n", artifact=None)),
    ("budget_precheck", {HALT, FREE}, Left(1, TRACE + "RuntimeError: configured timeout exceeds cost cap under the assumed hourly rate\n", **NO_POD)),
    ("tool_missing", {HALT}, Left(1, TRACE + "FileNotFoundError: [Errno 2] No such file or directory: 'runpodctl'\n", **NO_POD)),
    ("secret_missing", {HALT}, Left(1, TRACE + "KeyError: \"secret 'hf' requires env var 'HF_TOKEN', which is not set in the local environment\"\n", artifact=None)),
    ("secret_missing", {HALT}, Left(1, TRACE + "FileNotFoundError: secret 'hf' source file not found: /home/ada/.hf\n", artifact=None)),
    ("unwritable", {HALT, "leaked"}, Left(1, TRACE + "NotADirectoryError: [Errno 20] Not a directory: '/home/ada/lora/artifacts/runpod/20261129T153055Z'\n", RENTED, failed=None, events=())),
    # ---- the provider
    ("credentials", {HALT, FREE}, Left(1, refused("invalid API key", "unauthorized"), **UNCREATED)),
    ("credentials", {HALT, FREE}, Left(1, client("get", "no API key", "no_credentials").replace("'pod', 'get'", "'datacenter', 'list'"), **NO_POD)),
    ("money", {HALT, FREE}, Left(1, refused("Your balance is insufficient to rent this pod"), **UNCREATED)),
    ("money", {HALT, FREE}, Left(1, refused("You have reached your spend limit"), **UNCREATED)),
    ("stock_out", {AGAIN, FREE}, Left(1, TRACE + "RuntimeError: no configured GPU available across datacenters ['EU-RO-1'] for gpu_order ['NVIDIA L4']\n", **NO_POD)),
    ("stock_out", {AGAIN, FREE}, Left(1, refused("This machine does not have the resources to deploy your pod."), **UNCREATED)),
    ("stock_out", {AGAIN, FREE}, Left(1, refused("There are no longer any instances available"), **UNCREATED)),
    ("stock_out", {AGAIN, FREE}, Left(1, refused("not enough free GPUs on the host"), **UNCREATED)),
    ("rate_limit", {AGAIN, FREE}, Left(1, refused("429 Too Many Requests", "rate_limited"), **UNCREATED)),
    ("rate_limit", {AGAIN}, Left(1, ORPHANED + client("get", "429 Too Many Requests"), **UNREADY)),
    ("create_unclear", {AGAIN, "leaked"}, Left(1, refused("502 Bad Gateway", "server_error"), **UNCREATED)),
    ("create_unclear", {AGAIN, "leaked"}, Left(1, refused("context deadline exceeded: timeout", "network_error"), **UNCREATED)),
    ("create_unclear", {AGAIN, "leaked"}, Left(1, TRACE + "json.decoder.JSONDecodeError: Expecting value: line 1 column 1 (char 0)\n", **UNCREATED)),
    ("create", set(), Left(1, refused("gpu type NVIDIA L5 not found"), **UNCREATED)),
    ("volume", {FREE}, Left(1, TRACE + "RuntimeError: volume 'data' is in EU-SE-1, expected EU-RO-1\n", **NO_POD)),
    ("volume", {FREE}, Left(1, TRACE + "RuntimeError: volume 'data' not found; observed=['old']\n", **NO_POD)),
    ("never_ready", {AGAIN}, Left(1, ORPHANED + TRACE + "RuntimeError: pod k3v9x2m1q8zt4a did not become SSH-ready in 900s; last={'uptimeSeconds': 0}\n", **UNREADY)),
    ("never_ready", {AGAIN, "leaked"}, Left(1, ORPHANED + "[warn] orphan-pod delete failed for 'k3v9x2m1q8zt4a': stdout= stderr=500\n" + TRACE + "RuntimeError: pod k3v9x2m1q8zt4a did not become SSH-ready in 900s; last={}\n", **UNREADY)),
    ("provider", {AGAIN}, Left(1, ORPHANED + client("get", "503 Service Unavailable"), **UNREADY)),
    # ---- the fate of the pod
    ("pod_killed", {AGAIN}, Left(1, MARKER + "Killed\n", state="TERMINATED", change=OUTBID, events=("gpu_selected", "pod_killed_unexpected"))),
    ("pod_killed", {AGAIN}, Left(1, MARKER + "Killed\n", state="EXITED", change=OUTBID)),
    ("pod_killed", {AGAIN}, Left(1, MARKER + "Killed\n", state="EXITED", change="Exited by Runpod: Sun Nov 29 2026")),
    ("killed_by_user", set(), Left(1, MARKER + "Killed\n", state="EXITED", change="Exited by user: Sun Nov 29 2026")),
    ("killed_by_user", set(), Left(1, MARKER + "Killed\n", state="TERMINATED", change="Terminated by user: Sun Nov 29")),
    ("pod_lost", {AGAIN}, Left(1, TRACE + "TimeoutError: remote job exceeded timeout/cost cap of 60 minutes\n", state="EXITED")),
    ("pod_lost", {AGAIN, "degraded"}, Left(1, "[warn] optional pull skipped for /out: Command '['rsync', '-az']' returned non-zero exit status 255.\n" + TRACE + "TimeoutError: remote job exceeded timeout/cost cap of 60 minutes\n", state=None, artifact="failed")),
    ("pod_lost", {AGAIN}, Left(1, TRACE + "TimeoutError: remote job exceeded timeout/cost cap of 60 minutes\n", metrics=({"ts_utc": "t", "gpu_util_pct": 37}, {"ts_utc": "u"}))),
    # ---- the way to it
    ("ssh", {AGAIN}, Left(1, SSHD.format("ssh: connect to host 203.0.113.7 port 22022: Connection refused"), artifact=None)),
    ("ssh_key", {HALT}, Left(1, SSHD.format("root@203.0.113.7: Permission denied (publickey)."), artifact=None)),
    ("host_key", {AGAIN}, Left(1, SSHD.format("Host key verification failed."), artifact=None)),
    ("ssh", {AGAIN}, Left(1, TRACE + "subprocess.TimeoutExpired: Command '['ssh', '-p', '22022', 'tail']' timed out after 30 seconds\n")),
    ("ssh", {AGAIN}, Left(1, TRACE + "runpod_deploy.transport.RemoteRunError: ssh command failed with exit 255: mkdir -p /workspace\nstdout=\nstderr=\n", artifact=None)),
    ("setup", {AGAIN}, Left(1, TRACE + "runpod_deploy.transport.RemoteRunError: ssh command failed with exit 1: uv sync\nstdout=\nstderr=no space\n", artifact=None)),
    ("setup", {AGAIN}, Left(1, TRACE + "RuntimeError: remote job did not create /workspace/run.log\n", artifact=None)),
    ("transfer", {AGAIN}, Left(1, RSYNC.format(12), artifact="failed")),
    ("transfer", {AGAIN}, Left(1, RSYNC.format(30), artifact="failed")),
    ("transfer", set(), Left(1, RSYNC.format(23), artifact="failed")),
    ("transfer", set(), Left(1, RSYNC.format(11), artifact="failed")),
    ("transfer", {AGAIN}, Left(1, TRACE + "subprocess.TimeoutExpired: Command '['rsync', '-az']' timed out after 1800 seconds\n")),
    # ---- the job
    ("timeout", set(), Left(1, TRACE + "TimeoutError: remote job exceeded timeout/cost cap of 60 minutes\n")),
    ("job", set(), Left(1, MARKER + "step 41\nValueError: shapes do not match\n__RUNPOD_DEPLOY_FAIL__\n")),
    # ---- what a success lacks
    ("no_manifest", set(), Left(0, "", HEALTHY, failed=None)),
    ("manifest", set(), Left(0, "", failed=True)),
    ("artifact", set(), Left(0, "", failed=False, artifact=None)),
    ("collision", set(), Left(0, "", failed=False, events=("gpu_selected", "gpu_selected"))),
    ("collision", set(), Left(0, "", failed=False, manifest={"run_id": "other-20261129T153055Z"})),
    ("collision", set(), Left(0, "", failed=False, manifest={"pod_id": "zzzzzzzzzzzzzz"})),
    ("exit", set(), Left(1, TRACE + "SomethingNew: nobody has seen this\n")),
    # ---- stopped
    ("interrupted", set(), Left(130, TRACE + "KeyboardInterrupt\n", failed=False, artifact=None)),
    ("interrupted", {"leaked"}, Left(143, "", RENTED, failed=None)),
    ("interrupted", {"leaked"}, Left(137, "", RENTED, failed=None)),
    ("interrupted", {"leaked"}, Left(130, TRACE + "KeyboardInterrupt\n", CREATE, failed=None)),
    ("interrupted", set(), Left(129, "", "", failed=None, events=())),
    ("interrupted", set(), Left(1, RSYNC.format(20), interrupted=True, artifact=None)),
    ("interrupted", set(), Left(None, "", failed=False)),
]  # fmt: skip


@pytest.mark.parametrize(
    ("reason", "marks", "left"),
    [pytest.param(*row, id=f"{row[0]}-{number}") for number, row in enumerate(CLASSES)],
)
def test_each_class_of_failure_is_told_by_its_evidence(
    tmp_path: Path, reason: str, marks: set[str], left: Left
) -> None:
    found = judge(left, tmp_path)
    assert found.reason == reason, found
    assert found.state == ("interrupted" if reason == "interrupted" else "failed")
    assert found.detail
    assert {*found.flags, *_marks(found)} == marks


def _marks(found: Verdict) -> set[str]:
    return {name for name, holds in ((AGAIN, found.transient), (HALT, found.halt), (FREE, found.free)) if holds}


def test_every_reason_of_the_table_has_a_row() -> None:
    assert {row[0] for row in CLASSES} == set(REASONS)


@pytest.mark.parametrize("reason", ["pod_killed", "stock_out", "ssh"])
def test_the_reasons_that_specs_name_under_retry_exist(reason: str) -> None:
    assert reason in REASONS


def test_success_is_exit_0_and_a_manifest_of_its_own_that_bears_it_out(tmp_path: Path) -> None:
    found = judge(Left(0, "", failed=False), tmp_path)
    assert (found.state, found.reason, found.flags) == ("succeeded", "", ())


def test_a_job_may_print_whatever_it_likes_into_a_successful_log(tmp_path: Path) -> None:
    noise = "Traceback (most recent call last):\nKilled\nCUDA out of memory\n[warn] failed to delete pod x: no\n"
    found = judge(Left(0, "", HEALTHY + noise, failed=False), tmp_path)
    assert (found.state, found.flags) == ("succeeded", ())


def test_what_a_failed_job_prints_is_never_taken_for_the_runners_own_words(tmp_path: Path) -> None:
    spoof = refused("Your balance is insufficient", "unauthorized") + SSHD.format("Permission denied (publickey")
    assert judge(Left(1, MARKER + spoof), tmp_path).reason == "job"


def test_what_a_setup_command_prints_is_never_taken_for_the_runners_own_words(tmp_path: Path) -> None:
    failed = TRACE + "runpod_deploy.transport.RemoteRunError: ssh command failed with exit 1: ./setup.sh\nstdout="
    assert judge(Left(1, failed + refused("no funds"), artifact=None), tmp_path).reason == "setup"


@pytest.mark.parametrize(
    ("printed", "told"),
    [
        pytest.param("torch.OutOfMemoryError: CUDA out of memory. Tried to allocate", "out of GPU memory", id="oom"),
        pytest.param("OSError: [Errno 28] No space left on device", "its disk was full", id="disk"),
        pytest.param("job.sh: line 5:   812 Killed    python train.py", "killed, perhaps for memory", id="killed"),
        pytest.param("ValueError: shapes do not match", "ValueError: shapes do not match", id="its-own-last-line"),
        pytest.param("no such file: x\nLORA_FAILED", "no such file: x", id="not-the-marker"),
        pytest.param("no such file: x\nLORA_FAILED exit 3", "exit 3: no such file: x", id="and-its-exit"),
    ],
)
def test_the_detail_of_a_failed_job_says_what_it_died_of(tmp_path: Path, printed: str, told: str) -> None:
    found = judge(Left(1, f"{MARKER}epoch 3\n{printed}\n__RUNPOD_DEPLOY_FAIL__\n"), tmp_path)
    assert found.detail.startswith(told)
    assert "RUNPOD_DEPLOY" not in found.detail


@pytest.mark.parametrize(
    ("printed", "told"),
    [
        pytest.param("CUDA out of memory. Tried to allocate 4 GiB", "out of GPU memory: CUDA", id="known"),
        pytest.param("no such file: x\nLORA_FAILED exit 3", "exit 3: no such file: x", id="its-own-words"),
    ],
)
def test_what_a_job_died_of_is_in_its_pulled_log_where_the_quoted_tail_is_older(
    tmp_path: Path, printed: str, told: str
) -> None:
    log = "step 1 Killed\n" + "step\n" * 100 + f"epoch 3\n{printed}\n__RUNPOD_DEPLOY_FAIL__\n"
    assert judge(Left(1, f"{MARKER}epoch 3\n", log=log), tmp_path).detail.startswith(told)


def test_the_detail_of_a_refused_creation_is_the_providers_answer(tmp_path: Path) -> None:
    found = judge(Left(1, refused("This machine does not have the resources"), **UNCREATED), tmp_path)
    assert found.detail == "This machine does not have the resources"


@pytest.mark.parametrize(
    ("stderr", "flags"),
    [
        ("[warn] failed to delete pod k3v9x2m1q8zt4a: stdout= stderr=500\n", ("leaked",)),
        ("[warn] failed to stop pod k3v9x2m1q8zt4a: stdout= stderr=500\n", ("leaked",)),
        ("runpodctl pod create does not support --spot in the locally-installed version; skipping\n", ("degraded",)),
        ("[telemetry] pod_describe.costPerHr missing or zero (got None); falling back\n", ("degraded",)),
        ("[warn] optional pull skipped for /workspace/plots: rsync\n", ("degraded",)),
        ("[metadata] git rev-parse HEAD exited 128\n", ()),
    ],
    ids=["delete", "stop", "spot", "price", "optional-artifact", "chatter"],
)
def test_a_success_with_a_flaw_is_a_success_with_a_flag(tmp_path: Path, stderr: str, flags: tuple[str, ...]) -> None:
    found = judge(Left(0, stderr, failed=False), tmp_path)
    assert (found.state, found.flags) == ("succeeded", flags)


def test_an_optional_artifact_that_failed_is_no_failure(tmp_path: Path) -> None:
    plots = [{"label": "plots", "required": False, "status": "failed"}]
    assert judge(Left(0, "", failed=False, manifest={"artifacts": plots}), tmp_path).state == "succeeded"


def test_a_pod_stopped_on_purpose_for_a_look_is_not_called_leaked(tmp_path: Path) -> None:
    stopped = "[lifecycle] pod 'k3v9x2m1q8zt4a' stopped for forensics.\n  Volume disk (10 GB) continues billing\n"
    assert judge(Left(1, stopped + MARKER + "boom\n", RENTED), tmp_path).flags == ()
