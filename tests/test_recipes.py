"""Every recipe: its page's commands print what the page says, its spec is one that the tool accepts."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path

import pytest

from tests import pages
from tests.conftest import Project, require_program

ROOT = Path(__file__).parent.parent
RECIPES = sorted(path.parent for path in (ROOT / "recipes").glob("*/README.md"))


@pytest.fixture
def checkout(tmp_path: Path) -> Project:
    """A project directory with the recipes in it, as in a fresh clone."""
    where = tmp_path / "project"
    where.mkdir(exist_ok=True)
    shutil.copytree(ROOT / "recipes", where / "recipes", ignore=shutil.ignore_patterns("artifacts"))
    return Project(where)


@pytest.mark.parametrize("recipe", RECIPES, ids=lambda path: path.name)
def test_page_shows_what_its_commands_print(recipe, checkout, request):
    page = pages.read(recipe / "README.md")
    wanted = pages.needs(page)
    env = request.getfixturevalue("rig").env if "rig" in wanted else None
    require_program(*(name for name in wanted if name != "rig"))
    pages.check(page, checkout, env)


def test_every_recipe_has_a_page():
    assert sorted(path for path in (ROOT / "recipes").iterdir() if path.is_dir()) == RECIPES


def test_readme_shows_what_the_demo_prints(checkout):
    for name in ("Makefile", "pyproject.toml"):
        shutil.copy(ROOT / name, checkout.path)
    checkout.write({"ready/bin/python": "", "ready/.installed": ""})  # a venv with nothing left to install
    pages.check(_parts_of_readme()[0], checkout, {"VENV": "ready"})


def test_readme_shows_what_its_other_commands_print(project):
    pages.check(_parts_of_readme()[1], project())


def _parts_of_readme() -> list[str]:
    """Return what happens in the checkout, and what happens in a directory of one's own."""
    return pages.read(ROOT / "README.md").split("A sweep of your own", 1)


def test_python_of_the_readme_runs(project):
    (code,) = re.findall(r"^```python\n(.*?)^```$", pages.read(ROOT / "README.md"), re.MULTILINE | re.DOTALL)
    done = project().run("python3", "-c", code)
    assert re.fullmatch(r"Succeeded 0\.0+\d+ \{'LR': '0\.0?1'\}\n", done.stdout.splitlines(keepends=True)[-1])


def test_readme_begins_with_one_sentence_the_demo_the_tests_and_a_spec_of_twelve_lines():
    page = pages.read(ROOT / "README.md")
    first = page[: page.index("## ")]
    assert first.splitlines()[:1] == ["# sweeptool"]
    assert first.split("\n\n")[1].replace("\n", " ").count(". ") == 0
    assert first.index("$ make demo") < first.index("$ make test") < first.index("$ cat sweep.yaml")
    (spec,) = (step for step in pages.steps(first) if step.command == "cat sweep.yaml")
    assert len(spec.printed) == 12


def test_specs_of_the_readme_are_specs(project):
    here = project()
    assert here.tool("init", "--runner", "runpod-deploy").returncode == 0
    specs = re.findall(r"^```yaml\n(.*?)^```$", pages.read(ROOT / "README.md"), re.MULTILINE | re.DOTALL)
    assert specs
    for text in specs:
        done = here.tool("validate", "-", stdin=text)
        assert (done.returncode, done.stderr) == (0, "ok: 6 cells\n")


def test_batch_size_runs_six_cells_with_money_units_and_a_rate(checkout):
    ran = checkout.tool("run", "recipes/batch-size/sweep.yaml")
    assert ran.returncode == 0
    state = json.loads(checkout.tool("status", "batch-size", "--json").stdout)
    assert (state["phase"], len(state["cells"])) == ("Succeeded", 6)
    assert [(cell["gpu"], cell["params"]["BATCH_SIZE"]) for cell in state["cells"]] == [
        (gpu, size) for gpu in ("L4", "A10") for size in ("32", "64", "128")
    ]
    assert all(float(cell["costUSD"]) > 0 and cell["unitsPerSecond"] > 0 for cell in state["cells"])
    assert state["best"]["byCost"] is not None
    assert state["best"]["byThroughput"] is not None
    assert "samples/s" in checkout.tool("logs", "batch-size", "3").stdout
    runs = list((checkout.path / "artifacts/local").iterdir())
    again = checkout.tool("run", "recipes/batch-size/sweep.yaml")
    assert again.returncode == 0
    assert list((checkout.path / "artifacts/local").iterdir()) == runs


# ---- the page checker itself: it must be able to fail


@pytest.mark.parametrize(
    ("page", "fails"),
    [
        pytest.param("```console\n$ echo one; echo two\none\ntwo\n```\n", False, id="same"),
        pytest.param("```console\n$ echo one; echo two\ntwo\none\n```\n", False, id="another-order"),
        pytest.param("```console\n$ echo took 12 s for 0.31\ntook 7 s for 0.02\n```\n", False, id="numbers"),
        pytest.param("```console\n$ seq 9\n…\n3\n```\n", False, id="elided"),
        pytest.param("```console\n$ echo one; echo two\none\n```\n", True, id="surplus"),
        pytest.param("```console\n$ echo one\none\ntwo\n```\n", True, id="missing"),
        pytest.param("```console\n$ echo one\n…\ntwo\n```\n", True, id="missing-beside-elided"),
        pytest.param("```console\n$ echo 1 >&2\n```\n", True, id="stderr-counts"),
        pytest.param("```console\n$ echo a 1m2s; echo a 3h; echo a 6s\na 59s\na 2d4h\na 1m\n```\n", False, id="ages"),
        pytest.param("```sh\necho one\n```\n", True, id="no-command-at-all"),
    ],
)
def test_page_checker(project, page, fails):
    if fails:
        with pytest.raises(AssertionError):
            pages.check(page, project())
    else:
        pages.check(page, project())
