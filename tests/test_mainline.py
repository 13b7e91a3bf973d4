"""The main job, end to end: a Sweep from its YAML on stdin, the driver it gives, the cells that fail, what is said."""

from __future__ import annotations

import json
import re

import pytest

from tests.conftest import require_program

# The Sweep that everybody writes first; only its command does something that runs on any machine.
SWEEP = """
    apiVersion: nodus.dev/v1
    kind: Sweep
    metadata:
      name: batch-size
    spec:
      maxCostUSD: "0.75"
      maxParallel: 2
      # 2 GPU types x 3 batch sizes = 6 cells, each a Job named batch-size-<index>.
      matrix:
        gpu: [L4, A10]
        params:
          BATCH_SIZE: ["32", "64", "128"]
      template:
        kind: Job
        spec:
          image: nodus/pytorch
          timeout: 10m
          command:
            - python3
            - -c
            - |
              import json, os, sys
              bs = int(os.environ["NODUS_PARAM_BATCH_SIZE"])
              gpu = os.environ.get("FAIL", "")
              for step in range(3):
                  print("nodus.unit_done", json.dumps({"id": step, "ms": bs}))
              print(f"batch {bs}: it's $fine `here`")
              sys.exit(3 if gpu and os.environ["SWEEP_INDEX"] in gpu else 0)
    """


@pytest.fixture
def rendered(project):
    """A project with the driver that ``sweeptool render - > driver.sh`` gave."""
    here = project({"sweep.yaml": SWEEP})
    done = here.run("bash", "-c", "sweeptool render - < sweep.yaml > driver.sh")
    assert (done.returncode, done.stderr) == (0, "")
    return here


def phases(here) -> list[str]:
    return [cell["phase"] for cell in json.loads(here.tool("status", "--json").stdout)["cells"]]


def test_driver_is_clean_for_shellcheck_and_shfmt(rendered):
    require_program("shellcheck", "shfmt")
    for argv in (["shellcheck", "driver.sh"], ["shfmt", "-i", "2", "-ci", "-d", "driver.sh"]):
        done = rendered.run(*argv)
        assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def test_driver_runs_six_cells_and_ends_with_the_table_and_the_best(rendered):
    done = rendered.run("bash", "driver.sh")
    assert done.returncode == 0, done.stderr
    head, row, cheapest, fastest = done.stdout.splitlines()[:4]
    assert head.split() == ["NAME", "PHASE", "CELLS", "COST", "BEST-COST", "AGE"]
    assert row.split()[:3] == ["batch-size", "Succeeded", "6/6"]
    assert re.fullmatch(r"cheapest  \d  batch-size-\d  (L4|A10) BATCH_SIZE=\d+  \$0\.\d+", cheapest)
    assert re.fullmatch(r"fastest   \d  batch-size-\d  (L4|A10) BATCH_SIZE=\d+  \d+\.\d units/s", fastest)
    assert rendered.tool("logs", "batch-size", "3").stdout.splitlines()[-1] == "batch 32: it's $fine `here`"


def test_driver_again_launches_nothing(rendered):
    assert rendered.run("bash", "driver.sh").returncode == 0
    runs = sorted((rendered.path / "artifacts/local").iterdir())
    again = rendered.run("bash", "driver.sh")
    assert again.returncode == 0
    assert again.stderr == "sweep   batch-size: all 6 cells are done, nothing to launch\n"
    assert sorted((rendered.path / "artifacts/local").iterdir()) == runs


def test_every_cell_failing_is_exit_1_and_each_is_named_with_its_logs(rendered):
    done = rendered.run("bash", "driver.sh", env={"FAIL": "012345"})
    assert done.returncode == 1
    assert phases(rendered) == ["Failed"] * 6
    named = [line.split()[1] for line in done.stdout.splitlines() if line.startswith("failed ")]
    assert named == list("012345")
    logs = re.findall(r"^ +(/.*/attempt-1/(?:stdout|stderr)\.log)$", done.stdout, re.MULTILINE)
    assert len(logs) == 12
    assert [path.startswith(str(rendered.path.resolve())) for path in logs] == [True] * 12
    assert "exit 3" in done.stdout


def test_one_cell_of_six_failing_stops_no_other_and_is_exit_1(rendered):
    assert rendered.run("bash", "driver.sh", env={"FAIL": "4"}).returncode == 1
    assert phases(rendered) == ["Succeeded"] * 4 + ["Failed", "Succeeded"]
    assert json.loads(rendered.tool("status", "--json").stdout)["reason"] == "CellsFailed"
    mended = rendered.run("bash", "driver.sh")
    assert mended.returncode == 0
    assert [line.split()[1] for line in mended.stderr.splitlines() if line.startswith("launch")] == ["4"]


def test_output_of_the_driver_is_data_on_stdout_and_words_on_stderr(rendered):
    done = rendered.run("bash", "driver.sh")
    assert [line.split()[0] for line in done.stdout.splitlines()] == ["NAME", "batch-size", "cheapest", "fastest"]
    assert {line.split()[0] for line in done.stderr.splitlines()} == {"sweep", "launch", "ok"}


def test_help_of_the_driver_tells_its_usage_its_files_and_its_codes(rendered):
    for flag in ("-h", "--help"):
        done = rendered.run("bash", "driver.sh", flag)
        assert (done.returncode, done.stderr) == (0, "")
        for word in ("Usage", "shard N", "list", "begin", "end", "ledger.jsonl", "Exit codes", "sweeptool render"):
            assert word in done.stdout
    assert not (rendered.path / "artifacts").exists()


def test_list_of_the_driver_is_a_line_a_cell(rendered):
    lines = [line.split("\t") for line in rendered.run("bash", "driver.sh", "list").stdout.splitlines()]
    assert [(line[0], line[2], line[3]) for line in lines] == [
        (str(index), f"batch-size-{index}", f"BATCH_SIZE={size}") for index, size in enumerate(["32", "64", "128"] * 2)
    ]


@pytest.mark.parametrize(
    ("words", "error"),
    [
        pytest.param(["--bogus"], "unknown option or command '--bogus'", id="option"),
        pytest.param(["shrad", "1"], "unknown option or command 'shrad'", id="command"),
        pytest.param(["shard"], "shard: '' is not a whole number", id="no-shard"),
        pytest.param(["shard", "6"], "shard 6: the cells are 0 to 5", id="shard-6"),
        pytest.param(["-j", "many"], "-j: 'many' is not a whole number", id="bound"),
        pytest.param(["-j"], "-j: '' is not a whole number", id="no-bound"),
        pytest.param(["--max-cost-usd"], "--max-cost-usd needs an amount", id="no-amount"),
        pytest.param(["--max-cost-usd", "x"], "--max-cost-usd: ", id="amount"),
        pytest.param(["--project-dir", "/nowhere"], "no project directory /nowhere", id="project"),
    ],
)
def test_misuse_of_the_driver_is_one_line_exit_2_and_starts_nothing(rendered, words, error):
    done = rendered.run("bash", "driver.sh", *words)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("error: ")
    assert error in done.stderr
    assert len(done.stderr.splitlines()) == 1
    assert not list(rendered.path.glob("artifacts/local/*"))
