"""Axes and plots: where things stand in pixels."""

from __future__ import annotations

import pytest

from sweeptool.report import plots, scale


@pytest.mark.parametrize(
    ("values", "labels"),
    [
        ([0.0, 1.0], ["0", "0.2", "0.4", "0.6", "0.8", "1"]),
        ([0.7, 0.9], ["0.7", "0.75", "0.8", "0.85", "0.9"]),
        ([-3.0, 7.0], ["-4", "-2", "0", "2", "4", "6", "8"]),
        ([5.0, 5.0], None),
        ([0.0, 0.0], None),
        ([1e300, 2e300], None),
        ([1e-300, 2e-300], None),
        ([0.9333333333333333, 0.9333333333333332], None),
        ([1.7e308, -1.7e308], None),
        ([1.7e308, 1.0], None),
        ([5e-324, 0.0], None),
        ([5e-324, 1e-323, 1.7e308], None),
        ([], None),
        ([1e-5, 1e-4, 1e-3, 1e-2, 1.0], ["1e-05", "0.0001", "0.001", "0.01", "0.1", "1"]),
    ],
    ids=str,
)
def test_ticks_are_round_and_hold_every_value(values, labels):
    made = scale.continuous(values, 0, 100)
    assert labels is None or [tick.label for tick in made.ticks] == labels
    assert all(0 <= made.at(value) <= 100 for value in values)
    assert 2 <= len(made.ticks) <= 12


def test_an_axis_is_logarithmic_only_where_a_linear_one_would_crush_most_values():
    assert scale.continuous([1e-4, 1e-3, 1e-2, 1e-1, 1], 0, 100).log
    assert not scale.continuous([1e-4, 0.4, 0.5, 0.6, 1], 0, 100).log
    assert not scale.continuous([0, 1e-3, 1], 0, 100).log


def test_an_axis_may_run_upwards():
    made = scale.continuous([0, 10], 300, 0)
    assert (made.at(0), made.at(10)) == (300, 0)


def test_every_mark_of_every_plot_stands_inside_its_frame():
    points = [plots.Point(n, n * n, "best" if n == 3 else "cell", f"p{n}") for n in range(10)]
    made = [
        plots.scatter("s", ("x", "y"), points, points[:3]),
        plots.strips("s", ("x", "y"), {"a": points[:4], "b": points[4:], "c": []}),
        plots.intervals("i", "x", [("a", 1.0, (0.5, 1.5), "n"), ("b" * 99, 2.0, None, "n")]),
        plots.timeline("t", [(str(n), n, n + 5.0, "failed", "n") for n in range(300)]),
        plots.steps("c", ("since", "USD"), [(10.0, 1.0), (5000.0, 2.0)], 2.5),
    ]
    for plot in made:
        assert all(plot.left - 1 <= dot.x <= plot.right + 1 and 0 <= dot.y <= plot.bottom + 1 for dot in plot.dots)
        assert all(plot.left - 1 <= bar.x and bar.x + bar.width <= plot.right + 1.1 for bar in plot.bars)
        assert all(0 < tick.at < plot.width for tick in plot.x_ticks)


def test_means_of_the_greatest_numbers_are_drawn():
    points = [plots.Point(0.0, 1.7e308, "cell", "")] * 3
    made = plots.strips("s", ("x", "y"), {"a": points, "b": points[:1]})
    assert made.bars[0].y == made.bars[1].y


def test_the_best_dot_is_drawn_last_and_a_crowd_is_drawn_small():
    points = [plots.Point(n, n, "best" if n == 0 else "cell", "") for n in range(500)]
    made = plots.scatter("s", ("x", "y"), points)
    assert made.dots[-1].kind == "best"
    assert made.crowded
