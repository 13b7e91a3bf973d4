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


ROWS = """
    name: {}
    runner: local
    defaults: {{price_per_hour: "1"}}
    params:
      {}
"""


def test_cells_that_differ_only_in_a_setting_are_matched_by_it_and_none_is_lost(project, tmp_path):
    made = project()
    rows = [
        '- {p: "1", command: a}',
        '- {p: "1", command: b}',
        '- {p: "1", command: b, ttl: 60s}',
        '- {p: "2", command: c}',
    ]
    others = ['- {p: "1", command: b}', '- {p: "1", command: d}', '- {p: "2", command: e}', '- {p: "2", command: f}']
    for name, spec, cents in (("x", rows, 10), ("y", others, 20)):
        found = [{"cell": index, "state": "succeeded", "cost": f"0.{cents + index}"} for index in range(4)]
        sweepmaker.sweep(tmp_path, ROWS.format(name, "\n      ".join(spec)), found)
    lines = made.tool("compare", "x", "y", "--by", "cost").stdout.splitlines()
    assert [line.split() for line in lines[lines.index("cost") + 1 :]] == [
        ["CELL", "p", "x", "y", "B", "-", "A"],
        ["0", "1", "0.10", "0.21", "0.11"],
        ["1", "1", "0.11", "0.20", "0.09"],
        ["2", "1", "0.12", "no", "such", "cell", "-"],
        ["3", "2", "0.13", "0.22", "0.09"],
        ["3", "2", "no", "such", "cell", "0.23", "-"],
    ]
    cells = json.loads(made.tool("compare", "x", "x", "--by", "cost", "--json").stdout)["cells"]
    assert [(one["index"], one["a"] == one["b"]) for one in cells] == [(0, True), (1, True), (2, True), (3, True)]


def test_the_points_of_a_column_stand_below_each_other(project, tmp_path):
    made = project()
    for name, costs in (("x", ["0.001719", "0.00173"]), ("y", ["0.5", "10.25"])):
        found = [{"cell": index, "state": "succeeded", "cost": cost} for index, cost in enumerate(costs)]
        sweepmaker.sweep(tmp_path, SPEC.replace("before", name), found)
    assert made.tool("compare", "x", "y").stdout.endswith(
        "cost\nlr           x      y      B - A\n1e-3  0.001719   0.50   0.498281\n1e-4  0.001730  10.25  10.248270\n"
    )


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
    ("a", "b", "shown"),
    [
        (False, "false", [["*", "x", "false", '"false"']]),
        (True, 1, [["*", "x", "true", "1"]]),
        (1, "1", [["*", "x", "1", '"1"']]),
        (1, 1.0, [["x", "1", "1.0"]]),
        ("", None, [["*", "x", '""', "-"]]),
        ("-", None, [["*", "x", '"-"', "-"]]),
        ("a\\nb", "a\nb", [["*", "x", "a\\nb", '"a\\nb"']]),
        ([], {}, [["*", "x", "[]", "{}"]]),
        ([], None, [["*", "x", "[]", "-"]]),
        (float("nan"), float("nan"), [["x", "NaN", "NaN"]]),
        (["a, b"], ["a", "b"], [["*", "x", '["a,', 'b"]', '["a",', '"b"]']]),
        ([[1, 2], [3]], [[9, 2], [3]], [["*", "x.0", "[1,", "2]", "[9,", "2]"], ["x.1", "[3]", "[3]"]]),
        ([1, {"q": 1}], [1, {"q": 2}], [["x.0", "1", "1"], ["*", "x.1.q", "1", "2"]]),
        (10**40, 10**40 + 1, [["*", "x", f"1{'0' * 40}", f"1{'0' * 39}1"]]),
        ([{"label": "o", "k": 1}] * 2, [{"label": "o", "k": 1}], [["*", "x.o.k", "(2)", "1", "-"]]),
        ({"y.z": 1, "y": {"z": 2}}, {"y.z": 1, "y": {"z": 3}}, [["*", "x.y.z", "(2)", "2", "3"]]),
    ],
    ids=str,
)
def test_manifests_are_compared_by_value_and_shown_so_that_it_is_seen(project, a, b, shown):
    made = project()
    for name, value in (("a", a), ("b", b)):
        sweepmaker.manifest(made.path / name, x=value)
    lines = [line.split() for line in made.tool("compare", "a", "b").stdout.splitlines()]
    assert all(line in lines for line in shown)
    facts = json.loads(made.tool("compare", "a", "b", "--json").stdout)["facts"]
    assert all(one["same"] for one in facts if one["name"][0] == "x") == all(line[0] != "*" for line in shown)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["before", "gone"], "no sweep 'gone': there are after, before in"),
        (["before", "after", "--by", "acc"], "there are cost, time, throughput"),
        (["m", "before"], "m is a manifest and before is none"),
        (["torn.json", "m"], "torn.json:1:2: is torn or no JSON"),
        (["m", "m", "--by", "cost"], "--by: m and m are manifests"),
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


def test_where_no_run_reports_the_specs_metric_cells_are_compared_by_cost_with_a_note(project, tmp_path):
    made = project()
    for name in ("before", "after"):
        spec = SPEC.replace("before", name) + "    metrics: {best: {name: acc}}\n"
        sweepmaker.sweep(tmp_path, spec, [{"cell": 0, "state": "succeeded", "cost": "0.40"}])
    done = made.tool("compare", "before", "after", "--json")
    assert (done.returncode, json.loads(done.stdout)["by"]) == (0, "cost")
    assert done.stderr.startswith("metrics.best: no run reports 'acc' or any other metric: there are cost, ")
    assert done.stderr.count("\n") == 1


def test_what_is_odd_about_either_is_said_once(project, tmp_path):
    made = project()
    for name, lines in (("before", ["{\n"]), ("after", [])):
        sweepmaker.sweep(tmp_path, SPEC.replace("before", name), [{"cell": 0, "state": "succeeded"}], lines=lines)
    for other in ("after", "before"):
        done = made.tool("compare", "before", other)
        assert (done.returncode, done.stderr.count("\n")) == (0, 1)
        assert done.stderr.endswith("before: ledger.jsonl:5: a torn or foreign line\n")
    sweepmaker.manifest(made.path / "m", wall_time_sec="long")
    said = 'm/runpod_deploy_pull_manifest.json: wall_time_sec is "long", not a number of seconds: unknown, not 0\n'
    assert made.tool("compare", "m", "m").stderr == said
