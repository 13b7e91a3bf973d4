"""Questions of a driver go in, as it asks them; what the ledger answers comes out."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from sweeptool.errors import SweepError
from sweeptool.layout import AttemptDir, SweepDir
from sweeptool.ledger import answers, serve
from sweeptool.ledger.desk import Desk
from sweeptool.runners.command import Command

SPEC = "name: s\nrunner: {{kind: command, argv: [./job, '{{x}}']}}\nmatrix: {{params: {{x: [{values}]}}}}\n"


class Refusing(Command):
    """A runner that cannot prepare the second cell."""

    def prepare(self, job: Mapping[str, Any], attempt: AttemptDir, project: Path) -> None:
        if job["index"] == 1:
            raise SweepError("no such config")


@pytest.fixture
def desk(project: Callable[..., object], monkeypatch: pytest.MonkeyPatch) -> Callable[..., Desk]:
    """Return a function that opens the ledger of a sweep of so many cells, with more lines in its spec."""

    def opened(cells: int, more: str = "") -> Desk:
        values = ", ".join(map(str, range(cells)))
        made = project({"sweep.yaml": SPEC.format(values=values) + more})
        assert made.tool("render", "sweep.yaml", "-o", "driver.sh").returncode == 0
        monkeypatch.chdir(made.path)
        sweep = SweepDir(made.path / "artifacts" / "sweeps" / "s")
        found, _ = serve._open(sweep, serve.Call(made.path / "driver.sh", os.getpid(), max_parallel=0))
        return found

    return opened


def test_a_free_slot_is_a_launch(desk):
    found = desk(3)
    assert answers.following(found, slots=2) == "launch 0 1 1 1"
    assert answers.following(found, slots=2) == "launch 2 1"
    assert answers.following(found, slots=2) == "wait"


def test_without_a_free_slot_nothing_is_admitted(desk):
    found = desk(3)
    assert answers.following(found, slots=0) == "wait"
    assert not found.book.state.attempts


def test_each_launch_of_an_answer_is_admitted_by_the_budget(desk):
    found = desk(4, "max_cost_usd: 0.75\ncost_cap_usd: 0.30\n")
    assert answers.following(found, slots=4) == "launch 0 1 1 1"
    assert found.book.state.reserved == 600_000
    assert answers.following(found, slots=2) == "wait"


def test_one_answer_does_not_admit_a_whole_sweep(desk):
    found = desk(40)
    assert len(answers.following(found, slots=40).split()) == 1 + 2 * 16
    assert len(found.book.state.running) == 16


def test_what_was_admitted_before_an_error_is_launched(desk):
    found = desk(3)
    found.runner = Refusing()
    assert answers.following(found, slots=3) == "launch 0 1"
    assert answers.following(found, slots=2) == "end 2"


@pytest.mark.parametrize("line", ["next", "next -1", "next x", "next 1 2", "words"])
def test_a_question_that_no_driver_asks_ends_the_launching(desk, line):
    assert serve._reply(desk(1), line) == "end 70"
