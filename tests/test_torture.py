"""The torture program finds nothing in sweeptool, and finds it out where sweeptool is broken on purpose.

By default a short run and the mutants that are caught soonest; SWEEPTOOL_TORTURE=all plays every mutant.
"""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from tests.torture import count, kills, mutants
from tests.torture.__main__ import TREE

SECONDS = 25  # for the short run
ROUNDS = 150  # until a mutant must be caught; most are within a few
SOON = ("an unknown cost is 0", "a cell is known by its index", "what still runs is not adopted")


def test_sweeps_that_are_killed_at_random_lose_nothing_run_nothing_twice_and_keep_their_cap():
    words = [sys.executable, "-m", "tests.torture", "--rounds", "200", "--seconds", str(SECONDS), "--seed", "7"]
    done = subprocess.run(words, cwd=TREE, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "nothing lost, nothing twice, never over the cap" in done.stdout
    assert all(f"{name}: {text}" in done.stdout for name, text in count.INVARIANTS.items())


@pytest.mark.slow
@pytest.mark.parametrize("mutant", mutants.MUTANTS, ids=[mutant.name.replace(" ", "-") for mutant in mutants.MUTANTS])
def test_sweeptool_that_is_broken_on_purpose_is_caught(mutant, tmp_path):
    if mutant.name not in SOON and os.environ.get("SWEEPTOOL_TORTURE") != "all":
        pytest.skip("SWEEPTOOL_TORTURE=all plays it")
    rounds, caught = mutants.catch(mutant, TREE, tmp_path, ROUNDS)
    assert caught, f"'{mutant.name}' went unnoticed for {rounds} rounds"


def test_every_mutant_still_fits_the_code(tmp_path):
    for number, mutant in enumerate(mutants.MUTANTS):
        mutants.broken(mutant, TREE, tmp_path / str(number))
        assert mutant.breaks <= count.INVARIANTS.keys()
        assert set(mutant.kinds) <= kills.KINDS.keys()
