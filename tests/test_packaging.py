"""The wheel: what is in it is what is in the checkout, and it works from anywhere."""

from __future__ import annotations

import subprocess
import sys
import tarfile
import zipfile
from email.parser import Parser
from pathlib import Path

import pytest

import sweeptool
from tests.conftest import require, require_program

ROOT = Path(__file__).parent.parent
FOLDERS = {"sweeptool/": "sweeptool/", "templates/": "sweeptool/templates/", "recipes/": "sweeptool/recipes/"}
SPEC = """
    name: demo
    command: [echo, "{lr}"]
    matrix: {params: {lr: [1, 2]}}
"""


def build(kind: str, source: Path, where: Path) -> Path:
    subprocess.run(
        [sys.executable, "-m", "hatchling", "build", "-t", kind, "-d", where],
        cwd=source,
        check=True,
        capture_output=True,
    )
    [made] = where.glob("*.whl" if kind == "wheel" else "*.tar.gz")
    return made


def files(wheel: Path) -> set[str]:
    return {name for name in zipfile.ZipFile(wheel).namelist() if ".dist-info/" not in name}


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build("wheel", ROOT, tmp_path_factory.mktemp("wheel"))


@pytest.fixture(scope="module")
def installed(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """Return the environment in which Python finds the wheel's content, not the checkout's."""
    where = tmp_path_factory.mktemp("installed")
    zipfile.ZipFile(wheel).extractall(where)
    return {"PYTHONPATH": str(where)}


def test_wheel_holds_the_package_templates_and_recipes_of_the_checkout_and_nothing_else(wheel):
    require_program("git")
    require((ROOT / ".git").exists(), "this is no git checkout")
    listed = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard", *FOLDERS],
        cwd=ROOT,
        check=True,
        capture_output=True,
        text=True,
    ).stdout.split("\n")
    present = {name for name in listed if name and (ROOT / name).exists()}
    expected = {
        inside + name.removeprefix(folder)
        for folder, inside in FOLDERS.items()
        for name in present
        if name.startswith(folder)
    }
    assert files(wheel) == expected


def test_wheel_from_the_source_archive_is_the_same(wheel, tmp_path):
    archive = build("sdist", ROOT, tmp_path)
    with tarfile.open(archive) as opened:
        opened.extractall(tmp_path, filter="data")
    [source] = (path for path in tmp_path.iterdir() if path.is_dir())
    assert {path.name for path in source.iterdir()} >= {"LICENSE", "README.md", "CHANGELOG.md", "Makefile", "tests"}
    assert files(build("wheel", source, tmp_path / "again")) == files(wheel)


def test_metadata_names_the_licence_the_version_and_the_command(wheel):
    archive = zipfile.ZipFile(wheel)
    [metadata] = (name for name in archive.namelist() if name.endswith(".dist-info/METADATA"))
    read = Parser().parsestr(archive.read(metadata).decode())
    assert (read["Name"], read["Version"], read["License-Expression"]) == ("sweeptool", sweeptool.__version__, "MIT")
    [entry] = (name for name in archive.namelist() if name.endswith("entry_points.txt"))
    assert "sweeptool = sweeptool.cli:main" in archive.read(entry).decode()


def test_installed_tool_finds_its_templates_and_recipes(project, installed):
    script = "from sweeptool.layout import resource; print(resource('templates'), resource('recipes'))"
    done = project().run(sys.executable, "-c", script, env=installed)
    where = installed["PYTHONPATH"]
    assert done.stdout.split() == [f"{where}/sweeptool/templates", f"{where}/sweeptool/recipes"]


def test_installed_tool_renders_a_driver(project, installed):
    done = project({"sweep.yaml": SPEC}).tool("render", "sweep.yaml", env=installed)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("#!/usr/bin/env bash\n")


def test_checkout_and_installed_tool_render_the_same_driver(project, installed):
    here = project({"sweep.yaml": SPEC})
    assert here.tool("render", "sweep.yaml").stdout == here.tool("render", "sweep.yaml", env=installed).stdout


def test_version_is_the_packages(project, installed):
    assert project().tool("--version", env=installed).stdout == f"sweeptool {sweeptool.__version__}\n"
