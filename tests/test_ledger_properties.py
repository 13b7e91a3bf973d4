"""Whatever happens in whatever order: spent + unknown + reserved <= cap, and the file says what the state says."""

from __future__ import annotations

import copy
import errno
import json
import os
import tempfile
from dataclasses import replace
from pathlib import Path
from unittest import mock

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from sweeptool import money
from sweeptool.errors import SweepError
from sweeptool.frozen import Job
from sweeptool.layout import SweepDir
from sweeptool.ledger import state as states
from sweeptool.ledger.admission import Launch, Rules, decide
from sweeptool.ledger.book import Book
from sweeptool.ledger.state import State

CENT = 10_000
AMOUNTS = st.integers(0, 60).map(lambda cents: cents * CENT)
TAILS = st.sampled_from(
    [
        b"",
        b'{"ts_utc": "2026-',
        b"\0" * 4096,
        b"\xff\xfe",
        b"[1]\n",
        b"null\n",
        b'"',
        b"\n\n",
        b'{"event": 7}\n',
        b"\r\n",
    ]
)
MODES = ["succeeded", "failed", "lost", "interrupted", "cancelled"]


class Ledger(RuleBasedStateMachine):
    """One sweep of six cells, written to by two processes that know nothing of each other but the file."""

    def __init__(self) -> None:
        super().__init__()
        self.folder = tempfile.TemporaryDirectory()
        self.sweep = SweepDir(Path(self.folder.name))
        self.books: list[Book] = []
        self.jobs: list[Job] = []
        self.running: dict[tuple[str, int], int] = {}  # what we know ourselves: in flight -> reserved
        self.charged = 0
        self.cap = 0

    @initialize(cap=AMOUNTS, reservations=st.lists(AMOUNTS, min_size=6, max_size=6))
    def opens(self, cap, reservations):
        self.jobs = [Job(n, f"c{n}", f"c{n}", cost, None, {}) for n, cost in enumerate(reservations)]
        self.cap = cap
        self.books = [Book.open(self.sweep), Book.open(self.sweep)]
        with self.books[0].writing():
            self.books[0].record({"event": "opened", "sweep_id": "s", "max_cost_usd": money.text(cap)})

    @rule(who=st.integers(0, 1), cell=st.integers(0, 5), parallel=st.integers(0, 3))
    def admits(self, who, cell, parallel):
        book, job = self.books[who], self.jobs[cell]
        with book.writing() as state:
            fits = self.charged + sum(self.running.values()) + (job.reservation or 0) <= self.cap
            free = not parallel or len(self.running) < parallel
            decision = decide(state, Rules(parallel, "reserve", 0), job, len(state.running))
            assert isinstance(decision, Launch) == (fits and free)
            if isinstance(decision, Launch):
                last = state.last(job.id)
                number = last.number + 1 if last else 1
                event = {"event": "admitted", "cell": job.id, "index": cell, "attempt": number}
                book.record({**event, "reserved_usd": money.text_or_none(job.reservation)})
                self.running[job.id, number] = job.reservation or 0

    @precondition(lambda self: self.running)
    @rule(who=st.integers(0, 1), data=st.data(), mode=st.sampled_from(MODES), share=st.integers(0, 100) | st.none())
    def settles(self, who, data, mode, share):
        cell, number = data.draw(st.sampled_from(sorted(self.running)))
        reserved = self.running.pop((cell, number))
        cost = None if share is None else reserved * share // 100
        event = {"event": "settled", "cell": cell, "index": 0, "attempt": number, "state": mode, "reason": ""}
        with self.books[who].writing():
            self.books[who].record({**event, "cost_usd": money.text_or_none(cost)})
        self.charged += reserved if cost is None else cost

    @rule(who=st.integers(0, 1), cap=AMOUNTS)
    def sets_cap(self, who, cap):
        committed = self.charged + sum(self.running.values())
        with self.books[who].writing():
            try:
                self.books[who].raise_cap(cap)
            except SweepError:
                assert cap < committed
            else:
                assert cap >= committed
                self.cap = cap

    @rule(who=st.integers(0, 1), tail=TAILS)
    def crashes(self, who, tail):
        """A process dies while it writes; another one opens the sweep."""
        with self.sweep.ledger.open("ab") as file:
            file.write(tail)
        self.books[who] = Book.open(self.sweep)

    @rule(data=st.data())
    def doubles(self, data):
        """A line stands there again, as a disk that was repaired may have it."""
        lines = self.sweep.ledger.read_bytes().splitlines(keepends=True)
        line = data.draw(st.sampled_from(lines))
        with self.sweep.ledger.open("ab") as file:
            file.write(line if lines[-1].endswith(b"\n") else b"\n" + line)

    @rule(who=st.integers(0, 1), after=st.integers(0, 40))
    def finds_no_room(self, who, after):
        """The disk is full after so many bytes of the next line."""
        real = os.write

        def write(handle: int, data: bytes) -> int:
            if len(data) <= after:
                return real(handle, data)
            if after and not wrote:
                wrote.append(real(handle, data[:after]))
                return wrote[0]
            raise OSError(errno.ENOSPC, "No space left on device")

        wrote: list[int] = []
        book = self.books[who]
        before = self.sweep.ledger.read_bytes()
        with book.writing() as state:
            known = copy.deepcopy(state)
            with mock.patch("sweeptool.ledger.journal.os.write", write), pytest.raises(SweepError) as caught:
                book.record({"event": "refused", "cell": "c0", "why": "x" * 100})
            assert caught.value.exit_code == 70
            assert bare(book.state) == bare(known)
        assert self.sweep.ledger.read_bytes() == before

    @invariant()
    def never_over_the_cap(self):
        for book in self.books:
            with book.writing() as state:
                assert state.committed <= (state.cap or 0)
                assert state.cap == self.cap
                assert state.committed == self.charged + sum(self.running.values())
                assert set(state.running) == set(self.running)

    @invariant()
    def file_says_what_the_state_says(self):
        for book in self.books:
            with book.writing():
                assert bare(states.load(self.sweep)) == bare(book.state)

    @invariant()
    def every_whole_line_of_ours_is_an_event(self):
        if self.books:
            for line in self.sweep.ledger.read_bytes().split(b"\n"):
                if b'"refused"' in line or b'"reserved_usd"' in line:
                    json.loads(line.strip(b"\0"))  # nothing was glued to what stood there

    def teardown(self):
        self.folder.cleanup()


def bare(state: State) -> State:
    """Return a state without what it says about bad lines, which a second reading counts from the start."""
    return replace(state, oddities=[])


TestLedger = Ledger.TestCase
TestLedger.settings = settings(
    max_examples=120, stateful_step_count=40, deadline=None, suppress_health_check=[HealthCheck.too_slow]
)
