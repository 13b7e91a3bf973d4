"""Counts and sums over runs, by any key, in an order that people expect."""

from __future__ import annotations

import pytest

from sweeptool import natural, runs
from sweeptool.errors import SweepError
from sweeptool.runs import totals
from tests import sweepmaker


@pytest.fixture
def found(tmp_path):
    for number, (gpu, cost) in enumerate([("L4", 0.1), ("A10", 0.2), ("L4", None), (None, 0.4)]):
        sweepmaker.manifest(tmp_path / f"{number}", gpu_id=gpu, estimated_cost_usd=cost, failed=number == 1)
    return runs.under(str(tmp_path)).runs


def test_groups_add_up_to_the_whole_and_none_is_dropped(found):
    groups = totals.by(found, ["gpu"])
    assert [(key, sums.runs, sums.cost, sums.unknown_cost) for key, sums in groups] == [
        (("A10",), 1, 200_000, 0),
        (("L4",), 2, 100_000, 1),
        ((None,), 1, 400_000, 0),
    ]
    assert sum(sums.cost for _, sums in groups) == totals.of(found).cost


def test_several_keys_make_a_group_of_each_combination(found):
    assert [key for key, _ in totals.by(found, ["state", "gpu"])] == [
        ("failed", "A10"),
        ("succeeded", "L4"),
        ("succeeded", None),
    ]


def test_an_unknown_key_names_those_there_are_and_the_nearest(found):
    with pytest.raises(SweepError, match=r"no key 'gpus': there are .*gpu.*did you mean 'gpu'"):
        totals.by(found, ["gpus"])


@pytest.mark.parametrize(
    ("values", "order"),
    [
        (["100", "9", "20"], ["9", "20", "100"]),
        (["1e-3", "0.1", "1e-2"], ["1e-3", "1e-2", "0.1"]),
        (["0.10", "0.1"], ["0.1", "0.10"]),
        (["0", "-1", "2"], ["-1", "0", "2"]),
        (["b", "100", "9"], ["100", "9", "b"]),
        (["NaN", "1"], ["1", "NaN"]),
        (["x", None], ["x", None]),
        (["007", "8"], ["007", "8"]),
    ],
    ids=str,
)
def test_values_stand_in_the_order_of_numbers_where_all_are_numbers(values, order):
    ranks = natural.natural(values)
    assert sorted(values, key=ranks.__getitem__) == order


def test_nothing_comes_to_nothing():
    sums = totals.of([])
    assert (sums.runs, sums.cost, sums.unknown_cost, sums.wall_seconds) == (0, 0, 0, 0)
