"""Trees of run dirs in the runner's format go in; how long and in how much memory they are read comes out."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Sequence
from pathlib import Path

from tests import peer
from tests.bench import corpus
from tests.bench.measure import Row, Timed, against, memory, wall

TREE = "artifacts/runpod"
SUMMARY = ["manifest-summary", "--root", TREE]
QUERY = ["events-query", "--root", TREE, "--filter", "event=pod_killed_unexpected"]
RUNS, MANY, FEW = 10_000, 100_000, 100


def rows(work: Path, rounds: int) -> Iterator[Row]:
    """Yield what issue 6 asks of the read side."""
    full, wide, lean = (work / name for name in ("13-events", "200-events", "lean"))
    corpus.make(full / TREE, RUNS)
    yield _peer("manifest-summary, 10,000 runs", SUMMARY, full, 0.8, rounds)
    yield _peer("events-query, 10,000 runs of 13 events", QUERY, full, 0.6, rounds)
    yield _cat("manifest-summary, 10,000 runs", SUMMARY, "runpod_deploy_pull_manifest.json", full, rounds)
    yield _cat("events-query, 10,000 runs of 13 events", QUERY, "events.jsonl", full, rounds)
    corpus.make(wide / TREE, RUNS, 200, lean=True)
    corpus.make(wide / FEW_OF / TREE, FEW, 200, lean=True)
    yield _peer("events-query, 10,000 runs of 200 events", QUERY, wide, 0.3, rounds)
    yield _cat("events-query, 10,000 runs of 200 events", QUERY, "events.jsonl", wide, rounds)
    yield _flat("events-query, memory at 10,000 runs of 200 events", QUERY, wide)
    for count in (FEW, RUNS, MANY):
        corpus.make(lean / str(count) / TREE, count, lean=True)
    yield _linear("manifest-summary, a run of 100,000", SUMMARY, lean, rounds)
    yield _linear("events-query, a run of 100,000", QUERY, lean, rounds)
    yield _slim("manifest-summary, memory a run, at 100,000", SUMMARY, lean)


FEW_OF = "few"  # a tree beside the large one


def missing() -> list[str]:
    """Return what is not installed here."""
    return [] if peer.find() else ["runpod-deploy"]


def _ours(words: Sequence[str], where: Path) -> Timed:
    return lambda: wall(["sweeptool", *words], where)


def _peer(what: str, words: Sequence[str], where: Path, target: float, rounds: int) -> Row:
    program = str(peer.find())
    theirs = f"runpod-deploy {words[0]}"
    return against(what, _ours(words, where), theirs, lambda: wall([program, *words], where), target, rounds)


def _cat(what: str, words: Sequence[str], name: str, where: Path, rounds: int) -> Row:
    line = f"find {shlex.quote(TREE)} -name {shlex.quote(name)} -print0 | xargs -0 cat"
    return against(what, _ours(words, where), "find | xargs cat", lambda: wall(["sh", "-c", line], where), 2, rounds)


def _linear(what: str, words: Sequence[str], lean: Path, rounds: int) -> Row:
    """Compare what a further run costs among 100,000 with what it costs among 10,000."""
    start = min(wall(["sweeptool", *words], lean / str(FEW)) for _ in range(rounds))

    def each(count: int) -> Timed:
        return lambda: (wall(["sweeptool", *words], lean / str(count)) - start) / (count - FEW)

    return against(what, each(MANY), "a run of 10,000", each(RUNS), 1.25, rounds, "ms")


def _flat(what: str, words: Sequence[str], where: Path) -> Row:
    large, small = (memory(["sweeptool", *words], place) / 1e6 for place in (where, where / FEW_OF))
    return Row(what, large, 1.25, "at 100 runs", small, large / small, "MB")


def _slim(what: str, words: Sequence[str], lean: Path) -> Row:
    large, small = (memory(["sweeptool", *words], lean / str(count)) for count in (MANY, FEW))
    return Row(what, (large - small) / (MANY - FEW), 1000, unit="B")
