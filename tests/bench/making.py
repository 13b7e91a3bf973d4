"""Specs of 20,000 cells go in; how long they take to become a driver, and that driver to start its first shard."""

from __future__ import annotations

import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

from tests.bench.measure import Row, Timed, alone, wall

CELLS = 20_000
HEAD = """\
name: big
runner: {kind: command, argv: [./runner, "{lr}", "{seed}"], manifest: manifest.json}
max_parallel: 8
max_cost_usd: 1000
cost_cap_usd: 0.01
"""


def rows(work: Path, rounds: int) -> Iterator[Row]:
    """Yield what issue 5 asks of a big spec."""
    work.mkdir(parents=True)
    for name, text in {"a grid": _grid(), "explicit rows": _listed()}.items():
        spec = work / f"{name.replace(' ', '-')}.yaml"
        spec.write_text(text)
        driver = spec.with_suffix(".sh")
        yield alone(f"render, {CELLS:,} cells, {name}", _render(spec, driver), 2.0, rounds)
        yield alone(f"bash -n, {CELLS:,} cells, {name}", _checked(driver), 2.0, rounds)
        yield alone(f"first shard of {CELLS:,}, {name}", _first(work, driver), 1.0, rounds)


def _grid() -> str:
    values = ", ".join(map(str, range(200)))
    return f"{HEAD}matrix: {{params: {{lr: [{values}], seed: [{', '.join(map(str, range(CELLS // 200)))}]}}}}\n"


def _listed() -> str:
    rows = "".join(f"    - {{lr: 0.{number}, seed: {number}}}\n" for number in range(CELLS))
    return f"{HEAD}matrix:\n  include:\n{rows}"


def _render(spec: Path, driver: Path) -> Timed:
    return lambda: wall(["sweeptool", "render", spec.name, "-o", driver.name], spec.parent)


def _checked(driver: Path) -> Timed:
    return lambda: wall(["bash", "-n", driver.name], driver.parent)


def _first(work: Path, driver: Path) -> Timed:
    """Measure from the start of the driver to its first shard's."""

    def run() -> float:
        where = work / f"first-{time.monotonic_ns()}"
        where.mkdir()
        (where / "runner").write_text("#!/bin/sh\n: >>started\nexec sleep 60\n")
        (where / "runner").chmod(0o755)
        started = time.perf_counter()
        with subprocess.Popen(
            ["bash", str(driver)],
            cwd=where,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        ) as running:
            while not (where / "started").exists() and running.poll() is None:
                time.sleep(0.002)
            took = time.perf_counter() - started
            running.terminate()
        return took

    return run


def missing() -> list[str]:
    return []
