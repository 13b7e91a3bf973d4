"""The report: one page that holds everything, asks the network for nothing and runs nothing."""

from __future__ import annotations

import html.parser
import re

import pytest

from sweeptool import report
from tests import sweepmaker

SPEC = """
    name: lora
    runner: local
    command: [python3, train.py]
    max_cost_usd: 2
    cost_cap_usd: 1
    matrix: {gpu: [L4, A10], params: {rank: [4, 8]}}
    repetitions: 2
    metrics: {best: {name: accuracy}}
"""
VOID = {"meta", "line", "polyline", "rect", "circle"}
EVIL = "</script><img src=x onerror=alert(1)>"


class Page(html.parser.HTMLParser):
    """Checks that every element is closed, and keeps the elements, their attributes and the text."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.words: list[str] = []
        self.feed(text)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))

    def handle_endtag(self, tag):
        if tag not in VOID:
            assert self.open.pop() == tag

    def handle_data(self, data):
        self.words.append(data)


def attempts(**more) -> list[dict]:
    return [
        {"cell": index, "state": "succeeded", "cost": f"0.{index + 1}0", "metrics": {"accuracy": 0.5 + index / 20}}
        | more
        for index in range(7)
    ] + [{"cell": 7, "state": "failed", "reason": "oom", "detail": "CUDA out of memory", "cost": "0.05"}]


@pytest.fixture
def where(tmp_path):
    return sweepmaker.sweep(tmp_path, SPEC, attempts())


def test_the_page_is_well_formed_and_shows_tables_and_plots(where):
    page = Page(report.page(where))
    text = " ".join(page.words)
    for said in (
        "Sweep lora",
        "7 of 8",
        "Best by accuracy",
        "Combinations over repetitions",
        "Attempts",
        "oom",
        "1 cell left out",
    ):
        assert said in text
    assert sum(tag == "svg" for tag, _ in page.tags) >= 5
    assert "Goal max (from its name; --goal says otherwise)" in text


def test_the_page_asks_the_network_for_nothing_and_runs_nothing(where):
    text = report.page(where)
    assert {tag for tag, _ in Page(text).tags}.isdisjoint({"script", "link", "img", "iframe", "object", "base", "a"})
    assert not re.search(r"https?:|url\(|@import|//[a-z]|javascript:| on[a-z]+=", text)
    assert "default-src 'none'" in text


@pytest.mark.parametrize("evil", [EVIL, "{{ 7 * 7 }}", '" onload="x', "]]><x>", "\x1b[31m\0\ud800", "a & b < c"])
def test_nothing_that_a_run_says_becomes_markup(tmp_path, evil):
    spec = SPEC.replace("[4, 8]", '["4", "8"]').replace("accuracy", "acc")
    found = attempts(detail=evil, reason=evil, metrics={"acc": 1}, manifest={"gpu_id": evil, "job_name": evil})
    where = sweepmaker.sweep(tmp_path, spec, found, lines=[evil.encode("utf-8", "ignore").decode() + "\n"])
    text = report.page(where)
    page = Page(text)
    assert {tag for tag, _ in page.tags}.isdisjoint({"img", "script", "x"})
    assert not any(name.startswith("on") for _, attributes in page.tags for name in attributes)
    assert "49" not in re.sub(r"\d{3,}", "", " ".join(page.words)) or "7 * 7" not in evil
    text.encode()


def test_a_value_of_a_parameter_and_a_name_of_a_metric_are_inert_too(tmp_path):
    spec = SPEC.replace("[4, 8]", f"[4, {EVIL!r}]")
    where = sweepmaker.sweep(tmp_path, spec, attempts(metrics={EVIL: 1, "accuracy": 2}))
    for by in (None, EVIL):
        page = Page(report.page(where, by))
        assert {tag for tag, _ in page.tags}.isdisjoint({"img", "script"})
        assert EVIL in " ".join(page.words)


def test_code_that_was_not_committed_is_a_warning(tmp_path):
    dirty = {"deploy_metadata": {"local_git_sha": "a" * 40, "local_git_dirty": True}}
    where = sweepmaker.sweep(tmp_path, SPEC, attempts(manifest=dirty))
    text = report.page(where)
    assert "7 of 8 attempts ran code that was in no commit" in text
    assert "The code changed during the sweep: 2 commits, 4f6c1de09a, aaaaaaaaaa." in text


def test_unknown_costs_and_lost_attempts_are_warnings(tmp_path):
    found = [*attempts(), {"cell": 7, "state": "lost", "cost": None, "reserved": "1.00", "run_dir": False}]
    text = report.page(sweepmaker.sweep(tmp_path, SPEC, found))
    assert "1 attempt lost: " in text


def test_the_same_sweep_gives_the_same_page(where):
    assert report.page(where) == report.page(where)


@pytest.mark.parametrize(
    "found",
    [
        [],
        [{"cell": 0, "state": "running"}],
        [{"cell": 0, "state": "failed", "cost": None, "run_dir": False, "wall": None}],
        [{"cell": 0, "state": "succeeded", "cost": "0.00", "metrics": {"accuracy": 0}}],
        [{"cell": 0, "state": "succeeded", "metrics": {"accuracy": float("nan")}}],
        [{"cell": i, "state": "succeeded", "cost": "0.10", "metrics": {"accuracy": 1e300}} for i in range(8)],
        [{"cell": i, "state": "succeeded", "metrics": {"accuracy": 10.0 ** (i - 4)}} for i in range(8)],
        [{"cell": i, "state": "succeeded", "metrics": {"accuracy": -(10.0**i)}} for i in range(8)],
        [{"cell": i, "state": "succeeded", "metrics": {"accuracy": 0.9333333333333333 - i * 1e-16}} for i in range(8)],
        [{"cell": i, "state": "succeeded", "metrics": {"accuracy": 1.7e308 * (-1) ** i}} for i in range(8)],
        [{"cell": i, "state": "succeeded", "metrics": {"accuracy": 5e-324 * i}} for i in range(8)],
    ],
    ids=[
        "nothing",
        "running",
        "failed",
        "zero",
        "nan",
        "equal-and-huge",
        "many-magnitudes",
        "negative",
        "one-float-apart",
        "greatest",
        "least",
    ],
)
def test_a_sweep_in_any_state_has_a_page(tmp_path, found):
    text = report.page(sweepmaker.sweep(tmp_path, SPEC, found))
    Page(text)
    assert not re.search(r'="(nan|-?inf)|NaN" ', text)


def test_no_secret_of_the_environment_is_on_the_page(tmp_path):
    spec = SPEC + '    env: {MODE: "hf_verysecret"}\n'
    assert "hf_verysecret" not in report.page(sweepmaker.sweep(tmp_path, spec, attempts()))


def test_the_command_line_writes_the_file(project, tmp_path):
    made = project()
    sweepmaker.sweep(tmp_path, SPEC, attempts())
    done = made.tool("report", "lora", "-o", "report.html", "--by", "cost", "--where", "gpu = L4")
    assert (done.returncode, done.stdout) == (0, "")
    assert "Best by cost" in (made.path / "report.html").read_text()
    assert made.tool("report", "lora", "-o", "-").stdout.startswith("<!doctype html>")


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["lora"], "Missing option '-o'"),
        (["gone", "-o", "x.html"], "no sweep 'gone'"),
        (["lora", "-o", "no/x.html"], "No such file or directory"),
        (["lora", "-o", "x.html", "--by", "acuracy"], "did you mean 'accuracy'?"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_a_mistake_is_one_clear_line_and_exit_2(project, tmp_path, words, said):
    made = project()
    sweepmaker.sweep(tmp_path, SPEC, attempts())
    done = made.tool("report", *words)
    assert done.returncode == 2
    assert said in done.stderr
    assert done.stderr.count("\n") == 1


def test_a_best_cost_is_dollars_and_a_best_metric_is_none(where):
    tile = r"<span>best {}</span><b>([^<]*)</b>"
    assert re.findall(tile.format("cost"), report.page(where, by="cost")) == ["$0.10"]
    assert re.findall(tile.format("accuracy"), report.page(where)) == ["0.8"]


def test_where_no_run_reports_the_specs_metric_the_page_is_by_cost_and_says_so(project, tmp_path):
    made = project()
    sweepmaker.sweep(tmp_path, SPEC, attempts(metrics={"acc": 1}))
    done = made.tool("report", "lora", "-o", "-")
    said = "metrics.best: no run reports 'accuracy': there are cost, time, throughput, acc; shown by cost instead"
    assert (done.returncode, done.stderr) == (0, f"{said}\n")
    assert "Best by cost" in done.stdout
    assert said.replace("'", "&#39;") in done.stdout
