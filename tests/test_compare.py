"""Two sweeps, or two manifests, side by side."""

from __future__ import annotations

import json

import pytest

from tests import sweepmaker

SPEC = """
    name: before
    runner: local
    command: [python3, train.py]
    matrix: {params: {lr: ["1e-3", "1e-4"]}}
"""


@pytest.fixture
def two(project, tmp_path):
    made = project()
    first = [{"cell": 0, "state": "succeeded", "cost": "0.40"}, {"cell": 1, "state": "failed", "reason": "oom"}]
    second = [{"cell": 0, "state": "succeeded", "cost": "0.30"}, {"cell": 1, "state": "succeeded", "cost": "0.00"}]
    sweepmaker.sweep(tmp_path, SPEC, first)
    wider = SPEC.replace("before", "after").replace('"1e-4"]', '"1e-4", "1e-5"]').replace("train.py", "train2.py")
    sweepmaker.sweep(tmp_path, wider, second)
    return made


def test_cells_are_matched_by_what_varies_though_the_command_changed(two):
    done = two.tool("compare", "before", "after")
    lines = done.stdout.splitlines()
    assert [line.split() for line in lines[lines.index("cost") + 1 :]] == [
        ["lr", "before", "after", "B", "-", "A"],
        ["1e-3", "0.40", "0.30", "-0.10"],
        ["1e-4", "failed", "(oom)", "0.00", "-"],
        ["1e-5", "no", "such", "cell", "pending", "-"],
    ]
    assert any(line.split() == ["*", "cost_usd", "0.412", "0.30"] for line in lines)


def test_json_says_why_a_value_is_missing(two):
    found = json.loads(two.tool("compare", "before", "after", "--json").stdout)
    assert [(one["a"], one["b"]) for one in found["cells"]] == [
        ({"value": "0.40", "why": None}, {"value": "0.30", "why": None}),
        ({"value": None, "why": "failed (oom)"}, {"value": "0.00", "why": None}),
        ({"value": None, "why": "no such cell"}, {"value": None, "why": "pending"}),
    ]


def test_two_manifests_show_every_field_and_mark_what_differs(two):
    for name, cost in (("a", 0.5), ("b", 0.25)):
        sweepmaker.manifest(two.path / name, estimated_cost_usd=cost, artifacts=[{"label": "out", "status": "success"}])
    lines = [line.split() for line in two.tool("compare", "a", "b").stdout.splitlines()]
    assert ["*", "estimated_cost_usd", "0.5", "0.25"] in lines
    assert ["failed", "false", "false"] in lines
    assert ["artifacts.out.status", "success", "success"] in lines
    assert ["deploy_metadata.local_git_dirty", "false", "false"] in lines


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["before", "gone"], "no sweep 'gone': there are after, before in"),
        (["before", "after", "--by", "acc"], "there are cost, time, throughput"),
        (["m", "before"], "m is a manifest and before is none"),
        (["torn.json", "m"], "torn.json:1:2: is torn or no JSON"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_a_mistake_is_one_clear_line_and_exit_2(two, words, said):
    sweepmaker.manifest(two.path / "m")
    (two.path / "torn.json").write_text("{")
    done = two.tool("compare", *words)
    assert (done.returncode, done.stdout) == (2, "")
    assert said in done.stderr
    assert done.stderr.count("\n") == 1
