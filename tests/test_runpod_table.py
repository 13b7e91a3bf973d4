"""The table of GPUs, regions and prices: shipped, extended, and what it says where a name is not in it."""

from __future__ import annotations

from pathlib import Path

import pytest

from sweeptool.errors import SweepError
from sweeptool.runners.runpod import gpus


def table(project: Path, own: str = "") -> gpus.Table:
    if own:
        (project / "runpod.toml").write_text(own)
    return gpus.load(project)


@pytest.mark.parametrize(
    ("request_", "ids", "count", "per_hour"),
    [
        ("L4", ("NVIDIA L4",), 1, 440_000),
        ("l4", ("NVIDIA L4",), 1, 440_000),
        ("RTX 4090", ("NVIDIA GeForce RTX 4090",), 1, 690_000),
        ("rtx-4090:2", ("NVIDIA GeForce RTX 4090",), 2, 1_380_000),
        ("A100", ("NVIDIA A100 80GB PCIe", "NVIDIA A100-SXM4-80GB"), 1, 1_890_000),
        ("A100!", ("NVIDIA A100 80GB PCIe",), 1, 1_640_000),
        ("A100!:8", ("NVIDIA A100 80GB PCIe",), 8, 13_120_000),
        ("NVIDIA A100-SXM4-80GB", ("NVIDIA A100-SXM4-80GB",), 1, 1_890_000),
    ],
)
def test_a_request_names_gpus_of_the_provider(
    tmp_path: Path, request_: str, ids: tuple[str, ...], count: int, per_hour: int
) -> None:
    assert gpus.choose(table(tmp_path), request_) == gpus.Choice(ids, count, per_hour)


def test_every_gpu_of_the_shipped_table_has_a_price(tmp_path: Path) -> None:
    shipped = table(tmp_path)
    assert {each for ids in shipped.gpu.values() for each in ids} == set(shipped.price)


def test_a_region_class_is_datacenters_in_the_order_they_are_tried(tmp_path: Path) -> None:
    assert gpus.datacenters(table(tmp_path), "eu")[0] == "EU-RO-1"
    assert gpus.datacenters(table(tmp_path), "US-KS-2") == ("US-KS-2",)


OWN = """
[gpu]
A10 = "NVIDIA A10"
L4 = ["NVIDIA L4", "NVIDIA A10"]
[price]
"NVIDIA A10" = 0.52
"NVIDIA L4" = "0.41"
[region]
near = ["EU-NL-1"]
"""


def test_a_projects_own_table_adds_and_overrides_key_by_key(tmp_path: Path) -> None:
    found = table(tmp_path, OWN)
    assert gpus.choose(found, "A10").per_hour == 520_000
    assert gpus.choose(found, "L4").ids == ("NVIDIA L4", "NVIDIA A10")
    assert gpus.choose(found, "L4!").per_hour == 410_000
    assert gpus.choose(found, "H100!").per_hour == 2_990_000
    assert gpus.datacenters(found, "near") == ("EU-NL-1",)
    assert found.sources == ("shipped", str(tmp_path / "runpod.toml"))


def test_the_variable_names_a_table_elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    elsewhere = tmp_path / "elsewhere.toml"
    elsewhere.write_text(OWN)
    monkeypatch.setenv("SWEEPTOOL_RUNPOD_TABLE", str(elsewhere))
    assert gpus.choose(gpus.load(tmp_path / "project"), "A10").count == 1


def test_a_gpu_without_a_price_has_none(tmp_path: Path) -> None:
    own = '[gpu]\nNew = ["NVIDIA NEW"]\nMixed = ["NVIDIA L4", "NVIDIA NEW"]\n'
    assert gpus.choose(table(tmp_path, own), "New").per_hour is None
    assert gpus.choose(table(tmp_path, own), "Mixed").per_hour is None


@pytest.mark.parametrize(
    ("own", "words"),
    [
        ("[gpus]\nA10 = 'x'\n", ["gpus", "did you mean 'gpu'?"]),
        ("[price]\nx = '$5'\n", ["price.x", "$5"]),
        ("[price]\nx = -1\n", ["price.x", "-1"]),
        ("[gpu]\nA10 = 5\n", ["gpu.A10", "ids"]),
        ("[gpu]\nA10 = []\n", ["gpu.A10", "ids"]),
        ("[job]\nvolume = 5\n", ["job.volume", "did you mean 'volume_gb'?"]),
        ("[job]\nvolume_gb = '5'\n", ["job.volume_gb", "5"]),
        ("nonsense", ["no TOML"]),
    ],
)
def test_a_table_that_is_none_says_where(tmp_path: Path, own: str, words: list[str]) -> None:
    with pytest.raises(SweepError) as caught:
        table(tmp_path, own)
    assert all(word in str(caught.value) for word in [*words, "runpod.toml"]), caught.value


@pytest.mark.parametrize("request_", ["", ":8", "L4:0", "L4:x", "!", "L4:8!"])
def test_a_broken_request_is_said_to_be_one(tmp_path: Path, request_: str) -> None:
    with pytest.raises(SweepError, match="GPU"):
        gpus.choose(table(tmp_path), request_)


def test_an_unmapped_name_is_named_with_the_table(tmp_path: Path) -> None:
    with pytest.raises(SweepError) as caught:
        gpus.choose(table(tmp_path), "A10")
    assert all(word in str(caught.value) for word in ("'A10'", "shipped", "runpod.toml", "doctor"))
