"""Means, spreads and Student's t against known values."""

from __future__ import annotations

from decimal import Decimal

import pytest

from sweeptool.analysis import stats


# Published two-sided 95 % points of Student's t.
@pytest.mark.parametrize(
    ("freedom", "t"),
    [
        (1, 12.7062),
        (2, 4.3027),
        (3, 3.1824),
        (4, 2.7764),
        (5, 2.5706),
        (6, 2.4469),
        (7, 2.3646),
        (8, 2.3060),
        (9, 2.2622),
        (10, 2.2281),
        (15, 2.1314),
        (20, 2.0860),
        (29, 2.0452),
        (30, 2.0423),
        (40, 2.0211),
        (60, 2.0003),
        (100, 1.9840),
        (120, 1.9799),
        (1000, 1.9623),
        (1_000_000, 1.9600),
    ],
)
def test_the_95_percent_points_of_students_t(freedom, t):
    assert stats.student(freedom) == pytest.approx(t, abs=5e-5)


@pytest.mark.parametrize(("confidence", "t"), [(0.90, 2.0150), (0.99, 4.0321)])
def test_other_levels_of_confidence(confidence, t):
    assert stats.student(5, confidence) == pytest.approx(t, abs=5e-5)


def test_series_and_expansion_meet():
    assert stats.student(stats._MANY) == pytest.approx(stats.student(stats._MANY + 1), rel=1e-6)


def test_three_values_have_a_mean_an_sd_by_n_minus_1_and_an_interval():
    found = stats.spread([Decimal("0.8"), Decimal("0.9"), Decimal("1.0")])
    assert (found.n, found.mean, found.sd) == (3, Decimal("0.9"), Decimal("0.1"))
    # 0.9 ± 4.302653 · 0.1 / √3
    assert [float(end) for end in found.ci95] == pytest.approx([0.6515862, 1.1484138], abs=1e-6)


def test_one_value_has_no_sd_rather_than_0_or_nan():
    found = stats.spread([Decimal(7)])
    assert (found.n, found.mean, found.sd, found.ci95) == (1, Decimal(7), None, None)


def test_no_value_has_no_mean():
    assert stats.spread([]) == stats.Spread(0, None, None, None)


def test_equal_values_have_an_sd_of_0():
    found = stats.spread([Decimal("0.1")] * 3)
    assert (found.mean, found.sd, found.ci95) == (Decimal("0.1"), 0, (Decimal("0.1"), Decimal("0.1")))


def test_a_small_spread_about_a_large_mean_is_not_lost():
    found = stats.spread([Decimal(10**15), Decimal(10**15) + 1, Decimal(10**15) + 2])
    assert found.sd == 1


def test_values_at_the_ends_of_a_float_do_not_overflow():
    found = stats.spread([Decimal("1e308"), Decimal("-1e308"), Decimal("1e-308")])
    assert found.sd is not None
    assert found.sd.is_finite()
