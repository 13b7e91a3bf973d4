"""``best`` on the command line: sweeps and trees, units and metrics, tables and JSON."""

from __future__ import annotations

import json

import pytest

from tests import sweepmaker

SPEC = """
    name: lora
    runner: local
    command: [python3, train.py]
    matrix: {gpu: [L4], params: {rank: [4, 8]}}
    repetitions: 3
    metrics: {file: metrics.json, best: {name: accuracy, goal: max}}
"""
VALUES = [0.90, 0.80, 0.70, 0.84, 0.85, 0.86]


def done(cell: int, accuracy: object, **more: object) -> dict:
    return {"cell": cell, "state": "succeeded", "metrics": {"accuracy": accuracy, "loss": 1.5}, **more}


@pytest.fixture
def lora(project, tmp_path):
    made = project()
    costs = ["0.30", "0.20", "0.25", "0.20", "0.40", "0.50"]
    attempts = [
        done(index, value, cost=cost, wall=100 + index, units_per_second=10.5 - index)
        for index, (value, cost) in enumerate(zip(VALUES, costs, strict=True))
    ]
    sweepmaker.sweep(tmp_path, SPEC, attempts)
    return made


def best(made, *words: str) -> dict:
    return json.loads(made.tool("best", *words, "--json").stdout)


def test_the_specs_best_metric_is_the_default_and_its_goal_is_printed(lora):
    done = lora.tool("best")
    assert done.stdout == (
        "by accuracy, goal max (as the spec says)\n"
        "\n"
        "RANK  CELL  GPU  rank  REP  accuracy\n"
        "   1     0  L4   4     0        0.90\n"
        "   2     5  L4   8     2        0.86\n"
        "   3     4  L4   8     1        0.85\n"
        "   4     3  L4   8     0        0.84\n"
        "   5     1  L4   4     1        0.80\n"
        "   6     2  L4   4     2        0.70\n"
        "\n"
        "combinations over repetitions\n"
        "GPU  rank       N  MEAN    SD                95% CI\n"
        "L4   8     3 of 3  0.85  0.01  0.825159 .. 0.874841\n"
        "L4   4     3 of 3  0.80  0.10  0.551586 .. 1.04841\n"
    )
    assert done.stderr == "read: sweep lora\n"


def test_no_digit_is_shown_that_nobody_measured(project, tmp_path):
    made = project()
    sweepmaker.sweep(tmp_path, SPEC, [done(0, 4.378667386533896), done(1, 0.25), done(2, 0.0123456789)])
    table = made.tool("best").stdout.split("\n\n")[1]
    values = [line.split()[-1] for line in table.splitlines()]
    assert values == ["accuracy", "4.37867", "0.2500000", "0.0123457"]


def test_json_has_the_shape_that_programs_rely_on(lora):
    found = best(lora, "lora", "--by", "accuracy", "-n", "2")
    assert (found["by"], found["goal"]) == ("accuracy", "max")
    assert [(one["rank"], one["index"], one["params"], one["value"]) for one in found["cells"]] == [
        (1, 0, {"rank": "4"}, 0.9),
        (2, 5, {"rank": "8"}, 0.86),
    ]
    combination = found["combinations"][0]
    assert (combination["params"], combination["n"], combination["of"]) == ({"rank": "8"}, 3, 3)
    assert combination["mean"] == pytest.approx(0.85)
    assert combination["sd"] == pytest.approx(0.01)
    assert combination["ci95"] == pytest.approx([0.8251586, 0.8748414])
    assert found["excluded"] == []
    assert found["cells"][0]["id"].startswith("L4-4-")


def test_json_is_json_where_an_interval_is_wider_than_a_number_can_say(project, tmp_path):
    made = project()
    sweepmaker.sweep(tmp_path, SPEC, [done(0, 1e308), done(1, 1)])
    text = made.tool("best", "--json").stdout
    assert "Infinity" not in text
    assert json.loads(text)["combinations"][0]["ci95"] == [None, None]


def test_costs_are_decimal_text_and_ties_go_to_the_lowest_index(lora):
    found = best(lora, "lora", "--by", "cost", "-n", "3")
    assert [(one["index"], one["value"]) for one in found["cells"]] == [(1, "0.20"), (3, "0.20"), (2, "0.25")]
    assert found["goal"] == "min"
    assert found["combinations"][0]["mean"] == "0.25"
    assert found["combinations"][0]["sd"] == "0.05"


@pytest.mark.parametrize(
    ("words", "index", "goal"),
    [
        (["--by", "time"], 0, "min"),
        (["--by", "throughput"], 0, "max"),
        (["--by", "loss"], 0, "min"),
        (["--by", "accuracy", "--goal", "min"], 2, "min"),
        (["--by", "time", "--goal", "max"], 5, "max"),
        (["--where", "rank = 8"], 5, "max"),
        (["--where", "cost < 0.3 and accuracy > 0.75", "--by", "time"], 1, "min"),
    ],
    ids=str,
)
def test_every_criterion(lora, words, index, goal):
    found = best(lora, *words)
    assert (found["cells"][0]["index"], found["goal"]) == (index, goal)


def test_the_cost_of_a_cell_is_that_of_its_failed_attempt_too(project, tmp_path):
    made = project()
    attempts = [
        {"cell": 0, "state": "failed", "cost": "0.40"},
        done(0, 1, cost="0.30"),
        done(1, 1, cost="0.60"),
        {"cell": 2, "state": "lost", "cost": None, "run_dir": False},
        done(2, 1, cost="0.01"),
    ]
    sweepmaker.sweep(tmp_path, SPEC, attempts)
    found = best(made, "--by", "cost")
    assert [(one["index"], one["value"]) for one in found["cells"]] == [(1, "0.60"), (0, "0.70")]
    assert {"index": 2, "why": "the cost of an attempt is unknown"} in found["excluded"]


def test_what_is_left_out_is_listed_with_why(project, tmp_path):
    made = project()
    attempts = [
        done(0, "0.9"),
        done(1, float("nan")),
        {"cell": 2, "state": "failed", "reason": "timeout"},
        {"cell": 3, "state": "succeeded"},
        done(4, 0.5),
    ]
    sweepmaker.sweep(tmp_path, SPEC, attempts)
    found = best(made)
    assert [one["index"] for one in found["cells"]] == [4]
    assert {one["index"]: one["why"] for one in found["excluded"]} == {
        0: "it reported no accuracy",
        1: "its accuracy is NaN",
        2: "failed (timeout)",
        3: "it reported no accuracy",
        5: "pending",
    }
    assert [(one["params"], one["n"], one["of"], one["sd"], one["ci95"]) for one in found["combinations"]] == [
        ({"rank": "8"}, 1, 3, None, None),
        ({"rank": "4"}, 0, 3, None, None),
    ]
    text = made.tool("best").stdout
    assert "  cell 1: its accuracy is NaN\n" in text
    assert "1 of 3" in text


def test_the_pareto_front(lora):
    found = best(lora, "lora", "--pareto", "cost,accuracy")
    assert [(one["index"], one["values"]) for one in found["cells"]] == [(3, ["0.20", 0.84]), (0, ["0.30", 0.9])]
    assert found["goal"] == ["min", "max"]
    text = lora.tool("best", "--pareto", "time:max,loss").stdout
    assert text.startswith("Pareto front of time (max) and loss (min)\n")


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--by", "acuracy"], "there are cost, time, throughput, accuracy, loss (did you mean 'accuracy'?)"),
        (["--where", "rnk = 8"], "did you mean 'rank'?"),
        (["--where", "rank"], "is no condition"),
        (["--pareto", "cost"], "write A,B"),
        (["--pareto", "cost,time,loss"], "write A,B"),
        (["--pareto", "cost,los"], "--pareto: no run reports 'los'"),
        (["--over", "sed"], "no parameter 'sed': there is rank"),
        (["-n", "0"], "0 is not in the range"),
        (["--goal", "best"], "'best' is not one of"),
        (["nope"], "no sweep 'nope': there is lora in"),
        (["lora", "--root", "."], "exclude each other"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_a_mistake_is_one_clear_line_and_exit_2(lora, words, said):
    found = lora.tool("best", *words)
    assert (found.returncode, found.stdout) == (2, "")
    assert said in found.stderr
    assert found.stderr.count("\n") == 1


def test_a_metric_of_the_spec_that_no_run_reports_is_the_specs_mistake(project, tmp_path):
    made = project()
    sweepmaker.sweep(tmp_path, SPEC, [{"cell": 0, "state": "succeeded", "metrics": {"acuracy": 1}}])
    done = made.tool("best")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == (
        "error: metrics.best: no run reports 'accuracy': there are cost, time, throughput, acuracy "
        "(did you mean 'acuracy'? choose with --by)\n"
    )


def test_a_sweep_that_has_not_begun_has_no_best_and_says_so(project, tmp_path):
    made = project()
    sweepmaker.sweep(tmp_path, SPEC, [])
    done = made.tool("best")
    assert done.returncode == 0
    assert "no cell has a value to rank\n" in done.stdout
    found = best(made)
    assert (found["cells"], len(found["excluded"])) == ([], 6)


def test_a_tree_without_a_sweep_ranks_its_runs(project):
    made = project()
    for name, cost in (("a", 0.31), ("b", 0.1), ("c", None)):
        sweepmaker.manifest(made.path / "runs" / name, estimated_cost_usd=cost, wall_time_sec=10)
    sweepmaker.manifest(made.path / "runs" / "d", estimated_cost_usd=0.01, failed=True)
    (made.path / "runs" / "a" / "units.jsonl").write_text('{"id": 1}\n{"id": 2}\n')
    (made.path / "runs" / "b" / "metrics.json").write_text('{"f1": 0.5}')
    found = best(made, "--root", "runs")
    assert [(one["id"], one["value"]) for one in found["cells"]] == [("b", "0.10"), ("a", "0.31")]
    assert {one["index"]: one["why"] for one in found["excluded"]} == {2: "its cost is unknown", 3: "failed"}
    assert [(one["id"], one["value"]) for one in best(made, "--root", "runs", "--by", "throughput")["cells"]] == [
        ("a", 0.2)
    ]
    assert best(made, "--root", "runs", "--by", "f1")["cells"][0]["id"] == "b"


def test_metrics_may_come_from_the_log_by_a_pattern(project, tmp_path):
    made = project()
    spec = SPEC.replace(
        "metrics: {file: metrics.json, best: {name: accuracy, goal: max}}",
        "metrics: {patterns: {ppl: 'perplexity[:=] *([0-9.]+)'}, best: {name: ppl}}",
    )
    attempts = [
        {"cell": index, "state": "succeeded", "files": {"run.log": f"step 1 perplexity: 99\nperplexity={value}\n"}}
        for index, value in enumerate(["12.5", "9.75", "100"])
    ]
    sweepmaker.sweep(tmp_path, spec, attempts)
    found = best(made)
    assert (found["by"], found["goal"]) == ("ppl", "min")
    assert [(one["index"], one["value"]) for one in found["cells"]] == [(1, 9.75), (0, 12.5), (2, 100)]


def test_combinations_that_differ_only_in_a_setting_are_told_apart_by_their_first_cell(project, tmp_path):
    made = project()
    spec = """
        name: two
        runner: local
        repetitions: 2
        defaults: {price_per_hour: "1"}
        params: [{p: "1", command: a}, {p: "1", command: b}]
    """
    sweepmaker.sweep(tmp_path, spec, [{"cell": index, "state": "succeeded", "cost": "0.10"} for index in range(4)])
    lines = made.tool("best").stdout.partition("combinations over repetitions\n")[2].splitlines()
    assert [line.split()[:3] for line in lines] == [["CELL", "p", "N"], ["0", "1", "2"], ["2", "1", "2"]]


def test_a_torn_metrics_file_is_named(project, tmp_path):
    made = project()
    attempts = [done(0, 0.5), {"cell": 1, "state": "succeeded", "files": {"metrics.json": '{"accuracy": 0.'}}]
    sweepmaker.sweep(tmp_path, SPEC, attempts)
    assert "metrics.json: is torn" in made.tool("best").stderr


@pytest.mark.parametrize("command", ["best", "collect"])
def test_a_torn_metrics_file_of_a_tree_is_named_once(project, command):
    made = project()
    for name, text in (("a", '{"loss": 0.'), ("b", '{"loss": 0.5}')):
        sweepmaker.manifest(made.path / "runs" / name)
        (made.path / "runs" / name / "metrics.json").write_text(text)
    done = made.tool(command, "--root", "runs", *(["--by", "loss"] if command == "best" else []))
    assert (done.returncode, done.stderr) == (0, "runs/a/metrics.json: is torn, no JSON, or too large\n")


def test_without_a_wall_time_it_is_not_the_units_that_are_missing(project):
    made = project()
    for name, wall in (("a", 0), ("b", None), ("c", 10)):
        sweepmaker.manifest(made.path / "runs" / name, wall_time_sec=wall)
        (made.path / "runs" / name / "units.jsonl").write_text('{"id": 1}\n' if name != "c" else "")
    found = best(made, "--root", "runs", "--by", "throughput")
    assert [one["why"] for one in found["excluded"]] == [
        "its wall time is 0",
        "its wall time is unknown",
        "it reported no units",
    ]
