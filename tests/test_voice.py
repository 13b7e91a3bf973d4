"""The lines of a driver that people read: what it begins with, and one line a cell, each word in its column."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess

import pytest

SPEC = """
name: said
command: 'test "$PARAM_a" = 1 || sleep 60'
max_parallel: 2
matrix: {params: {a: [1, 2]}}
"""


def test_words_and_indexes_stand_in_columns_whatever_the_outcome(project):
    here = project({"sweep.yaml": SPEC})
    driver = subprocess.Popen(["sweeptool", "run", "sweep.yaml"], cwd=here.path, stderr=subprocess.PIPE, text=True)
    lines = [driver.stderr.readline()]
    while not lines[-1].startswith("ok"):
        lines.append(driver.stderr.readline())
    os.kill(json.loads((here.path / "artifacts/sweeps/said/driver.lock").read_text())["pid"], signal.SIGINT)
    lines += driver.communicate(timeout=30)[1].splitlines()
    cells = [line for line in lines if re.search(r"said-\d", line)]
    assert [line[:9] for line in sorted(cells)] == ["launch  0", "launch  1", "ok      0", "stopped 1"]


@pytest.mark.parametrize("request_", ["suspend", "cancel"])
def test_a_driver_that_may_launch_nothing_says_so(project, request_):
    here = project({"sweep.yaml": SPEC.replace("sleep 60", "exit 1")})
    here.tool("run", "sweep.yaml")
    here.tool(request_)
    said = here.tool("run", "sweep.yaml").stderr
    assert said.startswith(f"sweep   said: 2 cells, 1 done already, 1 left, none launched: the sweep is {request_}")
    here.tool("resume")
    assert "1 done already, 1 to launch\n" in here.tool("run", "sweep.yaml").stderr


def test_one_cell_is_one_cell(project):
    here = project({"sweep.yaml": SPEC.replace("[1, 2]", "[1]")})
    assert here.tool("run", "sweep.yaml").stderr.startswith("sweep   said: 1 cell, 1 to launch\n")
    assert here.tool("run", "sweep.yaml").stderr == "sweep   said: its one cell is done, nothing to launch\n"
