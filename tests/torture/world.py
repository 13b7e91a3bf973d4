"""A seed goes in, a project directory with one sweep over the stub runner comes out, and the drivers started in it."""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
import time
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from decimal import Decimal
from pathlib import Path
from typing import Any

import psutil

RESERVED = Decimal("0.10")  # what one attempt may cost
QUIRKS = ("plain", "plain", "twice", "bare", "late", "flood", "mute", "daemon", "deaf")
MODES = ("exit", "nomanifest", "lying", "liar", "silent", "priceless")


@dataclass(slots=True)
class World:
    """One project directory, its sweep, and the dice of its round."""

    path: Path
    tree: Path  # where the sweeptool under test and its templates are
    dice: random.Random
    axis: list[str] = field(default_factory=list)
    parallel: int = 2
    cap: Decimal = Decimal(0)
    drivers: list[subprocess.Popen[bytes]] = field(default_factory=list)
    raised: bool = False  # the next driver is told the cap
    small: bool = False  # the sweep is on a small disk of its own
    excused: set[int] = field(default_factory=set)  # exit codes that the next end of a driver may have
    blamed: list[tuple[str, str]] = field(default_factory=list)  # invariant, what broke it

    @property
    def sweep(self) -> Path:
        return self.path / "sweeps" / "torture"

    @property
    def ledger(self) -> Path:
        return self.sweep / "ledger.jsonl"

    @property
    def environment(self) -> dict[str, str]:
        mine = {
            "PYTHONPATH": str(self.tree),
            "TORTURE_PYTHON": sys.executable,
            "SWEEPTOOL": str(self.path / "sweeptool"),
            "SWEEPTOOL_SWEEPS_DIR": "sweeps",
        }
        return {**os.environ, **mine}

    def note(self, **fact: Any) -> None:
        """Put a fact of our own into the runners' record, in its place among theirs."""
        with (self.path / "record.jsonl").open("a") as file:
            file.write(json.dumps({"t": time.time(), **fact}) + "\n")

    def record(self) -> list[Mapping[str, Any]]:
        """Return everything that the runners noted, in order."""
        path = self.path / "record.jsonl"
        return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []

    def tool(self, *words: str) -> subprocess.CompletedProcess[str]:
        """Run ``sweeptool`` here."""
        return subprocess.run(
            [self.path / "sweeptool", *words],
            cwd=self.path,
            env=self.environment,
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )

    def render(self) -> None:
        """Write the spec as it is now and the driver that it makes."""
        spec = {
            "name": "torture",
            "runner": {"kind": "command", "argv": ["./stub", "{x}"]},
            "max_parallel": self.parallel,
            "max_cost_usd": str(self.cap),
            "cost_cap_usd": str(RESERVED),
            "matrix": {"params": {"x": self.axis}},
        }
        (self.path / "spec.json").write_text(json.dumps(spec))
        made = self.tool("render", "spec.json")
        if made.returncode:
            raise RuntimeError(made.stderr)
        (self.path / "driver.new").write_text(made.stdout)
        (self.path / "driver.new").replace(self.path / "driver.sh")  # a running bash keeps the old file

    def raise_cap(self, dollars: Decimal) -> None:
        self.cap += dollars
        self.raised = True
        self.note(fact="cap", usd=str(self.cap))

    def start(self, *words: str) -> subprocess.Popen[bytes]:
        """Start the driver, all its words and our own into one log."""
        given = ["--max-cost-usd", str(self.cap)] if self.raised else []
        with (self.path / "log").open("ab") as log:
            log.write(f"---- {time.time():.3f} {' '.join(words)}\n".encode())
            driver = subprocess.Popen(
                ["bash", "driver.sh", *given, *words],
                cwd=self.path,
                env=self.environment,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,
            )
        self.drivers.append(driver)
        return driver

    def tool_driver(self, *words: str) -> subprocess.Popen[bytes]:
        """Start ``sweeptool`` with words that may make it a driver."""
        with (self.path / "log").open("ab") as log:
            return subprocess.Popen(
                [self.path / "sweeptool", *words],
                cwd=self.path,
                env=self.environment,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,
            )

    def follow(self, process: subprocess.Popen[bytes]) -> None:
        """Take ``process`` as a driver, once it is one."""
        self.drivers.append(process)

    def blame(self, invariant: str, what: str) -> None:
        self.blamed.append((invariant, what))

    def alive(self) -> list[subprocess.Popen[bytes]]:
        self.drivers = [driver for driver in self.drivers if driver.poll() is None]
        return self.drivers

    def ledgers(self) -> list[psutil.Process]:
        return [child for child in self._children() if "ledger" in _words(child)]

    def shells(self) -> list[psutil.Process]:
        """Return the shells of shards: those of the drivers that live, and those that dead ones left."""
        orphans = {fact["shell"] for fact in self.record() if fact["fact"] == "start"}
        found = {one.pid: one for one in [*self._children(), *_processes(orphans)]}
        drivers = {driver.pid for driver in self.drivers}
        return [one for pid, one in found.items() if pid not in drivers and self._is_driver(one)]

    def runners(self) -> list[psutil.Process]:
        starts = {fact["pid"] for fact in self.record() if fact["fact"] == "start"}
        return [one for one in _processes(starts) if "./stub" in _words(one)]

    def _is_driver(self, process: psutil.Process) -> bool:
        words = _words(process)
        return len(words) > 1 and words[0].endswith("bash") and words[1].endswith("driver.sh")

    def _children(self) -> list[psutil.Process]:
        found = []
        for parent in _processes({driver.pid for driver in self.alive()}):
            with suppress(psutil.Error):
                found += [child for child in parent.children() if child.status() != psutil.STATUS_ZOMBIE]
        return found


def make(path: Path, tree: Path, seed: str, **asked: Any) -> World:
    """Return a new world: its cells, how each behaves, how many run at once, its cap.

    ``asked`` fixes what the dice would decide: ``cells``, ``parallel``, each cell's ``seconds``, ``cleanup``, ``modes``.
    """
    dice = random.Random(seed)
    for name in ("locks", "runs", "sweeps"):
        (path / name).mkdir(parents=True)
    for program in (
        "stub",
        "sweeptool",
    ):  # not written here: while another thread forks, a program just written is busy
        (path / program).symlink_to(Path(__file__).with_name(program))
    world = World(path, tree, dice)
    cells, parallel = dice.randint(3, 8), dice.randint(1, 4)
    world.axis = [f"c{number}" for number in range(int(asked.pop("cells", cells)))]
    world.parallel = int(asked.pop("parallel", parallel))
    world.cap = RESERVED * dice.randint(3, 6)
    behaviour = {f"c{number}": {**_behaviour(dice), **asked} for number in range(16)}
    (path / "behaviour.json").write_text(json.dumps(behaviour))
    world.note(fact="cap", usd=str(world.cap))
    world.render()
    return world


def _behaviour(dice: random.Random) -> Mapping[str, Any]:
    failing = dice.random() < 0.35
    return {
        "seconds": round(dice.choice((0.02, 0.1, 0.3, 0.3, 0.8, 2.5)) * dice.uniform(0.5, 1.5), 3),
        "cleanup": round(dice.uniform(0, 0.15), 3),
        "cost": str(Decimal(dice.randint(1, 100)) / 1000),
        "unknown": dice.random() < 0.1,
        "quirk": dice.choice(QUIRKS),
        "modes": [dice.choice(MODES) for _ in range(dice.randint(1, 2))] if failing else [],
    }


def _processes(pids: Iterable[int]) -> list[psutil.Process]:
    """Return those of the processes that live and are of a world: numbers are given out again."""
    found = []
    for pid in pids:
        with suppress(psutil.Error):
            one = psutil.Process(pid)
            if one.status() != psutil.STATUS_ZOMBIE and _words(one):
                found.append(one)
    return found


def _words(process: psutil.Process) -> list[str]:
    try:
        return process.cmdline()
    except psutil.Error:
        return []
