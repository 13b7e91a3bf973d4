"""The same sweep from Python: as seed-like code writes it, with the report that the command line has."""

from __future__ import annotations

from decimal import Decimal

import pytest

import sweeptool
from sweeptool.errors import SweepError, Unsupported

JOB = {"image": "nodus/pytorch", "command": ["sh", "-c", 'test "$NODUS_PARAM_BATCH_SIZE" != 16'], "timeout": "1m"}


def test_a_sweep_runs_waits_and_reports(tmp_path):
    sweep = sweeptool.Sweep(
        JOB,
        grid={"gpu": ["L4", "H100"], "BATCH_SIZE": [8, 32]},
        repetitions=2,
        max_parallel=6,
        max_cost=25,
        project=tmp_path,
    ).run()
    report = sweep.wait(60)
    assert (report.phase, report.reason, len(report.cells)) == ("Succeeded", "", 8)
    assert [cell.params["BATCH_SIZE"] for cell in sweep.cells()] == ["8", "8", "32", "32"] * 2
    assert report.cost_usd == sum((cell.cost_usd for cell in sweep.cells()), Decimal(0))
    assert report.best.by_cost in range(8)
    assert report.best.by_throughput is None


def test_a_sweep_with_failed_cells_still_has_its_report(tmp_path):
    report = sweeptool.Sweep(JOB, grid={"BATCH_SIZE": [8, 16]}, project=tmp_path).run().wait(60)
    assert (report.phase, report.reason) == ("Failed", "CellsFailed")
    assert [cell.phase for cell in report.cells] == ["Succeeded", "Failed"]


def test_bools_and_numbers_are_written_as_python_and_json_do(tmp_path):
    sweep = sweeptool.Sweep(JOB, grid={"X": [1, 0.5, 1e-05, True, "010"]}, project=tmp_path)
    assert [shard.cell.params["X"] for shard in sweep.plan.shards] == ["1", "0.5", "1e-05", "true", "010"]


def test_one_that_exists_is_found_by_name(tmp_path):
    sweeptool.Sweep(JOB, grid={"BATCH_SIZE": [8]}, name="sizes", project=tmp_path).run().wait(60)
    found = sweeptool.Sweep.from_name("sizes", tmp_path)
    assert found.wait(10).phase == "Succeeded"
    with pytest.raises(SweepError, match="there is sizes"):
        sweeptool.Sweep.from_name("size", tmp_path)


def test_suspend_holds_until_resume(tmp_path):
    sweep = sweeptool.Sweep(JOB, grid={"BATCH_SIZE": [8, 9]}, max_parallel=1, project=tmp_path).run()
    sweep.suspend()
    report = sweep.wait(60)
    assert (report.phase, report.reason) == ("Suspended", "Requested")
    assert sweep.resume().wait(60).phase == "Succeeded"


def test_a_target_that_is_no_job_is_unsupported(tmp_path):
    with pytest.raises(Unsupported, match="cannot be swept yet"):
        sweeptool.Sweep(print, project=tmp_path)


def test_a_wrong_job_is_refused_like_a_wrong_spec(tmp_path):
    with pytest.raises(SweepError, match="did you mean 'command'"):
        sweeptool.Sweep({"comand": ["true"]}, project=tmp_path)


@pytest.mark.parametrize(
    ("job", "arguments", "expected"),
    [
        ({}, {"grid": {"LR": [None]}}, "Sweep(): grid.LR: None is no value: text, a number or a bool"),
        ({}, {"grid": {"LR": iter([1])}}, "Sweep(): grid.LR: <list_iterator object"),
        ({}, {"grid": ["LR"]}, "Sweep(): grid: ['LR'] is no mapping of names to lists"),
        ({}, {"name": 5}, "Sweep(): name: 5 is no text"),
        ({}, {"grid": {"LR": "abc"}}, "Sweep(): grid.LR: 'abc' is no list of values ([value, ...])"),
        ({}, {"grid": {"lr": [1]}}, "Sweep(): grid.lr: 'lr' is not a parameter's name"),
        ({"timout": "5m"}, {}, "Sweep(): job.timout: unknown setting 'timout' (did you mean 'timeout'?)"),
        ({"timeout": "5x"}, {}, "Sweep(): job.timeout: '5x' is not a duration"),
        ({}, {"repetitions": 65}, "Sweep(): repetitions: "),
        ({}, {"name": "A b"}, "Sweep(): name: "),
    ],
)
def test_an_error_names_the_argument_not_a_line_of_a_file(tmp_path, job, arguments, expected):
    with pytest.raises(SweepError) as error:
        sweeptool.Sweep({"command": ["true"], **job}, project=tmp_path, **arguments)
    assert str(error.value).startswith(expected)


def test_a_cap_without_bounds_says_what_python_can_give(tmp_path):
    with pytest.raises(SweepError, match=r"max_cost: .*a 'timeout' in the job, and a gpu whose price is known"):
        sweeptool.Sweep({"command": ["true"]}, grid={"LR": [1]}, max_cost=1, project=tmp_path)


def test_an_empty_axis_is_warned_of(tmp_path):
    with pytest.warns(UserWarning, match=r"Sweep\(\): grid\.LR: is empty and counts as one value"):
        sweeptool.Sweep({"command": ["true"]}, grid={"LR": []}, project=tmp_path)


def test_wait_waits_for_another_driver_too(tmp_path):
    job = {"command": ["sleep", "2"], "timeout": "1m"}
    first = sweeptool.Sweep(job, project=tmp_path).run()
    try:
        report = sweeptool.Sweep(job, project=tmp_path).run().wait(60)
    except SweepError:  # it saw the first one at once
        report = first.wait(60)
    assert report.phase == "Succeeded"
