"""What each event of the ledger changes, and what no event may change: doubled, foreign, half of one."""

from __future__ import annotations

import copy
from dataclasses import replace
from itertools import count
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sweeptool import money
from sweeptool.layout import SweepDir
from sweeptool.ledger import journal, state
from sweeptool.ledger.state import State

_SECONDS = count()


def event(name: str, **members: Any) -> dict[str, Any]:
    return {"ts_utc": f"2026-03-01T10:00:{next(_SECONDS) / 1000:09.6f}+00:00", "event": name, **members}


def opened(**members: Any) -> dict[str, Any]:
    return event("opened", **{"sweep_id": "s", "max_cost_usd": "1.00", "state": None, **members})


def admitted(cell: str = "a", attempt: int = 1, reserved: str | None = "0.10") -> dict[str, Any]:
    return event("admitted", cell=cell, index=0, attempt=attempt, reserved_usd=reserved)


def settled(cell: str = "a", attempt: int = 1, **members: Any) -> dict[str, Any]:
    return event(
        "settled", cell=cell, index=0, attempt=attempt, **{"state": "succeeded", "cost_usd": "0.05", **members}
    )


def after(*events: dict[str, Any]) -> State:
    made = State()
    for one in events:
        made.apply(one)
    return made


def dollars(made: State) -> tuple[str, str, str]:
    return money.text(made.spent), money.text(made.unknown), money.text(made.reserved)


# ---- money


@pytest.mark.parametrize(
    ("events", "sums"),
    [
        pytest.param([admitted()], ("0.00", "0.00", "0.10"), id="in-flight"),
        pytest.param([admitted(), settled()], ("0.05", "0.00", "0.00"), id="known"),
        pytest.param([admitted(), settled(cost_usd=None)], ("0.00", "0.10", "0.00"), id="unknown-at-its-reservation"),
        pytest.param([admitted(), settled(cost_usd="0.00")], ("0.00", "0.00", "0.00"), id="nothing-is-not-unknown"),
        pytest.param([admitted(reserved=None)], ("0.00", "0.00", "0.00"), id="no-reservation"),
        pytest.param([admitted(), settled(cost_usd="0.12")], ("0.12", "0.00", "0.00"), id="dearer-than-reserved"),
        pytest.param(
            [
                admitted(),
                settled(state="failed", cost_usd="0.40"),
                admitted(attempt=2),
                settled(attempt=2, cost_usd="0.30"),
            ],
            ("0.70", "0.00", "0.00"),
            id="every-attempt-counts",
        ),
        pytest.param(
            [admitted(), settled(state="lost", cost_usd=None), admitted(attempt=2), settled(attempt=2)],
            ("0.05", "0.10", "0.00"),
            id="what-is-lost-counts",
        ),
        pytest.param(
            [admitted(), settled(state="interrupted", cost_usd="0.01")],
            ("0.01", "0.00", "0.00"),
            id="interrupted-counts",
        ),
    ],
)
def test_money(events, sums):
    made = after(opened(), *events)
    assert dollars(made) == sums
    assert made.committed == sum(map(money.parse, sums))


def test_unknown_costs_are_counted():
    made = after(admitted(), settled(cost_usd=None), admitted("b"), settled("b"))
    assert made.unknown_attempts == 1
    assert made.attempts[0].cost is None
    assert made.attempts[0].charged == money.parse("0.10")


# ---- the cap


def test_cap_is_the_plans_until_it_is_raised_and_stays_raised():
    made = after(opened(), event("raised", max_cost_usd="2.50"), opened())
    assert money.text(made.cap or 0) == "2.50"


def test_plan_that_changes_its_cap_sets_it():
    made = after(opened(), event("raised", max_cost_usd="2.50"), opened(max_cost_usd="2.00"))
    assert money.text(made.cap or 0) == "2.00"


def test_plan_that_gives_its_cap_up_has_none():
    assert after(opened(), opened(max_cost_usd=None)).cap is None


# ---- attempts


def test_settled_attempt_has_all_that_its_event_says():
    made = after(
        admitted(),
        settled(
            state="failed",
            reason="exit",
            detail="exit 3",
            flags=["leaked"],
            exit_code=3,
            failed=True,
            run_dir="/r",
            wall_seconds=1.5,
            units_per_second=2.5,
            transient=True,
        ),
    )
    [one] = made.attempts
    assert (one.state, one.reason, one.detail, one.flags) == ("failed", "exit", "exit 3", ("leaked",))
    assert (one.exit_code, one.failed, one.run_dir, str(one.wall_seconds)) == (3, True, "/r", "1.5")
    assert (one.units_per_second, one.transient) == (2.5, True)
    assert made.running == {}
    assert made.run_dirs == {"/r": one}


def test_settlement_with_a_word_of_the_wrong_type_still_counts_its_cost():
    made = after(admitted(), settled(run_dir=7, reason=["x"], detail=None, flags=[1]))
    [one] = made.attempts
    assert (one.run_dir, one.reason, one.detail, one.flags, made.run_dirs) == (None, "", "", ("1",), {})
    assert made.spent > 0


def test_release_takes_the_flag_of_a_pod_that_bills_back():
    released = event("released", cell="a", attempt=1, pod_id="k3v9x2m1q8zt4a")
    assert after(admitted(), settled(flags=["leaked", "degraded"]), released).attempts[0].flags == ("degraded",)
    assert after(admitted(), settled(), event("released", cell="?", attempt=1)).oddities == []


def test_cell_has_succeeded_if_any_attempt_has():
    made = after(admitted(), settled(state="failed"), admitted(attempt=2), settled(attempt=2))
    assert made.succeeded("a")
    assert not made.succeeded("b")
    assert made.last("a") is made.attempts[1]
    assert made.attempt("a", 1) is made.attempts[0]
    assert made.attempt("a", 3) is None


def test_run_dir_that_two_attempts_name_is_an_error_of_both():
    made = after(
        *(
            admitted(),
            settled(run_dir="/r"),
            admitted("b"),
            settled("b", state="failed", reason="collision", cost_usd=None),
        ),
        event("collided", cell="a", attempt=1),
    )
    assert [(one.state, one.reason) for one in made.attempts] == [("failed", "collision")] * 2
    assert dollars(made) == ("0.05", "0.10", "0.00")


@pytest.mark.parametrize("how", ["lost", "interrupted", "cancelled"])
def test_what_is_no_failure_of_the_cells_is_no_try(how):
    assert after(admitted(), settled(state=how)).tries == {"a": 0}
    assert after(admitted(), settled(state="failed")).tries == {"a": 1}


def test_new_driver_begins_to_count_anew():
    made = after(admitted(), settled(state="failed", halt=True, reason="auth"))
    assert (made.tries, made.streak, made.halted) == ({"a": 1}, 1, "auth")
    made.apply(opened())
    assert (made.tries, made.streak, made.halted) == ({}, 0, "")


def test_failure_that_is_tried_again_is_none_of_a_streak():
    made = after(admitted(), settled(state="failed"), event("retried", cell="a", after_seconds=0))
    assert made.streak == 0


# ---- wishes and signals


def test_signal_marks_what_is_in_flight_only():
    made = after(admitted(), settled(), admitted("b"), event("interrupted", signal="INT"), admitted("c"))
    assert [one.interrupted for one in made.attempts] == [False, True, False]
    assert made.stopped == "interrupted"


def test_signal_to_a_single_cells_driver_marks_that_cell_only():
    made = after(admitted(), admitted("b"), event("interrupted", signal="INT", cell="b"))
    assert [one.interrupted for one in made.attempts] == [False, True]
    assert made.stopped == ""


def test_cancel_marks_what_is_in_flight_and_suspend_does_not():
    assert not after(admitted(), event("suspended")).attempts[0].interrupted
    assert after(admitted(), event("cancelled")).attempts[0].interrupted


def test_last_wish_counts():
    made = after(event("suspended"), event("cancelled"))
    assert made.request == "cancelled"
    made.apply(event("resumed"))
    assert made.request is None


def test_times_of_the_sweep():
    made = after(first := opened(), closed := event("closed", exit_code=0))
    assert (made.first_opened_at, made.closed_at) == (first["ts_utc"], closed["ts_utc"])
    made.apply(again := opened())
    assert (made.first_opened_at, made.opened_at, made.closed_at) == (first["ts_utc"], again["ts_utc"], None)


# ---- what changes nothing


SCRIPT = (
    opened(),
    admitted(),
    settled(cost_usd=None, state="failed"),
    event("retried", cell="a", after_seconds=0),
    admitted(attempt=2),
    event("raised", max_cost_usd="3.00"),
    event("suspended"),
    event("resumed"),
    settled(attempt=2, run_dir="/r"),
    admitted("b"),
    event("cancelled"),
    event("interrupted", signal="INT"),
    settled("b", state="cancelled"),
    event("resumed"),
    event("stopped", why="budget"),
    event("closed", exit_code=3),
    event("raised", max_cost_usd="2.00"),
    opened(),
)


@given(st.lists(st.sampled_from(range(len(SCRIPT))), max_size=12), st.data())
def test_doubled_lines_change_nothing_wherever_they_stand(doubled, data):
    """A line may stand again anywhere behind its own."""
    script = list(SCRIPT)
    for index in doubled:
        place = data.draw(st.integers(script.index(SCRIPT[index]) + 1, len(script)))
        script.insert(place, copy.deepcopy(SCRIPT[index]))
    assert bare(after(*script)) == bare(after(*SCRIPT))


def test_doubled_lines_are_named():
    made = after(*SCRIPT, *SCRIPT)
    assert bare(made) == bare(after(*SCRIPT))
    assert len(made.oddities) == len(SCRIPT)


@pytest.mark.parametrize(
    "bad",
    [
        {"event": "admitted"},
        {"event": "admitted", "ts_utc": "t", "cell": "z", "index": "x", "attempt": 1},
        {"event": "admitted", "ts_utc": "t", "cell": "z", "index": 0, "attempt": None},
        {"event": "admitted", "ts_utc": "t", "cell": "z", "index": 0, "attempt": 1, "reserved_usd": "NaN"},
        {"event": "admitted", "ts_utc": "t", "cell": "z", "index": 0, "attempt": 1, "reserved_usd": 0.1},
        {"event": "settled", "ts_utc": "t", "cell": "a", "attempt": 1},
        {"event": "settled", "ts_utc": "t", "cell": "a", "attempt": 1, "state": "failed", "cost_usd": "-1"},
        {"event": "settled", "ts_utc": "t", "cell": "a", "attempt": 1, "state": "failed", "cost_usd": True},
        {"event": "settled", "ts_utc": "t", "cell": "a", "attempt": 1, "state": "failed", "flags": 7},
        {"event": "settled", "ts_utc": "t", "cell": "a", "attempt": 1, "state": "failed", "wall_seconds": "soon"},
        {"event": "settled", "cell": "a", "attempt": 1, "state": "failed"},
        {"event": "settled", "ts_utc": "t", "cell": "unknown", "attempt": 1, "state": "failed"},
        {"event": "raised"},
        {"event": "raised", "max_cost_usd": "much"},
        {"event": "stopped"},
        {"event": "collided", "cell": "a"},
    ],
    ids=lambda bad: " ".join(map(str, bad.values())),
)
def test_event_that_makes_no_sense_changes_nothing_and_is_named(bad):
    made = after(opened(), admitted())
    before = copy.deepcopy(made)
    made.apply(bad)
    assert bare(made) == bare(before)
    assert len(made.oddities) == 1


def test_events_of_a_later_version_and_for_people_are_no_oddity():
    made = after(opened(), event("refused", cell="a", why="…"), event("flew"))
    assert made.oddities == []


def test_state_of_a_file_is_the_state_of_its_events(tmp_path):
    sweep = SweepDir(tmp_path)
    journal.append(sweep.ledger, SCRIPT, sync=False)
    assert state.load(sweep) == after(*SCRIPT)


def test_sweep_without_a_ledger_has_the_empty_state(tmp_path):
    assert state.load(SweepDir(tmp_path)) == State()


def bare(made: State) -> State:
    return replace(made, oddities=[], heard=set())


def test_cells_that_may_point_at_the_sweep_count_until_one_succeeds():
    made = after(admitted(), settled(state="failed", suspect=True))
    assert made.suspects == {"a"}
    made.apply(admitted("b"))
    made.apply(settled("b"))
    assert made.suspects == set()


def test_what_had_ended_unseen_was_not_interrupted():
    made = after(admitted(), admitted("b"), event("interrupted", signal="INT", unseen=[["a", 1]]))
    assert [attempt.interrupted for attempt in made.attempts] == [False, True]
    made.apply(event("interrupted", signal="INT", unseen=[]))  # a harder signal does not change that
    assert [attempt.interrupted for attempt in made.attempts] == [False, True]


@pytest.mark.parametrize("unseen", [None, 7, ["a"], [["a"]], [["a", 1, 2]]])
def test_an_interruption_that_makes_no_sense_changes_nothing(unseen):
    made = after(admitted(), event("interrupted", signal="INT", unseen=unseen))
    assert (made.stopped, [attempt.interrupted for attempt in made.attempts]) == ("", [False])
