"""Points become cells: numbered, named, and known by what they run."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sweeptool.cells import label, number
from sweeptool.errors import SweepError
from sweeptool.spec import Spec
from sweeptool.spec.model import Point, RunnerSpec, Settings
from tests.specs import nodus, read


def ids(spec: Spec | str, digests: dict[str, str] | None = None) -> list[str]:
    return [cell.id for cell in number(read(spec) if isinstance(spec, str) else spec, digests or {})]


def test_cells_are_numbered_from_0_and_named_after_the_sweep():
    cells = number(read(nodus("matrix: {gpu: [L4, A10], params: {B: [1, 2]}}")), {})
    assert [(cell.index, cell.name) for cell in cells] == [(index, f"batch-size-{index}") for index in range(4)]
    assert cells[3].params == {"B": "2"}
    assert (cells[3].gpu, cells[3].region, cells[3].config, cells[3].repetition) == ("A10", None, None, 0)


def test_parameters_are_in_byte_order():
    point = Point({"b": "1", "B": "2", "é": "3", "a": "4"})
    assert list(number(Spec("x", "native", (point,)), {})[0].params) == ["B", "a", "b", "é"]


def test_an_id_does_not_depend_on_order_name_or_bounds():
    plain = ids("matrix: {params: {a: [1, 2]}}\nrepetitions: 2")
    grown = ids("name: other\nmax_runtime: 1h\nmax_cost_usd: 3\nmatrix: {params: {a: [0, 2, 1, 3]}}\nrepetitions: 3")
    assert set(plain) < set(grown)
    assert plain[0] == grown[6]


@pytest.mark.parametrize(
    "change",
    [
        {"command": ("b",)},
        {"command": "a"},
        {"image": "i"},
        {"env": {"A": "1"}},
        {"secrets": {"T": "S"}},
        {"instance_type": "t3.micro"},
        {"datacenter": "d"},
        {"spot": True},
    ],
    ids=lambda change: next(iter(change)),
)
def test_an_id_depends_on_what_runs(change):
    point = Point({"a": "1"}, settings=Settings(command=("a",)))
    other = replace(point, settings=replace(point.settings, **change))
    assert ids(Spec("x", "native", (point,))) != ids(Spec("x", "native", (other,)))


@pytest.mark.parametrize(
    "change", [{"gpu": "L4"}, {"region": "eu"}, {"config": "c"}, {"repetition": 1}, {"params": {"a": "2"}}]
)
def test_an_id_depends_on_what_varies(change):
    point = Point({"a": "1"})
    assert ids(Spec("x", "native", (point,))) != ids(Spec("x", "native", (replace(point, **change),)))


def test_an_id_depends_on_the_runner_and_the_content_of_the_config():
    spec = Spec("x", "native", (Point({}, config="c.yaml"),))
    known = {ids(spec, {"c.yaml": "1"})[0], ids(spec, {"c.yaml": "2"})[0]}
    known |= {ids(replace(spec, runner=RunnerSpec("command", argv)), {"c.yaml": "1"})[0] for argv in (("a",), ("b",))}
    assert len(known) == 4


FROZEN = "L4-1e_3-qsisovtvcb"


HOSTILE = [
    "a b",
    "a_b",
    "x/y",
    "x_y",
    "日本",
    "中文",
    "A",
    "a",
    "",
    "../..",
    "-rf",
    "." * 5,
    "x" * 300,
    "\n",
    "'",
    '"',
    "$x",
    "a=b",
]


def test_values_that_sanitise_to_one_name_are_told_apart():
    spec = Spec("x", "native", tuple(Point({"v": value}) for value in HOSTILE))
    found = ids(spec)
    assert len({one.lower() for one in found}) == len(HOSTILE)
    assert all(re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}", one) for one in found)


def test_an_id_is_readable():
    [found] = ids("matrix: {gpu: [L4], regions: [eu], params: {lr: [1e-3], model: [s]}}")
    assert re.fullmatch("L4-eu-1e_3-s-[a-z2-7]{10}", found)


def test_an_id_stays_what_it_is():
    assert ids(Spec("x", "native", (Point({"lr": "1e-3"}, gpu="L4", settings=Settings(command=("run", "{lr}"))),))) == [
        FROZEN
    ]


def test_the_same_cell_twice_is_an_error():
    spec = Spec("x", "native", (Point({"a": "1"}), Point({"a": "2"}), Point({"a": "1"})), source="s.yaml")
    with pytest.raises(SweepError, match=r"s.yaml: cell 2 is there already: a=1 \(drop one, or use repetitions\)"):
        number(spec, {})


def test_the_same_work_under_other_bounds_is_a_further_cell_wherever_it_stands():
    short, long = (Point({}, settings=Settings(max_runtime=seconds)) for seconds in (60, 120))
    one, both = ids(Spec("x", "grid", (short,))), ids(Spec("x", "grid", (short, long)))
    assert both[:1] == one
    assert len(set(both)) == 2
    assert set(ids(Spec("x", "grid", (long, short)))) == set(both)


def test_a_value_cannot_pass_for_another_place():
    points = [
        Point({}, gpu="x"),
        Point({}, region="x"),
        Point({}, config="x"),
        Point({"a": "1", "b": "2"}),
        Point({"a": "1b=2"}),
    ]
    assert len(set(ids(Spec("x", "native", tuple(points))))) == len(points)


@pytest.mark.parametrize(
    ("point", "text"),
    [
        (Point({"lr": "1e-3"}, gpu="L4", region="eu", repetition=1), "L4 eu lr=1e-3 r1"),
        (Point({}, config="a.yaml"), "a.yaml"),
        (Point({}), ""),
        (Point({"a": "1"}, settings=Settings(instance_type="t3.micro", spot=True)), "t3.micro spot a=1"),
    ],
)
def test_a_label_says_what_tells_cells_apart(point, text):
    assert label(point) == text
    assert label(number(Spec("x", "native", (point,)), {})[0]) == text


VALUES = st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"]), max_size=8)


@given(
    st.lists(
        st.dictionaries(st.sampled_from("abc"), VALUES, max_size=3), unique_by=lambda one: tuple(sorted(one.items()))
    ),
    st.randoms(),
)
def test_ids_are_unique_and_stable_under_growth_and_reordering(rows, random):
    points = [Point(row) for row in rows]
    by_params = dict(zip(map(str, rows), ids(Spec("x", "native", tuple(points))), strict=True))
    assert len({one.lower() for one in by_params.values()}) == len(rows)
    shuffled = [*points, Point({"new": "1"})]
    random.shuffle(shuffled)
    for cell in number(Spec("y", "native", tuple(shuffled)), {}):
        if "new" not in cell.params:
            assert cell.id in by_params.values()
