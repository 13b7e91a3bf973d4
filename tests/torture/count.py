"""A world whose sweep is complete goes in; every invariant that its runners' own record breaks comes out."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping
from decimal import Decimal
from typing import Any

from tests.torture.world import RESERVED, World

INVARIANTS: Mapping[str, str] = {
    "once": "each cell succeeded exactly once",
    "apart": "no cell ran twice at once",
    "bound": "never more than max_parallel at once",
    "cap": "spent and reserved never above the cap",
    "totals": "the ledger's totals are the runners'",
    "asked": "asked to stop once for one wish",
    "ends": "it ends, and with the right code",
}
Fact = Mapping[str, Any]


def broken(world: World) -> list[tuple[str, str]]:
    """Return ``(invariant, what)`` for everything that is wrong."""
    record = world.record()
    found = [("once", what) for what in _once(world, record)]
    found += [("apart", f"{fact['cell']} ran beside itself") for fact in record if fact["fact"] == "overlap"]
    bound = [fact for fact in record if fact["fact"] == "start" and fact["slot"] >= world.parallel]
    found += [("bound", f"{fact['slot'] + 1} at once, {world.parallel} allowed") for fact in bound]
    found += [("cap", what) for what in _cap(record)]
    found += [("totals", what) for what in _totals(world, record)]
    found += [("asked", f"{fact['cell']} was stopped twice") for fact in _asked_twice(record)]
    return found + world.blamed


def _once(world: World, record: list[Fact]) -> Iterator[str]:
    """Count successes; where nobody but the manifest can tell, a shell that was killed, both readings are right."""
    killed = {fact["shell"] for fact in record if fact["fact"] == "shell"}
    shells = {fact["attempt"]: fact["shell"] for fact in record if fact["fact"] == "start"}
    done = Counter(fact["cell"] for fact in record if fact["fact"] == "end" and fact["how"] == "ok")
    perhaps = {fact["cell"] for fact in record if fact["fact"] == "end" and _unseen(fact, shells, killed)}
    for cell in sorted({*world.axis, *done}):
        least = 0 if cell in perhaps or cell not in world.axis else 1
        if not least <= done[cell] <= 1:
            yield f"{cell} succeeded {done[cell]} times"
    for attempt, count in Counter(fact["attempt"] for fact in record if fact["fact"] == "start").items():
        if count > 1:
            yield f"attempt {attempt} ran {count} times"


def _unseen(fact: Fact, shells: Mapping[str, int], killed: set[int]) -> bool:
    """Say whether an attempt exited 3 beside a manifest that says ``failed: false``, and its exit was lost."""
    return fact["how"] == "liar" and shells.get(fact["attempt"]) in killed


def _asked_twice(record: list[Fact]) -> Iterator[Fact]:
    """Yield each second signal that a runner got, but for those that were meant."""
    meant = False
    for fact in record:
        meant = meant or fact["fact"] == "harder"
        if fact["fact"] == "asked_twice" and not meant:
            yield fact


def _cap(record: list[Fact]) -> Iterator[str]:
    """Add up, at each start, what is spent for certain and what may be spent still or was, unknown to anyone."""
    cap = spent = Decimal(0)
    open_attempts: set[str] = set()
    for fact in record:
        match fact["fact"]:
            case "cap":
                cap = Decimal(fact["usd"])
            case "start":
                open_attempts.add(fact["attempt"])
                most = spent + RESERVED * len(open_attempts)
                if most > cap:
                    yield f"${most} spent and reserved, the cap is ${cap}"
            case "end" if fact["cost"] is not None:
                spent += Decimal(fact["cost"])
                open_attempts.discard(fact["attempt"])


def _totals(world: World, record: list[Fact]) -> Iterator[str]:
    told = json.loads(world.tool("budget", "torture", "--json").stdout or "{}")
    ends = {fact["attempt"]: fact for fact in record if fact["fact"] == "end"}
    starts = {fact["attempt"] for fact in record if fact["fact"] == "start"}
    known = sum((Decimal(fact["cost"]) for fact in ends.values() if fact["cost"] is not None), Decimal(0))
    unknown = sum(attempt not in ends or ends[attempt]["cost"] is None for attempt in starts) * RESERVED
    unknown += sum(charged for attempt, charged in _charges(world) if attempt not in starts)
    for name, ours in {"spent_usd": known, "unknown_usd": unknown, "reserved_usd": Decimal(0)}.items():
        if told.get(name) is None or Decimal(told[name]) != ours:
            yield f"{name} is {told.get(name)}, the runners say {ours}"


def _charges(world: World) -> Iterator[tuple[str, Decimal]]:
    """Yield what the ledger charged each attempt, once."""
    sweep_id = (world.sweep / "sweep-id").read_text().strip()
    seen = set()
    for line in world.ledger.read_bytes().split(b"\n"):
        try:
            event = json.loads(line.strip(b"\0"))
        except ValueError:
            continue
        if isinstance(event, dict) and event.get("event") == "settled":
            attempt = f"{sweep_id}/{event['cell']}/{event['attempt']}"
            if attempt not in seen:
                seen.add(attempt)
                yield attempt, Decimal(event["charged_usd"])
