"""The local runner: what it makes of a cell, what its program does with a job, what it thinks of an attempt."""

from __future__ import annotations

import json
import os
import re
import resource
import signal
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from decimal import Decimal
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sweeptool import layout, manifest, money, rundir
from sweeptool.errors import SweepError
from sweeptool.runners.local import process, record
from tests.conftest import Project

LOCAL_RUN = [sys.executable, "-m", "sweeptool", "local-run"]
V2 = [
    "schema_version",
    "pulled_at_utc",
    "failed",
    "job_name",
    "run_id",
    "config_path",
    "storage_mode",
    "datacenter_id",
    "gpu_id",
    "gpu_price_per_hour_usd",
    "gpu_price_source",
    "pod_id",
    "pod_final_state",
    "pod_resumed",
    "image",
    "cost_cap_usd",
    "wall_time_sec",
    "estimated_cost_usd",
    "volume_mount",
    "volume_name",
    "volume_gb",
    "deploy_metadata",
    "artifacts",
    "telemetry_files",
]


def run_dir(stdout: str) -> Path:
    return Path(stdout.splitlines()[0].removeprefix("RUN_DIR="))


def written(stdout: str) -> dict:
    return json.loads((run_dir(stdout) / layout.MANIFEST).read_text())


def events(stdout: str) -> list[dict]:
    return [json.loads(line) for line in (run_dir(stdout) / layout.EVENTS).read_text().splitlines()]


def start(here: Project, *words: str, **options: object) -> subprocess.Popen[str]:
    """Start local-run in the background, and return it once its job has said ``ready``."""
    started = subprocess.Popen(
        [*LOCAL_RUN, *words], cwd=here.path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, **options
    )
    lines = []
    while not lines or lines[-1] not in ("ready\n", ""):
        lines.append(started.stdout.readline())
    started.said = "".join(lines)
    return started


def alive(pid: int) -> bool:
    try:
        return not Path(f"/proc/{pid}/stat").read_text().rpartition(") ")[2].startswith("Z")
    except (FileNotFoundError, ProcessLookupError):
        return False


def gone(pid: int, seconds: float = 5) -> bool:
    until = time.monotonic() + seconds
    while alive(pid) and time.monotonic() < until:
        time.sleep(0.02)
    return not alive(pid)


# ---- the contract of a single-job runner


def test_first_line_of_stdout_is_the_absolute_run_dir(project):
    here = project()
    done = here.tool("local-run", "--print-run-dir", "--", "echo", "hello")
    first, second = done.stdout.splitlines()
    assert re.fullmatch(rf"RUN_DIR={re.escape(str(here.path))}/artifacts/local/\d{{8}}T\d{{6}}Z-[0-9a-f]{{6}}", first)
    assert second == "hello"


def test_the_names_it_writes_are_those_of_the_layout():
    assert (record.MANIFEST, record.EVENTS) == (layout.MANIFEST, layout.EVENTS)


def test_manifest_has_every_key_of_version_2(project):
    done = project().tool("local-run", "--", "true")
    assert [key for key in written(done.stdout) if key != "local"] == V2


def test_manifest_records_what_it_was_called_with(project):
    words = ["--job-name", "lr-3", "--gpu", "L4", "--region", "eu", "--image", "some/image", "--spot", "true"]
    words += [
        "--instance-type",
        "g6.xlarge",
        "--price-per-hour-usd",
        "0.43",
        "--cost-cap-usd",
        "1.5",
        "--var",
        "lr=010",
    ]
    found = written(project().tool("local-run", *words, "--", "true").stdout)
    assert found["failed"] is False
    assert (found["job_name"], found["gpu_id"], found["datacenter_id"]) == ("lr-3", "L4", "eu")
    assert (found["gpu_price_per_hour_usd"], found["gpu_price_source"]) == (0.43, "assumed_rate")
    assert (found["cost_cap_usd"], found["image"]) == (1.5, "some/image")
    assert found["local"]["params"] == {"lr": "010"}
    assert (found["local"]["spot"], found["local"]["instance_type"]) == (True, "g6.xlarge")


def test_our_own_reader_finds_nothing_odd_in_the_manifest(project):
    done = project().tool("local-run", "--gpu", "L4", "--price-per-hour-usd", "0.43", "--", "true")
    assert manifest.read(run_dir(done.stdout) / layout.MANIFEST).oddities == ()


def test_cost_is_price_times_wall_time_to_six_places(project):
    done = project().tool("local-run", "--price-per-hour-usd", "3600", "--", "sleep", "0.3")
    found = json.loads((run_dir(done.stdout) / layout.MANIFEST).read_text(), parse_float=Decimal)
    assert Decimal("0.3") <= found["wall_time_sec"] < 3
    assert found["estimated_cost_usd"] == found["wall_time_sec"]


def test_without_a_price_the_cost_is_unknown_not_zero(project):
    found = written(project().tool("local-run", "--", "true").stdout)
    assert found["estimated_cost_usd"] is None
    assert found["gpu_price_per_hour_usd"] is None


def test_events_have_the_runners_names_and_spelling(project):
    done = project().tool("local-run", "--gpu", "L4", "--region", "eu", "--", "true")
    assert [event["event"] for event in events(done.stdout)] == [
        "gpu_selected",
        "remote_step_started",
        "remote_step_completed",
    ]
    first = (run_dir(done.stdout) / layout.EVENTS).read_text().splitlines()[0]
    assert re.fullmatch(
        r'\{"ts_utc": "[-0-9T:.]+\+00:00", "event": "gpu_selected", "gpu_id": "L4", "datacenter_id": "eu"\}', first
    )


def test_steps_that_the_job_marks_become_events_once_each(project):
    text = "__RUNPOD_STEP_START__load__\\n__RUNPOD_STEP_DONE__load__\\n__RUNPOD_STEP_START__load__\\n"
    done = project().tool("local-run", "--", "printf", text)
    assert [(event["event"], event["name"]) for event in events(done.stdout)[2:-1]] == [
        ("remote_step_started", "load"),
        ("remote_step_completed", "load"),
    ]


def test_output_goes_to_our_streams_and_both_to_the_log(project):
    done = project().tool("local-run", "--", "bash", "-c", "echo out; echo err >&2; printf end")
    assert done.stdout.splitlines()[1:] == ["out", "end"]
    assert done.stderr == "err\n"
    log = (run_dir(done.stdout) / "run.log").read_text()
    assert sorted(log.replace("end", "end\n").splitlines()) == ["end", "err", "out"]


def test_output_that_is_no_text_passes_byte_for_byte(project):
    script = r"printf '\xff\x00\r\n\xe2\x80'"
    done = subprocess.run([*LOCAL_RUN, "--", "bash", "-c", script], cwd=project().path, capture_output=True, check=True)
    assert done.stdout.partition(b"\n")[2] == b"\xff\x00\r\n\xe2\x80"


@pytest.mark.parametrize(
    ("name", "value"),
    [
        pytest.param("lr", "1e-4", id="plain"),
        pytest.param("learning-rate", "x", id="hyphen"),
        pytest.param("a.b", "x", id="dot"),
        pytest.param("größe", "日本", id="unicode"),
        pytest.param("a", "", id="empty"),
        pytest.param("a", "b=c=d", id="equals"),
        pytest.param("a", "--x", id="leading-dashes"),
        pytest.param("a", "line one\nline two\n", id="newlines"),
        pytest.param("a", "$HOME `id` 'q' \"q\" {x} \\", id="shell"),
        pytest.param("a", "x" * 100_000, id="100-kB"),
    ],
)
def test_parameters_reach_the_job_byte_for_byte(project, name, value):
    script = "import os, sys; v = os.environ; sys.stdout.write(repr((v['PARAM_' + sys.argv[1]], v['NODUS_PARAM_' + sys.argv[1]])))"
    done = project().tool("local-run", "--var", f"{name}={value}", "--", sys.executable, "-c", script, name)
    assert done.stdout.partition("\n")[2] == repr((value, value))


@given(st.lists(st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"])), min_size=1))
def test_everything_after_the_dashes_is_the_command_as_it_is(command):
    if not command[0]:
        command[0] = "x"
    assert process.parse(["--job-name", "--", "--", *command]).command == command


def test_job_knows_its_run_dir(project):
    done = project().tool("local-run", "--", "bash", "-c", 'echo "$RUN_DIR"; echo "$SWEEPTOOL_RUN_DIR"; ls "$RUN_DIR"')
    named, again, *files = done.stdout.splitlines()[1:]
    assert (named, again) == (str(run_dir(done.stdout)),) * 2
    assert "events.jsonl" in files


def test_job_has_an_empty_stdin(project):
    done = project().tool("local-run", "--", "cat", stdin="not for the job")
    assert done.stdout.splitlines()[1:] == []


def test_job_runs_where_the_runner_was_called(project):
    here = project({"data.txt": "found\n"})
    assert here.tool("local-run", "--", "cat", "data.txt").stdout.splitlines()[1:] == ["found"]


def test_job_inherits_no_descriptors_but_the_three(project):
    here = project()
    with (here.path / "lock").open("w") as lock:
        done = subprocess.run(
            [*LOCAL_RUN, "--", "bash", "-c", "ls /proc/self/fd | wc -l"],
            cwd=here.path,
            pass_fds=[lock.fileno()],
            capture_output=True,
            text=True,
            check=True,
        )
    assert done.stdout.splitlines()[1:] == ["4"]  # ls has one of its own


def test_256_launches_in_one_second_have_256_run_dirs(tmp_path):
    with ThreadPoolExecutor(16) as pool:
        made = list(pool.map(lambda _: process._run_dir(str(tmp_path / "runs")), range(256)))
    assert len(set(made)) == 256 == len(list((tmp_path / "runs").iterdir()))


def test_run_dir_is_under_the_directory_asked_for(project):
    here = project()
    done = here.tool("local-run", "--artifacts-dir", "else where/it's", "--", "true")
    assert run_dir(done.stdout).parent == here.path / "else where/it's"


# ---- how a job ends


@pytest.mark.parametrize(
    ("script", "code", "reason"),
    [
        pytest.param("exit 0", 0, "", id="success"),
        pytest.param("exit 3", 3, "exit", id="its-own-code"),
        pytest.param("exit 255", 255, "exit", id="255"),
        pytest.param("kill -KILL $$", 137, "killed", id="killed"),
        pytest.param("kill -SEGV $$", 139, "killed", id="crashed"),
        pytest.param("exit 124", 124, "exit", id="124-is-not-always-a-timeout"),
        pytest.param("exec 1>&- 2>&-; sleep 0.2; exit 4", 4, "exit", id="closes-its-output-early"),
    ],
)
def test_exit_code_is_the_jobs_own(project, script, code, reason):
    done = project().tool("local-run", "--", "bash", "-c", script)
    found = written(done.stdout)
    assert (done.returncode, found["failed"], found["local"]["reason"]) == (code, code != 0, reason)


def test_job_killed_from_outside_leaves_the_event_of_a_killed_pod(project):
    done = project().tool("local-run", "--", "bash", "-c", "kill -KILL $$")
    found = [event for event in events(done.stdout) if event["event"] == "pod_killed_unexpected"]
    assert [event["note"] for event in found] == ["the job was killed by signal 9"]


@pytest.mark.parametrize(
    ("argv", "code", "reason", "error"),
    [
        pytest.param(
            ["no-such-program"], 127, "not_found", "error: no-such-program: command not found\n", id="missing"
        ),
        pytest.param(["./data"], 126, "not_runnable", "error: ./data: cannot be run: Permission denied\n", id="no-x"),
        pytest.param(["./text"], 126, "not_runnable", "error: ./text: cannot be run: Exec format error\n", id="no-#!"),
    ],
)
def test_command_that_cannot_be_started_is_a_failed_run_with_a_manifest(project, argv, code, reason, error):
    here = project({"data": "x", "text": "echo hi\n"})
    (here.path / "text").chmod(0o755)
    done = here.tool("local-run", "--price-per-hour-usd", "1", "--", *argv)
    found = written(done.stdout)
    assert (done.returncode, done.stderr) == (code, error)
    assert (found["failed"], found["local"]["reason"], found["estimated_cost_usd"]) == (True, reason, 0)


def test_time_limit_ends_the_job_and_all_it_started(project):
    here = project()
    began = time.monotonic()
    done = here.tool("local-run", "--max-runtime-seconds", "1", "--", "bash", "-c", "sleep 60 & echo $!; sleep 60")
    assert time.monotonic() - began < 5
    found = written(done.stdout)
    assert (done.returncode, found["failed"], found["local"]["reason"]) == (124, True, "timeout")
    assert found["wall_time_sec"] == 1
    assert gone(int(done.stdout.splitlines()[1]))


def test_job_that_ignores_the_request_to_end_is_killed(project, monkeypatch):
    here = project()
    script = "from sweeptool.runners.local import process; process.GRACE = 0.3; import sys; sys.exit(process.main(sys.argv[1:]))"
    words = ["--max-runtime-seconds", "1", "--", "bash", "-c", "trap '' TERM; echo $$; while :; do sleep 60; done"]
    done = here.run(sys.executable, "-c", script, *words)
    assert done.returncode == 124
    assert gone(int(done.stdout.splitlines()[1]))


def test_job_may_save_its_state_when_asked_to_end(project):
    script = "trap 'echo saved; exit 0' TERM; echo ready; sleep 60 & wait"
    done = project().tool("local-run", "--max-runtime-seconds", "1", "--", "bash", "-c", script)
    assert done.stdout.splitlines()[1:] == ["ready", "saved"]
    assert done.returncode == 124


def test_cost_cap_is_a_time_limit_at_the_given_price(project):
    done = project().tool("local-run", "--price-per-hour-usd", "36", "--cost-cap-usd", "0.01", "--", "sleep", "60")
    found = written(done.stdout)
    assert (done.returncode, found["wall_time_sec"], found["estimated_cost_usd"]) == (124, 1, 0.01)


@given(price=st.integers(1, 10**9), cap=st.integers(1, 10**9), over=st.floats(0, 10))
def test_cost_never_exceeds_the_cap_however_late_the_job_is_stopped(price, cap, over):
    words = ["--price-per-hour-usd", money.text(price), "--cost-cap-usd", money.text(cap), "--", "x"]
    limit = process.parse(words).seconds
    milliseconds, cost = process.billed(limit + over, limit, price)
    assert milliseconds <= round(limit * 1000)
    assert cost <= cap


def test_limits_hold_while_nobody_reads_our_output(project):
    here = project()
    flood = "import os\nprint(os.getpid(), 'ready', sep='\\n', flush=True)\nwhile True: print('x' * 9999)"
    started = start(here, "--max-runtime-seconds", "1", "--", sys.executable, "-c", flood)
    assert gone(int(started.said.splitlines()[1]), seconds=10)
    started.stdout.read()
    assert started.wait(10) == 124


@pytest.mark.parametrize(("name", "code"), [("INT", 130), ("TERM", 143), ("HUP", 129)])
def test_signal_stops_the_job_and_leaves_a_manifest(project, name, code):
    here = project()
    started = start(here, "--price-per-hour-usd", "1", "--", "bash", "-c", "sleep 60 & echo $!; echo ready; wait")
    started.send_signal(signal.Signals[f"SIG{name}"])
    assert started.wait(10) == code
    found = written(started.said)
    assert (found["failed"], found["local"]["reason"]) == (True, "interrupted")
    assert found["estimated_cost_usd"] is not None
    assert gone(int(started.said.splitlines()[1]))


def test_second_signal_does_not_wait_for_the_job(project):
    here = project()
    started = start(here, "--", "bash", "-c", "trap '' TERM; echo ready; while :; do sleep 60; done")
    began = time.monotonic()
    started.send_signal(signal.SIGINT)
    time.sleep(0.3)
    started.send_signal(signal.SIGINT)
    assert started.wait(10) == 130
    assert time.monotonic() - began < process.GRACE - 1


def test_hang_up_is_ignored_under_nohup(project):
    here = project()
    script = "echo ready; sleep 1; echo done"
    ignore = lambda: signal.signal(signal.SIGHUP, signal.SIG_IGN)  # noqa: E731
    started = start(here, "--", "bash", "-c", script, preexec_fn=ignore)
    started.send_signal(signal.SIGHUP)
    assert started.wait(10) == 0


def test_interrupt_works_though_we_were_started_with_it_ignored(project):
    here = project()
    ignore = lambda: signal.signal(signal.SIGINT, signal.SIG_IGN)  # noqa: E731
    started = start(here, "--", "bash", "-c", "echo ready; sleep 60", preexec_fn=ignore)
    started.send_signal(signal.SIGINT)
    assert started.wait(10) == 130


def test_job_itself_starts_with_default_signals(project):
    done = project().tool("local-run", "--", "grep", "SigIgn", "/proc/self/status")
    assert int(done.stdout.split()[-1], 16) & (1 << signal.SIGPIPE - 1 | 1 << signal.SIGINT - 1) == 0


def test_job_dies_with_a_runner_that_is_killed_without_a_word(project):
    here = project()
    started = start(here, "--", "bash", "-c", "trap '' TERM HUP; sleep 60 & echo $$ $!; echo ready; wait")
    pids = list(map(int, started.said.splitlines()[1].split()))
    started.kill()
    assert started.wait(10) == -signal.SIGKILL
    assert all(map(gone, pids))


@pytest.mark.parametrize("name", ["INT", "TERM", "HUP", "KILL"])
def test_signal_to_the_guardian_costs_neither_the_manifest_nor_the_exit_code(project, name):
    here = project()
    started = start(here, "--", "bash", "-c", "echo ready; sleep 1; exit 3")
    children = Path(f"/proc/{started.pid}/task/{started.pid}/children").read_text().split()
    (guardian,) = [int(pid) for pid in children if os.getsid(int(pid)) == int(pid)]
    os.kill(guardian, signal.Signals[f"SIG{name}"])
    assert started.wait(10) == 3
    assert written(started.said)["local"]["exit_code"] == 3


def test_job_dies_with_a_runner_that_is_killed_though_its_guardian_was_interrupted(project):
    here = project()
    started = start(here, "--", "bash", "-c", "echo $$; echo ready; sleep 60")
    for pid in Path(f"/proc/{started.pid}/task/{started.pid}/children").read_text().split():
        if os.getsid(int(pid)) == int(pid):
            os.kill(int(pid), signal.SIGINT)
    started.kill()
    started.wait(10)
    assert gone(int(started.said.splitlines()[1]))


def test_nothing_of_a_finished_run_is_left_running(project):
    here = project()
    mark = {"SWEEPTOOL_TEST_MARK": str(here.path)}
    here.tool("local-run", "--", "bash", "-c", "sleep 61 & sleep 62 >&- 2>&- & true", env=mark)
    time.sleep(0.2)
    left = [p for p in Path("/proc").glob("[0-9]*/environ") if str(here.path).encode() in _bytes(p)]
    assert left == []


def _bytes(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError:
        return b""


def test_descendant_that_escapes_with_our_pipe_does_not_hold_us_up(project):
    began = time.monotonic()
    done = project().tool("local-run", "--", "bash", "-c", "setsid sleep 8 & true")
    assert done.returncode == 0
    assert time.monotonic() - began < 6


def test_reader_that_goes_away_does_not_fail_the_job(project):
    here = project()
    script = 'for i in {1..3000}; do echo "line $i" || exit 9; done; echo done > "$RUN_DIR/ok"'
    done = here.run("bash", "-c", f'{sys.executable} -m sweeptool local-run -- bash -c "$1" | head -n 1', "_", script)
    for _ in range(100):
        if (run_dir(done.stdout) / layout.MANIFEST).exists():
            break
        time.sleep(0.05)
    assert (run_dir(done.stdout) / "ok").exists()
    assert written(done.stdout)["failed"] is False
    assert len((run_dir(done.stdout) / "run.log").read_text().splitlines()) == 3000


# ---- the machine it runs on


def test_commit_is_recorded_with_its_branch_and_whether_it_was_edited(project):
    here = project({"train.py": "pass\n"})
    git = ["git", "-c", "user.name=a", "-c", "user.email=a@example.org", "-c", "init.defaultBranch=trunk"]
    for words in (["init", "-q"], ["add", "train.py"], ["commit", "-q", "-m", "first"]):
        here.run(*git, *words)
    clean = written(here.tool("local-run", "--", "true").stdout)["deploy_metadata"]
    here.write({"train.py": "pass  # edited\n"})
    dirty = written(here.tool("local-run", "--", "true").stdout)["deploy_metadata"]
    sha = here.run("git", "rev-parse", "HEAD").stdout.strip()
    assert (clean["local_git_sha"], clean["local_git_branch"], clean["local_git_dirty"]) == (sha, "trunk", False)
    assert (dirty["local_git_sha"], dirty["local_git_dirty"]) == (sha, True)


@pytest.mark.parametrize("path", ["/usr/bin:/bin", "/nonexistent"], ids=["no-repository", "no-git"])
def test_without_a_commit_nothing_is_claimed(project, path):
    done = project().tool("local-run", "--", "/bin/true", env={"PATH": path})
    assert set(written(done.stdout)["deploy_metadata"].values()) == {None}
    assert done.stderr == ""


def test_artifacts_path_that_is_a_file_is_one_clear_line(project):
    done = project({"artifacts": "a file\n"}).tool("local-run", "--", "true")
    assert done.returncode == 1
    assert done.stdout == ""
    assert done.stderr == "error: artifacts/local: no run dir can be made: Not a directory\n"


def with_room_for(size: int, here: Project) -> subprocess.CompletedProcess[str]:
    """Run a job that prints 3000 characters where no file can grow beyond ``size`` bytes."""
    return subprocess.run(
        [*LOCAL_RUN, "--", "bash", "-c", "printf %3000s x"],
        cwd=here.path,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (size, size)),
        capture_output=True,
        text=True,
        check=False,
    )


def test_full_disk_is_one_clear_line_and_exit_1(project):
    done = with_room_for(400, project())
    assert done.stderr.splitlines() == [
        f"error: {run_dir(done.stdout)}: File too large; not all that the job does is recorded"
    ]
    assert done.returncode == 1
    assert list(run_dir(done.stdout).glob("*.json")) == []


def test_job_whose_log_alone_was_cut_keeps_its_outcome_and_says_so(project):
    done = with_room_for(2000, project())
    assert (done.returncode, len(done.stderr.splitlines())) == (0, 1)
    assert (written(done.stdout)["failed"], written(done.stdout)["local"]["fault"]) == (False, "File too large")


def test_manifest_that_cannot_be_written_is_exit_1(project):
    done = project().tool("local-run", "--", "bash", "-c", 'rm -r "$RUN_DIR"')
    assert done.returncode == 1
    assert done.stderr.splitlines() == [
        f"error: {run_dir(done.stdout)}: No such file or directory; not all that the job does is recorded"
    ]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        pytest.param([], "local-run: there is no command; it stands after '--'", id="nothing"),
        pytest.param(["--"], "local-run: there is no command; it stands after '--'", id="no-command"),
        pytest.param(["--gp", "L4", "--", "x"], "local-run: no such option '--gp' (did you mean '--gpu'?)", id="near"),
        pytest.param(["--gpu"], "local-run: --gpu wants a value", id="no-value"),
        pytest.param(["--var", "lr", "--", "x"], "local-run: --var wants NAME=VALUE, not 'lr'", id="no-equals"),
        pytest.param(["--var", "=1", "--", "x"], "local-run: --var wants NAME=VALUE, not '=1'", id="no-name"),
        pytest.param(
            ["--max-runtime-seconds", "1.5", "--", "x"], "wants a whole number of seconds, not '1.5'", id="1.5"
        ),
        pytest.param(["--max-runtime-seconds", "0", "--", "x"], "wants a whole number of seconds, not '0'", id="0"),
        pytest.param(["--price-per-hour-usd", "nan", "--", "x"], "'nan' is not an amount of dollars", id="nan"),
        pytest.param(["--cost-cap-usd", "1", "--", "x"], "--cost-cap-usd needs --price-per-hour-usd", id="no-price"),
        pytest.param(["--cost-cap-usd", "-1", "--", "x"], "'-1' is not an amount of dollars", id="negative"),
        pytest.param(["--cost-cap-usd", "0", "--", "x"], "--cost-cap-usd 0 leaves no time to run", id="zero-cap"),
    ],
)
def test_misuse_is_one_line_and_starts_nothing(words, message):
    with pytest.raises(SweepError, match=re.escape(message)) as caught:
        process.parse(words)
    assert caught.value.exit_code == 2


# ---- RUN_DIR in an attempt's stdout


@pytest.mark.parametrize(
    ("text", "path"),
    [
        pytest.param(b"RUN_DIR=/a/b\n", "/a/b", id="alone"),
        pytest.param(b"hello\nRUN_DIR=/a/b\nRUN_DIR=/c\n", "/a/b", id="the-first-counts"),
        pytest.param(b"RUN_DIR=/a/b", "/a/b", id="no-newline"),
        pytest.param(b"RUN_DIR=/with two spaces/it's \n", "/with two spaces/it's ", id="spaces"),
        pytest.param(b"RUN_DIR=/a\r\n", "/a", id="CRLF"),
        pytest.param(b"RUN_DIR=\nRUN_DIR=/a\n", "/a", id="an-empty-one-is-none"),
        pytest.param(b"x RUN_DIR=/a\n$ [local] echo RUN_DIR=/b\n", None, id="only-at-the-start-of-a-line"),
        pytest.param(b"RUN_DIRS=/a\n", None, id="another-word"),
        pytest.param(b"", None, id="empty"),
        pytest.param(b"RUN_DIR=runs/1\n", "runs/1", id="relative"),
        pytest.param("RUN_DIR=/日本\n".encode(), "/日本", id="unicode"),
    ],
)
def test_run_dir_is_the_first_such_line(tmp_path, text, path):
    (tmp_path / "stdout.log").write_bytes(text)
    assert rundir.first(tmp_path / "stdout.log") == (None if path is None else Path(path))


def test_run_dir_of_a_runner_that_prints_megabytes_first(tmp_path):
    (tmp_path / "stdout.log").write_bytes(b"x" * 3_000_000 + b"\n" + b"y\n" * 1_000_000 + b"RUN_DIR=/a\n")
    assert rundir.first(tmp_path / "stdout.log") == Path("/a")


def test_run_dir_of_an_attempt_without_stdout(tmp_path):
    assert rundir.first(tmp_path / "stdout.log") is None
    assert rundir.first(tmp_path) is None


def test_no_two_runs_of_a_burst_share_anything(project):
    here = project()
    burst = (
        "for i in 1 2 3 4 5 6 7 8; do sweeptool local-run --var i=$i -- bash -c 'echo \"value $PARAM_i\"' & done; wait"
    )
    done = here.run("bash", "-c", burst)
    assert done.returncode == 0
    found = sorted((here.path / "artifacts/local").iterdir())
    assert sorted((path / "run.log").read_text() for path in found) == [f"value {i}\n" for i in range(1, 9)]
    assert all(json.loads((path / layout.MANIFEST).read_text())["failed"] is False for path in found)


def test_starts_without_the_heavy_modules(project):
    script = (
        "import sys; from sweeptool.runners.local import process; process.main(['--', 'true']); print(*sys.modules)"
    )
    loaded = set(project().run(sys.executable, "-c", script).stdout.split())
    assert not loaded & {"click", "dataclasses", "inspect", "pathlib", "subprocess", "typing", "yaml", "pandas"}


def test_standard_streams_that_are_closed_become_none_of_our_files(project):
    here = project()
    done = here.run("bash", "-c", f"{sys.executable} -m sweeptool local-run -- bash -c 'cat; echo hi' 0<&- 1>&- 2>&-")
    [path] = (here.path / "artifacts/local").iterdir()
    assert done.returncode == 0
    assert (path / "run.log").read_text() == "hi\n"
    assert len((path / layout.EVENTS).read_text().splitlines()) == 3


def test_job_dies_with_a_runner_that_breaks(project):
    here = project()
    script = """if True:
        import sys
        from sweeptool.runners.local import process, record
        record.Record.started = lambda self: 1 / 0
        process.main(["--", "bash", "-c", "echo $$ >part; mv part pid; sleep 60"])
    """
    done = here.run(sys.executable, "-c", script)
    assert "ZeroDivisionError" in done.stderr
    time.sleep(0.3)
    assert not (here.path / "pid").exists() or gone(int((here.path / "pid").read_text()))


def test_environment_of_the_caller_reaches_the_job(project):
    done = project().tool("local-run", "--", "printenv", "SWEEP_ID", env={"SWEEP_ID": "demo-20261129-000001"})
    assert done.stdout.splitlines()[1:] == ["demo-20261129-000001"]
    assert "SWEEP_ID" not in os.environ
