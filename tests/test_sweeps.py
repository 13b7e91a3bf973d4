"""The plan, the ledger and the manifests of one sweep joined: what counts is what an attempt claims."""

from __future__ import annotations

import json
import os
from decimal import Decimal

import pytest

from sweeptool import budget
from sweeptool.analysis import candidates
from sweeptool.ledger import hold
from sweeptool.runs import sweeps, totals
from tests import sweepmaker

SPEC = """
    name: lora
    runner: local
    command: [python3, train.py]
    max_cost_usd: 5
    cost_cap_usd: 1
    matrix: {gpu: [L4, A10], params: {lr: ["1e-3", "1e-4"]}}
"""


def read(tmp_path, attempts, **options) -> sweeps.Sweep:
    return sweeps.read(sweepmaker.sweep(tmp_path, SPEC, attempts, **options))


def test_every_attempt_is_a_run_with_its_cells_parameters(tmp_path):
    found = read(tmp_path, [{"cell": 0, "state": "succeeded"}, {"cell": 3, "state": "failed", "reason": "oom"}])
    assert [(run.index, run.gpu, dict(run.params), run.state, run.reason) for run in found.found.runs] == [
        (0, "L4", {"lr": "1e-3"}, "succeeded", None),
        (3, "A10", {"lr": "1e-4"}, "failed", "oom"),
    ]
    assert found.found.lines() == []


def test_the_cost_of_a_cell_is_that_of_all_its_attempts(tmp_path):
    attempts = [
        {"cell": 0, "state": "failed", "cost": "0.40"},
        {"cell": 0, "state": "succeeded", "cost": "0.30"},
    ]
    found = read(tmp_path, attempts)
    assert totals.of(found.found.runs).cost == 700_000
    assert candidates.of_sweep(found)[0].values["cost"] == Decimal("0.70")


def test_an_unknown_cost_is_counted_as_unknown_and_charged_at_its_reservation(tmp_path):
    attempts = [
        {"cell": 0, "state": "lost", "cost": None, "reserved": "1.00", "run_dir": False, "wall": None},
        {"cell": 1, "state": "succeeded", "cost": "0.10"},
        {"cell": 2, "state": "running"},
    ]
    sums = totals.of(read(tmp_path, attempts).found.runs)
    assert (sums.cost, sums.unknown_cost, sums.charged, sums.lost, sums.running) == (100_000, 2, 1_000_000, 2, 0)
    assert (sums.manifests, sums.runs, sums.unknown_wall) == (1, 3, 2)


def test_states_are_the_ledgers_whatever_the_manifest_says(tmp_path):
    attempts = [{"cell": 0, "state": "interrupted", "manifest": {"failed": False}}, {"cell": 1, "state": "cancelled"}]
    sums = totals.of(read(tmp_path, attempts).found.runs)
    assert (sums.interrupted, sums.cancelled, sums.succeeded, sums.failed) == (1, 1, 0, 0)


def test_a_manifest_beside_the_runs_that_no_attempt_claims_is_listed_and_not_counted(tmp_path):
    where = sweepmaker.sweep(tmp_path, SPEC, [{"cell": 0, "state": "succeeded"}])
    foreign = sweepmaker.manifest(tmp_path / "project" / "artifacts" / "local" / "stray")
    found = sweeps.read(where).found
    assert [(path, why) for path, why in found.skipped] == [(str(foreign), "claimed by no attempt of this sweep")]
    assert totals.of(found.runs).manifests == 1


def test_a_run_that_is_still_to_be_settled_is_no_foreign_one(tmp_path):
    where = sweepmaker.sweep(tmp_path, SPEC, [{"cell": 0, "state": "succeeded"}, {"cell": 1, "state": "running"}])
    run_dir = tmp_path / "project" / "artifacts" / "local" / "in-flight"
    sweepmaker.manifest(run_dir)
    [key] = sweeps.read(where).state.running
    attempt = where.attempt(*key)
    attempt.path.mkdir(parents=True)
    attempt.stdout.write_text(f"RUN_DIR={run_dir}\n")
    assert sweeps.read(where).found.skipped == []


@pytest.mark.parametrize(
    ("released", "lines"),
    [
        pytest.param([], ["1 attempt may have left a pod that still bills: sweeptool recover lora"], id="billing"),
        pytest.param([0], [], id="released"),
    ],
)
def test_readers_say_that_a_pod_may_still_bill(tmp_path, released, lines):
    attempts = [{"cell": 0, "state": "succeeded", "flags": ["leaked"]}, {"cell": 1, "state": "succeeded"}]
    where = sweepmaker.sweep(tmp_path, SPEC, attempts)
    one = sweeps.read(where).state.attempts[0]
    with where.ledger.open("a") as ledger:
        for _ in released:
            event = {"event": "released", "cell": one.cell, "index": 0, "attempt": 1, "pod_id": "k3v9x2m1q8zt4a"}
            ledger.write(json.dumps({"ts_utc": sweepmaker.stamp(9), **event}) + "\n")
    assert sweeps.read(where).found.lines() == lines
    assert list(budget.of_sweep(where, None).oddities) == lines


def test_an_older_run_beside_is_no_concern_of_this_sweep(tmp_path):
    where = sweepmaker.sweep(tmp_path, SPEC, [{"cell": 0, "state": "succeeded"}])
    old = sweepmaker.manifest(tmp_path / "project" / "artifacts" / "local" / "old")
    os.utime(old, (sweepmaker.START - 60, sweepmaker.START - 60))
    assert sweeps.read(where).found.skipped == []


def test_another_sweeps_run_beside_is_no_concern_of_this_one(tmp_path):
    where = sweepmaker.sweep(tmp_path, SPEC, [{"cell": 0, "state": "succeeded"}])
    theirs = tmp_path / "project" / "artifacts" / "local" / "theirs"
    sweepmaker.sweep(tmp_path, SPEC.replace("lora", "other"), [{"cell": 0, "state": "succeeded", "run_dir": theirs}])
    assert sweeps.read(where).found.skipped == []


def test_a_copy_pulled_into_a_run_dir_is_listed_and_not_counted(tmp_path):
    where = sweepmaker.sweep(tmp_path, SPEC, [{"cell": 0, "state": "succeeded"}])
    sweepmaker.manifest(tmp_path / "project" / "artifacts" / "local" / "run-000" / "results" / "old")
    found = sweeps.read(where).found
    assert len(found.skipped) == 1
    assert "copy" in found.skipped[0].why
    assert totals.of(found.runs).cost == 12_000


def test_a_run_dir_that_two_attempts_name_counts_once(tmp_path):
    shared = tmp_path / "shared"
    attempts = [
        {"cell": 0, "state": "failed", "reason": "collision", "run_dir": shared, "cost": "0.20"},
        {"cell": 1, "state": "failed", "reason": "collision", "run_dir": shared, "cost": None, "reserved": "1.00"},
    ]
    sums = totals.of(read(tmp_path, attempts).found.runs)
    assert (sums.manifests, sums.cost, sums.unknown_cost) == (1, 200_000, 1)


def test_a_manifest_changed_since_it_was_settled_is_named_and_the_ledger_stands(tmp_path):
    found = read(tmp_path, [{"cell": 0, "state": "succeeded", "manifest": {"estimated_cost_usd": 9.0}}])
    assert totals.of(found.found.runs).cost == 12_000
    assert "changed since the ledger settled it" in found.found.oddities[0]


def test_a_run_dir_that_is_gone_leaves_the_ledgers_figures(tmp_path):
    found = read(tmp_path, [{"cell": 0, "state": "succeeded", "manifest": False, "cost": "0.25", "wall": 60}])
    sums = totals.of(found.found.runs)
    assert (sums.manifests, sums.cost, sums.wall_seconds) == (0, 250_000, 60)


def test_a_cell_that_the_plan_no_longer_has_still_costs(tmp_path):
    where = sweepmaker.sweep(tmp_path, SPEC, [{"cell": 0, "state": "succeeded"}, {"cell": 3, "state": "succeeded"}])
    smaller = sweepmaker.sweep(tmp_path / "other", SPEC.replace("L4, A10", "L4"), [])
    where.plan.write_bytes(smaller.plan.read_bytes())
    found = sweeps.read(where)
    assert totals.of(found.found.runs).cost == 24_000
    assert [cell.why for cell in candidates.of_sweep(found)] == ["", "pending"]
    assert [run.job is None for run in found.found.runs] == [False, True]


def test_without_its_plan_a_sweep_still_has_its_attempts(tmp_path):
    where = sweepmaker.sweep(tmp_path, SPEC, [{"cell": 0, "state": "succeeded"}])
    where.plan.unlink()
    found = sweeps.read(where)
    assert totals.of(found.found.runs).cost == 12_000
    assert "plan" in found.found.oddities[0]


@pytest.mark.parametrize(
    "line", ['{"event": "set', "\0" * 64, "[1]\n", "\xff\n", '{"event": "settled", "cell": "nobody"}\n'], ids=repr
)
def test_a_bad_line_of_the_ledger_is_named_and_costs_nothing(tmp_path, line):
    where = sweepmaker.sweep(tmp_path, SPEC, [{"cell": 0, "state": "succeeded"}])
    with where.ledger.open("ab") as file:
        file.write(line.encode("latin-1"))
    assert totals.of(sweeps.read(where).found.runs).cost == 12_000


def test_null_axis_values_are_a_group_of_their_own(tmp_path):
    attempts = [
        {"cell": 0, "state": "failed", "reason": "oom"},
        {"cell": 1, "state": "succeeded"},
        {"cell": 2, "state": "succeeded"},
    ]
    found = totals.by(read(tmp_path, attempts).found.runs, ["reason"])
    assert [(key, sums.runs) for key, sums in found] == [(("oom",), 1), ((None,), 2)]


def test_an_attempt_without_an_end_has_neither_time_nor_cost(tmp_path):
    run = read(tmp_path, [{"cell": 0, "state": "running"}]).found.runs[0]
    assert (run.state, run.wall_seconds, run.cost, run.settled_at) == ("lost", None, None, None)


def test_an_attempt_that_ended_unwatched_is_named_as_what_the_next_driver_settles(tmp_path):
    where = sweepmaker.sweep(tmp_path, SPEC, [{"cell": cell, "state": "running"} for cell in (0, 1)])
    lines = sweeps.read(where).found.lines()
    assert lines[-1:] == ["2 attempts ended when no driver watched; running the sweep again settles them"]
    driver = hold.take(where, os.getpid())
    assert sweeps.read(where).found.lines() == lines[:-1]
    driver.release()
