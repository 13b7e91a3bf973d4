"""A tree or a sweep and a Query go in; every event that matches comes out by time, from all files as one."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import islice

from sweeptool import layout, stamps
from sweeptool.errors import Problem, SweepError, near, raise_all
from sweeptool.events.filters import MISSING, Filter, parse, text
from sweeptool.events.follow import follow
from sweeptool.events.order import by_time
from sweeptool.events.scan import Event, Notes, Query, Stream, search
from sweeptool.layout import SweepDir
from sweeptool.sources import Source
from sweeptool.walk import Skipped, files

__all__ = ["Event", "Notes", "Query", "Stream", "count", "follow", "missing", "query", "search", "streams", "wanted"]

_LOOK = 100_000  # events that are looked at for a key, before it is called missing


def wanted(filters: Sequence[str], since: str | None, until: str | None, now: int) -> Query:
    """Return the query that these words of a command line mean; ``now`` is microseconds since 1970.

    Raises SweepError, one line for each word that means nothing.
    """
    problems: list[Problem] = []
    parsed: list[Filter] = []
    for one in filters:
        try:
            parsed.append(parse(one))
        except SweepError as error:
            problems += error.problems
    ends: dict[str, int | None] = {}
    for option, word in (("--since", since), ("--until", until)):
        try:
            ends[option] = None if word is None else stamps.since(word, now)
        except ValueError as error:
            problems.append(Problem(str(error), path=option))
    raise_all(problems)
    return Query(tuple(parsed), ends["--since"], ends["--until"])


def query(streams: Iterable[Stream], wanted: Query, notes: Notes, show: Callable[[Event], str]) -> Iterator[str]:
    """Yield what ``show`` makes of each event that ``wanted`` lets through, by time over all ``streams``."""
    return by_time((event.stamp, show(event)) for event in search(streams, wanted, notes))


def count(events: Iterable[Event], keys: Sequence[str]) -> list[tuple[tuple[str | None, ...], int]]:
    """Return how many events have each combination of values of ``keys``, most frequent first; None: no such field."""
    counts: dict[tuple[str | None, ...], int] = {}
    for event in events:
        values = tuple(None if (value := event.value(key)) is MISSING else text(value) for key in keys)
        counts[values] = counts.get(values, 0) + 1
    return sorted(counts.items(), key=lambda item: (-item[1], [(value is None, value or "") for value in item[0]]))


def missing(streams: Iterable[Stream], wanted: Query) -> list[str]:
    """Return a line for each key of a filter that no event has, for a search that found nothing; none without events."""
    keys = {one.key for one in wanted.filters}
    if not keys:
        return []  # no need to look at anything again
    known: set[str] = set()
    for event in islice(search(streams, Query(), Notes()), _LOOK):
        known.update(event.own, event.stream.added)
        keys = {key for key in keys if event.value(key) is MISSING}
        if not keys:
            break
    hints = {key: near(key, known) for key in sorted(keys)} if known else {}
    return [f"no event has '{key}'" + (f": {hint}" if hint else "") for key, hint in hints.items()]


def streams(source: Source, notes: Notes, name: str = layout.EVENTS) -> Iterator[Stream]:
    """Yield every event file of a sweep or a tree; ``name`` is what it is called where no plan says so."""
    if source.sweep is not None:
        return of_sweep(source.sweep)
    return under(source.root or ".", notes, name)


def under(root: str, notes: Notes, name: str = layout.EVENTS) -> Iterator[Stream]:
    """Yield each event file under ``root``; its run dir is named from there, as far as it tells them apart.

    Raises SweepError for a missing root.
    """
    skipped: list[Skipped] = []
    start = len(root.rstrip("/")) + 1
    for path in files(root, name, skipped):
        run_dir = path[start : -len(name) - 1] or os.path.realpath(root).rpartition("/")[2]
        yield Stream(path, {"run_dir": run_dir})
    for place, why in skipped:
        notes.unread(place, why)


def of_sweep(where: SweepDir) -> Iterator[Stream]:
    """Yield a sweep's own journal, then the events of each of its attempts, with the cell they belong to."""
    from sweeptool import frozen  # noqa: PLC0415 - what reads a tree starts without them
    from sweeptool.ledger import state as ledger  # noqa: PLC0415

    if where.ledger.exists():
        yield Stream(os.fspath(where.ledger), {"run_dir": None})
    try:
        name = str(frozen.read(where.plan).sweep["events"])
    except SweepError:
        name = layout.EVENTS
    claimed = set()
    for attempt in ledger.load(where).attempts:
        if attempt.run_dir is None or attempt.run_dir in claimed:
            continue
        claimed.add(attempt.run_dir)
        path = f"{attempt.run_dir}/{name}"
        if os.path.lexists(path):
            added = {"run_dir": attempt.run_dir, "cell": attempt.cell, "index": attempt.index}
            yield Stream(path, {**added, "attempt": attempt.number})
