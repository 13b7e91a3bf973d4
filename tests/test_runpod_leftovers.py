"""What an attempt leaves at the provider: released where the job config says so, flagged where it cannot be."""

from __future__ import annotations

import json
import os
from dataclasses import dataclass
from pathlib import Path

import pytest

from sweeptool import manifest
from sweeptool.layout import MANIFEST, AttemptDir
from sweeptool.runners.base import Evidence, Verdict
from sweeptool.runners.runpod.runner import RUNNER

NAME = "train-lora-20261129-031337-0-a1-20261129T153055Z"
CREATED = f"$ [runpodctl] runpodctl pod create --gpu-id 'NVIDIA L4' --name {NAME} --volume-in-gb 10\n"
RENTED = CREATED + "$ [local] runpodctl pod get p0 -o json\n"
UNDELETED = "[warn] failed to delete pod p0: stdout= stderr=500\n"


@dataclass
class Account:
    """A provider's client on PATH that lists one pod and notes what it is asked."""

    bin: Path

    def holds(self, *names: str, refuses: str = "nothing") -> None:
        pods = json.dumps([{"id": f"p{i}", "name": name, "desiredStatus": "RUNNING"} for i, name in enumerate(names)])
        client = self.bin / "runpodctl"
        client.write_text(
            f"#!/bin/sh\necho \"$@\" >>'{self.bin}/calls'\ncase \"$*\" in *{refuses}*) exit 1 ;; esac\necho '{pods}'\n"
        )
        client.chmod(0o755)

    @property
    def calls(self) -> list[str]:
        calls = self.bin / "calls"
        return [line for line in calls.read_text().splitlines() if "list" not in line] if calls.exists() else []


@pytest.fixture
def account(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Account:
    (tmp_path / "bin").mkdir()
    monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}{os.pathsep}{os.environ['PATH']}")
    made = Account(tmp_path / "bin")
    made.holds(NAME, "another-sweep")
    return made


def settle(
    tmp_path: Path, verdict: Verdict, stdout: str = RENTED, stderr: str = "", config: str = "", ended: bool = False
) -> Verdict:
    attempt = AttemptDir(tmp_path / "attempt-1")
    attempt.path.mkdir()
    attempt.stdout.write_text(stdout)
    attempt.stderr.write_text(stderr)
    attempt.config.write_text(config or "{}")
    found = None
    if ended:
        (tmp_path / MANIFEST).write_text(json.dumps({"failed": verdict.state == "failed", "pod_id": "p0"}))
        found = manifest.read(tmp_path / MANIFEST)
    return RUNNER.release(Evidence(1, None, found, attempt, {}), verdict)


STOPPED = Verdict("interrupted", "interrupted", "interrupted", ("leaked",))
UNCLEAR = Verdict("failed", "create_unclear", "502 Bad Gateway", ("leaked",), transient=True)


def test_a_pod_that_an_interrupted_runner_left_is_deleted(tmp_path: Path, account: Account) -> None:
    found = settle(tmp_path, STOPPED)
    assert account.calls == ["pod delete p0"]
    assert (found.flags, found.detail) == ((), "interrupted; the pod it left is deleted")


def test_a_pod_whose_id_was_never_printed_is_found_by_its_whole_name(tmp_path: Path, account: Account) -> None:
    account.holds("x-" + NAME, NAME)
    assert settle(tmp_path, STOPPED, stdout=CREATED).flags == ()
    assert account.calls == ["pod delete p1"]


def test_a_pod_of_an_unclear_creation_is_deleted_before_anything_is_tried_again(
    tmp_path: Path, account: Account
) -> None:
    found = settle(tmp_path, UNCLEAR, stdout=CREATED, stderr="RuntimeError: pod create failed exit=1: 502\n")
    assert account.calls == ["pod delete p0"]
    assert (found.flags, found.transient) == ((), True)


@pytest.mark.parametrize(
    ("lifecycle", "calls", "flags"),
    [
        ("{on_success: delete}", ["pod delete p0"], ()),
        ("{on_success: stop}", ["pod stop p0"], ()),
        ("{on_success: preserve}", [], ("leaked",)),
    ],
)
def test_an_interruption_does_what_the_runner_does_after_a_success(
    tmp_path: Path, account: Account, lifecycle: str, calls: list[str], flags: tuple[str, ...]
) -> None:
    assert settle(tmp_path, STOPPED, config=f"lifecycle: {lifecycle}").flags == flags
    assert account.calls == calls


def test_a_failure_that_left_its_pod_does_what_the_config_says_of_failures(tmp_path: Path, account: Account) -> None:
    broken = Verdict("failed", "unwritable", "Not a directory", ("leaked",), halt=True)
    settle(tmp_path, broken)
    assert account.calls == ["pod stop p0"]


def test_a_delete_that_failed_is_tried_once_more(tmp_path: Path, account: Account) -> None:
    found = settle(tmp_path, Verdict("succeeded", flags=("leaked",)), stderr=UNDELETED, ended=True)
    assert account.calls == ["pod delete p0"]
    assert found == Verdict("succeeded")


def test_a_stop_that_failed_is_left_alone_since_the_disk_was_to_be_kept(tmp_path: Path, account: Account) -> None:
    stderr = "[warn] failed to stop pod p0: stdout= stderr=500\n"
    verdict = Verdict("failed", "job", "boom", ("leaked",))
    assert settle(tmp_path, verdict, stderr=stderr, ended=True) == verdict
    assert account.calls == []


def test_where_releasing_fails_the_attempt_stays_flagged(tmp_path: Path, account: Account) -> None:
    account.holds(NAME, refuses="delete")
    assert settle(tmp_path, STOPPED) == STOPPED


@pytest.mark.parametrize("names", [(), ("another-sweep",)])
def test_where_no_pod_can_be_named_the_attempt_stays_flagged(
    tmp_path: Path, account: Account, names: tuple[str, ...]
) -> None:
    account.holds(*names)
    assert settle(tmp_path, STOPPED, stdout=CREATED) == STOPPED


def test_a_lost_attempts_pod_is_flagged_and_left_to_its_owner(tmp_path: Path, account: Account) -> None:
    assert settle(tmp_path, Verdict("lost", "lost", "gone")).flags == ("leaked",)
    assert account.calls == []


def test_a_lost_attempt_without_a_pod_left_nothing(tmp_path: Path, account: Account) -> None:
    assert settle(tmp_path, Verdict("lost", "lost", "gone"), stdout="").flags == ()


def test_an_attempt_that_cleaned_up_is_not_asked_about(tmp_path: Path, account: Account) -> None:
    clean = Verdict("succeeded")
    assert settle(tmp_path, clean, ended=True) == clean
    assert account.calls == []
