"""Instance types on the read side: a column and a key of their own, and never two types taken for one combination."""

from __future__ import annotations

import json

import pytest

from tests.sweepmaker import sweep

SPEC = """
    {"defaults": {"name": "types", "command": "true", "ttl": "30m"},
     "grid": {"instance_type": ["t3.micro", "t3.small"], "lr": ["0.1", "0.2"]}}
    """
RUNS = [{"cell": index, "state": "succeeded", "cost": f"0.{index + 1}0"} for index in range(4)]


@pytest.fixture
def types(project, tmp_path):
    sweep(tmp_path, SPEC, RUNS)
    return project()


def test_two_instance_types_are_no_repetitions_of_each_other(types):
    found = json.loads(types.tool("best", "types", "--by", "cost", "--json").stdout)
    assert [(one["instance_type"], one["params"]["lr"], one["n"], one["of"]) for one in found["combinations"]] == [
        (kind, rate, 1, 1) for kind in ("t3.micro", "t3.small") for rate in ("0.1", "0.2")
    ]
    assert [cell["instance_type"] for cell in found["cells"]] == ["t3.micro"] * 2 + ["t3.small"] * 2


@pytest.mark.parametrize(
    "row",
    [
        pytest.param({"command": "false"}, id="command"),
        pytest.param({"spot": "true"}, id="spot"),
        pytest.param({"datacenter": "EU-RO-1"}, id="datacenter"),
        pytest.param({"region": "eu"}, id="region"),
    ],
)
def test_what_no_parameter_tells_apart_is_told_apart_all_the_same(project, tmp_path, row):
    spec = {"defaults": {"name": "rows", "command": "true", "ttl": "30m"}, "params": [{"a": "1"}, {"a": "1"} | row]}
    sweep(tmp_path, json.dumps(spec), RUNS[:2])
    found = json.loads(project().tool("best", "rows", "--by", "cost", "--json").stdout)
    assert [(one["n"], one["of"]) for one in found["combinations"]] == [(1, 1), (1, 1)]


def test_best_shows_the_instance_type_and_takes_it_as_a_condition(types):
    lines = types.tool("best", "types", "--by", "cost", "--where", "instance_type = t3.small").stdout.splitlines()
    assert lines[2].split() == ["RANK", "CELL", "INSTANCE_TYPE", "lr", "COST_USD"]
    assert [line.split()[1:3] for line in lines[3:5]] == [["2", "t3.small"], ["3", "t3.small"]]


def test_summary_has_a_column_and_groups_by_it(types):
    lines = types.tool("manifest-summary", "--sweep", "types").stdout.splitlines()
    assert lines[0].split()[:3] == ["CELL", "INSTANCE_TYPE", "lr"]
    found = json.loads(
        types.tool("manifest-summary", "--sweep", "types", "--by", "instance_type", "--format", "json").stdout
    )
    assert [(group["instance_type"], group["n"], group["cost_usd"]) for group in found["groups"]] == [
        ("t3.micro", 2, "0.30"), ("t3.small", 2, "0.70"),
    ]  # fmt: skip


def test_collected_rows_have_the_instance_type(types):
    assert types.tool("collect", "--sweep", "types", "-o", "runs.csv").returncode == 0
    head, *rows = (types.path / "runs.csv").read_text().splitlines()
    at = head.split(",").index("instance_type")
    assert [row.split(",")[at] for row in rows] == ["t3.micro"] * 2 + ["t3.small"] * 2
