"""What is done next, by what is pending, in flight, spent and asked for: a table, and sums by hand."""

from __future__ import annotations

from typing import Any

import pytest

from sweeptool import money
from sweeptool.frozen import Job
from sweeptool.ledger.admission import End, Interrupt, Launch, Rules, Wait, decide, refused
from sweeptool.ledger.state import State

RULES = Rules(max_parallel=4, policy="reserve", failure_streak=0)


def job(reserved: str | None = "0.10", index: int = 9) -> Job:
    return Job(index, f"c{index}", f"demo-{index}", None if reserved is None else money.parse(reserved), None, {})


def state(
    *, cap: str | None = None, flying: tuple[str, ...] = (), known: tuple[str, ...] = (), unknown: tuple[str, ...] = ()
) -> State:
    """Return the state after attempts that cost ``known``, had reserved ``unknown``, or are ``flying`` still."""
    made = State()
    tell(made, "opened", sweep_id="s", max_cost_usd=cap)
    for number, (reserved, cost) in enumerate(
        [*((cost, cost) for cost in known), *((one, None) for one in unknown), *((one, "-") for one in flying)]
    ):
        cell = f"c{number}"
        tell(made, "admitted", cell=cell, index=number, attempt=1, reserved_usd=reserved)
        if cost != "-":
            tell(made, "settled", cell=cell, attempt=1, state="succeeded", cost_usd=cost)
    return made


def tell(made: State, event: str, **members: Any) -> None:
    made.apply({"event": event, "ts_utc": "2026-03-01T10:00:00+00:00", **members})


def fail(made: State, cell: str = "x", **members: Any) -> None:
    last = made.last(cell)
    number = last.number + 1 if last else 1
    tell(made, "admitted", cell=cell, index=0, attempt=number, reserved_usd=None)
    tell(made, "settled", cell=cell, attempt=number, **{"state": "failed", "cost_usd": None, **members})


# ---- reserve: spent + unknown + in flight + this cell <= cap


@pytest.mark.parametrize(
    ("cap", "known", "unknown", "flying", "need", "fits"),
    [
        pytest.param("1.00", (), (), (), "1.00", True, id="exactly-the-cap"),
        pytest.param("1.00", (), (), (), "1.000001", False, id="a-millionth-too-much"),
        pytest.param("1.00", ("0.90",), (), (), "0.10", True, id="the-tenth-of-ten"),
        pytest.param("1.00", ("0.90",), (), (), "0.11", False, id="what-is-spent-counts"),
        pytest.param("1.00", (), ("0.90",), (), "0.11", False, id="an-unknown-cost-counts-at-its-reservation"),
        pytest.param("1.00", (), (), ("0.90",), "0.11", False, id="what-is-in-flight-counts"),
        pytest.param("1.00", ("0.30",), ("0.30",), ("0.30",), "0.10", True, id="all-three-together"),
        pytest.param("1.00", ("0.30",), ("0.30",), ("0.30",), "0.100001", False, id="all-three-and-a-millionth"),
        pytest.param(None, ("900",), (), ("900",), "900", True, id="no-cap"),
        pytest.param("0", (), (), (), "0.01", False, id="a-cap-of-nothing"),
        pytest.param("0", (), (), (), "0", True, id="nothing-of-nothing"),
    ],
)
def test_cell_fits_or_does_not(cap, known, unknown, flying, need, fits):
    assert (refused(state(cap=cap, known=known, unknown=unknown, flying=flying), RULES, job(need)) == "") is fits


def test_ten_cells_of_ten_cents_fit_a_dollar():
    made = state(cap="1.00")
    for number in range(10):
        assert decide(made, RULES, job(index=number), 0) == Launch()
        tell(made, "admitted", cell=f"t{number}", index=number, attempt=1, reserved_usd="0.10")
        tell(made, "settled", cell=f"t{number}", attempt=1, state="succeeded", cost_usd="0.10")
    assert decide(made, RULES, job(), 0) == End(3, "budget")


def test_four_slots_and_a_quarter_dollar_left_launch_at_most_two_of_nine_cents():
    made, launched = state(cap="5.00", known=("4.75",)), 0
    while isinstance(decide(made, RULES, job("0.09"), launched), Launch):
        launched += 1
        tell(made, "admitted", cell=f"t{launched}", index=launched, attempt=1, reserved_usd="0.09")
    assert launched == 2


def test_refusal_names_all_the_numbers():
    made = state(cap="1.00", known=("0.31",), unknown=("0.10",), flying=("0.50",))
    assert refused(made, RULES, job("0.20")) == "spent $0.41 + in flight $0.50 + this cell $0.20 > $1.00"


# ---- spent: spent < cap


@pytest.mark.parametrize(
    ("known", "unknown", "flying", "fits"),
    [
        pytest.param(("0.74",), (), (), True, id="below"),
        pytest.param(("0.75",), (), (), False, id="at-the-cap"),
        pytest.param((), ("0.75",), (), False, id="unknown-counts"),
        pytest.param((), (), ("0.75", "0.75"), True, id="in-flight-does-not"),
    ],
)
def test_policy_spent_looks_at_what_is_spent_only(known, unknown, flying, fits):
    made = state(cap="0.75", known=known, unknown=unknown, flying=flying)
    assert (refused(made, Rules(4, "spent", 0), job("0.30")) == "") is fits


# ---- what comes next

CASES = [
    # what,                                 state,                                        head,  own, others, decision
    ("a cell and a free slot", state(), job(), 0, {}, Launch()),
    ("no cell and nothing in flight", state(), None, 0, {}, End(0)),
    ("no cell, but something in flight", state(flying=("0.1",)), None, 1, {}, Wait()),
    ("all slots taken", state(flying=("0.1",) * 4), job(), 4, {}, Wait()),
    ("all slots taken by others' cells", state(flying=("0.1",) * 4), job(), 0, {}, Wait()),
    ("no money and nothing in flight", state(cap="0.05"), job(), 0, {}, End(3, "budget")),
    ("a signal and something in flight", state(flying=("0.1",)), job(), 1, {"signal": 2}, Wait()),
    ("a signal and nothing in flight", state(), job(), 0, {"signal": 2}, End(130, "interrupted")),
    ("SIGTERM", state(), job(), 0, {"signal": 15}, End(143, "interrupted")),
    ("SIGHUP", state(), None, 0, {"signal": 1}, End(129, "interrupted")),
    ("a signal and others' cells in flight", state(flying=("0.1",)), job(), 0, {"signal": 2}, End(130, "interrupted")),
]


@pytest.mark.parametrize(
    ("made", "head", "own", "others", "decision"), [case[1:] for case in CASES], ids=[case[0] for case in CASES]
)
def test_what_comes_next(made, head, own, others, decision):
    assert decide(made, RULES, head, own, **others) == decision


def test_no_bound_is_no_bound():
    assert decide(state(flying=("0.1",) * 300), Rules(0, "reserve", 0), job(), 300) == Launch()


def test_waiting_for_money_says_why():
    decision = decide(state(cap="0.15", flying=("0.10",)), RULES, job(), 1)
    assert decision == Wait("spent $0.00 + in flight $0.10 + this cell $0.10 > $0.15")


@pytest.mark.parametrize("wish", ["suspended", "cancelled"])
def test_wish_stops_launches_until_it_is_taken_back(wish):
    made = state()
    tell(made, wish)
    assert decide(made, RULES, job(), 0) == End(4, "requested")
    tell(made, "resumed")
    assert decide(made, RULES, job(), 0) == Launch()


def test_suspended_cells_go_on_and_cancelled_ones_are_interrupted_once():
    made = state(flying=("0.1",))
    tell(made, "suspended")
    assert decide(made, RULES, job(), 1) == Wait()
    tell(made, "cancelled")
    assert decide(made, RULES, job(), 1) == Interrupt()
    assert decide(made, RULES, job(), 1, told=True) == Wait()


# ---- a streak


def test_streak_stops_launches_and_success_breaks_it():
    made, rules = state(), Rules(4, "reserve", 3)
    fail(made)
    fail(made)
    assert decide(made, rules, job(), 0) == Launch()
    tell(made, "admitted", cell="ok", index=0, attempt=1, reserved_usd=None)
    tell(made, "settled", cell="ok", attempt=1, state="succeeded", cost_usd=None)
    fail(made)
    fail(made)
    assert decide(made, rules, job(), 0) == Launch()
    fail(made)
    assert decide(made, rules, job(), 0) == End(6, "streak")


def test_streak_waits_for_what_is_in_flight():
    made = state(flying=("0.1",))
    fail(made)
    assert decide(made, Rules(4, "reserve", 1), job(), 1) == Wait()


def test_streak_that_was_reached_stays_so_when_what_was_in_flight_succeeds():
    made = state()
    tell(made, "admitted", cell="ok", index=0, attempt=1, reserved_usd=None)
    fail(made)
    fail(made)
    tell(made, "settled", cell="ok", attempt=1, state="succeeded", cost_usd=None)
    assert decide(made, Rules(4, "reserve", 2), job(), 0) == End(6, "streak")
    assert decide(made, Rules(4, "reserve", 3), job(), 0) == Launch()


@pytest.mark.parametrize("how", ["lost", "interrupted", "cancelled"])
def test_what_is_no_failure_neither_counts_nor_breaks_a_streak(how):
    made, rules = state(), Rules(4, "reserve", 2)
    fail(made)
    fail(made, cell="y", state=how)
    assert decide(made, rules, job(), 0) == Launch()
    fail(made)
    assert decide(made, rules, job(), 0) == End(6, "streak")


def test_streak_off_is_off():
    made = state()
    for _ in range(50):
        fail(made)
    assert decide(made, RULES, job(), 0) == Launch()


def test_new_driver_begins_a_new_streak():
    made, rules = state(), Rules(4, "reserve", 1)
    fail(made)
    made.apply({"event": "opened", "ts_utc": "2026-03-02T10:00:00+00:00", "sweep_id": "s"})
    assert decide(made, rules, job(), 0) == Launch()


def test_failure_that_is_the_sweeps_own_stops_at_once():
    made = state()
    fail(made, reason="not_found", halt=True)
    assert decide(made, RULES, job(), 0) == End(6, "streak")
