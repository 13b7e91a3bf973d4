"""``collect``: one tidy row a cell and attempt, the same in CSV, JSON and Parquet."""

from __future__ import annotations

import csv
import json
from decimal import Decimal

import pytest

from tests import sweepmaker

SPEC = """
    name: lora
    runner: local
    command: [python3, train.py]
    matrix: {params: {code: ["007", "1e-4", "=cmd()"]}}
"""


@pytest.fixture
def lora(project, tmp_path):
    made = project()
    attempts = [
        {"cell": 0, "state": "failed", "reason": "oom", "cost": "0.40"},
        {"cell": 0, "state": "succeeded", "cost": "0.30", "metrics": {"acc": 0.5, "val": {"loss": float("nan")}}},
        {"cell": 1, "state": "lost", "cost": None, "run_dir": False, "wall": None},
    ]
    sweepmaker.sweep(tmp_path, SPEC, attempts)
    return made


def test_csv_has_a_row_a_cell_and_attempt_with_the_text_of_the_parameters(lora):
    assert lora.tool("collect", "--sweep", "lora", "-o", "runs.csv").returncode == 0
    rows = list(csv.DictReader((lora.path / "runs.csv").open()))
    assert [(row["index"], row["attempt"], row["state"], row["estimated_cost_usd"]) for row in rows] == [
        ("0", "1", "failed", "0.40"),
        ("0", "2", "succeeded", "0.30"),
        ("1", "1", "lost", ""),
        ("2", "", "pending", ""),
    ]
    assert [row["param.code"] for row in rows] == ["007", "007", "1e-4", "'=cmd()"]
    assert (rows[1]["metric.acc"], rows[1]["metric.val.loss"]) == ("0.5", "nan")
    assert rows[1]["git_sha"] == "4f6c1de09a7b35c28d1e90f7ab634c5d2e8f0b17"
    assert rows[1]["settled_at"] == sweepmaker.stamp(15)


def test_json_has_the_same_rows_with_null_for_what_no_json_number_is(lora):
    rows = json.loads(lora.tool("collect", "-o", "-").stdout and _written(lora, "runs.json"))
    assert rows[0]["estimated_cost_usd"] == "0.40"
    assert rows[1]["metric.val.loss"] is None
    assert rows[3]["param.code"] == "=cmd()"
    assert {tuple(row) for row in rows} == {tuple(rows[0])}


def _written(made, name: str) -> str:
    assert made.tool("collect", "-o", name).returncode == 0
    return (made.path / name).read_text()


def test_parquet_keeps_types(lora):
    import pandas as pd

    assert lora.tool("collect", "-o", "runs.parquet").returncode == 0
    frame = pd.read_parquet(lora.path / "runs.parquet")
    assert list(frame["param.code"]) == ["007", "007", "1e-4", "=cmd()"]
    assert list(frame["estimated_cost_usd"])[:2] == [Decimal("0.40"), Decimal("0.30")]
    assert frame["estimated_cost_usd"].isna().tolist() == [False, False, True, True]
    assert str(frame["index"].dtype) == "Int64"
    assert str(frame["metric.acc"].dtype) == "float64"
    assert "UTC" in str(frame["settled_at"].dtype)


def test_a_parameter_is_text_and_a_metric_a_number_however_they_are_called(project, tmp_path):
    import pandas as pd

    made = project()
    spec = SPEC.replace('code: ["007", "1e-4", "=cmd()"]', 'price_usd: ["007", "8.50", cheap]')
    sweepmaker.sweep(tmp_path, spec, [{"cell": 0, "state": "succeeded", "metrics": {"saved_usd": 1.5}}])
    assert made.tool("collect", "-o", "runs.parquet").returncode == 0
    frame = pd.read_parquet(made.path / "runs.parquet")
    assert list(frame["param.price_usd"]) == ["007", "8.50", "cheap"]
    assert str(frame["metric.saved_usd"].dtype) == "float64"


@pytest.mark.parametrize("ending", ["csv", "json", "parquet"])
def test_half_a_surrogate_pair_in_a_name_or_a_text_is_an_escape(project, ending):
    import pandas as pd

    made = project()
    sweepmaker.manifest(made.path / "runs" / "a", job_name="\ud800j")
    (made.path / "runs" / "a" / "metrics.json").write_text(r'{"\ud800x": 2, "n": {"\udc00": 1}, "\ud83d\ude00": 3}')
    done = made.tool("collect", "--root", "runs", "-o", f"x.{ending}")
    assert (done.returncode, done.stderr) == (0, "")
    found = getattr(pd, f"read_{ending}")(made.path / f"x.{ending}")
    assert [name for name in found if name.startswith("metric.")] == [
        r"metric.\ud800x",
        r"metric.n.\udc00",
        "metric.\U0001f600",
    ]
    if ending != "json":
        assert found["job_name"][0] == r"\ud800j"


def test_a_frame_for_a_notebook_groups_without_dropping_what_is_missing(lora):
    from sweeptool import collect, frame
    from sweeptool.layout import SweepDir
    from sweeptool.sources import Source

    rows, _ = collect.tidy(Source(sweep=SweepDir(lora.path / "artifacts" / "sweeps" / "lora")))
    made = frame.frame(rows)
    assert made.groupby("reason", dropna=False).size().sum() == len(rows)
    assert made["estimated_cost_usd"].dropna().sum() == Decimal("0.70")


@pytest.mark.parametrize("ending", ["csv", "json", "parquet"])
def test_an_empty_tree_is_a_file_without_rows(project, ending):
    made = project()
    (made.path / "empty").mkdir()
    assert made.tool("collect", "--root", "empty", "-o", f"runs.{ending}").returncode == 0
    content = (made.path / f"runs.{ending}").read_bytes()
    assert {"csv": content.startswith(b"path,run_dir"), "json": content == b"[]\n"}.get(ending, bool(content))


@pytest.mark.parametrize(
    ("output", "said"),
    [
        ("runs.xlsx", "ends in none of .csv, .json, .parquet"),
        ("runs", "ends in none of"),
        ("gone/runs.csv", "No such file or directory"),
    ],
)
def test_an_output_that_cannot_be_is_one_line_and_exit_2(lora, output, said):
    done = lora.tool("collect", "-o", output)
    assert done.returncode == 2
    assert said in done.stderr
    assert "Traceback" not in done.stderr


def test_a_tree_without_a_sweep_has_rows_too(project):
    made = project()
    sweepmaker.manifest(made.path / "runs" / "a", estimated_cost_usd=0.31)
    (made.path / "runs" / "a" / "metrics.json").write_text('{"f1": 1}')
    rows = list(csv.DictReader(made.tool("collect", "--root", "runs").stdout.splitlines()))
    assert [(row["estimated_cost_usd"], row["metric.f1"]) for row in rows] == [("0.31", "1.0")]
