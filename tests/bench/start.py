"""Commands that are called often go in; how long each takes to start, against a Python that only imports click."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

from tests.bench.measure import Row, against, wall

SPEC = """\
name: small
command: ["true"]
cost_cap_usd: 0.01
price_per_hour_usd: 0.36
max_cost_usd: 1
matrix: {params: {n: [1, 2, 3]}}
"""
TIMES = 5  # calls that are one measurement: each takes but a few hundredths of a second


def rows(work: Path, rounds: int) -> Iterator[Row]:
    """Yield what issue 6 asks of a start, and the local runner's, which starts once a cell."""
    work.mkdir(parents=True)
    (work / "sweep.yaml").write_text(SPEC)
    wall(["sweeptool", "run", "sweep.yaml"], work)

    def peer() -> float:
        return _several([sys.executable, "-c", "import click"], work)

    for words in (["--version"], ["budget", "small"]):
        name = " ".join(["sweeptool", *words[:1]])

        def ours(words: list[str] = words) -> float:
            return _several(["sweeptool", *words], work)

        yield against(name, ours, "python -c 'import click'", peer, 2.5, rounds, "ms")


def _several(argv: list[str], work: Path) -> float:
    return sum(wall(argv, work) for _ in range(TIMES)) / TIMES


def missing() -> list[str]:
    return []
