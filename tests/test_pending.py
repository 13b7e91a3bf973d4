"""The queue of cells: index order, retries not before their time."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from sweeptool.ledger.pending import Pending


def test_cells_come_in_index_order_whatever_the_order_they_went_in():
    queue = Pending.of([3, 0, 2])
    assert drain(queue, now=0) == [0, 2, 3]


def test_looking_at_the_head_takes_nothing():
    queue = Pending.of([1])
    assert (queue.head(0), queue.head(0), len(queue)) == (1, 1, 1)


def test_retry_waits_for_its_time_and_then_goes_before_later_cells():
    queue = Pending.of([5, 6])
    queue.put(1, at=30.0)
    assert queue.head(29.9) == 5
    assert queue.head(30.0) == 1


def test_queue_of_retries_only_has_no_head_yet_and_is_not_empty():
    queue = Pending.of([])
    queue.put(1, at=30.0)
    assert queue.head(0) is None
    assert len(queue) == 1


def test_empty_queue():
    assert Pending.of([]).head(0) is None
    assert not Pending.of([])


@given(
    st.sets(st.integers(0, 50)), st.lists(st.tuples(st.integers(51, 99), st.floats(0, 100)), unique_by=lambda x: x[0])
)
def test_everything_comes_out_once(ready, later):
    queue = Pending.of(ready)
    for index, at in later:
        queue.put(index, at)
    early = drain(queue, now=50.0)
    late = drain(queue, now=100.0)
    assert sorted(early) == early == sorted([*ready, *(index for index, at in later if at <= 50)])
    assert sorted(late) == late == sorted(index for index, at in later if at > 50)


def drain(queue: Pending, now: float) -> list[int]:
    found = []
    while queue.head(now) is not None:
        found.append(queue.take())
    return found
