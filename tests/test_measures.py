"""Units and metrics of a run: every form in which a job reports them, and everything that is none."""

from __future__ import annotations

import math
from decimal import Decimal

import pytest

from sweeptool import measures


def units(tmp_path, file: str | None = None, log: str | None = None, wall: float | None = 10.0) -> float | None:
    if file is not None:
        (tmp_path / "units.jsonl").write_text(file)
    logs = []
    if log is not None:
        (tmp_path / "run.log").write_text(log)
        logs = [tmp_path / "run.log"]
    return measures.units_per_second(tmp_path, logs, wall)


def test_units_in_the_file_are_counted_once_each_and_divided_by_the_wall_time(tmp_path):
    assert units(tmp_path, '{"id": "a", "ms": 3}\n{"id": "b", "ms": 4}\n{"id": "a", "ms": 5}\n') == 0.2


def test_unit_done_lines_of_the_log_count(tmp_path):
    assert units(tmp_path, log='nodus.unit_done {"id": 1, "ms": 3}\nnodus.unit_done {"id": 2}\n', wall=4) == 0.5


def test_events_of_type_unit_count_and_other_events_do_not(tmp_path):
    log = 'nodus.event {"type": "unit", "id": "a"}\nnodus.event {"type": "step", "id": "b"}\nnodus.event {"id": "c"}\n'
    assert units(tmp_path, log=log) == 0.1


def test_a_prefix_before_a_log_line_is_allowed(tmp_path):
    assert units(tmp_path, log='2026-03-01 12:00:01 INFO nodus.unit_done {"id": 1} (fast)\n') == 0.1


def test_the_echo_of_a_command_is_no_output(tmp_path):
    assert units(tmp_path, log='$ [ssh] echo nodus.unit_done {"id": 1}\nprint(\'nodus.unit_done {"id": 2}\')\n') is None


@pytest.mark.parametrize(
    "line",
    [
        '{"ms": 3}',
        '{"id": null}',
        '{"id": ""}',
        '{"id": true}',
        '{"id": 1.5}',
        '{"id": ["a"]}',
        "[1]",
        "3",
        "",
        '{"id": "a"',
        "\0\0\0",
        "[" * 50_000,
    ],
)
def test_a_line_without_a_valid_id_is_no_unit(tmp_path, line):
    assert units(tmp_path, line + "\n") is None
    assert units(tmp_path, f'{line}\n{{"id": "ok"}}\n') == 0.1


def test_no_units_are_unknown_and_never_0(tmp_path):
    assert units(tmp_path) is None
    assert units(tmp_path, "", "training\n") is None


@pytest.mark.parametrize("wall", [None, 0, 0.0, -3])
def test_without_a_wall_time_there_is_no_rate(tmp_path, wall):
    assert units(tmp_path, '{"id": "a"}\n', wall=wall) is None


def test_a_last_line_without_its_newline_counts(tmp_path):
    assert units(tmp_path, '{"id": "a"}\n{"id": "b"}') == 0.2


def test_the_file_is_believed_before_the_log(tmp_path):
    assert units(tmp_path, '{"id": "a"}\n', 'nodus.unit_done {"id": 1}\nnodus.unit_done {"id": 2}\n') == 0.1


def test_the_same_unit_in_two_logs_is_one(tmp_path):
    for name in ("stdout.log", "run.log"):
        (tmp_path / name).write_text('nodus.unit_done {"id": "a"}\n')
    assert measures.count_units(tmp_path, measures.logs(tmp_path)) == 1


def test_a_run_without_a_run_dir_may_still_have_a_log(tmp_path):
    (tmp_path / "out").write_text('nodus.unit_done {"id": "a"}\n')
    assert measures.count_units(None, [tmp_path / "out", tmp_path / "missing"]) == 1


def metrics(tmp_path, text: str | bytes) -> tuple[dict[str, Decimal], list[str]]:
    (tmp_path / "metrics.json").write_bytes(text if isinstance(text, bytes) else text.encode())
    return measures.metrics(tmp_path)


def test_numbers_of_the_metrics_file_are_metrics_and_nothing_else_is(tmp_path):
    found, problems = metrics(tmp_path, '{"loss": 0.10, "steps": 7, "ok": true, "name": "x", "none": null, "l": [1]}')
    assert found == {"loss": Decimal("0.10"), "steps": Decimal(7)}
    assert problems == []


def test_objects_make_dotted_names(tmp_path):
    assert metrics(tmp_path, '{"val": {"loss": 1, "top": {"k": 2}}}')[0] == {"val.loss": 1, "val.top.k": 2}


@pytest.mark.parametrize("depth", [3, 900, 985, 5000])
def test_objects_as_deep_as_json_is_read_are_no_bug(tmp_path, depth):
    found, problems = metrics(tmp_path, '{"a": ' * depth + "1" + "}" * depth)
    assert len(found) + len(problems) == 1
    assert found in ({}, {".".join("a" * depth): 1})


def test_of_two_numbers_of_one_name_the_later_counts(tmp_path):
    assert metrics(tmp_path, '{"a": {"b": 1}, "a.b": 2, "c.d": 3, "c": {"d": 4}}')[0] == {"a.b": 2, "c.d": 4}


def test_nan_and_infinity_stay_what_they_are(tmp_path):
    found, _ = metrics(tmp_path, '{"a": NaN, "b": -Infinity, "c": 1e400}')
    assert math.isnan(found["a"])
    assert found["b"] == Decimal("-Infinity")
    assert found["c"] == Decimal("1e400")


@pytest.mark.parametrize("text", [b"", b"{", b"[1]", b"3", b"\xff", b"[" * 50_000, b'{"a": ' + b"9" * 5000 + b"}"])
def test_a_metrics_file_that_is_none_is_named(tmp_path, text):
    found, problems = metrics(tmp_path, text)
    assert found == {}
    assert len(problems) == 1
    assert "metrics.json" in problems[0]


def test_no_metrics_file_is_no_problem(tmp_path):
    assert measures.metrics(tmp_path) == ({}, [])
    assert measures.metrics(None) == ({}, [])


def test_a_pattern_takes_the_last_match_of_its_first_group(tmp_path):
    (tmp_path / "log").write_text("$ [ssh] loss=9\nepoch 1 loss=2.5 acc 10%\nepoch 2 loss=1e-3 acc 35%\nloss=oops\n")
    patterns = {"loss": r"loss=(\S+)", "acc": r"\d+(?=%)", "none": "never"}
    found, _ = measures.metrics(None, [tmp_path / "log"], patterns=patterns)
    assert found == {"loss": Decimal("1e-3"), "acc": Decimal(35)}


@pytest.mark.parametrize("text", ["NaN", "sNaN", "-sNaN7", "nan12"])
def test_a_pattern_that_finds_a_nan_of_any_kind_gives_a_quiet_one(tmp_path, text):
    (tmp_path / "log").write_text(f"loss={text}\n")
    found, _ = measures.metrics(None, [tmp_path / "log"], patterns={"loss": r"loss=(\S+)"})
    assert math.isnan(float(found["loss"]))


@pytest.mark.parametrize("text", ["1_0", "_1", ""])
def test_what_only_python_reads_as_a_number_is_none(tmp_path, text):
    (tmp_path / "log").write_text(f"loss={text}\n")
    assert measures.metrics(None, [tmp_path / "log"], patterns={"loss": r"loss=(\S*)"})[0] == {}


def test_a_log_that_is_no_utf_8_is_still_searched(tmp_path):
    (tmp_path / "log").write_bytes(b"\xff\xfe loss=2\n")
    assert measures.metrics(None, [tmp_path / "log"], patterns={"loss": r"loss=(\d)"})[0] == {"loss": 2}
