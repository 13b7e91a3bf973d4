"""budget: what is spent, reserved, unknown and left, of a sweep and of a tree; and the cap while a sweep runs."""

from __future__ import annotations

import json

import pytest

from tests.sweepmaker import manifest, sweep

SPEC = "name: cap\ncommand: 'true'\nprice_per_hour_usd: 1\ncost_cap_usd: 0.30\nmax_cost_usd: 1\nmatrix: {params: {a: [1, 2, 3, 4]}}\n"
KEYS = ["limit_usd", "spent_usd", "reserved_usd", "unknown_usd", "left_usd"]


def amounts(done) -> list[str | None]:
    found = json.loads(done.stdout)
    assert list(found) == KEYS
    return list(found.values())


@pytest.mark.parametrize(
    ("attempts", "words", "expected", "code"),
    [
        pytest.param([], [], ["1.00", "0.00", "0.00", "0.00", "1.00"], 0, id="nothing-yet"),
        pytest.param(
            [
                {"cell": 0, "state": "failed", "cost": "0.40"},
                {"cell": 0, "state": "succeeded", "cost": "0.30"},
                {"cell": 1, "state": "lost", "cost": None, "reserved": "0.10"},
                {"cell": 2, "state": "running", "reserved": "0.05"},
            ],
            [], ["1.00", "0.70", "0.05", "0.10", "0.15"], 0, id="all-attempts",
        ),
        pytest.param([{"cell": 0, "state": "succeeded", "cost": "1"}], [], ["1.00", "1.00", "0.00", "0.00", "0.00"], 3, id="reached"),
        pytest.param([{"cell": 0, "state": "failed", "cost": "1.25"}], [], ["1.00", "1.25", "0.00", "0.00", "-0.25"], 3, id="overshot"),
        pytest.param(
            [{"cell": 0, "state": "succeeded", "cost": "0.999999"}], [], ["1.00", "0.999999", "0.00", "0.00", "0.000001"], 0, id="to-the-last"
        ),
        pytest.param([{"cell": 0, "state": "succeeded", "cost": "1"}], ["--max-cost-usd", "2"], ["2.00", "1.00", "0.00", "0.00", "1.00"], 0, id="another-cap"),
        pytest.param([{"cell": 0, "state": "succeeded", "cost": "0"}], ["--max-cost-usd", "0"], ["0.00", "0.00", "0.00", "0.00", "0.00"], 3, id="cap-0"),
    ],
)  # fmt: skip
def test_budget_of_a_sweep(project, tmp_path, attempts, words, expected, code):
    here = project()
    sweep(tmp_path, SPEC, attempts)
    done = here.tool("budget", "--json", *words)
    assert (amounts(done), done.returncode) == (expected, code)
    assert here.tool("budget", *words).returncode == code


def test_budget_of_a_sweep_without_a_cap_is_never_reached(project, tmp_path):
    here = project()
    sweep(tmp_path, SPEC.replace("max_cost_usd: 1\n", ""), [{"cell": 0, "state": "succeeded", "cost": "999"}])
    done = here.tool("budget", "--json")
    assert (amounts(done), done.returncode) == ([None, "999.00", "0.00", "0.00", None], 0)
    assert here.tool("budget").stdout == "spent $999.00 no cap, reserved $0.00\n"


def test_budget_line_names_every_amount(project, tmp_path):
    here = project()
    sweep(
        tmp_path,
        SPEC,
        [
            {"cell": 0, "state": "lost", "cost": None, "reserved": "0.30"},
            {"cell": 1, "state": "running", "reserved": "0.30"},
        ],
    )
    line = "spent $0.00 of $1.00, reserved $0.30, 1 unknown cost charged $0.30, $0.40 left\n"
    assert here.tool("budget").stdout == line


def test_budget_of_a_tree_counts_every_manifest_and_says_what_it_does_not_know(project, tmp_path):
    here = project()
    for name, cost in (("a", 0.25), ("b/c", 0.10), ("d", None), ("e", -1)):
        manifest(here.path / "runs" / name, estimated_cost_usd=cost)
    (here.path / "runs/torn").mkdir()
    (here.path / "runs/torn/runpod_deploy_pull_manifest.json").write_text('{"failed"')
    done = here.tool("budget", "--root", "runs", "--max-cost-usd", "1", "--json")
    assert (amounts(done), done.returncode) == (["1.00", "0.35", "0.00", None, "0.65"], 0)
    assert done.stderr.startswith("warning: skipped: runs/torn/runpod_deploy_pull_manifest.json: is torn")
    assert "runs/e/runpod_deploy_pull_manifest.json: estimated_cost_usd is -1" in done.stderr.splitlines()[1]
    line = "spent $0.35 of $1.00, reserved $0.00, 3 unknown costs not counted, $0.65 left\n"
    assert here.tool("budget", "--root", "runs", "--max-cost-usd", "1").stdout == line
    assert here.tool("budget", "--root", "runs", "--max-cost-usd", "0.35").returncode == 3


def test_budget_of_a_tree_counts_a_run_once_and_reaches_the_cap_past_a_broken_link(project):
    here = project()
    for name, run in (("a", "a"), ("b", "b"), ("copy", "a")):
        manifest(here.path / "runs" / name, estimated_cost_usd=0.5, run_id=run, pod_id=run)
    (here.path / "runs/broken").symlink_to("broken")
    done = here.tool("budget", "--root", "runs", "--max-cost-usd", "1", "--json")
    assert (amounts(done)[:2], done.returncode) == (["1.00", "1.00"], 3)
    assert [line.split("/")[1].partition(":")[0] for line in done.stderr.splitlines()] == ["broken", "copy"]


def test_budget_of_a_tree_of_known_costs_has_nothing_unknown(project):
    here = project()
    manifest(here.path / "runs/a", estimated_cost_usd=0.25)
    assert amounts(here.tool("budget", "--root", "runs", "--max-cost-usd", "1", "--json"))[3] == "0.00"


@pytest.mark.parametrize(
    ("words", "error"),
    [
        pytest.param(
            ["--root", "."], "--root needs --max-cost-usd (a tree of runs has no cap of its own)", id="no-cap"
        ),
        pytest.param(["cap", "--root", "."], "SWEEP and --root exclude each other (give one of them)", id="both"),
        pytest.param(["--root", "nowhere"], "Directory 'nowhere' does not exist", id="no-root"),
        pytest.param(["--max-cost-usd", "lots"], "--max-cost-usd: ", id="no-amount"),
        pytest.param(["--max-cost-usd", "nan"], "--max-cost-usd: ", id="nan"),
        pytest.param(["--max-cost-usd", "-1"], "--max-cost-usd: ", id="negative"),
        pytest.param(["--max-cost-usd", "0.1234567"], "--max-cost-usd: ", id="too-fine"),
        pytest.param(["nosuch"], "no sweep 'nosuch'", id="no-sweep"),
    ],
)
def test_budget_of_what_cannot_be(project, tmp_path, words, error):
    here = project()
    sweep(tmp_path, SPEC, [])
    done = here.tool("budget", *words)
    assert (done.returncode, done.stdout) == (2, "")
    assert error in done.stderr
    assert len(done.stderr.splitlines()) == 1


# ---- the cap while a sweep runs: cap 0.75, per-cell cap 0.30, real costs 0.30


def costly(policy: str = "reserve", parallel: int = 4) -> dict[str, str]:
    """Return a sweep of five cells that cost 0.30 each, by a runner's own manifest; ran.txt is its own record."""
    return {
        "sweep.yaml": f"""
            name: costly
            runner: {{kind: command, argv: [bash, runner.sh, "{{a}}"], manifest: m.json}}
            cost_cap_usd: 0.30
            max_cost_usd: 0.75
            max_parallel: {parallel}
            budget_policy: {policy}
            matrix: {{params: {{a: [1, 2, 3, 4, 5]}}}}
            """,
        "runner.sh": """
            dir=$PWD/out/$1-$$
            mkdir -p "$dir"
            echo "RUN_DIR=$dir"
            echo "$1" >>ran.txt
            sleep 0.2
            echo '{"failed": false, "estimated_cost_usd": 0.30, "wall_time_sec": 1}' >"$dir/m.json"
            """,
    }


def ran(here) -> list[str]:
    return sorted((here.path / "ran.txt").read_text().split())


def state(here) -> tuple[str, str, list[str], str]:
    found = json.loads(here.tool("status", "costly", "--json").stdout)
    return found["phase"], found["reason"], [cell["phase"] for cell in found["cells"]], found["cost"]["totalUSD"]


def test_policy_reserve_launches_two_and_stops(project):
    here = project(costly())
    done = here.tool("run", "sweep.yaml")
    assert done.returncode == 3
    assert ran(here) == ["1", "2"]
    assert state(here) == ("Suspended", "MaxCostReached", ["Succeeded"] * 2 + ["Pending"] * 3, "0.60")
    more = "0.90 # for one more cell; 1.50 for all that are left"
    assert f"raise the cap: sweeptool resume costly --max-cost-usd {more}" in done.stdout
    assert "spent $0.60 + in flight $0.00 + this cell $0.30 > $0.75" in done.stderr


def test_policy_spent_with_one_at_a_time_launches_three_and_stops(project):
    here = project(costly("spent", parallel=1))
    assert "can be overshot by $0.30" in here.tool("plan", "sweep.yaml").stdout
    assert here.tool("run", "sweep.yaml").returncode == 3
    assert ran(here) == ["1", "2", "3"]
    assert state(here) == ("Suspended", "MaxCostReached", ["Succeeded"] * 3 + ["Pending"] * 2, "0.90")
    assert here.tool("budget", "costly").returncode == 3


@pytest.mark.parametrize("raise_by", ["resume", "run", "driver"])
def test_raising_the_cap_goes_on_with_the_next_cell(project, raise_by):
    here = project(costly())
    assert here.tool("run", "sweep.yaml").returncode == 3
    words = {
        "resume": ["sweeptool", "resume", "costly", "--max-cost-usd", "1.20"],
        "run": ["sweeptool", "run", "sweep.yaml", "--max-cost-usd", "1.20"],
        "driver": ["bash", "artifacts/sweeps/costly/driver.sh", "--max-cost-usd", "1.20"],
    }[raise_by]
    done = here.run(*words)
    assert done.returncode == 3
    assert ran(here) == ["1", "2", "3", "4"]
    assert state(here) == ("Suspended", "MaxCostReached", ["Succeeded"] * 4 + ["Pending"], "1.20")
    assert here.tool("resume", "costly", "--max-cost-usd", "1.5").returncode == 0
    assert ran(here) == ["1", "2", "3", "4", "5"]
    assert state(here) == ("Succeeded", None, ["Succeeded"] * 5, "1.50")


def test_running_again_under_the_same_cap_launches_nothing(project):
    here = project(costly())
    for _ in range(2):
        assert here.tool("run", "sweep.yaml").returncode == 3
    assert ran(here) == ["1", "2"]


@pytest.mark.parametrize("lower_by", ["resume", "driver", "run"])
def test_cap_below_what_is_spent_is_refused_and_changes_nothing(project, lower_by):
    here = project(costly())
    here.tool("run", "sweep.yaml")
    words = {
        "resume": ["sweeptool", "resume", "costly", "--max-cost-usd", "0.59"],
        "driver": ["bash", "artifacts/sweeps/costly/driver.sh", "--max-cost-usd", "0.59"],
        "run": ["sweeptool", "run", "sweep.yaml", "--max-cost-usd", "0.59"],
    }[lower_by]
    done = here.run(*words)
    assert done.returncode == 2
    assert "a cap of $0.59 is below the $0.60 already spent and reserved (at least 0.60)" in done.stderr
    assert ran(here) == ["1", "2"]
    assert json.loads(here.tool("status", "costly", "--json").stdout)["cost"]["limitUSD"] == "0.75"


def test_cap_that_fits_no_cell_is_refused_before_anything(project):
    here = project(costly())
    for command in ("plan", "validate", "render", "run"):
        done = here.tool(command, "sweep.yaml", "--max-cost-usd", "0.29")
        assert done.returncode == 2
        assert "the cap of $0.29 fits not even one cell" in done.stderr
        assert done.stdout == ""
    assert not (here.path / "artifacts").exists()
