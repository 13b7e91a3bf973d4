"""The frozen plan: a driver whose job configs are no longer what they were is not run."""

from __future__ import annotations

import os

import pytest

RUNNER = """
    #!/bin/sh
    mkdir -p runs/$1 && echo "RUN_DIR=$PWD/runs/$1" && cp "$2" runs/$1/config
    echo '{"failed": false, "estimated_cost_usd": 0.01, "wall_time_sec": 1}' > runs/$1/m.json
    """
SPEC = """
    name: s
    runner: {kind: command, argv: [sh, runner.sh, "{id}", "{config}"], manifest: m.json}
    configs: [a.yaml, b.yaml]
    """


def test_a_config_edited_after_render_is_named_and_nothing_starts(project):
    made = project({"runner.sh": RUNNER, "s.yaml": SPEC, "a.yaml": "x: 1\n", "b.yaml": "x: 2\n"})
    made.write({"driver.sh": made.tool("render", "s.yaml").stdout})
    made.write({"b.yaml": "x: 3\n"})
    done = made.run("bash", "driver.sh")
    assert (done.returncode, done.stderr) == (
        2,
        "error: b.yaml: it was changed since the driver was rendered (render the spec again)\n",
    )
    assert not (made.path / "runs").exists()
    made.write({"driver.sh": made.tool("render", "s.yaml").stdout})
    assert made.run("bash", "driver.sh").returncode == 0


def test_a_spec_edited_after_render_is_mentioned_and_the_driver_runs_what_it_holds(project):
    made = project({"runner.sh": RUNNER, "s.yaml": SPEC, "a.yaml": "x: 1\n", "b.yaml": "x: 2\n"})
    made.write({"driver.sh": made.tool("render", "s.yaml").stdout})
    note = "note    s.yaml was changed since this driver was rendered from it; to run the change, render it again"
    assert note not in made.run("bash", "driver.sh").stderr
    made.write({"s.yaml": SPEC + "    max_parallel: 3\n"})
    done = made.run("bash", "driver.sh")
    assert (done.returncode, note in done.stderr) == (0, True)
    (made.path / "s.yaml").unlink()
    done = made.run("bash", "driver.sh")
    assert (done.returncode, "note" in done.stderr) == (0, False)


@pytest.mark.parametrize("kind", ["stdin", "pipe", "directory"])
def test_a_spec_that_is_no_file_any_more_is_not_waited_for(project, kind):
    made = project({"runner.sh": RUNNER, "s.yaml": SPEC, "a.yaml": "x: 1\n", "b.yaml": "x: 2\n"})
    spec = "/dev/stdin" if kind == "stdin" else "s.yaml"
    made.write({"driver.sh": made.run("sh", "-c", f"sweeptool render {spec} <s.yaml").stdout})
    if kind != "stdin":
        (made.path / "s.yaml").unlink()
        os.mkfifo(made.path / "s.yaml") if kind == "pipe" else (made.path / "s.yaml").mkdir()
    done = made.run("bash", "driver.sh")
    assert (done.returncode, "note" in done.stderr) == (0, False)
