"""The plan: the worst case in money and time, what the cap makes impossible, what no program can be given, its JSON."""

from __future__ import annotations

import json
import textwrap
from pathlib import Path

import pytest

from sweeptool import plan as plans
from sweeptool import spec as specs
from sweeptool.errors import SweepError
from sweeptool.plan import Plan

NOWHERE = Path("/nonexistent")
KEYS = ["name", "sweep_dir", "runner", "max_parallel", "max_cost_usd", "worst_case", "cells"]
CELL_KEYS = ["index", "id", "name", "config", "gpu", "region", "params", "repetition", "argv", "env"]


def made(text: str) -> Plan:
    return plans.make(specs.load(textwrap.dedent(text), "sweep.yaml", project=NOWHERE), NOWHERE)


def refused(text: str) -> list[str]:
    with pytest.raises(SweepError) as caught:
        made(text)
    assert caught.value.exit_code == 2
    return [str(problem) for problem in caught.value.problems]


def priced(more: str = "", limits: str = "max_runtime: 30m") -> str:
    """Return a spec of six cells, three at $0.60 and three at $1.20 an hour."""
    return (
        textwrap.dedent(f"""
        command: 'true'
        prices: {{L4: 0.60, A10: 1.20}}
        {limits}
        matrix: {{gpu: [L4, A10], params: {{a: [1, 2, 3]}}}}
        """)
        + more
    )


# ---- at most


@pytest.mark.parametrize(
    ("more", "cost"),
    [
        pytest.param("", 2_700_000, id="no-cap"),
        pytest.param("max_cost_usd: 5\n", 2_700_000, id="cap-out-of-reach"),
        pytest.param("max_cost_usd: 2\n", 2_000_000, id="cap"),
        pytest.param("max_cost_usd: 1\nbudget_policy: spent\nmax_parallel: 1\n", 1_600_000, id="spent-one-in-flight"),
        pytest.param("max_cost_usd: 1\nbudget_policy: spent\nmax_parallel: 2\n", 2_200_000, id="spent-two-in-flight"),
        pytest.param("max_cost_usd: 1\nbudget_policy: spent\nmax_parallel: 0\n", 2_700_000, id="spent-all-in-flight"),
    ],
)
def test_worst_cost(more, cost):
    assert made(priced(more)).worst_cost == cost


def test_cost_that_nothing_bounds_is_unknown():
    assert made(priced(limits="")).worst_cost is None
    assert made("command: x\nmax_runtime: 1h\n").worst_cost is None


@pytest.mark.parametrize(
    ("limits", "parallel", "seconds"),
    [
        pytest.param(["10m"] * 6, 2, 1800, id="even"),
        pytest.param(["10m"] * 5, 2, 1800, id="odd"),
        pytest.param(["10m"] * 6, 0, 600, id="all-at-once"),
        pytest.param(["10m"] * 6, 1, 3600, id="one-by-one"),
        pytest.param(["10m"] * 3, 8, 600, id="more-slots-than-cells"),
        pytest.param(["60m", "10m", "10m", "10m"], 2, 3600, id="a-long-one-first"),
        pytest.param(["10m", "10m", "10m", "60m"], 2, 4200, id="a-long-one-last"),
    ],
)
def test_worst_time_is_that_of_the_rolling_queue_with_every_cell_at_its_limit(limits, parallel, seconds):
    rows = [{"ttl": limit, "a": str(index)} for index, limit in enumerate(limits)]
    spec = json.dumps({"defaults": {"command": "true"}, "params": rows})
    found = specs.load(spec, "sweep.json", flags=specs.Flags(max_concurrent=str(parallel)), project=NOWHERE)
    assert plans.make(found, NOWHERE).worst_seconds == seconds


def test_time_that_one_cell_does_not_bound_is_unknown():
    spec = json.dumps({"defaults": {"command": "true"}, "params": [{"a": "1", "ttl": "1h"}, {"a": "2"}]})
    assert made(spec).worst_seconds is None


# ---- the cap


@pytest.mark.parametrize(
    ("more", "lines"),
    [
        pytest.param(
            "max_cost_usd: 0.29\n",
            ["sweep.yaml: max_cost_usd: the cap of $0.29 fits not even one cell, the cheapest may cost $0.30 (raise the cap, or lower cost_cap_usd or max_runtime)"],
            id="fits-none",
        ),
        pytest.param(
            "max_cost_usd: 0\n",
            ["sweep.yaml: max_cost_usd: the cap of $0.00 fits not even one cell, the cheapest may cost $0.30 (raise the cap, or lower cost_cap_usd or max_runtime)"],
            id="zero",
        ),
    ],
)  # fmt: skip
def test_cap_that_no_cell_fits_is_refused(more, lines):
    assert refused(priced(more)) == lines


def test_cap_to_the_last_micro_dollar_fits():
    assert made(priced("max_cost_usd: 0.30\n")).worst_cost == 300_000
    assert refused(priced("max_cost_usd: 0.299999\n"))


def test_cap_that_only_some_cells_fit_is_warned_of():
    assert tuple(map(str, made(priced("max_cost_usd: 0.50\n")).warnings)) == (
        "cells 3, 4, 5 may each cost more than the cap and would stop the sweep",
    )


@pytest.mark.parametrize(
    ("on", "warnings"),
    [
        pytest.param("[exit, timeout]", [], id="its-own"),
        pytest.param("[no]", [], id="a-family"),
        pytest.param("['*']", [], id="any"),
        pytest.param("[exti]", ["gives no reason 'exti', so nothing is tried again for it (did you mean 'exit'?)"], id="misspelt"),
        pytest.param("[job]", ["gives no reason 'job', so nothing is tried again for it (it gives exit, timeout,"], id="another-runners"),
    ],
)  # fmt: skip
def test_reason_for_a_retry_that_the_runner_never_gives_is_warned_of(on, warnings):
    found = [str(warning) for warning in made(priced(f"retry: {{on: {on}}}\n")).warnings]
    assert [said in line for said, line in zip(warnings, found, strict=True)] == [True] * len(warnings)


def test_any_reason_may_come_from_a_program_of_ones_own():
    text = "name: own\nrunner: {kind: command, argv: [./run]}\nretry: {on: [banana]}\nmatrix: {params: {x: [1]}}\n"
    assert made(text).warnings == ()


def test_cap_needs_a_bound_for_every_cell_under_policy_reserve():
    (line,) = refused(priced("max_cost_usd: 5\n", limits=""))
    assert line.startswith(
        "sweep.yaml: max_cost_usd: a cap needs a bound for each cell, cells 0, 1, 2, 3, 4 and 1 more have none"
    )
    assert "set cost_cap_usd, or a price and max_runtime; or budget_policy: spent" in line


def test_cap_names_a_type_without_a_price_and_the_one_that_was_meant():
    (line,) = refused(priced("max_cost_usd: 5\n").replace("gpu: [L4, A10]", "gpu: [L4, A-10x]"))
    assert "cells 3, 4, 5 have none: no price is known for A-10x, did you mean 'A10'? (set cost_cap_usd" in line
    (line,) = refused(priced("max_cost_usd: 5\n", limits=""))
    assert "no price is known" not in line


def test_cap_under_policy_spent_needs_none_and_says_what_is_unknown():
    found = made(priced("max_cost_usd: 5\nbudget_policy: spent\n", limits=""))
    assert tuple(map(str, found.warnings)) == (
        "cells 0, 1, 2, 3, 4 and 1 more have no bound: their overshoot is unknown",
    )
    assert found.worst_cost is None


def test_per_cell_cap_is_the_reservation():
    found = made(priced("cost_cap_usd: 0.25\nmax_cost_usd: 1\n"))
    assert {shard.reservation for shard in found.shards} == {250_000}


# ---- what no program can be given


@pytest.mark.parametrize(
    ("length", "fits"), [(1000, True), (130_000, True), (131_072, False), (200_000, False)], ids=str
)
def test_value_longer_than_an_argument_may_be_is_refused_before_anything_starts(length, fits):
    spec = json.dumps({"command": ["echo", "{a}"], "matrix": {"params": {"a": ["x" * length, "short"]}}})
    if fits:
        assert len(made(spec).shards) == 2
    else:
        (line,) = refused(spec)
        assert line.startswith(f"sweep.yaml: params: cell 0 has an argument of {length + 14:,} bytes")
        assert "put the value in a file" in line


def test_values_that_are_too_long_together_are_refused():
    values = {f"p{number}": ["x" * 100_000] for number in range(8)}
    (line,) = refused(json.dumps({"command": "true", "matrix": {"params": values}}))
    assert "100,015 bytes, 2,400,757 in all" in line


def test_length_counts_bytes_not_characters():
    spec = json.dumps({"command": "true", "matrix": {"params": {"a": ["日" * 45_000]}}})
    assert "bytes" in refused(spec)[0]


# ---- its JSON


def test_json_has_every_key_and_money_as_text():
    found = plans.describe(made(priced("max_cost_usd: 2\nname: costs\nmax_parallel: 0\n")), "my sweeps")
    assert list(found) == KEYS
    assert [list(cell) for cell in found["cells"]] == [CELL_KEYS] * 6
    assert {key: found[key] for key in KEYS[:-1]} == {
        "name": "costs", "sweep_dir": "my sweeps/costs", "runner": "local", "max_parallel": 0,
        "max_cost_usd": "2.00", "worst_case": {"cost_usd": "2.00", "seconds": 1800},
    }  # fmt: skip


def test_json_of_what_is_unknown_is_null():
    found = plans.describe(made("matrix: {params: {a: [1]}}\n"))
    assert (found["max_cost_usd"], found["worst_case"]) == (None, {"cost_usd": None, "seconds": None})
    cell = found["cells"][0]
    assert [cell[key] for key in ("config", "gpu", "region", "argv")] == [None] * 4


def test_json_shows_the_environment_of_every_cell():
    (cell,) = plans.describe(made("name: s\ncommand: x\nenv: {OMP_NUM_THREADS: 4}\nmatrix: {params: {lr: [1e-3]}}\n"))[
        "cells"
    ]
    assert cell["env"] == {
        "SWEEP_NAME": "s", "SWEEP_INDEX": "0", "SWEEP_SIZE": "1", "PARAM_lr": "1e-3", "NODUS_PARAM_lr": "1e-3",
        "OMP_NUM_THREADS": "4",
    }  # fmt: skip


def test_json_writes_what_only_the_driver_knows_as_a_placeholder():
    spec = "runner: {kind: command, argv: [run, --out, 'out/{index}/{attempt}', '{{x}}']}\n"
    (cell,) = plans.describe(made(spec))["cells"]
    assert cell["argv"] == ["run", "--out", "out/0/{attempt}", "{x}"]
