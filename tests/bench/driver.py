"""No-op cells and cells of mixed length go in; what a driver adds to them, against parallel and xargs, comes out."""

from __future__ import annotations

import random
import shutil
from collections.abc import Iterator, Sequence
from itertools import count
from pathlib import Path

from tests.bench.measure import Row, Timed, against, wall

SLOTS = 8

# One job: its run dir's name on stdout, and a manifest in it as a runner writes it. All sides run this very file; it
# starts no other program, since what is measured is what stands around it, and the run dirs are there already.
RUNNER = """\
#!/bin/sh
echo "RUN_DIR=runs/$1"
[ $# -lt 2 ] || sleep "$2"
printf '{"schema_version": "v2", "failed": false, "job_name": "cell", "run_id": "cell-%s", "pod_id": null,
 "gpu_price_per_hour_usd": 0.36, "wall_time_sec": 0.01, "estimated_cost_usd": 0.0001, "artifacts": []}\n' "$1" \\
  >"runs/$1/manifest.json"
"""

HEAD = f"""\
name: cells
max_parallel: {SLOTS}
max_cost_usd: 1000
cost_cap_usd: 0.01
"""
NO_OP = """\
runner: {{kind: command, argv: [./runner, "{{number}}"], manifest: manifest.json}}
matrix: {{params: {{number: [{numbers}]}}}}
"""
SLEEPING = """\
runner: {{kind: command, argv: [./runner, "{{number}}", "{{seconds}}"], manifest: manifest.json}}
matrix: {{zip: [{{number: [{numbers}], seconds: [{seconds}]}}]}}
"""


def rows(work: Path, rounds: int) -> Iterator[Row]:
    """Yield what issue 6 asks of the driver."""
    work.mkdir(parents=True)
    small, big = 1000, 10_000
    what = f"driver, {small:,} no-op cells, {SLOTS} at once"
    yield against(what, _no_op(work, small), f"parallel -j{SLOTS} --joblog", _parallel(work, small), 0.7, rounds)
    each, of_small = _each(_no_op(work, big), big), _each(_no_op(work, small), small)
    yield against(f"driver, a cell of {big:,}", each, f"a cell of {small:,}", of_small, 1.25, rounds, "ms")
    mixed = _lengths(200)
    what = f"driver, {len(mixed)} cells of 0.2 to 2 s, {SLOTS} at once"
    yield against(what, _sleeping(work, mixed), f"xargs -P{SLOTS}", _xargs(work, mixed), 1.03, rounds)


def _lengths(number: int) -> list[str]:
    dice = random.Random(1)
    return [f"{dice.uniform(0.2, 2):.2f}" for _ in range(number)]


def _each(timed: Timed, number: int) -> Timed:
    return lambda: timed() / number


def _no_op(work: Path, cells: int) -> Timed:
    return lambda: _driven(work, NO_OP.format(numbers=_listed(range(cells))), cells)


def _sleeping(work: Path, seconds: Sequence[str]) -> Timed:
    text = SLEEPING.format(numbers=_listed(range(len(seconds))), seconds=_listed(seconds))
    return lambda: _driven(work, text, len(seconds))


def _driven(work: Path, spec: str, cells: int) -> float:
    where = _fresh(work, cells)
    (where / "sweep.yaml").write_text(HEAD + spec)
    wall(["sweeptool", "render", "sweep.yaml", "-o", "driver.sh"], where)
    return wall(["bash", "driver.sh"], where)


def _parallel(work: Path, cells: int) -> Timed:
    def run() -> float:
        where = _fresh(work, cells)
        (where / "args").write_text("".join(f"{number}\n" for number in range(cells)))
        argv = ["parallel", f"-j{SLOTS}", "--joblog", "joblog", "./runner", "{}", "::::", "args"]
        return wall(argv, where, {"PARALLEL_HOME": str(where)})

    return run


def _xargs(work: Path, seconds: Sequence[str]) -> Timed:
    def run() -> float:
        where = _fresh(work, len(seconds))
        (where / "args").write_text("".join(f"{number} {length}\n" for number, length in enumerate(seconds)))
        return wall(["xargs", f"-P{SLOTS}", "-L1", "-a", "args", "./runner"], where)

    return run


_numbers = count()


def _fresh(work: Path, cells: int) -> Path:
    """Return a new directory with a run dir a cell; none is deleted before the end, since that makes the disk slow."""
    where = work / f"run-{next(_numbers)}"
    for number in range(cells):
        (where / "runs" / str(number)).mkdir(parents=True)
    (where / "runner").write_text(RUNNER)
    (where / "runner").chmod(0o755)
    return where


def _listed(values: Sequence[object]) -> str:
    return ", ".join(f'"{value}"' for value in values)


def missing() -> list[str]:
    """Return the programs that these measurements need and that are not there."""
    return [name for name in ("bash", "parallel", "xargs") if not shutil.which(name)]
