"""``manifest-summary`` on the command line: every format, every source, and what goes to stderr."""

from __future__ import annotations

import csv
import dataclasses
import json
import os
import subprocess
import sys
import time
from decimal import Decimal

import pytest

from sweeptool import summary, text
from sweeptool.cli import read
from tests import sweepmaker

SPEC = """
    name: lora
    runner: local
    command: [python3, train.py]
    matrix: {params: {lr: ["1e-3", "1e-4"], "n": ["1"]}}
"""


@pytest.fixture
def tree(project):
    made = project()
    root = made.path / "artifacts" / "runpod"
    sweepmaker.manifest(root / "a", estimated_cost_usd=0.31, wall_time_sec=600)
    sweepmaker.manifest(root / "b", estimated_cost_usd=0.1, failed=True, gpu_id="NVIDIA A40")
    sweepmaker.manifest(root / "c", estimated_cost_usd=None)
    (root / "torn").mkdir()
    (root / "torn" / "runpod_deploy_pull_manifest.json").write_text("{")
    return made


def test_the_table_has_a_row_a_run_and_the_totals(tree):
    done = tree.tool("manifest-summary", "--root", "artifacts/runpod")
    assert done.returncode == 0
    assert done.stdout == (
        "RUN  JOB          GPU         DATACENTER  STATE      WALL_SEC  COST_USD\n"
        "a    lora-{seed}  NVIDIA L4   EU-RO-1     succeeded       600      0.31\n"
        "b    lora-{seed}  NVIDIA A40  EU-RO-1     failed        100.5      0.10\n"
        "c    lora-{seed}  NVIDIA L4   EU-RO-1     succeeded     100.5         ?\n"
        "\n"
        "== TOTALS ==\n"
        "manifests:        3\n"
        "failed:           1\n"
        "wall_time_sec:    801.0\n"
        "estimated_cost:   $0.41\n"
        "unknown_cost:     1\n"
        "interrupted:      0\n"
        "lost:             0\n"
        "skipped:          1\n"
    )
    assert done.stderr.startswith("skipped: artifacts/runpod/torn/runpod_deploy_pull_manifest.json: is torn")


def test_json_has_the_shape_that_programs_rely_on(tree):
    shape = json.loads(tree.tool("manifest-summary", "--root", "artifacts/runpod", "--format", "json").stdout)
    assert {"runs", "totals", "skipped"} <= shape.keys()
    assert (
        shape["totals"]
        | {
            "manifests": 3,
            "failed": 1,
            "wall_time_sec": 801,
            "estimated_cost_usd": "0.41",
            "unknown_cost": 1,
        }
        == shape["totals"]
    )
    row = shape["runs"][0]
    assert (row["run_dir"], row["estimated_cost_usd"], row["wall_time_sec"]) == ("artifacts/runpod/a", "0.31", 600)
    assert shape["runs"][2]["estimated_cost_usd"] is None
    assert all(one.keys() == row.keys() for one in shape["runs"])
    assert [sorted(one) for one in shape["skipped"]] == [["path", "why"]]


def test_json_groups_by_key(tree):
    words = ("manifest-summary", "--root", "artifacts/runpod", "--by", "gpu", "--format", "json")
    groups = json.loads(tree.tool(*words).stdout)["groups"]
    assert [(one["gpu"], one["n"], one["failed"], one["cost_usd"]) for one in groups] == [
        ("NVIDIA A40", 1, 1, "0.10"),
        ("NVIDIA L4", 2, 0, "0.31"),
    ]


def test_an_empty_tree_is_an_empty_list_in_json_and_the_header_in_csv(project):
    made = project()
    (made.path / "empty").mkdir()
    shape = json.loads(made.tool("manifest-summary", "--root", "empty", "--format", "json").stdout)
    assert (shape["runs"], shape["totals"]["manifests"], shape["totals"]["estimated_cost_usd"]) == ([], 0, "0.00")
    text = made.tool("manifest-summary", "--root", "empty", "--format", "csv").stdout
    assert text.startswith("path,run_dir,job_name,")
    assert text.count("\n") == 1
    assert made.tool("manifest-summary", "--root", "empty").stdout.startswith("RUN  JOB  GPU")
    grouped = made.tool("manifest-summary", "--root", "empty", "--by", "gpu", "--format", "csv").stdout
    assert grouped.startswith("gpu,n,failed,")


def test_csv_has_a_column_a_field_and_a_row_a_run(tree):
    text = tree.tool("manifest-summary", "--root", "artifacts/runpod", "--format", "csv").stdout
    rows = list(csv.DictReader(text.splitlines()))
    assert [row["estimated_cost_usd"] for row in rows] == ["0.31", "0.10", ""]
    assert [row["failed"] for row in rows] == ["false", "true", "false"]


def test_markdown_is_a_table_whatever_a_name_holds(tree):
    sweepmaker.manifest(tree.path / "artifacts" / "runpod" / "d", job_name="a|b\n| forged |")
    lines = tree.tool("manifest-summary", "--root", "artifacts/runpod", "--format", "markdown").stdout.splitlines()
    table = lines[: lines.index("")]
    assert {line.replace("\\|", "").count("|") for line in table} == {8}
    assert "| manifests | 4 |" in lines


def test_blocks_show_each_run_in_full(tree):
    text = tree.tool("manifest-summary", "--root", "artifacts/runpod", "--format", "blocks").stdout
    assert "== artifacts/runpod/b/runpod_deploy_pull_manifest.json ==\n" in text
    assert "gpu_id" not in text.splitlines()[0]
    assert "estimated_cost_usd:     unknown\n" in text
    assert text.endswith("skipped:          1\n")


def test_single_files_are_summed_too(tree):
    name = "runpod_deploy_pull_manifest.json"
    done = tree.tool("manifest-summary", f"artifacts/runpod/a/{name}", f"artifacts/runpod/b/{name}")
    assert "estimated_cost:   $0.41\n" in done.stdout


def test_a_manifest_may_come_from_stdin(tree):
    text = (tree.path / "artifacts/runpod/a/runpod_deploy_pull_manifest.json").read_text()
    done = tree.tool("manifest-summary", "-", stdin=text)
    assert (done.returncode, "manifests:        1\n" in done.stdout) == (0, True)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["gone.json"], "gone.json: cannot be read: No such file or directory"),
        (["artifacts"], "artifacts: cannot be read: is a directory"),
        (["artifacts/runpod/torn/runpod_deploy_pull_manifest.json"], "is torn or no JSON"),
        (["--root", "gone"], "gone: does not exist"),
        (["--root", ""], "'--root': it is empty"),
        (["--sweep", ""], "'--sweep': it is empty"),
        (["--root", "artifacts", "--manifest-name", ""], "'--manifest-name': it is empty"),
        (["--root", "artifacts", "--manifest-name", "a/b"], "'a/b' is a path, not a file's name"),
        (["--root", "Makefile"], "Makefile: is no directory"),
        (["--root", "artifacts", "--sweep", "x"], "--root and --sweep exclude each other"),
        (["--sweep", "x"], "no sweep 'x': there is no sweep in artifacts/sweeps"),
        (["--root", "artifacts", "--by", "gpuu"], "did you mean 'gpu'?"),
        (["--root", "artifacts", "--format", "xml"], "'xml' is not one of"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_a_mistake_is_one_clear_line_and_exit_2(tree, words, said):
    (tree.path / "Makefile").touch()
    done = tree.tool("manifest-summary", *words)
    assert (done.returncode, done.stdout) == (2, "")
    assert said in done.stderr
    assert "Traceback" not in done.stderr
    assert done.stderr.count("\n") == 1


def test_another_manifest_name_can_be_asked_for(project):
    made = project()
    sweepmaker.manifest(made.path / "out" / "a", name="result.json", estimated_cost_usd=0.5)
    done = made.tool("manifest-summary", "--root", "out", "--manifest-name", "result.json")
    assert "estimated_cost:   $0.50\n" in done.stdout


def test_without_a_source_the_newest_sweep_is_read_and_said(project, tmp_path):
    made = project()
    where = sweepmaker.sweep(tmp_path, SPEC, [{"cell": 0, "state": "succeeded", "cost": "0.25"}])
    older = sweepmaker.sweep(tmp_path, SPEC.replace("lora", "older"), [])
    for path in (older.ledger, older.plan):
        os.utime(path, (1, 1))
    done = made.tool("manifest-summary")
    assert "estimated_cost:   $0.25\n" in done.stdout
    assert done.stderr == "read: sweep lora\n"
    assert where.path.name == "lora"


def test_without_a_sweep_the_artifacts_are_read_and_said(tree):
    done = tree.tool("manifest-summary")
    assert "manifests:        3\n" in done.stdout
    assert done.stderr.endswith("read: artifacts\n") or "read: artifacts\n" in done.stderr


def test_without_either_it_says_what_to_give(project):
    done = project().tool("manifest-summary")
    assert done.returncode == 2
    assert "give --root DIR or --sweep SWEEP" in done.stderr


def test_a_sweep_shows_its_parameters_attempts_and_reasons(project, tmp_path):
    made = project()
    attempts = [
        {"cell": 0, "state": "failed", "reason": "timeout", "cost": "0.40"},
        {"cell": 0, "state": "succeeded", "cost": "0.30"},
        {"cell": 1, "state": "lost", "cost": None, "reserved": "1.00", "run_dir": False, "wall": None},
    ]
    sweepmaker.sweep(tmp_path, SPEC, attempts)
    done = made.tool("manifest-summary", "--sweep", "lora")
    assert done.stdout == (
        "CELL  lr    n  TRY  STATE      REASON   WALL_SEC  COST_USD\n"
        "   0  1e-3  1    1  failed     timeout     100.5      0.40\n"
        "   0  1e-3  1    2  succeeded  -           100.5      0.30\n"
        "   1  1e-4  1    1  lost       -               ?         ?\n"
        "\n"
        "== TOTALS ==\n"
        "manifests:        2\n"
        "failed:           1\n"
        "wall_time_sec:    201.0\n"
        "estimated_cost:   $0.70\n"
        "unknown_cost:     1 (charged at $1.00)\n"
        "interrupted:      0\n"
        "lost:             1\n"
        "skipped:          0\n"
    )


def test_a_parameter_called_like_a_column_of_the_groups_keeps_its_value(project, tmp_path):
    made = project()
    sweepmaker.sweep(tmp_path, SPEC, [{"cell": 0, "state": "succeeded"}])
    shape = json.loads(made.tool("manifest-summary", "--by", "n", "--format", "json").stdout)
    assert [(one["param.n"], one["n"]) for one in shape["groups"]] == [("1", 1)]


def test_a_terminal_obeys_no_name_of_a_run(project):
    made = project()
    sweepmaker.manifest(made.path / "artifacts" / "a\x1b[2Jb\nc", job_name="x\x1b]0;title\x07")
    (made.path / "artifacts" / "bad\x1b[1m").mkdir()
    (made.path / "artifacts" / "bad\x1b[1m" / "runpod_deploy_pull_manifest.json").touch()
    for form in ("table", "blocks", "markdown"):
        done = made.tool("manifest-summary", "--root", "artifacts", "--format", form)
        assert "\x1b" not in done.stdout + done.stderr
        assert "a\\x1b[2Jb\\nc" in done.stdout.replace("\\\\", "\\")


def test_a_small_total_is_not_rounded_away(project):
    made = project()
    sweepmaker.manifest(made.path / "artifacts" / "a", estimated_cost_usd=0.000344)
    assert "estimated_cost:   $0.00 (exactly $0.000344)\n" in made.tool("manifest-summary").stdout


@pytest.mark.parametrize(
    ("texts", "even"),
    [
        (["0.553", "0.6", "12"], ["0.553", "0.600", "12.000"]),
        (["0.31", "?", "0.000061"], ["0.310000", "?", "0.000061"]),
        (["7", "12"], ["7", "12"]),
        (["?"], ["?"]),
        (["1.19358", "1.83333e-9"], ["1.19358", "1.83333e-9"]),
        ([], []),
    ],
)
def test_points_of_a_column_of_numbers_are_in_one_line(texts, even):
    assert text.even(texts) == even


@pytest.mark.parametrize(
    ("seconds", "shown"),
    [
        (None, "?"),
        ("13.075933009000437", "13.076"),
        ("0.6", "0.6"),
        ("600", "600"),
        ("0.0004", "0.000"),
        ("1E+3", "1000"),
    ],
)
def test_wall_time_for_people_has_milliseconds_at_most(seconds, shown):
    run = dataclasses.replace(summary._NOTHING, wall_seconds=None if seconds is None else Decimal(seconds))
    assert summary._seconds(run) == shown


def test_the_command_line_offers_just_the_formats_there_are():
    assert tuple(summary.FORMATS) == read.FORMATS


def test_a_pipe_that_does_not_block_gets_all_of_it(tmp_path):
    for number in range(300):
        sweepmaker.manifest(tmp_path / "t" / f"{number:03d}")
    argv = [sys.executable, "-m", "sweeptool", "manifest-summary", "--root", str(tmp_path / "t"), "--format", "json"]
    reading, writing = os.pipe()
    os.set_blocking(writing, False)
    with subprocess.Popen(argv, stdout=writing) as process, os.fdopen(reading, "rb") as output:
        os.close(writing)
        time.sleep(1)  # until the pipe is full
        told = json.loads(output.read())
    assert (process.returncode, len(told["runs"])) == (0, 300)
