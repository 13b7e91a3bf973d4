"""Whatever a file holds: its cells are the product of what it says, or there is one clear error. Nothing between."""

from __future__ import annotations

import json
import math
import time

import pytest
import yaml
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from sweeptool.cells import number
from sweeptool.errors import SweepError
from sweeptool.spec import Flags, Spec, load, load_grid
from tests.specs import NOWHERE, nodus

VALUES = st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"]), max_size=12)
NAMES = st.from_regex(r"[b-z][a-z0-9]{0,2}_?x", fullmatch=True)  # none that is taken for a bound
LISTS = st.lists(VALUES, min_size=1, max_size=4, unique=True)
GPUS = st.lists(st.sampled_from(["L4", "A10", "H100", "H100!", "H100:8"]), min_size=1, max_size=4, unique=True)
REGIONS = st.lists(st.sampled_from(["us", "eu", "ap"]), min_size=1, max_size=3, unique=True)
AXES = st.fixed_dictionaries(
    {}, optional={"gpu": GPUS, "regions": REGIONS, "params": st.dictionaries(NAMES, LISTS, max_size=3)}
)
WRITERS = st.sampled_from(
    [
        json.dumps,
        lambda spec: json.dumps(spec, ensure_ascii=False, indent=1),
        yaml.safe_dump,
        lambda spec: yaml.safe_dump(spec, allow_unicode=False, default_flow_style=False, default_style='"'),
    ]
)


def attempt(text: bytes | str, source: str = "s.yaml", flags: Flags | None = None) -> Spec | SweepError:
    """Return the spec that a text means, or the error that it is; any other end fails the test."""
    try:
        spec = load(text, source, flags=flags, project=NOWHERE)
        number(spec, {})
    except SweepError as error:
        return error
    return spec


def expected(axes: dict) -> int:
    values = [*axes.get("params", {}).values(), axes.get("gpu", [0]), axes.get("regions", [0])]
    return math.prod(len(one) for one in values)


def seen(spec: Spec) -> set[tuple]:
    return {(p.gpu, p.region, p.repetition, *sorted(p.params.items())) for p in spec.points}


@given(AXES, st.integers(1, 3), WRITERS)
def test_native_cells_are_the_product_of_the_axes(axes, repetitions, write):
    spec = load(write({"matrix": axes, "repetitions": repetitions}), "s.yaml", project=NOWHERE)
    assert len(spec.points) == len(seen(spec)) == expected(axes) * repetitions
    for name, values in axes.get("params", {}).items():
        assert list(dict.fromkeys(point.params[name] for point in spec.points)) == values
    assert len({cell.id for cell in number(spec, {})}) == len(spec.points)


@given(AXES, st.integers(1, 3), WRITERS)
def test_nodus_cells_are_those_of_the_native_form(axes, repetitions, write):
    axes = {**axes, "params": {name.upper(): values for name, values in axes.get("params", {}).items()}}
    document = yaml.safe_load(nodus())
    document["spec"] |= {"matrix": axes, "repetitions": repetitions}
    native = load(write({"matrix": axes, "repetitions": repetitions}), "s.yaml", project=NOWHERE)
    spec = attempt(write(document))
    if len(native.points) > 256:
        assert f"{len(native.points)} exceeds 256" in str(spec)
        return
    assert isinstance(spec, Spec)
    assert [(p.gpu, p.region, p.params, p.repetition) for p in spec.points] == [
        (p.gpu, p.region, p.params, p.repetition) for p in native.points
    ]


@given(
    st.lists(st.dictionaries(NAMES, VALUES, max_size=3), max_size=4), st.dictionaries(NAMES, LISTS, max_size=3), WRITERS
)
def test_grid_cells_are_the_rows_and_the_product(rows, grid, write):
    product = math.prod(map(len, grid.values())) if grid else 0
    spec = attempt(write({"params": rows, "grid": grid}))
    if isinstance(spec, SweepError):
        assert any(word in str(spec) for word in ("are the same", "there is no cell"))
        assert len({tuple(sorted(row.items())) for row in rows}) < len(rows) or grid or not rows
        return
    assert [point.params for point in spec.points[: len(rows)]] == rows
    assert len(spec.points) == len(seen(spec)) == len(rows) + product


SHORT = st.text(st.characters(exclude_characters="\0 \t\r\n,", exclude_categories=["Cs"]), min_size=1, max_size=5)


@given(st.dictionaries(NAMES, st.lists(SHORT, min_size=1, max_size=3, unique=True), min_size=1, max_size=3))
def test_shorthand_cells_are_those_of_the_grid(grid):
    text = " ".join(f"{name}={','.join(values)}" for name, values in grid.items())
    assert load_grid(text).points == load(json.dumps({"grid": grid}), "s.json", project=NOWHERE).points


KEYS = [
    "name",
    "runner",
    "command",
    "matrix",
    "params",
    "grid",
    "defaults",
    "gpu",
    "regions",
    "zip",
    "exclude",
    "include",
]
KEYS += [
    "sample",
    "n",
    "seed",
    "range",
    "start",
    "stop",
    "step",
    "logspace",
    "num",
    "env",
    "from",
    "prices",
    "retry",
    "on",
]
KEYS += [
    "metrics",
    "best",
    "patterns",
    "configs",
    "config",
    "repetitions",
    "max_cost_usd",
    "max_runtime",
    "apiVersion",
    "kind",
]
KEYS += [
    "spec",
    "template",
    "metadata",
    "maxParallel",
    "ttl",
    "spot",
    "budget",
    "a",
    "b",
    "lr",
    "param:x",
    "argv",
    "before",
]
SCALARS = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-3, 70),
    st.floats(),
    st.sampled_from(
        [
            "local",
            "command",
            "Job",
            "Sweep",
            "nodus.dev/v1",
            "L4",
            "{a}",
            "{",
            "1h",
            "0.5",
            "*.yaml",
            "$5",
            "",
            "(",
            "\0",
        ]
    ),
    st.text(max_size=5),
)
TREES = st.recursive(
    SCALARS,
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(KEYS) | st.text(max_size=3), inner, max_size=5)
    ),
    max_leaves=25,
)
BROKEN = st.dictionaries(st.sampled_from(KEYS), TREES, min_size=1, max_size=6)


def outcome(text: bytes | str, source: str = "s.yaml", flags: Flags | None = None) -> Spec | None:
    """Return the spec that a text means, None for an error that is as it should be."""
    found = attempt(text, source, flags)
    if isinstance(found, Spec):
        assert found.points
        return found
    assert found.exit_code == 2
    assert found.problems
    assert all("\n" not in str(problem) and problem.message for problem in found.problems)
    assert all(problem.source in {source, ""} for problem in found.problems)
    return None


@settings(max_examples=300)
@given(BROKEN, st.booleans())
def test_a_tree_of_known_words_is_cells_or_an_error(document, as_json):
    outcome(
        json.dumps(document) if as_json else yaml.safe_dump(document, allow_unicode=True),
        "s.json" if as_json else "s.yaml",
    )


@given(BROKEN)
def test_json_and_yaml_of_one_tree_end_alike(document):
    text = json.dumps(document)
    first, second = outcome(text, "s.yaml"), outcome(text, "s.json")
    assert (first is None) == (second is None)
    assert first is None or second is None or first.points == second.points


@settings(max_examples=300)
@given(st.binary(max_size=60) | st.text(max_size=60))
def test_soup_is_an_error(soup):
    outcome(soup)


WORDS = [
    "name",
    ":",
    " ",
    "\n",
    "- ",
    "[",
    "]",
    "{",
    "}",
    ",",
    "'",
    '"',
    "|",
    ">",
    "&a",
    "*a",
    "<<",
    "!!str",
    "!",
    "#",
    "---",
    "...",
    "?",
]
WORDS += [
    "grid",
    "params",
    "matrix",
    "x",
    "1",
    "null",
    "~",
    "\t",
    "\r\n",
    "%",
    "@",
    "`",
    "\\",
    "\u00a0",
    "\ufeff",
    "\u2028",
    "=",
    "-",
    "\0",
]


@settings(max_examples=500, suppress_health_check=[HealthCheck.too_slow])
@given(st.lists(st.sampled_from(WORDS), max_size=40).map("".join))
def test_yaml_soup_is_cells_or_an_error(soup):
    outcome(soup)


@given(st.integers(0, 400), st.sampled_from(["", "[", "\n", "x", '"', "\t", "\0", ": ", "\xff"]))
def test_a_spec_that_is_cut_or_has_something_stuck_in_is_cells_or_an_error(place, insertion):
    text = nodus("matrix: {gpu: [L4, A10], params: {BATCH_SIZE: [32, 64]}}\nmaxCostUSD: '0.75'\nrepetitions: 2")
    whole = outcome(text)
    assert whole is not None
    assert len(whole.points) == 8
    outcome(text[:place])
    outcome(text[:place] + insertion + text[place:])


@given(
    st.builds(
        Flags,
        **{
            name: st.none() | st.sampled_from(["", "1", "0", "-1", "1h", "x y", "true", "L4", "H100:3", "\udcff"])
            for name in Flags.__dataclass_fields__
        },
    )
)
def test_flags_are_taken_or_an_error(flags):
    for text in ("{}", "params: [{a: 1}]", "matrix: {gpu: [L4]}", nodus()):
        outcome(text, flags=flags)


BIG = {
    "rows": "params:\n" + "".join(f"- {{lr: 0.{index}, seed: {index}}}\n" for index in range(20_000)),
    "json": json.dumps({"params": [{"lr": index / 7, "seed": index} for index in range(20_000)]}),
    "grid": json.dumps({"grid": {"a": list(range(200)), "b": list(range(100))}}),
    "native": json.dumps(
        {"matrix": {"params": {"a": list(range(200)), "b": list(range(100))}}, "command": ["x", "{a}"]}
    ),
}


@pytest.mark.parametrize("text", BIG.values(), ids=BIG)
def test_twenty_thousand_cells_load_in_a_moment(text):
    started = time.process_time()
    spec = load(text, "s.yaml", project=NOWHERE)
    cells = number(spec, {})
    assert time.process_time() - started < 3  # about 0.6 where nothing else runs
    assert len(cells) == 20_000
