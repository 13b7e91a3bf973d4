"""Parts to measure go in (all of them by default); one markdown table comes out: ours, the peer, ratio, target.

Usage: python -m tests.bench [--rounds N] [driver|making|read|start]...
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
from collections.abc import Iterator, Sequence
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path

from tests.bench.measure import Row, table

PARTS = tuple(name for name in ("start", "making", "read", "driver") if find_spec(f"tests.bench.{name}"))


def main(words: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(prog="tests.bench", description="Our speed against our neighbours'.")
    parser.add_argument("parts", nargs="*", choices=(*PARTS, []), metavar="PART", help=f"of {', '.join(PARTS)}")
    parser.add_argument("--rounds", type=int, default=5, help="how often each is measured; medians are shown")
    given = parser.parse_args(words)
    os.environ["PATH"] = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    with tempfile.TemporaryDirectory(prefix="sweeptool-bench-") as work:
        found = list(_rows(given.parts or PARTS, Path(work), given.rounds))
    sys.stdout.write(table(found) + "\n")
    return int(not all(row.kept for row in found))


def _rows(parts: Sequence[str], work: Path, rounds: int) -> Iterator[Row]:
    for name in parts:
        part = import_module(f"tests.bench.{name}")
        missing = part.missing()
        if missing:
            _say(f"{name} is left out, these are not installed: {', '.join(missing)}")
            continue
        for row in part.rows(work / name, rounds):
            _say(row.what)
            yield row


def _say(line: str) -> None:
    sys.stderr.write(f"bench: {line}\n")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
