"""What an attempt was, by its own files only: exit, manifest, claim; and who may not count twice."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path
from typing import Any

import pytest

from sweeptool import layout, money
from sweeptool.frozen import Frozen, Job
from sweeptool.layout import AttemptDir
from sweeptool.ledger import settlement
from sweeptool.ledger.settlement import Settlement
from sweeptool.ledger.state import State
from sweeptool.runners import RUNNERS

SWEEP = {"name": "demo", "manifest": layout.MANIFEST, "units": layout.UNITS}
METRICS = {"file": layout.METRICS, "patterns": {"f1": r"f1=(\S+)"}, "best": None, "goal": None}
CLAIM = "4711 1 - elsewhere\n"


def state(*cells: str, cancelled: bool = False) -> State:
    """Return a state with an attempt of each cell in flight, each reserved at ten cents."""
    made = State()
    for cell in cells:
        made.apply({"event": "admitted", "ts_utc": "t", "cell": cell, "index": 0, "attempt": 1, "reserved_usd": "0.10"})
    if cancelled:
        made.apply({"event": "cancelled", "ts_utc": "t"})
    return made


def left(
    project: Path,
    *,
    cell: str = "a",
    claim: str | None = CLAIM,
    code: str | None = "0\n",
    stdout: str | None = "RUN_DIR=runs/{}\n",
    run_dir: str | None = None,
    **said: Any,
) -> AttemptDir:
    """Write what an attempt leaves; ``said`` is its manifest, none where nothing is said."""
    where = AttemptDir(project / "cells" / cell / "attempt-1")
    where.path.mkdir(parents=True)
    run_dir = run_dir or cell
    texts = {where.start: claim, where.exit: code, where.stdout: stdout and stdout.format(run_dir)}
    for path, text in texts.items():
        if text is not None:
            path.write_text(text)
    (project / "runs" / run_dir).mkdir(parents=True, exist_ok=True)
    if said:
        (project / "runs" / run_dir / layout.MANIFEST).write_text(json.dumps({"schema_version": "v2", **said}))
    return where


def settle(
    project: Path, made: State, where: AttemptDir, *, cell: str = "a", runner: str = "command", best: str | None = None
) -> Settlement:
    attempt = made.attempt(cell, 1)
    assert attempt is not None
    job = Job(0, cell, "demo-0", attempt.reserved, None, {})
    frozen = Frozen({**SWEEP, "metrics": {**METRICS, "best": best}}, (), "")
    return settlement.settle(frozen, RUNNERS[runner], made, attempt, job, where, project)


def fields(project: Path, *, interrupted: bool = False, cancelled: bool = False, **files: Any) -> tuple[Any, ...]:
    """Return state, reason and cost of an attempt that left ``files``."""
    made = state("a", cancelled=cancelled)
    made.attempts[0].interrupted |= interrupted
    found = settle(project, made, left(project, **files)).fields
    return found["state"], found["reason"], found["cost_usd"]


GOOD = {"failed": False, "estimated_cost_usd": 0.031, "wall_time_sec": 2.5}


@pytest.mark.parametrize(
    ("files", "expected"),
    [
        pytest.param(GOOD, ("succeeded", "", "0.031"), id="exit-0-and-a-manifest-that-says-so"),
        pytest.param({"code": "0\n"}, ("failed", "no_manifest", None), id="exit-0-alone"),
        pytest.param({**GOOD, "code": "1\n"}, ("failed", "exit", "0.031"), id="a-manifest-alone"),
        pytest.param({**GOOD, "failed": True}, ("failed", "manifest", "0.031"), id="a-manifest-that-says-failed"),
        pytest.param({**GOOD, "failed": None}, ("failed", "manifest", "0.031"), id="a-manifest-that-does-not-say"),
        pytest.param({**GOOD, "stdout": ""}, ("failed", "no_run_dir", None), id="no-run-dir"),
        pytest.param({**GOOD, "stdout": None}, ("failed", "no_run_dir", None), id="no-output-at-all"),
        pytest.param({"code": "127\n", "stdout": ""}, ("failed", "not_found", "0.00"), id="never-called-costs-nothing"),
    ],
)
def test_attempt_that_ended_before_our_eyes(tmp_path, files, expected):
    assert fields(tmp_path, **files) == expected


@pytest.mark.parametrize("code", [None, "", "0", "zero\n", "0x0\n", "-1\n"], ids=repr)
@pytest.mark.parametrize(
    ("files", "expected"),
    [
        pytest.param(GOOD, ("succeeded", "", "0.031"), id="succeeded"),
        pytest.param({**GOOD, "failed": True}, ("failed", "exit", "0.031"), id="failed"),
        pytest.param({}, ("lost", "lost", None), id="lost"),
        pytest.param({"stdout": ""}, ("lost", "lost", None), id="lost-before-its-run-dir"),
        pytest.param({**GOOD, "failed": None}, ("interrupted", "unseen", "0.031"), id="unseen"),
    ],
)
def test_attempt_whose_end_nobody_saw_is_what_its_manifest_says(tmp_path, code, files, expected):
    assert fields(tmp_path, code=code, **files) == expected


def test_manifest_after_a_signal_is_no_success_unless_the_exit_was_seen(tmp_path):
    """An interrupted runner's manifest says failed: false as well."""
    assert fields(tmp_path / "1", interrupted=True, code=None, **GOOD)[0] == "interrupted"
    assert fields(tmp_path / "2", interrupted=True, code="0\n", **GOOD)[0] == "succeeded"
    assert fields(tmp_path / "3", interrupted=True, code="130\n", **GOOD)[0] == "interrupted"


def test_what_a_cancellation_stopped_is_cancelled(tmp_path):
    assert fields(tmp_path, cancelled=True, code="130\n", **GOOD)[0] == "cancelled"


@pytest.mark.parametrize("claim", [None, "", "given up\n", "4711 1\n"], ids=repr)
def test_attempt_that_no_shard_has_claimed_cost_nothing(tmp_path, claim):
    assert fields(tmp_path, claim=claim, code=None) == ("interrupted", "not_started", "0.00")


@pytest.mark.parametrize("cost", [None, "0.31", True, -1, float("nan"), float("inf"), 1e400, [], {}], ids=repr)
def test_cost_that_is_none_is_unknown_and_charged_at_the_reservation(tmp_path, cost):
    made = state("a")
    found = settle(tmp_path, made, left(tmp_path, failed=False, estimated_cost_usd=cost)).fields
    assert (found["state"], found["cost_usd"], found["charged_usd"]) == ("succeeded", None, "0.10")


def test_cost_of_nothing_is_known(tmp_path):
    assert fields(tmp_path, failed=False, estimated_cost_usd=0)[2] == "0.00"


@pytest.mark.parametrize(
    ("spoil", "why"),
    [
        pytest.param(lambda file: file.unlink(), rf"no {re.escape(layout.MANIFEST)} in .*runs/a", id="another-name"),
        pytest.param(lambda file: file.write_text("{"), r"manifest\.json:1:2: is torn or no JSON", id="torn"),
        pytest.param(lambda file: shutil.rmtree(file.parent), r"runs/a is no directory", id="no-run-dir"),
    ],
)
def test_manifest_that_is_missed_is_said_where(tmp_path, spoil, why):
    where = left(tmp_path, **GOOD)
    spoil(tmp_path / "runs" / "a" / layout.MANIFEST)
    found = settle(tmp_path, state("a"), where).fields
    assert (found["state"], found["reason"]) == ("failed", "no_manifest")
    assert re.search(why, found["detail"])


@pytest.mark.parametrize(
    ("best", "metrics", "flags"),
    [
        pytest.param("loss", '{"loss": 0.25}', [], id="reported"),
        pytest.param("eval.loss", '{"eval": {"loss": 0.25}}', [], id="inside-another"),
        pytest.param("loss", '{"losss": 0.25}', ["no_metric"], id="another-name"),
        pytest.param("loss", "", ["no_metric"], id="torn"),
        pytest.param("loss", None, ["no_metric"], id="no-file"),
        pytest.param("f1", None, [], id="a-pattern-finds-it"),
        pytest.param("cost", None, [], id="no-metric"),
        pytest.param(None, None, [], id="none-asked-for"),
    ],
)
def test_success_without_the_metric_that_the_sweep_is_judged_by_is_flagged(tmp_path, best, metrics, flags):
    where = left(tmp_path, **GOOD)
    if metrics is not None:
        (tmp_path / "runs/a" / layout.METRICS).write_text(metrics)
    found = settle(tmp_path, state("a"), where, best=best).fields
    assert (found["state"], found["flags"]) == ("succeeded", flags)


def test_failure_need_not_report_the_metric(tmp_path):
    where = left(tmp_path, code="1\n", **{**GOOD, "failed": True})
    assert settle(tmp_path, state("a"), where, best="loss").fields["flags"] == []


def test_cost_above_the_cells_own_cap_is_flagged(tmp_path):
    assert settle(tmp_path, state("a"), left(tmp_path, **GOOD)).fields["flags"] == []
    made, where = state("b"), left(tmp_path, cell="b", **{**GOOD, "estimated_cost_usd": 7})
    dear = settle(tmp_path, made, where, cell="b").fields
    assert (dear["state"], dear["flags"]) == ("succeeded", ["over_cap"])


@pytest.mark.parametrize("text", ["", "{", "[]", '"x"', "\0" * 64, '{"failed": false'])
def test_manifest_that_cannot_be_read_is_no_manifest(tmp_path, text):
    where = left(tmp_path, failed=False)
    (tmp_path / "runs" / "a" / layout.MANIFEST).write_text(text)
    found = settle(tmp_path, state("a"), where).fields
    assert (found["state"], found["reason"], found["cost_usd"]) == ("failed", "no_manifest", None)


def test_run_dir_with_spaces_and_quotes(tmp_path):
    assert fields(tmp_path, run_dir='it\'s a "run" dir', **GOOD)[0] == "succeeded"


# ---- one run dir, two attempts


def test_second_attempt_with_a_run_dir_is_an_error_of_both_and_counted_once(tmp_path):
    made = state("a", "b")
    first = settle(tmp_path, made, left(tmp_path, run_dir="same", **GOOD))
    made.apply({"event": "settled", "ts_utc": "t", "cell": "a", "attempt": 1, **first.fields})
    second = settle(tmp_path, made, left(tmp_path, cell="b", run_dir="same"), cell="b")
    assert (second.fields["state"], second.fields["reason"]) == ("failed", "collision")
    assert second.collision is made.attempts[0]
    assert (second.fields["cost_usd"], second.fields["charged_usd"]) == (None, "0.10")
    made.apply({"event": "settled", "ts_utc": "t", "cell": "b", "attempt": 1, **second.fields})
    made.apply({"event": "collided", "ts_utc": "t", "cell": "a", "attempt": 1})
    assert [attempt.state for attempt in made.attempts] == ["failed", "failed"]
    assert (money.text(made.spent), money.text(made.unknown)) == ("0.031", "0.10")


def test_third_attempt_with_it_collides_with_the_first(tmp_path):
    made = state("a", "b", "c")
    for cell in ("a", "b"):
        found = settle(tmp_path, made, left(tmp_path, cell=cell, run_dir="same", **GOOD), cell=cell)
        made.apply({"event": "settled", "ts_utc": "t", "cell": cell, "attempt": 1, **found.fields})
    third = settle(tmp_path, made, left(tmp_path, cell="c", run_dir="same"), cell="c")
    assert third.collision is made.attempts[0]


def test_attempts_without_a_run_dir_collide_with_nobody(tmp_path):
    made = state("a", "b")
    for cell in ("a", "b"):
        found = settle(tmp_path, made, left(tmp_path, cell=cell, stdout="", code="1\n"), cell=cell)
        assert found.collision is None
        made.apply({"event": "settled", "ts_utc": "t", "cell": cell, "attempt": 1, **found.fields})
