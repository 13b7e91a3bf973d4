"""No-op cells and cells of mixed length go in; what a driver adds to them, against parallel and xargs, comes out."""

from __future__ import annotations

import random
import shutil
from collections.abc import Iterator, Sequence
from itertools import count
from pathlib import Path

from tests.bench.measure import Row, Timed, against, wall

SLOTS = 8

# One job: a run dir, its name on stdout, and a manifest as a runner writes it. Both sides run this very file.
RUNNER = """\
#!/bin/sh
mkdir "$1/$2"
echo "RUN_DIR=$1/$2"
sleep_for=$3
[ -z "$sleep_for" ] || sleep "$sleep_for"
cat <<EOF >"$1/$2/manifest.json"
{"schema_version": "v2", "failed": false, "job_name": "cell", "run_id": "cell-$2", "pod_id": null,
 "gpu_price_per_hour_usd": 0.36, "wall_time_sec": 0.01, "estimated_cost_usd": 0.0001, "artifacts": []}
EOF
"""

SPEC = """\
name: cells
runner: {{kind: command, argv: [./runner, runs, "{{number}}", "{{seconds}}"], manifest: manifest.json}}
max_parallel: {slots}
max_cost_usd: {cap}
cost_cap_usd: 0.01
matrix: {{zip: [{{number: [{numbers}], seconds: [{seconds}]}}]}}
"""


def rows(work: Path, rounds: int) -> Iterator[Row]:
    """Yield what issue 6 asks of the driver."""
    work.mkdir(parents=True)
    small, big, mixed = [""] * 1000, [""] * 10_000, _lengths(200)
    yield against(
        "driver, 1,000 no-op cells, 8 at once",
        _ours(work, small),
        "parallel -j8 --joblog",
        _parallel(work, small),
        0.7,
        rounds,
    )
    yield against(
        "driver, a cell of 10,000",
        _each(_ours(work, big), len(big)),
        "a cell of 1,000",
        _each(_ours(work, small), len(small)),
        1.25,
        rounds,
        "ms",
    )
    yield against(
        "driver, 200 cells of 0.1 to 1.5 s, 8 at once",
        _ours(work, mixed),
        "xargs -P8",
        _xargs(work, mixed),
        1.03,
        rounds,
    )


def _lengths(number: int) -> list[str]:
    dice = random.Random(1)
    return [f"{dice.uniform(0.1, 1.5):.2f}" for _ in range(number)]


def _each(timed: Timed, number: int) -> Timed:
    return lambda: timed() / number


def _ours(work: Path, seconds: Sequence[str]) -> Timed:
    def run() -> float:
        where = _fresh(work)
        numbers = ", ".join(str(number) for number in range(len(seconds)))
        lengths = ", ".join(f'"{length}"' for length in seconds)
        spec = SPEC.format(slots=SLOTS, cap=len(seconds), numbers=numbers, seconds=lengths)
        (where / "sweep.yaml").write_text(spec)
        wall(["sweeptool", "render", "sweep.yaml", "-o", "driver.sh"], where)
        return wall(["bash", "driver.sh"], where)

    return run


def _parallel(work: Path, seconds: Sequence[str]) -> Timed:
    def run() -> float:
        where = _fresh(work)
        (where / "args").write_text("".join(f"{number}\t{length}\n" for number, length in enumerate(seconds)))
        argv = ["parallel", f"-j{SLOTS}", "--joblog", "joblog", "--colsep", "\t", "./runner", "runs", "{1}", "{2}"]
        return wall([*argv, "::::", "args"], where, {"PARALLEL_HOME": str(where)})

    return run


def _xargs(work: Path, seconds: Sequence[str]) -> Timed:
    def run() -> float:
        where = _fresh(work)
        (where / "args").write_text("".join(f"{number} {length}\n" for number, length in enumerate(seconds)))
        return wall(["xargs", f"-P{SLOTS}", "-L1", "-a", "args", "./runner", "runs"], where)

    return run


_numbers = count()


def _fresh(work: Path) -> Path:
    """Return a new directory; none is deleted before the end, since a file system is slow after that."""
    where = work / f"run-{next(_numbers)}"
    (where / "runs").mkdir(parents=True)
    (where / "runner").write_text(RUNNER)
    (where / "runner").chmod(0o755)
    return where


def missing() -> list[str]:
    """Return the programs that these measurements need and that are not there."""
    return [name for name in ("bash", "parallel", "xargs") if not shutil.which(name)]
