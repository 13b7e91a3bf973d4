"""Ways to break sweeptool on purpose: each is played until the torture program catches it for what it is."""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.torture.play import play

_AT_ONCE = 4


@dataclass(frozen=True, slots=True)
class Mutant:
    """One edit of one file, the kinds of kill that bring it out, and the invariants of which it breaks one."""

    name: str
    file: str
    old: str
    new: str
    kinds: tuple[str, ...]
    breaks: frozenset[str]
    shape: Mapping[str, Any]  # of the world in which it shows soon


def _mutant(name: str, file: str, old: str, new: str, kinds: str, breaks: str, **shape: Any) -> Mutant:
    return Mutant(name, file, old, new, tuple(kinds.split("; ")), frozenset(breaks.split()), {"cells": 3, **shape})


_LEDGER = "sweeptool/ledger"
MUTANTS = (
    _mutant(
        "reservations do not count",
        f"{_LEDGER}/state.py",
        "        return self.spent + self.unknown + self.reserved\n",
        "        return self.spent + self.unknown\n",
        "SIGSTOP",
        "cap",
        cells=6,
        parallel=4,
        seconds=0.5,
    ),
    _mutant(
        "an unknown cost is 0",
        f"{_LEDGER}/fold.py",
        "        state.unknown += attempt.reserved or 0\n",
        "",
        "runner -9; group -9",
        "cap totals",
        modes=[],
    ),
    _mutant(
        "a failed attempt costs nothing",
        f"{_LEDGER}/fold.py",
        "        state.spent += attempt.cost\n",
        "        state.spent += attempt.cost if attempt.state == SUCCEEDED else 0\n",
        "SIGINT; runner -9",
        "cap totals",
    ),
    _mutant(
        "a cell is known by its index",
        "sweeptool/cells.py",
        "    return f\"{slug or 'cell'}-{digest}\"",
        '    return f"cell-{_INDEX.__next__()}"\n\n\nimport itertools\n\n_INDEX = itertools.count()',
        "axis grown; axis reordered",
        "once",
        modes=[],
    ),
    _mutant(
        "exit 0 is success without a manifest that says so",
        "sweeptool/runners/command.py",
        "        if code == 0 and manifest is not None and manifest.failed is False:\n",
        "        if code == 0:\n",
        "SIGSTOP; driver -9",
        "once",
        modes=["lying"],
    ),
    _mutant(
        "a manifest is success whatever the exit code",
        "sweeptool/runners/command.py",
        "        if code == 0 and manifest is not None and manifest.failed is False:\n",
        "        if manifest is not None and manifest.failed is False:\n",
        "SIGINT; SIGTERM",
        "once",
    ),
    _mutant(
        "what still runs is not adopted",
        f"{_LEDGER}/endings.py",
        "    if found in (liveness.ALIVE, liveness.REMOTE):\n",
        "    if found == liveness.REMOTE:\n",
        "driver -9",
        "once apart bound",
        modes=[],
        seconds=1.5,
    ),
    _mutant(
        "what was adopted takes no slot",
        f"{_LEDGER}/admission.py",
        "    if rules.max_parallel and len(state.running) >= rules.max_parallel:\n        return Wait()\n",
        "",
        "driver -9",
        "bound",
        parallel=1,
        seconds=2.5,
        modes=[],
    ),
    _mutant(
        "a runner whose shell was killed is given up",
        f"{_LEDGER}/endings.py",
        "    if not where.ended and liveness.look(where, desk.book.marker(attempt)) == liveness.ALIVE:\n",
        "    if False:\n",
        "shell -9",
        "once apart bound totals",
        modes=[],
        seconds=1.5,
    ),
    _mutant(
        "a shard claims nothing",
        "templates/driver/shard.sh",
        "  claim || return 0\n",
        "  sleep 2\n  claim || true\n",
        "driver -9",
        "once apart bound cap totals",
        modes=[],
        seconds=1.5,
    ),
    _mutant(
        "a line is glued to a torn one",
        f"{_LEDGER}/journal.py",
        '            data = b"\\n" + data  # a torn line stays a line of its own\n',
        "            pass\n",
        "crash, torn; torn ledger",
        "once apart bound cap totals ends",
    ),
    _mutant(
        "two drivers at once",
        f"{_LEDGER}/hold.py",
        "        fcntl.flock(handle, kind | fcntl.LOCK_NB)\n",
        "        pass\n",
        "second driver",
        "ends",
    ),
    _mutant(
        "a second SIGINT for one wish",
        "templates/driver/signals.sh",
        " && sent < 3 && (asked[group] = sent + 1)))",
        "))",
        "SIGINT; SIGTERM",
        "asked",
        parallel=3,
        seconds=2.0,
        modes=[],
        cleanup=1.5,
        pause=1.5,
    ),
    _mutant(
        "an echo is a wish",
        "templates/driver/signals.sh",
        "(hardness == 0 || now - heard > deaf || heard - now > deaf)",
        "1",
        "signal echoed",
        "asked",
        parallel=3,
        seconds=2.0,
        modes=[],
        cleanup=0.3,
        pause=1.5,
    ),
    _mutant(
        "the exit of what ended while no driver ran is not read",
        f"{_LEDGER}/settlement.py",
        "    exit_code = _exit_code(where)\n",
        "    exit_code = None if state.opened_at and attempt.admitted_at < state.opened_at else _exit_code(where)\n",
        "driver -9",
        "once",
        modes=["liar"],
        parallel=3,
        seconds=0.3,
    ),
)


def broken(mutant: Mutant, tree: Path, place: Path) -> Path:
    """Return a copy of ``tree`` under ``place`` that is broken as ``mutant`` says."""
    for folder in ("sweeptool", "templates"):
        shutil.copytree(tree / folder, place / folder, ignore=shutil.ignore_patterns("__pycache__"))
    file = place / mutant.file
    text = file.read_text()
    if text.count(mutant.old) != 1:
        raise LookupError(f"{mutant.file} has changed: mend the mutant '{mutant.name}'")
    file.write_text(text.replace(mutant.old, mutant.new))
    return place


def catch(mutant: Mutant, tree: Path, place: Path, rounds: int) -> tuple[int, list[str]]:
    """Play a broken copy of ``tree`` until it is caught, ``rounds`` at most; return how many it took and for what."""
    copy = broken(mutant, tree, place / "tree")
    for first in range(0, rounds, _AT_ONCE):
        numbers = range(first, first + _AT_ONCE)
        with ThreadPoolExecutor(_AT_ONCE) as pool:
            played = pool.map(lambda number: play(number, 1, copy, place, mutant.kinds, **mutant.shape), numbers)
            caught = {invariant for one in played for invariant, _ in one.broken} & mutant.breaks
        if caught:
            return first + _AT_ONCE, sorted(caught)
    return rounds, []
