"""The lines of a driver that people read: what it begins with, and one line a cell, each word in its column."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import time

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


def test_cancel_after_a_killed_driver_asks_each_cell_once_and_each_keeps_its_cost(project):
    here = project(
        {
            "sweep.yaml": SPEC.replace("a: [1, 2]", "a: [2, 3]").replace(
                "name: said", "name: said\nprices: {L4: 1}\ngpu: L4"
            )
        }
    )
    driver = subprocess.Popen(["sweeptool", "run", "sweep.yaml"], cwd=here.path, stderr=subprocess.PIPE, text=True)
    assert [driver.stderr.readline()[:6] for _ in range(3)] == ["sweep ", "launch", "launch"]
    runs = here.path / "artifacts/local"
    while len(list(runs.glob("*/events.jsonl"))) < 2:
        assert driver.poll() is None
        time.sleep(0.05)
    os.kill(json.loads((here.path / "artifacts/sweeps/said/driver.lock").read_text())["pid"], signal.SIGKILL)
    asked = [f"stop    cell {index} attempt 1: asked to clean up" for index in (0, 1)]
    assert here.tool("cancel").stderr.splitlines() == ["sweep   said", *asked, "cancelled"]
    driver.communicate(timeout=10)
    here.tool("run", "sweep.yaml")
    found = json.loads(here.tool("status", "--json").stdout)
    assert [cell["phase"] for cell in found["cells"]] == ["Cancelled"] * 2
    assert all(cell["costUSD"] is not None for cell in found["cells"])
    assert found["cost"]["unknownUSD"] == "0.00"
