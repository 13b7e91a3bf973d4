"""The driver: its text as a whole, the same for the same spec, quoted everywhere, clean for shellcheck and shfmt."""

from __future__ import annotations

import json
import os
import re
import subprocess
import textwrap
from pathlib import Path

import jinja2.nodes
import pytest

from sweeptool import frozen, layout, render
from sweeptool import plan as plans
from sweeptool import spec as specs
from sweeptool.layout import AttemptDir, SweepDir
from sweeptool.plan.model import Plan
from sweeptool.render import templates
from tests.conftest import require_program

GOLDEN = Path(__file__).parent / "golden"
QUOTING = {"word", "words", "command", "comment", "line", "planline", "target"}

SPECS = {
    "local": """
        name: rates
        runner: local
        command: [python3, train.py, --lr, "{lr}", --note, "it's {lr}"]
        prices: {L4: 0.43, A10: 0.52}
        max_parallel: 2
        max_cost_usd: 1
        max_runtime: 5m
        env: {OMP_NUM_THREADS: 4, HF_TOKEN: {from: HF_TOKEN}}
        before: ["make data"]
        after: [[cp, -r, results, "my results"]]
        matrix: {gpu: [L4, A10], params: {lr: [1e-3, "a b"]}}
        """,
    "command": """
        name: seeds
        runner: {kind: command, argv: [./runner, run, --seed, "{seed}", --out, "out/{seed}/{attempt}"], manifest: m.json}
        cost_cap_usd: 0.25
        matrix: {params: {seed: [42, 43]}}
        repetitions: 2
        """,
}


def planned(text: str, tmp_path: Path) -> Plan:
    return plans.make(specs.load(_dedent(text), "sweep.yaml", project=tmp_path), tmp_path)


def _dedent(text: str) -> str:
    return textwrap.dedent(text).lstrip()


@pytest.mark.parametrize("name", SPECS)
@pytest.mark.parametrize("target", render.FILES)
def test_the_rendered_file_is_the_golden_one(name, target, tmp_path):
    text = render.render(planned(SPECS[name], tmp_path), target)
    golden = GOLDEN / f"{name}.{render.FILES[target]}"
    if os.environ.get("SWEEPTOOL_GOLDEN") == "write":
        golden.write_text(text)
    assert text == golden.read_text(), "SWEEPTOOL_GOLDEN=write makes the golden files anew"


def test_no_golden_file_is_an_orphan():
    wanted = {f"{name}.{file}" for name in SPECS for file in render.FILES.values()} | {f"{n}.plan.json" for n in SPECS}
    assert {path.name for path in GOLDEN.iterdir()} == wanted


@pytest.mark.parametrize("name", SPECS)
def test_the_plan_is_the_golden_one(name, tmp_path):
    text = json.dumps(plans.describe(planned(SPECS[name], tmp_path)), indent=2, ensure_ascii=False) + "\n"
    golden = GOLDEN / f"{name}.plan.json"
    if os.environ.get("SWEEPTOOL_GOLDEN") == "write":
        golden.write_text(text)
    assert text == golden.read_text()


def test_permuted_keys_and_json_give_the_same_bytes(tmp_path):
    yaml = "name: s\ncommand: [echo, '{b}', '{a}']\nmatrix: {params: {b: [1, 2], a: [x]}}\n"
    permuted = "matrix: {params: {a: [x], b: [1, 2]}}\ncommand: [echo, '{b}', '{a}']\nname: s\n"
    as_json = '{"command": ["echo", "{b}", "{a}"], "name": "s", "matrix": {"params": {"b": [1, 2], "a": ["x"]}}}'
    texts = {without_digest(render.render(planned(text, tmp_path))) for text in (yaml, permuted, as_json)}
    assert len(texts) == 1


def without_digest(text: str) -> str:
    """Leave out the line that names the spec's own bytes."""
    return "\n".join(line for line in text.splitlines() if not line.startswith("# Made by"))


@pytest.mark.parametrize("name", SPECS)
def test_shell_files_are_clean(name, tmp_path):
    require_program("shellcheck", "shfmt")
    for target in ("bash", "slurm", "parallel"):
        file = tmp_path / render.FILES[target]
        file.write_text(render.render(planned(SPECS[name], tmp_path), target))
        for argv in (["shellcheck", file], ["shfmt", "-i", "2", "-ci", "-d", file]):
            done = subprocess.run(argv, capture_output=True, text=True, check=False)
            assert (done.returncode, done.stdout) == (0, "")


@pytest.mark.parametrize(
    "file", sorted(path.name for path in layout.resource("templates").glob("*.j2") if ".html." not in path.name)
)
def test_every_value_in_a_template_is_quoted_and_outside_quotes(file):
    text = (layout.resource("templates") / file).read_text()
    tree = templates.environment().parse(text)
    for output in tree.find_all(jinja2.nodes.Output):
        for node in output.nodes:
            if isinstance(node, jinja2.nodes.TemplateData):
                continue
            raw = (
                isinstance(node, jinja2.nodes.Call)
                and isinstance(node.node, jinja2.nodes.Name)
                and node.node.name == "raw"
            )
            constant = isinstance(node, jinja2.nodes.CondExpr) and isinstance(node.expr1, jinja2.nodes.Const)
            assert raw or constant or (isinstance(node, jinja2.nodes.Filter) and node.name in QUOTING), (file, node)
    for line in text.splitlines():
        before, found, _ = line.partition("{{")
        if found and not before.lstrip().startswith("#"):
            assert before.count('"') % 2 == 0, line
            assert before.count("'") % 2 == 0, line


def test_a_driver_carries_the_whole_plan(tmp_path):
    driver = tmp_path / "driver.sh"
    driver.write_text(render.render(planned(SPECS["local"], tmp_path)))
    found, _ = frozen.from_driver(driver)
    assert [job.params for job in found.jobs] == [{"lr": "1e-3"}, {"lr": "a b"}] * 2
    assert [job.label for job in found.jobs][1] == "L4 lr=a b"


@pytest.mark.parametrize("cut", [0.3, 0.9, 0.99])
def test_a_driver_that_was_cut_is_refused(cut, project):
    made = project({"sweep.yaml": _dedent(SPECS["command"])})
    text = made.tool("render", "sweep.yaml").stdout
    made.write({"driver.sh": text[: int(len(text) * cut)]})
    done = made.run("bash", "driver.sh", env={"SWEEPTOOL": "sweeptool"})
    assert done.returncode != 0
    assert "Traceback" not in done.stderr
    assert not (made.path / "artifacts" / "sweeps" / "seeds" / "cells").exists()


def test_the_driver_calls_its_files_what_the_layout_calls_them(tmp_path):
    text = render.render(planned(SPECS["local"], tmp_path))
    attempt, sweep = AttemptDir(Path("$attempt_dir")), SweepDir(Path("/"))
    written = {f'"{path}"' for path in (attempt.start, attempt.exit, attempt.stdout, attempt.stderr)}
    assert set(re.findall(r'"\$attempt_dir/[^"]*"', text)) == written
    files = (sweep.ledger, sweep.plan, sweep.driver, sweep.sweep_id, sweep.driver_lock, sweep.lock)
    header = text.partition("\n\n")[0]
    assert [path.name for path in files if path.name not in header] == []


def test_no_secret_lands_in_the_driver(project):
    made = project({"sweep.yaml": _dedent(SPECS["local"])})
    done = made.tool("render", "sweep.yaml", env={"HF_TOKEN": "hf_abc123secret"})
    assert done.returncode == 0
    assert "hf_abc123secret" not in done.stdout
    assert 'export HF_TOKEN="$HF_TOKEN"' in done.stdout


def test_a_missing_secret_is_named_before_anything_starts(project):
    made = project({"sweep.yaml": _dedent(SPECS["local"]), "train.py": ""})
    made.write({"driver.sh": made.tool("render", "sweep.yaml").stdout})
    done = made.run("bash", "driver.sh", env={"HF_TOKEN": ""})
    assert done.returncode == 2
    assert "HF_TOKEN is not set" in done.stderr
    assert not (made.path / "artifacts").exists()
