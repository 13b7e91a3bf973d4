"""What a user calls a sweep: its name, its directory, or nothing."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from sweeptool import locate
from sweeptool.errors import SweepError


@pytest.fixture
def here(tmp_path) -> Path:
    for place, name in enumerate(("old", "new")):
        (tmp_path / "sweeps" / name).mkdir(parents=True)
        (tmp_path / "sweeps" / name / "plan.jsonl").touch()
        os.utime(tmp_path / "sweeps" / name / "plan.jsonl", (place + 1, place + 1))
    (tmp_path / "sweeps" / "no-sweep").mkdir()
    return tmp_path / "sweeps"


def test_a_name_is_a_sweep_in_the_directory_of_sweeps(here):
    assert locate.find("old", here).path == here / "old"


def test_a_directory_is_a_sweep_wherever_it_is(here, tmp_path):
    assert locate.find(str(here / "new"), tmp_path / "elsewhere").path == here / "new"


def test_nothing_means_the_newest_by_what_last_happened_in_it(here):
    assert locate.find(None, here).path == here / "new"
    (here / "old" / "ledger.jsonl").touch()
    assert locate.find(None, here).path == here / "old"


@pytest.mark.parametrize("name", ["gone", "no-sweep", "../sweeps", "", "a\0b", "x" * 5000])
def test_anything_else_lists_the_sweeps_there_are(here, name):
    with pytest.raises(SweepError, match="there are new, old in"):
        locate.find(name, here)


def test_a_near_name_is_proposed(here):
    with pytest.raises(SweepError, match="did you mean 'new'"):
        locate.find("neww", here)


def test_without_any_sweep_that_is_said(tmp_path):
    with pytest.raises(SweepError, match="there is no sweep in"):
        locate.find(None, tmp_path / "sweeps")
