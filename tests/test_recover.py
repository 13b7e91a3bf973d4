"""What a sweep left behind, told by its own records and by what the provider lists; the provider is a script here."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from sweeptool.ledger import liveness
from tests.conftest import Project

NAME = "train-{}-20261129T153055Z"
CREATED = "$ [runpodctl] runpodctl pod create --gpu-id 'NVIDIA L4' --name {} --volume-in-gb 10\n"
ASKED = "$ [local] runpodctl pod get {} -o json\n[pod] {} RUNNING ssh=203.0.113.7:22022 gpu=NVIDIA L4\n"
GONE = "$ [runpodctl] runpodctl pod delete {}\n[lifecycle] pod '{}' deleted; volume disk released\n"


@dataclass
class Swept:
    """A sweep ``lora`` of three cells whose ledger and outputs a test writes by hand."""

    project: Project
    path: Path
    bin: Path

    def record(self, *events: dict[str, object]) -> None:
        with (self.path / "ledger.jsonl").open("a") as file:
            for event in events:
                file.write(json.dumps({"ts_utc": "2026-11-29T15:30:55+00:00", **event}) + "\n")

    def attempt(self, index: int, number: int = 1, stdout: str = "", state: str | None = None, **files: str) -> Path:
        """Admit an attempt that printed ``stdout``; settle it where ``state`` is given."""
        where = self.path / "cells" / f"c{index}" / f"attempt-{number}"
        where.mkdir(parents=True)
        (where / "start").write_text(files.pop("start", f"999999 1 no-such-boot {socket.gethostname()}\n"))
        (where / "stdout.log").write_text(f"RUN_DIR=/runs/run-{index}\n{stdout}")
        for name, text in files.items():
            (where / name).write_text(text)
        identity = {"cell": f"c{index}", "index": index, "attempt": number}
        self.record({"event": "admitted", **identity, "reserved_usd": "1.00"})
        if state:
            self.record({"event": "settled", **identity, "state": state, "cost_usd": None})
        return where

    def account(self, *pods: tuple[str, str, str], fails: bool = False) -> None:
        """Put a provider's client on PATH that lists these (id, name, status), or fails."""
        listed = json.dumps([{"id": i, "name": n, "desiredStatus": s} for i, n, s in pods])
        client = self.bin / "runpodctl"
        client.write_text(
            f"#!/bin/sh\necho \"$@\" >>'{self.bin}/calls'\n"
            + ("echo 'no network' >&2; exit 1\n" if fails else f"cat <<'EOF'\n{listed}\nEOF\n")
        )
        client.chmod(0o755)

    def calls(self) -> list[str]:
        return (self.bin / "calls").read_text().splitlines()

    def recover(self, *words: str, stdin: str = "") -> subprocess.CompletedProcess[str]:
        path = f"{self.bin}{os.pathsep}{os.environ['PATH']}"
        return self.project.run(sys.executable, "-m", "sweeptool", "recover", *words, stdin=stdin, env={"PATH": path})

    def left(self) -> list[dict[str, object]]:
        done = self.recover("--json")
        assert done.returncode == 0, done.stderr
        return list(json.loads(done.stdout)["attempts"])


def pod_name(suffix: str) -> str:
    return NAME.format(f"lora-20261129-031337-{suffix}")


@pytest.fixture
def swept(project: Callable[..., Project], tmp_path: Path) -> Swept:
    made = project(
        {
            "job.yaml": "name: train\npod: {image: a/b, datacenters: [EU-RO-1], gpu_order: [NVIDIA L4]}\n",
            "spec.yaml": """
                name: lora
                runner: runpod-deploy
                config: job.yaml
                cost_cap_usd: 5
                matrix: {params: {seed: [1, 2, 3]}}
                """,
        }
    )
    done = made.tool("render", "spec.yaml", "-o", "driver.sh")
    assert done.returncode == 0, done.stderr
    path = made.path / "artifacts" / "sweeps" / "lora"
    path.mkdir(parents=True)
    lines = [line[6:] for line in (made.path / "driver.sh").read_text().splitlines() if line.startswith("#plan ")]
    (path / "plan.jsonl").write_text("\n".join(lines) + "\n")
    (tmp_path / "bin").mkdir()
    swept = Swept(made, path, tmp_path / "bin")
    swept.record({"event": "opened", "sweep_id": "lora-20261129-031337", "host": "h", "pid": 1, "max_cost_usd": None})
    return swept


def test_a_sweep_that_ended_well_left_nothing(swept: Swept) -> None:
    swept.attempt(0, stdout=CREATED.format(pod_name("0-a1")) + ASKED.format("p0", "p0"), state="succeeded")
    swept.account()
    assert swept.left() == []
    assert swept.recover().stdout == "nothing is left behind\n"


def test_a_pod_of_a_dead_attempt_is_named_with_the_command_that_releases_it(swept: Swept) -> None:
    swept.attempt(1, stdout=CREATED.format(pod_name("1-a1")) + ASKED.format("p1", "p1"))
    swept.account(("p1", pod_name("1-a1"), "RUNNING"))
    (one,) = swept.left()
    assert one == {
        "cell": "c1",
        "index": 1,
        "attempt": 1,
        "outcome": "without an outcome",
        "run_dir": "/runs/run-1",
        "pod_id": "p1",
        "pod_name": pod_name("1-a1"),
        "state": "RUNNING",
        "release": ["runpodctl", "pod", "delete", "p1"],
    }
    assert "runpodctl pod delete p1" in swept.recover().stdout


def test_a_stopped_pod_whose_disk_bills_is_listed_whatever_its_cell_came_to(swept: Swept) -> None:
    swept.attempt(0, stdout=ASKED.format("p0", "p0"), state="failed")
    swept.account(("p0", pod_name("0-a1"), "EXITED"))
    assert [(one["pod_id"], one["state"], one["outcome"]) for one in swept.left()] == [("p0", "EXITED", "failed")]


def test_a_pod_whose_id_was_never_printed_is_found_by_its_name(swept: Swept) -> None:
    swept.attempt(2, stdout=CREATED.format(pod_name("2-a1")), state="failed")
    swept.account(("p9", pod_name("2-a1"), "RUNNING"))
    assert [one["pod_id"] for one in swept.left()] == ["p9"]


def test_a_pod_with_the_sweeps_name_that_the_ledger_does_not_know_is_listed(swept: Swept) -> None:
    swept.account(("p9", pod_name("1-a4"), "RUNNING"))
    assert [(one["index"], one["attempt"], one["outcome"]) for one in swept.left()] == [(1, 4, "not in the ledger")]


@pytest.mark.parametrize(
    "name",
    [
        "my-notebook",
        "train-lora-20261129-031338-0-a1-20261129T153055Z",
        "train-other-lora-20261129-031337-0-a1",
        "lora-20261129-0313370-a1-20261129T153055Z",
        "",
    ],
    ids=["foreign", "another-sweep", "no-stamp", "run-together", "nameless"],
)
def test_no_other_pod_of_the_account_is_ever_named(swept: Swept, name: str) -> None:
    swept.attempt(0, stdout=CREATED.format(pod_name("0-a1")), state="succeeded")
    swept.account(("p9", name, "RUNNING"))
    assert swept.left() == []


def test_a_pod_that_the_provider_no_longer_lists_is_not_left(swept: Swept) -> None:
    swept.attempt(0, stdout=ASKED.format("p0", "p0"), state="failed")
    swept.account()
    assert swept.left() == []


def test_an_attempt_that_died_without_a_pod_is_listed_without_a_command(swept: Swept) -> None:
    swept.attempt(0)
    swept.account()
    assert [(one["state"], one["release"]) for one in swept.left()] == [("no pod", [])]


def test_an_attempt_that_still_runs_is_nobodys_to_release(swept: Swept) -> None:
    sleeper = subprocess.Popen(["sleep", "60"], start_new_session=True)
    try:
        ticks = Path(f"/proc/{sleeper.pid}/stat").read_text().rpartition(") ")[2].split()[19]
        start = f"{sleeper.pid} {ticks} {liveness.boot()} {socket.gethostname()}\n"
        swept.attempt(0, stdout=ASKED.format("p0", "p0"), start=start)
        swept.account(("p0", pod_name("0-a1"), "RUNNING"))
        assert swept.left() == []
        swept.recover("--release", "--yes")
        assert not any("delete" in call for call in swept.calls())
    finally:
        sleeper.kill()
        sleeper.wait()


def test_an_attempt_on_another_host_is_nobodys_to_release_here(swept: Swept) -> None:
    swept.attempt(0, stdout=ASKED.format("p0", "p0"), start="77 1 boot another-host\n")
    swept.account(("p0", pod_name("0-a1"), "RUNNING"))
    assert swept.left() == []


# ---- without the provider ---------------------------------------------------------------------------------


@pytest.mark.parametrize("absent", [False, True], ids=["fails", "not-on-path"])
def test_without_the_provider_an_attempts_own_output_is_believed(swept: Swept, absent: bool) -> None:
    if not absent:
        swept.account(fails=True)
    swept.attempt(0, stdout=ASKED.format("p0", "p0"), state="interrupted")
    swept.attempt(1, stdout=ASKED.format("p1", "p1") + GONE.format("p1", "p1"), state="succeeded")
    done = swept.recover("--json")
    assert done.returncode == 0
    assert "cannot be asked" in done.stderr
    assert [(one["pod_id"], one["state"], one["release"][-1]) for one in json.loads(done.stdout)["attempts"]] == [
        ("p0", "unknown", "p0")
    ]


def test_the_runners_state_file_names_a_pod_that_the_output_does_not(swept: Swept) -> None:
    swept.account(fails=True)
    swept.attempt(0, state="failed", **{"pod.json": '{"pod_id": "p7", "gpu_id": "NVIDIA L4"}'})
    assert [one["pod_id"] for one in swept.left()] == ["p7"]


# ---- releasing --------------------------------------------------------------------------------------------


def test_release_asks_first_and_a_no_deletes_nothing(swept: Swept) -> None:
    swept.attempt(0, stdout=ASKED.format("p0", "p0"), state="failed")
    swept.account(("p0", pod_name("0-a1"), "RUNNING"))
    done = swept.recover("--release", stdin="n\n")
    assert done.returncode != 0
    assert not any("delete" in call for call in swept.calls())


@pytest.mark.parametrize(("words", "stdin"), [(("--yes",), ""), ((), "y\n")], ids=["--yes", "answered"])
def test_release_deletes_each_pod_and_notes_it_in_the_ledger(swept: Swept, words: tuple[str, ...], stdin: str) -> None:
    swept.attempt(0, stdout=ASKED.format("p0", "p0"), state="failed")
    swept.attempt(1, stdout=ASKED.format("p1", "p1"), state="lost")
    swept.account(("p0", pod_name("0-a1"), "RUNNING"), ("p1", pod_name("1-a1"), "EXITED"))
    done = swept.recover("--release", *words, stdin=stdin)
    assert done.returncode == 0, done.stderr
    assert [call for call in swept.calls() if "delete" in call] == ["pod delete p0", "pod delete p1"]
    ledger = (swept.path / "ledger.jsonl").read_text()
    assert ledger.count('"event": "released"') == 2


def test_a_release_that_fails_is_said_and_exits_1(swept: Swept) -> None:
    swept.attempt(0, stdout=ASKED.format("p0", "p0"), state="failed")
    swept.account(fails=True)
    done = swept.recover("--release", "--yes")
    assert done.returncode == 1
    assert "runpodctl pod delete p0: no network" in done.stderr


def test_a_sweep_of_another_runner_asks_no_provider(project: Callable[..., Project]) -> None:
    made = project({"spec.yaml": "name: here\nrunner: local\ncommand: ['true']\n"})
    assert made.tool("run", "spec.yaml").returncode == 0
    done = made.tool("recover", "here")
    assert (done.returncode, done.stdout, done.stderr) == (0, "nothing is left behind\n", "")
