"""What one manifest file is read as: every type wrong in every way, and never a crash."""

from __future__ import annotations

import codecs
import json
import os
from decimal import Decimal

import pytest

from sweeptool import manifest
from sweeptool.errors import SweepError
from sweeptool.manifest import leaves

GOOD = {"schema_version": "v2", "failed": False, "run_id": "lora-1", "wall_time_sec": 12.5, "estimated_cost_usd": 0.31}


def read(members: object = None, *, text: bytes | None = None) -> manifest.Manifest:
    return manifest.read("runs/a/m.json", json.dumps(members).encode() if text is None else text)


def test_a_whole_manifest_is_typed_in_microdollars_and_seconds():
    found = read(GOOD | {"gpu_id": "NVIDIA L4", "gpu_price_per_hour_usd": 0.43, "pod_id": "p1"})
    assert (found.failed, found.cost, found.wall_seconds) == (False, 310_000, Decimal("12.5"))
    assert (found.gpu_id, found.price_per_hour, found.pod_id) == ("NVIDIA L4", 430_000, "p1")
    assert found.oddities == ()
    assert str(found.run_dir) == "runs/a"


def test_a_version_1_manifest_has_no_cost_and_no_time_and_that_is_not_odd():
    found = read({"schema_version": "v1", "failed": True, "run_id": "r", "artifacts": [{"label": "out"}]})
    assert (found.failed, found.cost, found.wall_seconds, found.oddities) == (True, None, None, ())
    assert not found.untried


@pytest.mark.parametrize(
    ("text", "said"),
    [
        pytest.param(b"NaN", "NaN", id="nan"),
        pytest.param(b"-Infinity", "-Infinity", id="infinity"),
        pytest.param(b"-1", "-1", id="negative"),
        pytest.param(b"-0.01", "-0.01", id="negative-cents"),
        pytest.param(b"true", "true", id="boolean"),
        pytest.param(b'"0.31"', '"0.31"', id="text"),
        pytest.param(b"1e400", "1E+400", id="beyond-float"),
        pytest.param(b"9" * 400, "9999", id="400-digits"),
        pytest.param(b"[0.31]", "a list", id="list"),
        pytest.param(b'{"usd": 1}', "an object", id="object"),
    ],
)
def test_a_cost_that_is_none_is_unknown_and_named_never_0(text, said):
    found = read(text=b'{"failed": false, "estimated_cost_usd": ' + text + b"}")
    assert found.cost is None
    assert len(found.oddities) == 1
    assert found.oddities[0].startswith(f"estimated_cost_usd is {said}")


def test_a_null_cost_is_unknown_without_a_word():
    found = read(GOOD | {"estimated_cost_usd": None})
    assert (found.cost, found.oddities) == (None, ())


@pytest.mark.parametrize("text", [b"-0.5", b"NaN", b'"12"', b"false", b"1e10"])
def test_a_wall_time_that_is_none_is_unknown_and_named(text):
    found = read(text=b'{"failed": false, "wall_time_sec": ' + text + b"}")
    assert found.wall_seconds is None
    assert "wall_time_sec" in found.oddities[0]


@pytest.mark.parametrize("value", ["false", 0, 1, [], None], ids=repr)
def test_an_outcome_other_than_true_or_false_is_unknown(value):
    found = read(GOOD | {"failed": value})
    assert found.failed is None
    assert "outcome is unknown" in found.oddities[0]


def test_money_keeps_what_a_float_would_lose():
    found = read(text=b'{"failed": false, "estimated_cost_usd": 12345678.123457, "wall_time_sec": 0.1}')
    assert (found.cost, found.wall_seconds) == (12_345_678_123_457, Decimal("0.1"))


@pytest.mark.parametrize(
    ("text", "why"),
    [
        pytest.param(b"", "is empty", id="empty"),
        pytest.param(b"  \n", "is empty", id="blank"),
        pytest.param(b'{"failed": fal', "is torn", id="torn"),
        pytest.param(b'{"failed": false}\0\0\0', "is torn", id="nul-padded"),
        pytest.param(b'{"failed": false}{"failed": true}', "is torn", id="two-objects"),
        pytest.param(b"[]", "is a list", id="list"),
        pytest.param(b"null", "is null", id="null"),
        pytest.param(b'"x"', "is text", id="text"),
        pytest.param(b"3", "is a number", id="number"),
        pytest.param(b'{"failed": false, "job_name": "\xff"}', "is not UTF-8: byte 31", id="non-utf-8"),
        pytest.param(b"[" * 100_000, "nested too deep", id="deep"),
        pytest.param(b'{"failed": ' * 100_000, "nested too deep", id="deep-objects"),
        pytest.param(b'{"estimated_cost_usd": ' + b"9" * 5_000 + b"}", "number too long", id="5000-digits"),
        pytest.param(b'{"estimated_cost_usd": 1e99999999999999999999999}', "number too long", id="exponent"),
        pytest.param(b'{"name": "a web app"}', "is no run's manifest", id="foreign"),
    ],
)
def test_what_is_no_manifest_is_one_error_that_names_the_file(text, why):
    with pytest.raises(SweepError, match=why) as caught:
        read(text=text)
    assert len(caught.value.problems) == 1
    assert caught.value.problems[0].source == "runs/a/m.json"


def test_a_byte_order_mark_is_no_content():
    assert read(text=codecs.BOM_UTF8 + json.dumps(GOOD).encode()).cost == 310_000


@pytest.mark.parametrize(
    ("make", "why"),
    [
        pytest.param(lambda path: path.mkdir(), "is a directory", id="directory"),
        pytest.param(os.mkfifo, "no regular file", id="named-pipe"),
        pytest.param(lambda path: path.symlink_to("nowhere"), "No such file", id="broken-link"),
        pytest.param(lambda path: None, "No such file", id="missing"),
    ],
)
def test_what_cannot_be_read_is_an_error_and_never_blocks(tmp_path, make, why):
    make(tmp_path / "m.json")
    with pytest.raises(SweepError, match=why):
        manifest.read(tmp_path / "m.json")


def test_a_file_larger_than_any_manifest_is_not_read(tmp_path):
    path = tmp_path / "m.json"
    with path.open("wb") as file:
        file.truncate(65 * 1024 * 1024)
    with pytest.raises(SweepError, match="more than"):
        manifest.read(path)


@pytest.mark.parametrize("key", ["job_name", "run_id", "gpu_id", "datacenter_id", "pod_id", "pulled_at_utc"])
@pytest.mark.parametrize("value", [1, 1.5, True, [], {}], ids=repr)
def test_a_name_that_is_no_text_is_none_and_named(key, value):
    found = read(GOOD | {key: value})
    assert any(line.startswith(key) for line in found.oddities)


@pytest.mark.parametrize(
    ("artifacts", "untried"),
    [
        ([], False),
        ([{"label": "a", "required": True, "status": "success"}], False),
        ([{"label": "a", "required": True, "status": None}], True),
        ([{"label": "a", "required": False, "status": None}], False),
        ([{"label": "a", "required": True}], False),
    ],
)
def test_a_required_artifact_that_was_never_pulled_shows_an_interrupted_run(artifacts, untried):
    found = read(GOOD | {"artifacts": artifacts})
    assert found.untried is untried
    assert [one.label for one in found.artifacts] == [one["label"] for one in artifacts]


@pytest.mark.parametrize("artifacts", ["x", 3, {"label": "a"}, ["x"], [None]], ids=repr)
def test_artifacts_of_another_shape_are_named(artifacts):
    found = read(GOOD | {"artifacts": artifacts})
    assert found.oddities == ("artifacts is not a list of objects",)
    assert found.artifacts == ()


def test_a_slim_manifest_holds_no_copy_of_the_file():
    found = manifest.read("m.json", json.dumps(GOOD).encode(), slim=True)
    assert (found.raw, found.cost) == ({}, 310_000)


def test_the_leaves_of_an_object_are_found_however_deep_it_is():
    deep: object = 1
    for _ in range(5000):
        deep = [{"k": deep}]
    assert leaves.of({"x": deep}) == {"x" + ".0.k" * 5000: 1}
