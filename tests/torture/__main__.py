"""``python -m tests.torture --rounds N --seed S``: a table of kinds of kill x invariants; exit 1 where one broke."""

# ruff: noqa: T201 - a program prints

from __future__ import annotations

import argparse
import os
import sys
import tempfile
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from pathlib import Path

from tests.torture.count import INVARIANTS
from tests.torture.kills import KINDS
from tests.torture.mutants import MUTANTS, catch
from tests.torture.play import Round, play

TREE = Path(__file__).resolve().parents[2]


def main(words: Sequence[str]) -> int:
    """Play the rounds, print the table, return 0 where nothing broke."""
    parser = argparse.ArgumentParser(prog="torture", description=__doc__)
    parser.add_argument("--rounds", type=int, default=50)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--first", type=int, default=0, help="the number of the first round, to play one again")
    parser.add_argument("--jobs", type=int, default=2 * (os.cpu_count() or 1), help="rounds at once")
    parser.add_argument("--seconds", type=float, default=None, help="start no further round after this long")
    parser.add_argument("--tree", type=Path, default=TREE, help="where the sweeptool to torture is")
    parser.add_argument("--kind", action="append", choices=KINDS, help="only this kind of kill; repeatable")
    parser.add_argument("--mutants", action="store_true", help="break sweeptool on purpose instead, each way once")
    given = parser.parse_args(words)
    if given.mutants:
        return _mutants(given.tree, given.rounds)
    root = Path(tempfile.mkdtemp(prefix="torture-"))
    began = time.monotonic()
    rounds = []

    def one(number: int) -> Round | None:
        if given.seconds is not None and time.monotonic() - began > given.seconds:
            return None
        return play(number, given.seed, given.tree, root, tuple(given.kind or KINDS))

    with ThreadPoolExecutor(given.jobs) as pool:
        for future in as_completed([pool.submit(one, given.first + number) for number in range(given.rounds)]):
            if (played := future.result()) is not None:
                rounds.append(played)
                _complain(played)
    print(_table(rounds))
    print(f"\n{len(rounds)} rounds, seed {given.seed}, {time.monotonic() - began:.0f} s")
    broken = sum(len(played.broken) for played in rounds)
    print("nothing lost, nothing twice, never over the cap" if not broken else f"{broken} VIOLATIONS, see {root}")
    if not broken:
        root.rmdir()
    return int(broken > 0)


def _mutants(tree: Path, rounds: int) -> int:
    missed = 0
    print("| broken on purpose | caught for | rounds |\n|---|---|---|")
    for mutant in MUTANTS:
        with tempfile.TemporaryDirectory(prefix="mutant-") as place:
            taken, caught = catch(mutant, tree, Path(place), rounds)
        missed += not caught
        print(f"| {mutant.name} | {', '.join(caught) or 'NOT CAUGHT'} | {taken} |", flush=True)
    return int(missed > 0)


def _complain(played: Round) -> None:
    for invariant, what in played.broken:
        print(
            f"round {played.number} ({', '.join(played.kinds)}): {invariant}: {what}\n  {played.path}", file=sys.stderr
        )


def _table(rounds: Sequence[Round]) -> str:
    """Return a markdown table: how often each kind was played, and what broke in rounds that had it."""
    head = ["kind of kill", "rounds", *INVARIANTS]
    rows = []
    for kind in KINDS:
        mine = [played for played in rounds if kind in played.kinds]
        if mine:
            broken = [invariant for played in mine for invariant, _ in played.broken]
            rows.append([kind, str(len(mine)), *(str(broken.count(invariant)) for invariant in INVARIANTS)])
    widths = [max(len(row[column]) for row in [head, *rows]) for column in range(len(head))]
    lines = ["| " + " | ".join(map(str.ljust, row, widths)) + " |" for row in [head, *rows]]
    legend = [f"{name}: {text}" for name, text in INVARIANTS.items()]
    return "\n".join([lines[0], "|" + "|".join("-" * (width + 2) for width in widths) + "|", *lines[1:], "", *legend])


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
