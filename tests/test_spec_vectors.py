"""The vectors of the spec contract, by number: the cells in order, and the messages."""

from __future__ import annotations

import itertools
import json

import pytest
import yaml

from sweeptool.cells import number
from tests.specs import nodus, params, read, rows, shorthand, wrong, wrong_shorthand

SIX = [f"{gpu} BATCH_SIZE={size}" for gpu in ("L4", "A10") for size in (32, 64, 128)]


def test_1_gpu_is_slower_than_a_parameter():
    spec = nodus("matrix: {gpu: [L4, A10], params: {BATCH_SIZE: [32, 64, 128]}}")
    assert rows(read(spec)) == SIX
    assert rows(read("matrix: {gpu: [L4, A10], params: {BATCH_SIZE: [32, 64, 128]}}")) == SIX


def test_2_repetitions_are_the_fastest():
    found = rows(read(nodus("matrix: {gpu: [L4, H100], params: {BATCH_SIZE: [8, 16, 32]}}\nrepetitions: 2")))
    assert len(found) == 12
    assert found[:3] == ["L4 BATCH_SIZE=8", "L4 BATCH_SIZE=8 r1", "L4 BATCH_SIZE=16"]
    assert found[6] == "H100 BATCH_SIZE=8"


def test_3_parameters_go_by_name_whatever_the_order_in_the_file():
    found = rows(read(nodus("matrix: {regions: [us, eu], params: {LR: [0.1, 0.01], BS: [8, 16]}}\nrepetitions: 2")))
    assert len(found) == 16
    assert [found[index] for index in (0, 2, 4, 8)] == [
        "us BS=8 LR=0.1",
        "us BS=8 LR=0.01",
        "us BS=16 LR=0.1",
        "eu BS=8 LR=0.1",
    ]


@pytest.mark.parametrize("write", [nodus, lambda spec: spec or "name: none"], ids=["nodus", "native"])
@pytest.mark.parametrize(
    ("spec", "cells", "warnings"),
    [
        pytest.param("repetitions: 3", 3, 0, id="no-matrix"),
        pytest.param("matrix: {}", 1, 0, id="empty-matrix"),
        pytest.param("", 1, 0, id="nothing"),
        pytest.param("matrix: {gpu: [], params: {A: [1, 2]}}", 2, 1, id="empty-gpu"),
        pytest.param("matrix: {params: {A: [], B: [1, 2]}}", 2, 1, id="empty-parameter"),
        pytest.param("matrix: {regions: [], params: {}}", 1, 1, id="empty-regions"),
    ],
)
def test_4_an_empty_dimension_counts_as_one_and_warns_where_it_is_written(write, spec, cells, warnings):
    found = read(write(spec))
    assert len(found.points) == cells
    assert len(found.warnings) == warnings
    assert all("is empty" in warning for warning in map(str, found.warnings))


def listed(count: int, start: str = "g") -> str:
    return "[" + ", ".join(f"{start}{index}" for index in range(count)) + "]"


@pytest.mark.parametrize(
    ("spec", "cells"),
    [
        pytest.param(f"matrix: {{gpu: {listed(16)}, params: {{A: {listed(16)}}}}}", 256, id="16x16"),
        pytest.param(f"matrix: {{params: {{A: {listed(64)}}}}}\nrepetitions: 4", 256, id="64x4"),
    ],
)
def test_5_up_to_256_cells(spec, cells):
    assert len(read(nodus(spec)).points) == cells


NAMES = ", ".join(f"P{index}: [1]" for index in range(17))


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        pytest.param(f"matrix: {{params: {{A: {listed(64)}}}}}\nrepetitions: 5", "320 exceeds 256", id="cells"),
        pytest.param(f"matrix: {{gpu: {listed(17)}}}", "spec.matrix.gpu: 17 of them, at most 16", id="gpus"),
        pytest.param(f"matrix: {{params: {{{NAMES}}}}}", "spec.matrix.params: 17 of them, at most 16", id="names"),
        pytest.param(f"matrix: {{params: {{A: {listed(65)}}}}}", "params.A: 65 of them, at most 64", id="values"),
        pytest.param("repetitions: 0", "spec.repetitions: '0' is out of bounds", id="repetitions-0"),
        pytest.param("repetitions: 65", "whole number from 1 to 64", id="repetitions-65"),
        pytest.param("repetitions: true", "spec.repetitions: 'true' is not a whole number", id="repetitions-true"),
        pytest.param("maxParallel: 0", "spec.maxParallel: '0' is out of bounds", id="parallel-0"),
        pytest.param("maxParallel: 257", "whole number from 1 to 256", id="parallel-257"),
    ],
)
def test_5_the_limits_of_the_api(spec, message):
    [line] = wrong(nodus(spec))
    assert message in line


def test_5_several_faults_are_one_report():
    lines = wrong(nodus(f"matrix: {{gpu: {listed(17)}}}\nrepetitions: 0\nmaxParallel: 257\nmaxCostUSD: $5"))
    assert len(lines) == 4


@pytest.mark.parametrize("amount", ['"-1"', '"1e3"', '"NaN"', '"0.1234567"', '"$5"', "-1", "true", "", "[1]"])
def test_6_an_amount_is_a_plain_decimal(amount):
    [line] = wrong(nodus(f"maxCostUSD: {amount}"))
    assert line.startswith("sweep.yaml:10:")
    assert "spec.maxCostUSD: " in line


@pytest.mark.parametrize("name", ["batch_size", "LR-1", "4BIT", "L R", "''", "Ä"])
def test_6_a_nodus_parameter_is_upper_case(name):
    [line] = wrong(nodus(f"matrix: {{params: {{{name}: [1]}}}}"))
    assert "is not a parameter's name" in line


@pytest.mark.parametrize("gpu", ["H100:8!", "'H100:'", "H100:3", "'H100,L4'", "H100:08", "''", "H 100", "'!'"])
def test_6_a_gpu_request_is_a_type_and_a_count(gpu):
    [line] = wrong(nodus(f"matrix: {{gpu: [{gpu}]}}"))
    assert "spec.matrix.gpu[0]: " in line


def test_6_every_form_of_a_gpu_request_is_taken():
    assert rows(read(nodus("matrix: {gpu: [L4, 'H100:8', 'H100!', 'H100!:8']}"))) == [
        "L4",
        "H100:8",
        "H100!",
        "H100!:8",
    ]


SEED_002 = {
    "defaults": {"region": "us-east-1", "ttl": "30m", "spot": True},
    "params": [{"instance_type": "t3.micro", "alpha": 0.1}, {"instance_type": "t3.small", "alpha": 0.2}],
    "grid": {"learning_rate": [0.01, 0.1], "batch_size": [32, 64]},
}


@pytest.mark.parametrize("write", [json.dumps, yaml.safe_dump], ids=["json", "yaml"])
def test_7_explicit_rows_first_then_the_grid_by_sorted_key(write):
    spec = read(write(SEED_002))
    assert rows(spec) == [
        "t3.micro us-east-1 spot alpha=0.1",
        "t3.small us-east-1 spot alpha=0.2",
        "us-east-1 spot batch_size=32 learning_rate=0.01",
        "us-east-1 spot batch_size=32 learning_rate=0.1",
        "us-east-1 spot batch_size=64 learning_rate=0.01",
        "us-east-1 spot batch_size=64 learning_rate=0.1",
    ]
    assert {point.settings.max_runtime for point in spec.points} == {1800}


@pytest.mark.parametrize(
    ("spec", "expected"),
    [
        ("grid: {b: [x, y], a: [2, 1]}", ["a=2 b=x", "a=2 b=y", "a=1 b=x", "a=1 b=y"]),
        ("params: [{tag: e}]\ngrid: {n: [1, 2]}", ["tag=e", "n=1", "n=2"]),
    ],
    ids=["sorted", "rows-first"],
)
def test_8_the_order_of_rows(spec, expected):
    assert rows(read(spec)) == expected


def test_8_a_row_wins_over_defaults():
    spec = read("{defaults: {ttl: 4h}, params: [{}, {ttl: 8h}]}")
    assert [point.settings.max_runtime for point in spec.points] == [4 * 3600, 8 * 3600]
    assert len({cell.id for cell in number(spec, {})}) == 2


@pytest.mark.parametrize("spec", ["{}", "defaults: {a: 1}", "params: []", "grid: {}"])
def test_9_a_sweep_has_a_cell(spec):
    [line] = wrong(spec)
    assert "there is no cell" in line


def test_9_an_empty_axis_of_a_grid_is_named():
    [line] = wrong("params: [{p: 1}]\ngrid: {a: [1, 2], b: []}")
    assert line.startswith("sweep.yaml:2:22: grid.b: is empty")


@pytest.mark.parametrize(
    ("spec", "start"),
    [
        ("grid: {lr: 0.1}", "sweep.yaml:1:12: grid.lr: expected a list of values, got '0.1'"),
        ('grid: {lr: "0.1"}', "sweep.yaml:1:12: grid.lr: expected a list of values, got '0.1'"),
        ("grid: {lr: null}", "sweep.yaml:1:12: grid.lr: expected a list of values, got null"),
        ("grid: {lr: {a: 1}}", "sweep.yaml:1:12: grid.lr: expected a list of values, got a map"),
        ("grid: [1]", "sweep.yaml:1:7: grid: expected a map from names to lists of values, got a list"),
        ("params: {}", "sweep.yaml:1:9: params: expected a list of maps, got a map"),
        ('params: ["ab"]', "sweep.yaml:1:10: params[0]: expected a map of settings and parameters, got 'ab'"),
        ("params: [1]", "sweep.yaml:1:10: params[0]: expected a map of settings and parameters, got '1'"),
        ("params: [{a: [1, 2]}]", "sweep.yaml:1:14: params[0].a: a list where a value belongs"),
        ("grid: {a: [[1, 2]]}", "sweep.yaml:1:12: grid.a[0]: a list where a value belongs"),
        ("grid: {a: [{k: 1}]}", "sweep.yaml:1:12: grid.a[0]: a map where a value belongs"),
        ("grid: {a: [null]}", "sweep.yaml:1:12: grid.a[0]: null where a value belongs"),
        ("defaults: [1]\nparams: [{}]", "sweep.yaml:1:11: defaults: expected a map of settings and parameters, got a"),
    ],
)
def test_10_what_is_no_value_is_a_typed_error_with_its_path(spec, start):
    [line] = wrong(spec)
    assert line.startswith(start)


@pytest.mark.parametrize(
    ("spec", "start"),
    [
        ("grid: {a: [1, 1]}", "sweep.yaml:1:15: grid.a[1]: '1' stands there twice, first in line 1"),
        ("params: [{a: 1}]\ngrid: {a: [1, 2]}", "sweep.yaml:1:10: params[0]: cells 0 and 1 are the same: a=1"),
        ("params: [{a: 1}, {b: 1}, {a: 1}]", "sweep.yaml:1:26: params[2]: cells 0 and 2 are the same: a=1"),
        ("grid: {ttl: [60m, 1h]}", "sweep.yaml:1:7: grid: cells 0 and 1 are the same"),
        ("params: [{}, {ttl: 1h}]\ndefaults: {ttl: 60m}", "sweep.yaml:1:14: params[1]: cells 0 and 1 are the same"),
        ("matrix: {params: {a: [1, 2, 1]}}", "sweep.yaml:1:29: matrix.params.a[2]: '1' stands there twice"),
        ("matrix: {gpu: [L4, 'L4:1']}", "sweep.yaml:1:20: matrix.gpu[1]: 'L4:1' stands there twice"),
        ("matrix: {regions: [eu, eu]}", "sweep.yaml:1:24: matrix.regions[1]: 'eu' stands there twice"),
    ],
)
def test_11_two_equal_cells_are_an_error(spec, start):
    [line] = wrong(spec)
    assert line.startswith(start)


def test_11_equal_numbers_in_other_words_are_two_values():
    assert params(read("grid: {a: [0.1, 0.10]}"), "a") == ["0.1", "0.10"]


WRITTEN = ["1000000", "123456789", "9007199254740993", "1.0", "1e-5"]


@pytest.mark.parametrize(
    ("source", "text"),
    [
        pytest.param("s.json", f'{{"grid": {{"a": [{", ".join(WRITTEN)}]}}}}', id="json"),
        pytest.param("s.yaml", f"grid: {{a: [{', '.join(WRITTEN)}, 007]}}", id="yaml"),
        pytest.param("s.yaml", "grid:\n  a:\n" + "".join(f"  - {one}\n" for one in [*WRITTEN, "007"]), id="block"),
    ],
)
def test_12_a_number_is_the_text_that_was_written(source, text):
    assert params(read(text, source), "a")[:5] == WRITTEN
    assert params(read(text, source), "a")[5:] in ([], ["007"])


def test_12_and_in_shorthand():
    assert params(shorthand("a=" + ",".join([*WRITTEN, "007"])), "a") == [*WRITTEN, "007"]


def test_13_shorthand_is_a_grid_with_settings():
    spec = shorthand("lr=0.01,0.1 bs=32,64 spot=true,false")
    assert len(spec.points) == 8
    assert [(one.params["bs"], one.params["lr"], one.settings.spot) for one in spec.points] == list(
        itertools.product(["32", "64"], ["0.01", "0.1"], [True, False])
    )
    assert all("spot" not in point.params for point in spec.points)


def test_13_only_the_first_equals_sign_parts():
    assert params(shorthand("f=a=b,c"), "f") == ["a=b", "c"]


@pytest.mark.parametrize("text", ["lr=", "lr=,", "lr=0.1,,0.2", "=1", "lr", " ", "", "lr=1 lr=2", "lr=1,1", "lr=1\tlr"])
def test_13_broken_shorthand(text):
    assert all(line.startswith("--grid: ") for line in wrong_shorthand(text))


def test_14_a_bound_under_another_name_never_becomes_a_parameter():
    lines = wrong(
        """
        params:
        - {ttl_hours: 4, on-complete: t, a: 1}
        - {max_cost: 20}
        defaults: {budget: 50}
        """
    )
    assert [line.partition(" (")[0] for line in lines] == [
        "sweep.yaml:3:4: params[0].ttl_hours: unknown setting 'ttl_hours'",
        "sweep.yaml:3:18: params[0].on-complete: unknown setting 'on-complete'",
        "sweep.yaml:4:4: params[1].max_cost: unknown setting 'max_cost'",
        "sweep.yaml:5:12: defaults.budget: unknown setting 'budget'",
    ]
    assert "(use ttl; " in lines[0]
    assert "(use on_complete; " in lines[1]
    assert "use cost_limit (a cell) or max_cost_usd in defaults (the sweep)" in lines[2]
    assert "'param:budget' makes it a parameter" in lines[3]


def test_14_a_parameter_can_be_called_like_a_bound():
    spec = read("{params: [{'param:budget': 50}]}")
    assert params(spec, "budget") == ["50"]


@pytest.mark.parametrize("text", ["abc", "-1", "1.5", "", " 2", "1_0", "٣", "9" * 30])
def test_15_max_concurrent_is_a_whole_number(text):
    [line] = wrong_shorthand("a=1", max_concurrent=text)
    assert line.startswith("--max-concurrent: ")


def test_15_zero_is_all_at_once():
    assert shorthand("a=1", max_concurrent="0").max_parallel == 0


def test_15_row_over_command_line_over_defaults():
    spec = read("{defaults: {cost_limit: 8}, params: [{}, {cost_limit: 1}]}", cost_limit="3")
    assert [point.settings.cost_cap for point in spec.points] == [3_000_000, 1_000_000]


def test_16_a_range_includes_its_end():
    spec = read("matrix: {params: {lr: {range: {start: 0.1, stop: 0.5, step: 0.1}}}}")
    assert params(spec, "lr") == ["0.1", "0.2", "0.3", "0.4", "0.5"]


def test_16_a_zip_of_unequal_lengths():
    [line] = wrong("matrix: {zip: [{a: [1, 2, 3], b: [1, 2]}]}")
    assert line.startswith("sweep.yaml:1:16: matrix.zip[0]: the lists of a zip must be equally long: a has 3, b has 2")


def test_16_a_sample_larger_than_the_rest():
    spec = read("matrix: {params: {a: [1, 2, 3, 4]}, sample: {n: 8}}")
    assert params(spec, "a") == ["1", "2", "3", "4"]
    assert tuple(map(str, spec.warnings)) == ("sweep.yaml:1:45: matrix.sample.n: 8 of 4 combinations: all of them run",)


HOSTILE = ['run "A"', "$HOME/out", "`id`", "it's", "*", "--x", "a=b", "a\nb", "", "日本", "\\", "{x}", "'", "\t", "-"]


@pytest.mark.parametrize("write", [json.dumps, yaml.safe_dump], ids=["json", "yaml"])
@pytest.mark.parametrize("form", ["native", "nodus", "grid"])
def test_17_every_character_of_a_value_arrives(write, form):
    spec = {
        "native": {"matrix": {"params": {"V": HOSTILE}}},
        "grid": {"grid": {"V": HOSTILE}},
        "nodus": {
            **yaml.safe_load(nodus()),
            "spec": {**yaml.safe_load(nodus())["spec"], "matrix": {"params": {"V": HOSTILE}}},
        },
    }[form]
    assert params(read(write(spec)), "V") == HOSTILE


def permuted(value: object) -> object:
    """Return a document with the keys of every map the other way round."""
    if isinstance(value, dict):
        return {key: permuted(value[key]) for key in reversed(value)}
    return [permuted(one) for one in value] if isinstance(value, list) else value


NATIVE = {
    "name": "demo",
    "command": ["python3", "train.py", "{lr}", "{model}"],
    "prices": {"L4": "0.43", "A10": "0.52"},
    "matrix": {
        "gpu": ["L4", "A10"],
        "params": {"lr": ["1e-3", "1e-4"], "seed": ["1", "2"]},
        "zip": [{"model": ["s", "m"], "epochs": ["10", "20"]}],
        "exclude": [{"model": "m", "lr": "1e-4"}],
        "include": [{"gpu": "L4", "model": "l", "lr": "1e-3"}, {"model": "s", "note": "x"}],
        "sample": {"n": 7, "seed": 3},
    },
    "repetitions": 2,
    "env": {"B": "1", "A": "2", "HF_TOKEN": {"from": "HF"}},
}


@pytest.mark.parametrize(
    "spec", [NATIVE, SEED_002, yaml.safe_load(nodus("matrix: {gpu: [L4, A10], params: {B: [1], A: [2]}}"))]
)
def test_18_the_order_of_keys_and_the_syntax_mean_nothing(spec):
    texts = [json.dumps(spec), json.dumps(permuted(spec)), yaml.safe_dump(permuted(spec), sort_keys=False, indent=4)]
    first, *others = [read(text) for text in texts]
    for other in others:
        assert other.points == first.points
        assert list(other.points[0].settings.env) == list(first.points[0].settings.env)
        assert list(other.prices) == list(first.prices)
        assert [cell.id for cell in number(other, {})] == [cell.id for cell in number(first, {})]
        assert rows(other) == rows(first)
