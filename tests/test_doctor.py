"""What doctor says of a machine: each thing by name, the mend where it is missing, and never a secret's value."""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.conftest import Project

PROGRAMS = ("runpod-deploy", "runpodctl", "ssh", "rsync")


@pytest.fixture
def machine(project: Callable[..., Project], tmp_path: Path) -> Callable[..., tuple[Project, dict[str, str]]]:
    """Return a function that makes a PATH with just the basics and the named programs, and a HOME."""

    def make(*programs: str, key: bool = False) -> tuple[Project, dict[str, str]]:
        path, home = tmp_path / "bin", tmp_path / "home"
        path.mkdir()
        (home / ".ssh").mkdir(parents=True)
        for name in ("bash", "env", "sh", "true", "cat"):
            (path / name).symlink_to(str(shutil.which(name)))
        for name in ("sweeptool", *programs):
            (path / name).write_text("#!/bin/sh\necho '[]'\n")
            (path / name).chmod(0o755)
        if key:
            (home / ".ssh" / "id_ed25519").write_text("x")
        return project(), {"PATH": str(path), "HOME": str(home), "RUNPOD_API_KEY": "rp_very_secret" if key else ""}

    return make


def test_a_machine_with_everything_is_ok(machine: Callable[..., tuple[Project, dict[str, str]]]) -> None:
    here, env = machine(*PROGRAMS, key=True)
    done = here.tool("doctor", "--runner", "runpod-deploy", env=env)
    assert done.returncode == 0, done.stdout
    assert "missing" not in done.stdout
    assert "provider: answers; 0 pods" in done.stdout


@pytest.mark.parametrize("absent", PROGRAMS)
def test_a_program_that_is_missing_is_named_with_the_mend(
    machine: Callable[..., tuple[Project, dict[str, str]]], absent: str
) -> None:
    here, env = machine(*(name for name in PROGRAMS if name != absent), key=True)
    done = here.tool("doctor", "--runner", "runpod-deploy", env=env)
    assert done.returncode == 1
    assert f"missing  {absent}: not on PATH (" in done.stdout


def test_credentials_are_named_and_never_shown(machine: Callable[..., tuple[Project, dict[str, str]]]) -> None:
    here, env = machine(*PROGRAMS, key=True)
    done = here.tool("doctor", "--runner", "runpod-deploy", env=env)
    assert "RUNPOD_API_KEY is set" in done.stdout
    assert "rp_very_secret" not in done.stdout + done.stderr


def test_missing_credentials_are_said_before_they_cost(machine: Callable[..., tuple[Project, dict[str, str]]]) -> None:
    here, env = machine(*PROGRAMS)
    done = here.tool("doctor", "--runner", "runpod-deploy", env=env)
    assert done.returncode == 1
    assert "missing  credentials" in done.stdout
    assert "missing  ssh key" in done.stdout


def test_a_provider_that_refuses_the_key_is_found_out(machine: Callable[..., tuple[Project, dict[str, str]]]) -> None:
    here, env = machine(*PROGRAMS, key=True)
    client = Path(env["PATH"]) / "runpodctl"
    client.write_text('#!/bin/sh\necho \'{"error": "invalid API key", "code": "unauthorized"}\' >&2\nexit 1\n')
    done = here.tool("doctor", "--runner", "runpod-deploy", env=env)
    assert done.returncode == 1
    assert "missing  provider: " in done.stdout
    assert "unauthorized" in done.stdout


def test_the_local_runner_needs_none_of_it(machine: Callable[..., tuple[Project, dict[str, str]]]) -> None:
    here, env = machine()
    done = here.tool("doctor", env=env)
    assert done.returncode == 0, done.stdout
    assert "runpod" not in done.stdout


def test_the_table_is_shown_with_what_the_project_adds(
    machine: Callable[..., tuple[Project, dict[str, str]]],
) -> None:
    here, env = machine(*PROGRAMS, key=True)
    here.write({"runpod.toml": "[gpu]\nA10 = ['NVIDIA A10']\n[region]\nnear = ['EU-NL-1']\n"})
    shown = here.tool("doctor", "--runner", "runpod-deploy", env=env).stdout
    assert "table: shipped + runpod.toml" in shown
    lines = [line.split() for line in shown.splitlines()]
    assert ["gpu", "A10", "NVIDIA", "A10", "(no", "price)"] in lines
    assert ["region", "near", "EU-NL-1"] in lines
    assert ["gpu", "L4", "NVIDIA", "L4", "$0.44/h"] in lines


def test_a_project_that_cannot_be_written_is_named(machine: Callable[..., tuple[Project, dict[str, str]]]) -> None:
    here, env = machine()
    if os.geteuid() == 0:
        pytest.skip("root can write everywhere")
    here.path.chmod(0o500)
    done = here.tool("doctor", env=env)
    assert done.returncode == 1
    assert "missing  writable" in done.stdout


@pytest.mark.parametrize(
    "file", ["README.md", "templates/driver/guard.sh", "sweeptool/launch.py", "sweeptool/doctor.py"]
)
def test_the_oldest_bash_is_the_same_wherever_it_is_named(file):
    text = (Path(__file__).parent.parent / file).read_text()
    assert set(re.findall(r"(\d\.\d) or (?:newer|later)", text.partition("bash")[2])) == {"4.4"}
