"""Which cell is best, which combination, and what is left out: from candidates that stand in the test."""

from __future__ import annotations

from decimal import Decimal

import pytest

from sweeptool import analysis
from sweeptool.analysis import goal, pareto, rank, where
from sweeptool.analysis.candidates import Candidate
from sweeptool.errors import SweepError


def cell(index: int, why: str = "", gpu: str | None = None, rep: int = 0, params=None, **values: str) -> Candidate:
    numbers = {name: Decimal(value) for name, value in values.items()}
    return Candidate(index, f"c{index}", params or {}, None, gpu, None, rep, why, numbers, {})


def order(cells: list[Candidate], by: str, way: str | None = None, text: str | None = None) -> list[int]:
    found = rank(cells, goal(by, way), where.parse(text) if text else ())
    return [one.index for one, _ in found.cells]


def test_the_least_cost_the_least_time_and_the_greatest_throughput_win():
    cells = [cell(0, cost="0.3", time="9", throughput="5"), cell(1, cost="0.2", time="10", throughput="6")]
    assert order(cells, "cost") == [1, 0]
    assert order(cells, "time") == [0, 1]
    assert order(cells, "throughput") == [1, 0]


@pytest.mark.parametrize(
    ("name", "way"),
    [
        *((name, "min") for name in ("loss", "val_loss", "eval/loss", "trainLoss", "LOSS", "val.loss", "loss_2")),
        *((name, "min") for name in ("error", "error_rate", "perplexity", "latency_ms", "p99-latency", "WER", "rmse")),
        *((name, "min") for name in ("cost_usd", "time_to_first_token", "MSE", "MSEloss", "MSELoss", "rmsle", "fid")),
        *((name, "min") for name in ("logloss", "test-mlogloss", "merror", "valid_0's binary_logloss", "brier_score")),
        *((name, "min") for name in ("runtime", "train_runtime", "walltime", "duration", "seconds", "CrossEntropy")),
        *(
            (name, "min")
            for name in ("mean_per_class_error", "poisson-nloglik", "neg_log_likelihood", "seconds_per_step")
        ),
        *(
            (name, "max")
            for name in ("gloss", "floss", "uptime", "entropy", "fidelity", "timestep", "lossless", "costume")
        ),
        *(
            (name, "max")
            for name in ("neg_log_loss", "test_neg_mean_squared_error", "tokens_per_seconds", "log_likelihood")
        ),
        *(
            (name, "max")
            for name in ("accuracy", "acc", "f1", "bleu", "reward", "score", "glossary", "timesteps", "R2")
        ),
    ],
)
def test_the_goal_of_a_metric_follows_from_its_name(name, way):
    found = goal(name, None)
    assert (found.way, "name" in found.source) == (way, True)


def test_the_goal_asked_for_comes_before_the_specs_and_that_before_the_name():
    assert goal("loss", "max", ("loss", "min")).way == "max"
    assert goal("loss", None, ("loss", "max")).way == "max"
    assert goal("loss", None, ("other", "max")).way == "min"


def test_loss_is_best_at_its_least():
    assert order([cell(0, loss="0.5"), cell(1, loss="0.1"), cell(2, loss="0.9")], "loss") == [1, 0, 2]


def test_ties_go_to_the_lowest_index_either_way():
    cells = [cell(2, x="1"), cell(0, x="1"), cell(1, x="1")]
    assert order(cells, "x", "max") == [0, 1, 2]
    assert order(cells, "x", "min") == [0, 1, 2]


def test_values_are_compared_unrounded():
    cells = [cell(0, x="0.12345678901234567890"), cell(1, x="0.12345678901234567891"), cell(2, x="9"), cell(3, x="100")]
    assert order(cells, "x", "max") == [3, 2, 1, 0]


@pytest.mark.parametrize("way", ["min", "max"])
def test_failed_missing_nan_and_infinite_never_win_and_are_listed_with_why(way):
    cells = [
        cell(0, x="NaN"),
        cell(1, x="Infinity"),
        cell(2, x="-Infinity"),
        cell(3, y="1"),
        cell(4, why="failed (oom)", x="-1000"),
        cell(5, why="pending"),
        cell(6, x="5"),
        cell(7, x="1e999"),
    ]
    found = rank(cells, goal("x", way))
    assert [one.index for one, _ in found.cells] == [6]
    assert {one.index: one.why for one in found.excluded} == {
        0: "its x is NaN",
        1: "its x is infinite",
        2: "its x is infinite",
        3: "it reported no x",
        4: "failed (oom)",
        5: "pending",
        7: "its x is infinite",
    }


def test_a_metric_that_is_nan_everywhere_has_no_best():
    found = rank([cell(0, x="NaN"), cell(1, x="NaN")], goal("x", None))
    assert (found.cells, len(found.excluded)) == ((), 2)


def test_a_metric_nobody_has_names_those_that_exist():
    with pytest.raises(
        SweepError, match=r"no run reports 'acuracy'.*cost, time, throughput, accuracy, loss.*'accuracy'"
    ):
        rank([cell(0, accuracy="1", loss="2")], goal("acuracy", None))


@pytest.mark.parametrize("name", ["\x1b[31mx", "a\nb", "\ud800"])
def test_a_name_in_a_message_is_on_its_line_and_moves_no_cursor(name):
    for text in (None, "y = 1"):
        with pytest.raises(SweepError) as caught:
            order([cell(0, **{name: "1"}, params={name: "1"})], "y", text=text)
        assert str(caught.value).isprintable()


def test_before_anything_succeeded_no_metric_is_unknown():
    found = rank([cell(0, why="pending")], goal("accuracy", None))
    assert (found.cells, found.excluded[0].why) == ((), "pending")


def test_where_keeps_only_what_holds():
    cells = [
        cell(0, gpu="L4", params={"lr": "1e-3"}, x="3"),
        cell(1, gpu="A10", params={"lr": "1e-3"}, x="9"),
        cell(2, gpu="L4", params={"lr": "1e-2"}, x="5"),
    ]
    assert order(cells, "x", text="gpu = L4") == [2, 0]
    assert order(cells, "x", text="lr = 0.001") == [1, 0]
    assert order(cells, "x", text="x < 5") == [0]
    assert order(cells, "x", text="index >= 1 and gpu != A10") == [2]


def test_where_with_a_key_that_no_cell_has_names_those_there_are():
    with pytest.raises(SweepError, match=r"no key 'lrr': there are lr, .*did you mean 'lr'"):
        order([cell(0, params={"lr": "1"}, x="1")], "x", text="lrr = 1")


def test_a_parameter_and_a_metric_of_one_name_are_told_apart_by_their_prefix():
    cells = [cell(0, params={"a": "1", "cost": "7"}, a="2", cost="3"), cell(1, params={"a": "2", "cost": "8"}, a="1")]
    for text, found in (
        ("a = 1", [0]),
        ("param.a = 1", [0]),
        ("metric.a = 1", [1]),
        ("metric.cost = 3", [0]),
        ("cost = 8", [1]),
    ):
        assert order(cells, "a", "max", text) == found
    with pytest.raises(SweepError, match=r"there are a, cost, index, .*, metric.cost, time, throughput, metric.a$"):
        order(cells, "a", "max", "param.x = 1")


def test_a_dotted_name_is_what_it_says_before_it_is_a_prefix():
    cells = [cell(0, **{"metric.a": "1", "a": "2"}), cell(1, **{"metric.a": "2", "a": "1"})]
    assert order(cells, "a", "max", "metric.a = 2") == [1]


def repeated(values: dict[str, list[str | None]]) -> list[Candidate]:
    """One cell a value, None for a failed one, repetitions adjacent."""
    cells: list[Candidate] = []
    for lr, row in values.items():
        for rep, value in enumerate(row):
            made = {} if value is None else {"x": value}
            cells.append(cell(len(cells), "" if value else "failed", rep=rep, params={"lr": lr}, **made))
    return cells


def test_the_best_combination_is_by_its_mean_not_by_its_luckiest_repetition():
    found = rank(repeated({"a": ["0.99", "0.10", "0.11"], "b": ["0.70", "0.71", "0.72"]}), goal("x", "max"))
    assert found.cells[0][0].index == 0
    assert [dict(one.params) for one in found.combinations] == [{"lr": "b"}, {"lr": "a"}]


def test_failed_repetitions_show_as_n_of_n():
    found = rank(repeated({"a": ["1", None, "3"], "b": ["5", None, None], "c": [None, None, None]}), goal("x", "max"))
    assert [(one.params["lr"], one.spread.n, one.of) for one in found.combinations] == [
        ("b", 1, 3),
        ("a", 2, 3),
        ("c", 0, 3),
    ]
    assert [one.spread.sd is None for one in found.combinations] == [True, False, True]


def test_combinations_with_equal_means_keep_the_order_of_the_plan():
    found = rank(repeated({"b": ["1", "3"], "a": ["2", "2"]}), goal("x", "max"))
    assert [one.params["lr"] for one in found.combinations] == ["b", "a"]


def test_a_seed_counts_as_a_repetition_and_another_parameter_does_when_asked():
    cells = [
        cell(i, params={"lr": lr, "seed": s}, x=x)
        for i, (lr, s, x) in enumerate([("a", "1", "1"), ("a", "2", "3"), ("b", "1", "5"), ("b", "2", "7")])
    ]
    assert [one.of for one in rank(cells, goal("x", "max")).combinations] == [2, 2]
    assert rank(cells, goal("x", "max")).over == ("seed",)
    assert [one.of for one in rank(cells, goal("x", "max"), over=["lr"]).combinations] == [2, 2]
    assert [one.of for one in rank(cells, goal("x", "max"), over=["lr", "seed"]).combinations] == [4]
    with pytest.raises(SweepError, match="no parameter 'sed'"):
        rank(cells, goal("x", "max"), over=["sed"])


def test_gpu_region_and_config_make_combinations_too():
    cells = [cell(0, gpu="L4", x="1"), cell(1, gpu="A10", x="2"), cell(2, gpu="L4", rep=1, x="3")]
    assert [(one.cell.gpu, one.of) for one in rank(cells, goal("x", "max")).combinations] == [("L4", 2), ("A10", 1)]


def front(cells: list[Candidate], a: str = "cost", b: str = "acc") -> list[int]:
    return [one.index for one, _ in pareto(cells, (goal(a, None), goal(b, None))).cells]


def test_the_front_holds_what_nothing_beats_in_both():
    cells = [
        cell(0, cost="1", acc="0.5"),
        cell(1, cost="2", acc="0.9"),
        cell(2, cost="2", acc="0.8"),  # beaten by 1
        cell(3, cost="3", acc="0.9"),  # beaten by 1
        cell(4, cost="4", acc="0.95"),
        cell(5, cost="1", acc="0.5"),  # equal to 0
    ]
    assert front(cells) == [0, 5, 1, 4]


def test_one_cell_may_be_the_whole_front():
    assert front([cell(0, cost="1", acc="1"), cell(1, cost="2", acc="0")]) == [0]


def test_cells_without_both_values_are_left_out_of_the_front_with_why():
    cells = [cell(0, cost="1", acc="NaN"), cell(1, acc="1"), cell(2, "failed"), cell(3, cost="5", acc="0")]
    found = pareto(cells, (goal("cost", None), goal("acc", None)))
    assert [one.index for one, _ in found.cells] == [3]
    assert [one.index for one in found.excluded] == [0, 1, 2]


def test_every_front_is_right_against_the_definition():
    import random

    dice = random.Random(5)
    for _ in range(200):
        cells = [cell(i, cost=str(dice.randrange(6)), acc=str(dice.randrange(6))) for i in range(dice.randrange(1, 9))]
        pairs = {one.index: (one.values["cost"], -one.values["acc"]) for one in cells}
        undominated = {
            i
            for i, (a, b) in pairs.items()
            if not any(c <= a and d <= b and (c, d) != (a, b) for c, d in pairs.values())
        }
        assert set(front(cells)) == undominated


def test_a_value_of_zero_is_a_value():
    assert order([cell(0, x="0"), cell(1, x="1")], "x", "min") == [0, 1]
    assert analysis.value_or_why(cell(0, x="0"), "x") == 0
