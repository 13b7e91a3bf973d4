"""Lines on stdin go in; one line of answer to each question comes out.

Questions are ``next SLOTS`` (so many are free) and ``signal NAME``; ``ended INDEX ATTEMPT`` and ``harder`` are reports,
which get no answer. This is the coprocess behind a driver. While it asks nothing, the ledger wakes it where there is
news, and once a second in any case, so that a wake-up that was missed costs a second.
"""

from __future__ import annotations

import os
import select
import signal
import time
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from sweeptool import files, frozen
from sweeptool.errors import INTERNAL, Problem, SweepError
from sweeptool.frozen import Frozen
from sweeptool.layout import SweepDir
from sweeptool.ledger import answers, hold, liveness, nudge, voice
from sweeptool.ledger.admission import Rules
from sweeptool.ledger.book import Book, amount, install
from sweeptool.ledger.desk import Desk
from sweeptool.ledger.hold import Hold
from sweeptool.ledger.journal import Reader
from sweeptool.runners import RUNNERS
from sweeptool.spec.model import Retry

_TICK = 0.25  # seconds between two looks for news
_NUDGE = 1.0  # seconds between two wake-ups without news


class Call(NamedTuple):
    """What a driver says of itself. ``cells`` is the digest of those it holds, ``only`` the one that it runs."""

    driver: Path
    pid: int
    cells: str | None = None
    max_parallel: int | None = None
    cap: str | None = None
    only: int | None = None


def main(words: Sequence[str]) -> int:
    """Serve the driver that calls ``ledger DIRECTORY --driver FILE --pid N``. Returns like ``serve``.

    It may say ``--cells DIGEST``, ``--max-parallel N``, ``--max-cost-usd X``, and ``--only N`` where it runs one cell.
    """
    try:
        directory, *rest = words
        said = dict(zip(rest[::2], rest[1::2], strict=True))
        numbers = {name: int(said[name]) for name in ("--max-parallel", "--only") if name in said}
        driver, pid = Path(said["--driver"]), int(said["--pid"])
    except (ValueError, KeyError) as error:
        raise SweepError(Problem("this is for drivers only", remedy="'sweeptool status' shows a sweep")) from error
    call = Call(
        driver,
        pid,
        said.get("--cells"),
        numbers.get("--max-parallel"),
        said.get("--max-cost-usd"),
        numbers.get("--only"),
    )
    return serve(SweepDir(Path(directory)), call)


def serve(sweep: SweepDir, call: Call) -> int:
    """Answer the driver until it closes stdin; return the exit code for a start that failed, else 0."""
    for name in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGTTOU):
        signal.signal(name, signal.SIG_IGN)  # the driver decides when it is over; its end closes our stdin
    try:
        desk, held = _open(sweep, call)
    except SweepError as error:
        say(_errors(error))
        _answer(f"fail {error.exit_code}")
        return error.exit_code
    state = desk.book.state
    pending = 0 if state.request else len(desk.pending)
    _answer(f"ready {state.sweep_id} {liveness.host()} {liveness.boot()} {pending}")
    _converse(desk, held, call.pid)
    if held is not None:
        held.release()
    return 0


def say(line: str) -> None:
    """Write a line to stderr; a terminal that is gone is no reason to stop counting money."""
    with suppress(OSError):
        os.write(2, f"{line}\n".encode(errors="replace"))


def _errors(error: SweepError) -> str:
    return "\n".join(f"error: {problem}" for problem in error.problems)


def _open(sweep: SweepDir, call: Call) -> tuple[Desk, Hold | None]:
    driver, only = call.driver, call.only
    plan, lines = frozen.from_driver(driver)
    if call.cells not in (None, frozen.cells_digest(plan.name, [job.id for job in plan.jobs])):
        raise SweepError(Problem("it was rendered anew while it started", source=str(driver), remedy="run it again"))
    frozen.check_configs(plan, Path.cwd())
    try:
        sweep.path.mkdir(parents=True, exist_ok=True)
        held = hold.take(sweep, call.pid) if only is None else None
        if only is not None:
            hold.share(sweep)  # until this process ends
    except OSError as error:
        raise files.refused(error, sweep.path) from error
    said = None if call.cap is None else amount(call.cap)
    install(sweep, driver, plan, lines)
    runner = RUNNERS[plan.sweep["runner"]]
    book = Book(sweep, Reader(sweep.ledger), sync=runner.paid)
    desk = Desk(
        book, plan, runner, Path.cwd(), _rules(plan, call.max_parallel), _retry(plan), say, plan.sweep["launch_delay"]
    )
    with book.writing() as state:
        opened = {"event": "opened", "sweep_id": sweep.sweep_id.read_text().strip(), "pid": call.pid}
        opened |= {"host": liveness.host(), "cells": len(plan.jobs), "plan": plan.digest}
        opened |= {"max_cost_usd": plan.sweep["max_cost_usd"], "state": plan.sweep["state"]}
        replanned = plan.max_cost != state.plan_cap
        wanted = said if said is not None else plan.max_cost if replanned else None
        if wanted is not None and state.attempts:
            book.check_cap(wanted)
        if only is None or state.sweep_id is None or replanned:
            book.record(opened)
        if said is not None:
            book.raise_cap(said)
    answers.take_over(desk, None if only is None else [only])
    if only is None:
        _mention_gone(book, plan)
        if changed := frozen.changed_spec(driver, Path.cwd()):
            say(voice.outdated(changed))
        say(voice.begun(plan, len(desk.pending), len(desk.adopted), state.request))
    return desk, held


def _rules(plan: Frozen, max_parallel: int | None) -> Rules:
    bound = plan.sweep["max_parallel"] if max_parallel is None else max_parallel
    return Rules(bound, plan.sweep["budget_policy"], plan.sweep["failure_streak"])


def _retry(plan: Frozen) -> Retry:
    found = plan.sweep["retry"]
    return Retry(found["max_attempts"], None if found["on"] is None else tuple(found["on"]), found["delay"])


def _mention_gone(book: Book, plan: Frozen) -> None:
    known = {job.id for job in plan.jobs}
    gone = {cell: attempts for cell, attempts in book.state.cells.items() if cell not in known}
    if gone:
        say(voice.gone(len(gone), sum(attempt.charged for attempts in gone.values() for attempt in attempts)))
    for oddity in [*book.reader.oddities, *book.state.oddities][:20]:
        say(f"note    {oddity}")


def _converse(desk: Desk, held: Hold | None, pid: int) -> None:
    waiting = False  # the driver may be asleep
    buffer = b""
    beaten = nudged = time.monotonic()
    while True:
        readable, _, _ = select.select([0], [], [], _TICK)
        now = time.monotonic()
        if readable:
            data = os.read(0, 65536)
            if not data:
                return
            *lines, buffer = (buffer + data).split(b"\n")
            desk.harder = desk.harder or b"harder" in lines
            for line in lines:
                answer = _reply(desk, line.decode(errors="replace"))
                if answer is not None:
                    waiting = not answer.startswith("end")
                    _answer(answer)
            nudged = now
        elif os.getppid() != pid:
            return  # killed, and something that it started holds our stdin open
        elif waiting and (now - nudged >= _NUDGE or answers.news(desk)) and nudge.wake(pid):
            nudged = now
        if held is not None and now - beaten >= hold.BEAT:
            held.beat()
            beaten = now


def _reply(desk: Desk, line: str) -> str | None:
    """Return the answer to a question, None to a report. An error that no cell caused stops the launching."""
    try:
        return _said(desk, line)
    except (SweepError, OSError) as error:  # an OSError: the sweep directory is gone, say
        desk.fail(error)
    return None if line.startswith(("ended ", "harder")) else answers.failing(desk)


def _said(desk: Desk, line: str) -> str | None:
    match line.split():
        case ["next", slots] if slots.isdecimal():
            return answers.following(desk, slots=int(slots))
        case ["signal", name]:
            return answers.interrupted(desk, name, _spoken)
        case ["harder"]:
            return None  # noted when it was read, before the questions that came with it
        case ["ended", index, number]:
            answers.ended(desk, int(index), int(number))
            return None
        case _:
            raise SweepError(f"the ledger was told '{line}'", exit_code=INTERNAL)


def _spoken() -> bool:
    return bool(select.select([0], [], [], 0)[0])


def _answer(line: str) -> None:
    with suppress(BrokenPipeError):
        os.write(1, line.encode() + b"\n")
