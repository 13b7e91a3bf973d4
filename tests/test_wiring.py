"""make, bats and CI: the list of targets, the stamps of the venv, and that a failing test fails."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.conftest import Project, require_program

ROOT = Path(__file__).parent.parent
PASSES = '@test "one is one" {\n  [ 1 -eq 1 ]\n}\n'
FAILS = '@test "one is two" {\n  [ 1 -eq 2 ]\n}\n'


@pytest.fixture
def clone(tmp_path: Path) -> Project:
    """A directory with our Makefile and the programs behind it, and a venv that looks just made."""
    for name in ("Makefile", "pyproject.toml", "tests/run-bats"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        shutil.copy(ROOT / name, tmp_path / name)
    python = tmp_path / ".venv/bin/python"
    python.parent.mkdir(parents=True)
    python.touch()
    os.utime(tmp_path / "pyproject.toml", (1, 1))
    for stamp in (".installed", ".installed-test"):
        (tmp_path / ".venv" / stamp).touch()
    return Project(tmp_path)


def pytest_is(here: Project, program: str) -> None:
    (here.path / ".venv/bin/python").unlink()
    (here.path / ".venv/bin/python").symlink_to(shutil.which(program))


def without(program: str, here: Path) -> str:
    """Return a PATH on which all is found but one program."""
    tools = here / "tools"
    tools.mkdir()
    for folder in reversed(os.environ["PATH"].split(os.pathsep)):
        for path in Path(folder).glob("*"):
            if path.name != program:
                (tools / path.name).unlink(missing_ok=True)
                (tools / path.name).symlink_to(path)
    return str(tools)


def test_make_alone_lists_every_target(clone):
    listed = re.findall(r"^make (\w+) +\S", clone.run("make").stdout, re.MULTILINE)
    declared = re.findall(r"^\.PHONY: (\w+)$", (ROOT / "Makefile").read_text(), re.MULTILINE)
    assert listed == declared
    assert {"help", "demo", "sweep", "test", "lint", "bench", "torture", "wheel"} <= set(listed)


def test_make_sweep_without_a_spec_says_what_to_type(clone):
    done = clone.run("make", "sweep")
    assert done.returncode == 2
    assert done.stderr.splitlines()[0].startswith("make sweep: which one? make sweep SPEC=")


def test_make_sweep_runs_the_spec_it_is_given_whatever_its_name(clone):
    clone.write({".venv/bin/sweeptool": '#!/bin/sh\nprintf "<%s>" "$@"\n'})
    (clone.path / ".venv/bin/sweeptool").chmod(0o755)
    done = clone.run("make", "sweep", "SPEC=my sweep's `id`; x.yaml", "ARGS=--max-cost-usd 5")
    assert done.stdout == "<run><my sweep's `id`; x.yaml><--max-cost-usd><5>"


@pytest.mark.parametrize("target", ["demo", "test"])
def test_venv_is_installed_again_when_pyproject_changes_and_only_then(clone, target):
    assert "pip install" not in clone.run("make", "-n", target).stdout
    os.utime(clone.path / "pyproject.toml")
    os.utime(clone.path / ".venv/.installed", (1, 1))
    os.utime(clone.path / ".venv/.installed-test", (1, 1))
    assert "pip install" in clone.run("make", "-n", target).stdout


def test_venv_is_made_where_there_is_none(clone):
    shutil.rmtree(clone.path / ".venv")
    assert "-m venv .venv" in clone.run("make", "-n", "demo").stdout


def test_make_test_fails_when_a_bats_file_fails(clone):
    require_program("bats")
    (clone.path / "tests/fine.bats").write_text(PASSES)
    pytest_is(clone, "true")
    assert clone.run("make", "test").returncode == 0
    (clone.path / "tests/broken.bats").write_text(FAILS)
    done = clone.run("make", "test")
    assert done.returncode == 2
    assert "not ok" in done.stdout


def test_make_test_fails_when_pytest_fails(clone):
    pytest_is(clone, "false")
    assert clone.run("make", "test").returncode == 2


@pytest.mark.parametrize(("wanted", "code"), [("0", 0), ("1", 1)], ids=["skipped", "required"])
def test_missing_bats_is_said(clone, wanted, code):
    (clone.path / "tests/fine.bats").write_text(PASSES)
    env = {"PATH": without("bats", clone.path), "SWEEPTOOL_REQUIRE_ALL": wanted}
    done = clone.run("tests/run-bats", env=env)
    assert done.returncode == code
    assert done.stderr.startswith("bats: SKIPPED 1 files, bats is not on PATH (apt-get install bats")


def test_bats_of_npm_is_used_where_there_is_no_other(clone):
    (clone.path / "tests/fine.bats").write_text(PASSES)
    clone.write({"node_modules/.bin/bats": '#!/bin/sh\necho "npm: $*"\n'})
    (clone.path / "node_modules/.bin/bats").chmod(0o755)
    done = clone.run("tests/run-bats", env={"PATH": without("bats", clone.path)})
    assert done.stdout.startswith("npm: ")


def test_ci_calls_make_test_with_nothing_left_out():
    text = (ROOT / ".ci/run").read_text()
    assert "SWEEPTOOL_REQUIRE_ALL=1" in text
    assert re.search(r"^\s*make test$", text, re.MULTILINE)


def test_tracked_files_hold_no_path_of_this_machine():
    require_program("git")
    words = ["/" + name + "/" for name in ("work", "farm", "tmp/w")]
    pattern = "|".join(words)
    done = subprocess.run(["git", "grep", "-lE", f"({pattern})"], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.stdout == ""
