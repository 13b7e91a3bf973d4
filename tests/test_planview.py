"""What a person reads before paying: the worst case says what cap, limits and attempts together allow."""

from __future__ import annotations

import json

import pytest

from sweeptool import money

LOCAL = """
name: sized
runner: local
command: ["true"]
prices: {{L4: 1.20}}
max_parallel: 2
max_runtime: 5m
{more}
matrix:
  gpu: [L4]
  params: {{size: [1, 2, 3, 4]}}
"""  # four cells at $0.10


def worst(project, more):
    here = project({"sweep.yaml": LOCAL.format(more=more)})
    done = here.tool("plan", "sweep.yaml")
    assert done.returncode == 0
    found = json.loads(here.tool("plan", "sweep.yaml", "--json").stdout)["worst_case"]
    return done.stdout.partition("\n\n")[2].splitlines(), found["cost_usd"], found["seconds"]


@pytest.mark.parametrize(
    ("more", "cost", "seconds", "lines"),
    [
        pytest.param(
            "max_cost_usd: 1",
            "0.40",
            600,
            ["4 cells, 2 at a time, runner local: at most $0.40, 10 min.", "Policy reserve: the cap of $1.00 holds."],
            id="cap-out-of-reach",
        ),
        pytest.param(
            "max_cost_usd: 0.25",
            "0.25",
            600,
            [
                "4 cells, 2 at a time, runner local: at most $0.25, 10 min.",
                "Policy reserve: the cap of $0.25 holds.",
                "All at their limits would cost $0.40: cells wait for room under the cap, some may be left.",
            ],
            id="cap-below-the-limits",
        ),
        pytest.param(
            "max_cost_usd: 1\nretry: {max_attempts: 2, on: ['*'], delay: 30s}",
            "0.80",
            1260,
            [
                "4 cells, 2 at a time, runner local: at most $0.80, 21 min.",
                "Policy reserve: the cap of $1.00 holds.",
                "A cell is tried up to 2 times, and every attempt is counted here.",
            ],
            id="two-attempts",
        ),
        pytest.param(
            "retry: {max_attempts: 3, on: []}",
            "0.40",
            600,
            [
                "4 cells, 2 at a time, runner local: at most $0.40, 10 min.",
                "No cap for the whole sweep (max_cost_usd).",
            ],
            id="attempts-for-no-reason-are-one",
        ),
    ],
)
def test_worst_case_counts_every_attempt_and_says_where_the_cap_may_leave_cells(project, more, cost, seconds, lines):
    assert worst(project, more) == (lines, cost, seconds)


@pytest.mark.parametrize(
    ("micro", "text"),
    [
        (None, "?"),
        (0, "$0.00"),
        (10_000, "$0.01"),
        (50_000, "$0.05"),
        (-50_000, "-$0.05"),
        (35_833, "$0.0358"),
        (1_987, "$0.0020"),
        (61, "$0.000061"),
        (1_234_567, "$1.23"),
    ],
)
def test_amount_for_people_has_the_places_that_tell_something(micro, text):
    assert money.dollars(micro) == text


@pytest.mark.parametrize(
    ("micro", "text"),
    [
        (1_239_999, "$1.23"),
        (99_999, "$0.0999"),
        (1_987, "$0.0019"),
        (61, "$0.000061"),
        (-123_456, "-$0.13"),
        (0, "$0.00"),
    ],
)
def test_what_is_left_is_never_shown_as_more(micro, text):
    assert money.dollars(micro, down=True) == text
