"""The make side on the command line: where a spec comes from, where a driver goes, how it is made again, plan --diff."""

from __future__ import annotations

import compileall
import json
import os
import re
import shutil
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

from sweeptool import plan as plans
from sweeptool import render
from sweeptool import spec as specs
from tests.conftest import Project

ROOT = Path(__file__).parent.parent
SPEC = """
    name: demo
    command: [echo, "{lr}"]
    price_per_hour_usd: 1
    max_runtime: 1m
    matrix: {params: {lr: [1e-3, "a b"]}}
    """
JSON = '{"name": "j", "command": ["echo", "{a}"], "matrix": {"params": {"a": [1, "it\'s $x"]}}}'


def header(text: str) -> list[str]:
    """Return the commands in a file's header that make it, or its driver, again."""
    return re.findall(r"^#   (sweeptool render .*)$", text, re.MULTILINE)


# ---- made again


@pytest.mark.parametrize(
    "words",
    [
        pytest.param(["sweep.yaml"], id="file"),
        pytest.param(["my sweep's `id`; x.yaml"], id="hostile-file"),
        pytest.param(["sweep.yaml", "--name", "other", "--ttl", "2m", "--max-cost-usd", "3", "--spot"], id="options"),
        pytest.param(["sweep.yaml", "--command", "echo $PARAM_lr\n# it's `id`"], id="command"),
        pytest.param([JSON], id="json"),
        pytest.param([JSON.replace(" ", "\n\t")], id="json-of-many-lines"),
        pytest.param([JSON.replace("$x", "\u2028日本\x85")], id="json-with-line-separators"),
        pytest.param([JSON.replace("$x", "x" * 5000)], id="long-json"),
        pytest.param(["--grid", "a=1,2 b=$x", "--command", "echo $PARAM_a", "--price-per-hour", "0.5", "--ttl", "30m"], id="grid"),
        pytest.param(["sweep.yaml", "--project-dir", "sub dir"], id="project-dir"),
        pytest.param(["--", "-sweep.yaml"], id="leading-dash"),
    ],
)  # fmt: skip
def test_commands_of_the_header_make_the_same_bytes_again(project, words):
    here = project(dict.fromkeys(("sweep.yaml", "my sweep's `id`; x.yaml", "-sweep.yaml"), SPEC))
    (here.path / "sub dir").mkdir()
    made = here.tool("render", "--target", "slurm", *words)
    assert (made.returncode, made.stderr) == (0, "")
    for command in header(made.stdout):
        done = here.run("bash", "-c", command)
        assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    assert (here.path / "sweep.sbatch").read_text() == made.stdout
    assert header((here.path / "driver.sh").read_text()) == header(made.stdout)[:1]


@pytest.mark.parametrize("target", render.FILES)
def test_every_target_says_how_it_and_its_driver_are_made(tmp_path, target):
    plan = plans.make(specs.load(textwrap.dedent(SPEC), "a b.yaml", project=tmp_path), tmp_path)
    own = [] if target == "bash" else [f"sweeptool render --target={target} 'a b.yaml' > {render.FILES[target]}"]
    assert header(render.render(plan, target)) == ["sweeptool render 'a b.yaml' > driver.sh", *own]


def test_command_of_the_header_says_where_a_spec_from_stdin_goes(project):
    here = project({"SPEC": SPEC})
    made = here.tool("render", "-", stdin=(here.path / "SPEC").read_text())
    assert header(made.stdout) == ["sweeptool render - < SPEC > driver.sh"]
    assert here.run("bash", "-c", header(made.stdout)[0]).returncode == 0
    assert (here.path / "driver.sh").read_text() == made.stdout


def test_driver_of_run_says_how_render_makes_it(project):
    here = project({"sweep.yaml": SPEC})
    assert here.tool("run", "sweep.yaml", "--ttl", "2m", "-j", "1").returncode == 0
    ran = (here.path / "artifacts/sweeps/demo/driver.sh").read_text()
    assert header(ran) == ["sweeptool render --ttl=2m sweep.yaml > driver.sh"]
    assert ran == here.tool("render", "sweep.yaml", "--ttl", "2m").stdout


# ---- where it goes


def test_output_is_a_file_that_runs(project):
    here = project({"sweep.yaml": SPEC})
    assert here.tool("render", "sweep.yaml", "-o", "my driver.sh").stdout == ""
    assert os.access(here.path / "my driver.sh", os.X_OK)
    assert (here.path / "my driver.sh").read_text() == here.tool("render", "sweep.yaml", "-o", "-").stdout
    assert here.run("./my driver.sh").returncode == 0


@pytest.mark.parametrize(
    ("output", "error"),
    [
        pytest.param("nowhere/driver.sh", "nowhere/driver.sh: cannot be written: No such file or directory", id="no-directory"),
        pytest.param(".", ".: cannot be written: Is a directory", id="here"),
        pytest.param("..", "..: cannot be written: Is a directory", id="above"),
        pytest.param("sub", "sub: cannot be written: Is a directory", id="directory"),
        pytest.param("sweep.yaml/x", "sweep.yaml/x: cannot be written: Not a directory", id="below-a-file"),
        pytest.param("x" * 300, ": cannot be written: File name too long", id="long"),
        pytest.param("/dev/full", "/dev/full: cannot be written: No space left on device (make room)", id="full-disk"),
        pytest.param("/proc/driver.sh", "/proc/driver.sh: cannot be written: No such file or directory", id="unwritable"),
    ],
)  # fmt: skip
def test_output_that_cannot_be_written_is_one_line_and_leaves_nothing(project, output, error):
    here = project({"sweep.yaml": SPEC})
    (here.path / "sub").mkdir()
    done = here.tool("render", "sweep.yaml", "-o", output)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("error: ")
    assert done.stderr.endswith(f"{error}\n")
    assert len(done.stderr.splitlines()) == 1
    assert sorted(path.name for path in here.path.rglob("*")) == ["sub", "sweep.yaml"]


def test_output_stays_as_it_was_where_the_spec_is_wrong_or_the_disk_full(project):
    here = project({"sweep.yaml": SPEC.replace("command", "comand"), "driver.sh": "old\n"})
    assert here.tool("render", "sweep.yaml", "-o", "driver.sh").returncode == 2
    here.write({"sweep.yaml": SPEC})
    done = here.run("bash", "-c", f"ulimit -f 1; {sys.executable} -m sweeptool render sweep.yaml -o driver.sh")
    assert done.returncode == 2
    assert done.stderr == "error: driver.sh: cannot be written: File too large\n"
    assert (here.path / "driver.sh").read_text() == "old\n"
    assert sorted(path.name for path in here.path.iterdir()) == ["driver.sh", "sweep.yaml"]


@pytest.mark.parametrize("closed", [">&-", ">&- 2>&- <&-"], ids=["stdout", "all"])
@pytest.mark.parametrize(
    "command", ["plan sweep.yaml", "render sweep.yaml", "run sweep.yaml", "status", "validate sweep.yaml"]
)
def test_stream_that_is_closed_is_no_reason_to_fail(project, command, closed):
    here = project({"sweep.yaml": SPEC, "first.yaml": SPEC})
    assert here.tool("run", "first.yaml").returncode == 0
    done = here.run("bash", "-c", f"{sys.executable} -m sweeptool {command} {closed}")
    assert done.returncode == 0
    assert "Traceback" not in done.stderr


def test_driver_started_without_streams_writes_into_none_of_its_files(project):
    here = project({"sweep.yaml": SPEC})
    assert here.run("bash", "-c", f"{sys.executable} -m sweeptool run sweep.yaml >&- 2>&- <&-").returncode == 0
    where = here.path / "artifacts/sweeps/demo"
    assert all(json.loads(line)["event"] for line in (where / "ledger.jsonl").read_text().splitlines())
    assert (where / "driver.sh").read_text() == here.tool("render", "sweep.yaml").stdout
    assert "Succeeded" in here.tool("status").stdout


# ---- where it comes from


@pytest.mark.parametrize(
    ("words", "error"),
    [
        pytest.param([], "no SPEC (name a file, '-' for stdin, or use --grid)", id="nothing"),
        pytest.param([""], "no SPEC (name a file, '-' for stdin, or use --grid)", id="empty-name"),
        pytest.param(["nope.yaml"], "nope.yaml: No such file or directory ('sweeptool init' writes one)", id="missing"),
        pytest.param(["."], ".: Is a directory", id="directory"),
        pytest.param(["sweep.yaml/x"], "sweep.yaml/x: Not a directory", id="below-a-file"),
        pytest.param(["empty.yaml"], "empty.yaml: the spec is empty (sweeptool init writes a starter)", id="empty"),
        pytest.param(["-"], "-: the spec is empty (sweeptool init writes a starter)", id="empty-stdin"),
        pytest.param(["/dev/null"], "/dev/null: the spec is empty (sweeptool init writes a starter)", id="null"),
        pytest.param(["/dev/zero"], "/dev/zero: longer than 64 MB, so no spec", id="endless"),
        pytest.param(["sweep.yaml", "--grid", "a=1"], "a SPEC and --grid exclude each other (drop one)", id="both"),
        pytest.param(["sweep.yaml", "b.yaml"], "Got unexpected extra argument (b.yaml)", id="two"),
        pytest.param(["sweep.yaml", "--project-dir", "no"], "Directory 'no' does not exist", id="project"),
        pytest.param(["sweep.yaml", "--nmae", "x"], "no such option '--nmae' (did you mean '--name'?)", id="misspelt"),
    ],
)  # fmt: skip
def test_spec_that_is_not_there_is_one_line(project, words, error):
    here = project({"sweep.yaml": SPEC, "empty.yaml": ""})
    done = here.tool("run", *words)
    assert (done.returncode, done.stdout) == (2, "")
    assert error in done.stderr
    assert len(done.stderr.splitlines()) == 1
    assert not (here.path / "artifacts").exists()


def test_spec_may_come_through_a_pipe(project):
    here = project({"sweep.yaml": SPEC})
    done = here.run("bash", "-c", f"{sys.executable} -m sweeptool validate <(cat sweep.yaml)")
    assert (done.returncode, done.stderr) == (0, "ok: 2 cells\n")


@pytest.mark.parametrize("command", ["plan", "render"])
def test_make_side_needs_neither_home_nor_path(project, command):
    here = project({"sweep.yaml": SPEC})
    done = subprocess.run(
        [sys.executable, "-m", "sweeptool", command, "sweep.yaml"],
        cwd=here.path,
        env={name: value for name, value in os.environ.items() if name == "PYTHONPATH"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stderr, done.stdout) == (0, "", here.tool(command, "sweep.yaml").stdout)


def test_validate_names_every_problem_with_its_line(project):
    here = project({"bad.yaml": "name: demo\ncomand: [x]\nmax_parallel: -1\nmatrix: {params: {a: [[1]]}}\n"})
    done = here.tool("validate", "bad.yaml")
    assert done.returncode == 2
    assert [line.split(": ")[1] for line in done.stderr.splitlines()] == [
        "bad.yaml:2:1",
        "bad.yaml:3:15",
        "bad.yaml:4:23",
    ]


@pytest.mark.parametrize(("grid", "line"), [("a=1", "ok: 1 cell"), ("a=1,2", "ok: 2 cells")])
def test_validate_counts_the_cells(project, grid, line):
    assert project().tool("validate", "--grid", grid, "--command", "x").stderr == f"{line}\n"


# ---- plan


def test_plan_without_a_command_lists_the_cells_and_says_what_is_missing(project):
    here = project()
    done = here.tool("plan", "--grid", "a=1,2")
    assert done.returncode == 0
    assert [line.split()[0] for line in done.stdout.splitlines()[:3]] == ["CELL", "0", "1"]
    assert "There is no command to run yet" in done.stdout
    assert [cell["argv"] for cell in json.loads(here.tool("plan", "--grid", "a=1,2", "--json").stdout)["cells"]] == [
        None,
        None,
    ]
    for command in ("render", "run"):
        refused = here.tool(command, "--grid", "a=1,2")
        assert (refused.returncode, refused.stdout) == (2, "")
        assert "there is no command to run" in refused.stderr


def test_plan_of_one_cell_speaks_of_one(project):
    text = project().tool("plan", "--grid", "a=1", "--command", "x").stdout
    assert "1 cell, 1 at a time, runner local: nothing bounds the cost, nothing bounds the time." in text


def test_plan_of_many_cells_shows_the_first_and_the_last(project):
    here = project({"sweep.yaml": f"command: 'true'\nmatrix: {{params: {{a: {list(range(1000))}}}}}\n"})
    lines = here.tool("plan", "sweep.yaml").stdout.splitlines()
    assert [line.split()[0] for line in lines[1:62]] == [*map(str, range(30)), "…", *map(str, range(970, 1000))]
    assert "940 more" in lines[31]


@pytest.mark.parametrize("by", ["option", "environment"])
def test_plan_knows_where_the_sweep_will_be(project, by):
    here = project({"sweep.yaml": SPEC})
    words, env = (["--sweeps-dir", "my sweeps"], {}) if by == "option" else ([], {"SWEEPTOOL_SWEEPS_DIR": "my sweeps"})
    assert (
        json.loads(here.tool("plan", "sweep.yaml", "--json", *words, env=env).stdout)["sweep_dir"] == "my sweeps/demo"
    )


# ---- plan --diff

GROWN = SPEC.replace('[1e-3, "a b"]', '[1e-2, "a b"]')


def changes(done) -> list[str]:
    """Return ``what label`` of each cell."""
    assert (done.returncode, done.stderr) == (0, "")
    return [f"{change['what']} {change['label']}" for change in json.loads(done.stdout)]


def test_diff_with_a_spec(project):
    here = project({"old.yaml": SPEC, "new.yaml": GROWN})
    done = here.tool("plan", "new.yaml", "--diff", "old.yaml")
    assert [line.split("  ")[0] for line in done.stdout.splitlines()] == [
        "1 new, 1 same, 0 done, 1 gone",
        "new",
        "gone",
    ]
    assert changes(here.tool("plan", "new.yaml", "--diff", "old.yaml", "--json")) == [
        "new lr=1e-2",
        "same lr=a b",
        "gone lr=1e-3",
    ]


@pytest.mark.parametrize("named", ["demo", "artifacts/sweeps/demo", "artifacts/sweeps/demo/"])
def test_diff_with_a_sweep_tells_what_is_done(project, named):
    here = project(
        {
            "old.yaml": SPEC.replace("[echo, ", '[test, "a b", =, '),
            "new.yaml": GROWN.replace("[echo, ", '[test, "a b", =, '),
        }
    )
    assert here.tool("run", "old.yaml").returncode == 1
    assert changes(here.tool("plan", "new.yaml", "--diff", named, "--json")) == [
        "new lr=1e-2",
        "done lr=a b",
        "gone lr=1e-3",
    ]
    assert changes(here.tool("plan", "old.yaml", "--diff", named, "--json")) == ["same lr=1e-3", "done lr=a b"]


def test_diff_knows_what_an_earlier_plan_of_the_sweep_has_done(project):
    here = project({"old.yaml": SPEC, "new.yaml": GROWN})
    assert here.tool("run", "old.yaml").returncode == 0
    assert here.tool("run", "new.yaml").returncode == 0
    assert changes(here.tool("plan", "old.yaml", "--diff", "demo", "--json")) == [
        "done lr=1e-3",
        "done lr=a b",
        "gone lr=1e-2",
    ]


def test_diff_of_the_same_is_one_line(project):
    here = project({"sweep.yaml": SPEC})
    assert here.tool("plan", "sweep.yaml", "--diff", "sweep.yaml").stdout == "0 new, 2 same, 0 done, 0 gone\n"


def test_diff_sees_an_edited_command_as_other_cells(project):
    here = project({"old.yaml": SPEC, "new.yaml": SPEC.replace("echo", "printf")})
    assert here.tool("plan", "new.yaml", "--diff", "old.yaml").stdout.startswith("2 new, 0 same, 0 done, 2 gone\n")


def test_diff_reads_both_specs_with_the_same_options(project):
    text = "name: demo\nmatrix: {params: {lr: [1, 2]}}\n"
    here = project({"old.yaml": text, "new.yaml": text})
    done = here.tool("plan", "new.yaml", "--command", "x", "--diff", "old.yaml")
    assert done.stdout == "0 new, 2 same, 0 done, 0 gone\n"


def test_diff_of_a_grid_with_a_spec(project):
    here = project({"old.yaml": "name: sweep\ncommand: x\nmatrix: {params: {lr: [1, 2]}}\n"})
    done = here.tool("plan", "--grid", "lr=1,2,3", "--command", "x", "--diff", "old.yaml")
    assert done.stdout.startswith("1 new, 2 same, 0 done, 0 gone\n")


@pytest.mark.parametrize(
    ("old", "error"),
    [
        pytest.param("nope", "no sweep 'nope': ", id="nothing"),
        pytest.param("bad.yaml", "bad.yaml:1:1: ", id="bad-spec"),
        pytest.param("empty.yaml", "empty.yaml: the spec is empty", id="empty"),
    ],
)
def test_diff_with_what_is_neither(project, old, error):
    here = project({"sweep.yaml": SPEC, "bad.yaml": "nmae: x\n", "empty.yaml": ""})
    done = here.tool("plan", "sweep.yaml", "--diff", old)
    assert (done.returncode, done.stdout) == (2, "")
    assert error in done.stderr


@pytest.mark.parametrize("words", [["bad.yaml"], ["nope.yaml"], ["--targt", "make", "bad.yaml"], []])
def test_a_driver_that_could_not_be_rendered_is_no_success(project, words):
    here = project({"bad.yaml": "name: x\nmax_cost_us: 1\n"})
    done = here.run("bash", "-c", 'sweeptool render "$@" >driver.sh; echo $?', "bash", *words)
    assert done.stdout == "2\n"
    failed = here.run("bash", "driver.sh")
    assert (failed.returncode, failed.stdout) == (2, "")
    assert failed.stderr == "error: there is no driver in this file: 'sweeptool render' failed; it said why\n"
    assert here.tool("render", *words).stdout == ""


def test_what_a_file_holds_already_is_left_there(project):
    here = project({"notes": "kept\n"})
    here.run("bash", "-c", "sweeptool render nope.yaml >>notes")
    assert (here.path / "notes").read_text() == "kept\n"


# ---- init

RUNNERS = ["local", "runpod-deploy", "command"]


def tree(here: Project | Path) -> dict[str, bytes]:
    root = here.path if isinstance(here, Project) else here
    return {str(path.relative_to(root)): path.read_bytes() for path in sorted(root.rglob("*")) if path.is_file()}


@pytest.mark.parametrize("runner", RUNNERS)
def test_init_writes_a_spec_and_a_makefile_that_plan_as_they_are(project, runner):
    here = project()
    done = here.tool("init", "--runner", runner)
    assert (done.returncode, done.stdout) == (0, "")
    assert {"Makefile", "sweep.yaml"} <= set(tree(here))
    assert [line for line in done.stderr.splitlines() if line.startswith("wrote ")] == [
        f"wrote {name}" for name in tree(here)
    ]
    assert here.tool("validate", "sweep.yaml").returncode == 0
    assert here.run("make", "plan").stdout == here.tool("plan", "sweep.yaml").stdout
    listed = re.findall(r"^make (\w+) ", here.run("make").stdout, re.MULTILINE)
    assert listed == ["plan", "sweep", "status", "best", "summary"]


@pytest.mark.parametrize("runner", ["local", "command"])
def test_what_init_writes_runs_as_it_is(project, runner):
    here = project()
    assert here.tool("init", "a project", "--runner", runner).returncode == 0
    there = Project(here.path / "a project")
    first = there.run("make", "sweep")
    assert first.returncode == 0
    assert "Succeeded" in there.run("make", "status").stdout
    assert "== TOTALS ==" in there.run("make", "summary").stdout
    assert there.run("make", "best").returncode == 0
    again = there.run("make", "sweep")
    assert again.returncode == 0
    assert "nothing to launch" in again.stderr


def test_what_init_writes_for_runpod_names_what_the_machine_lacks(project):
    here = project()
    assert here.tool("init", "--runner", "runpod-deploy").returncode == 0
    done = here.run("make", "sweep", env={"PATH": f"{Path(sys.executable).parent}:/usr/bin:/bin"})
    assert done.returncode == 2
    assert "runpod-deploy is not on PATH" in done.stderr
    assert not (here.path / "artifacts").exists()


def test_init_writes_nothing_that_pip_has_compiled(project, tmp_path):
    for folder in ("sweeptool", "templates"):
        shutil.copytree(ROOT / folder, tmp_path / folder)
    compileall.compile_dir(tmp_path / "templates", quiet=1)
    here = project()
    assert here.tool("init", env={"PYTHONPATH": str(tmp_path)}).returncode == 0
    assert sorted(path.name for path in here.path.rglob("*")) == ["Makefile", "job.py", "sweep.yaml"]


@pytest.mark.parametrize("runner", RUNNERS)
def test_init_overwrites_nothing(project, runner):
    here = project({"sweep.yaml": "mine\n"})
    done = here.tool("init", "--runner", runner)
    assert (done.returncode, done.stderr) == (2, "error: sweep.yaml: is there already (nothing was written)\n")
    assert tree(here) == {"sweep.yaml": b"mine\n"}


def test_init_a_second_time_names_every_file(project):
    here = project()
    here.tool("init")
    before = tree(here)
    done = here.tool("init")
    assert done.returncode == 2
    assert done.stderr.splitlines() == [f"error: {name}: is there already (nothing was written)" for name in before]
    assert tree(here) == before


def test_init_does_not_write_through_a_dangling_link(project):
    here = project()
    (here.path / "sweep.yaml").symlink_to("elsewhere.yaml")
    assert here.tool("init").returncode == 2
    assert not (here.path / "elsewhere.yaml").exists()


@pytest.mark.parametrize(
    ("directory", "error"),
    [
        pytest.param("file", "'file' is a file", id="file"),
        pytest.param("file/sub", "Not a directory", id="below-a-file"),
        pytest.param("/proc/sub", "cannot be written", id="unwritable"),
    ],
)
def test_init_where_nothing_can_be_written_is_one_line(project, directory, error):
    here = project({"file": "x"})
    done = here.tool("init", directory)
    assert done.returncode == 2
    assert error in done.stderr
    assert len(done.stderr.splitlines()) == 1
    assert tree(here) == {"file": b"x"}


def test_init_says_what_to_type_next(project):
    here = project()
    assert (
        here.tool("init", "deep/er dir").stderr.splitlines()[-1]
        == "next: cd 'deep/er dir'; sweeptool plan sweep.yaml; make sweep"
    )
    assert here.tool("init", ".").stderr.splitlines()[-1] == "next: sweeptool plan sweep.yaml; make sweep"
