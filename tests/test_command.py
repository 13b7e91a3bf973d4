"""The make side of the local and the command runner: command lines, prices, refusals; and their verdicts."""

from __future__ import annotations

import dataclasses
import json
import re
from pathlib import Path

import pytest

from sweeptool import cells, layout, manifest
from sweeptool.runners import RUNNERS, base, prices, tail
from sweeptool.runners.base import ATTEMPT, SWEEPTOOL, Evidence
from sweeptool.spec.model import Point, RunnerSpec, Settings, Spec

LOCAL, COMMAND = RUNNERS["local"], RUNNERS["command"]


def spec(*points: Point, **others: object) -> Spec:
    return Spec(name="demo", dialect="native", points=points or (Point({}),), source="", **others)


def argv(runner: base.Runner, sweep: Spec, index: int = 0) -> list[str] | None:
    found = runner.argv(cells.number(sweep, {})[index], sweep)
    return None if found is None else list(found)


def lines(runner: base.Runner, sweep: Spec) -> list[str]:
    return list(map(str, runner.check(sweep, Path())))


def attempt(where: Path, *, code: int | None, stderr: str = "", said: dict | None = None, **others: object) -> Evidence:
    """Return what an attempt leaves that exited with ``code`` and whose manifest says ``said``."""
    found = None
    if said is not None:
        (where / layout.MANIFEST).write_text(json.dumps({"schema_version": "v2", **said}))
        found = manifest.read(where / layout.MANIFEST)
    (where / "stderr.log").write_text(stderr)
    return Evidence(code, others.pop("run_dir", where), found, layout.AttemptDir(where), {}, **others)


# ---- command lines


def test_every_runner_is_what_it_is_called():
    assert [RUNNERS[name].name for name in ("local", "command")] == ["local", "command"]


def test_local_says_all_that_the_cell_says():
    settings = Settings(
        command=("train", "{lr}"),
        image="some/image",
        max_runtime=90,
        cost_cap=250_000,
        instance_type="g6.xlarge",
        datacenter="EU-1",
        spot=False,
    )
    found = argv(LOCAL, spec(Point({"lr": "1e-3", "b": "--x"}, gpu="L4", region="eu", settings=settings)))
    assert found == [
        *(SWEEPTOOL, "local-run", "--print-run-dir", "--image", "some/image", "--spot", "false"),
        *("--cost-cap-usd", "0.25", "--max-runtime-seconds", "90", "--datacenter", "EU-1"),
        *("--instance-type", "g6.xlarge", "--gpu", "L4", "--region", "eu", "--price-per-hour-usd", "0.43"),
        *("--job-name", "demo-0", "--var", "b=--x", "--var", "lr=1e-3", "--", "train", "1e-3"),
    ]


def test_local_without_a_command_has_no_command_line():
    assert argv(LOCAL, spec(Point({"lr": "1"}))) is None


def test_string_command_is_the_users_own_bash_and_nothing_in_it_is_expanded():
    found = argv(LOCAL, spec(Point({"lr": "1"}, settings=Settings(command="echo {lr} ${PARAM_lr}"))))
    assert found[-4:] == ["--", "bash", "-c", "echo {lr} ${PARAM_lr}"]


def test_nodus_command_is_taken_literally():
    point = Point({"LR": "1"}, settings=Settings(command=("python", "-c", "f'{LR} {{}}'")))
    sweep = Spec("demo", "nodus", (point,))
    assert argv(LOCAL, sweep)[-3:] == ["python", "-c", "f'{LR} {{}}'"]
    assert lines(LOCAL, sweep) == []


@pytest.mark.parametrize(
    ("word", "expanded"),
    [
        pytest.param("{lr}", "a b", id="a-parameter-stays-one-argument"),
        pytest.param("--lr={lr}", "--lr=a b", id="inside-a-word"),
        pytest.param("{gpu}/{region}/{index}/{name}", "L4/eu/0/demo-0", id="the-cell's-own"),
        pytest.param("{sweep}-{repetition}", "demo-0", id="the-sweep's"),
        pytest.param("{attempt}", ATTEMPT, id="what-only-the-driver-knows"),
        pytest.param("{{lr}}", "{lr}", id="doubled-braces"),
        pytest.param("{json}", '{"x": 1}', id="a-value's-own-braces-stay"),
    ],
)
@pytest.mark.parametrize("kind", ["local", "command"])
def test_placeholders_expand_in_place(kind, word, expanded):
    point = Point({"lr": "a b", "json": '{"x": 1}'}, gpu="L4", region="eu")
    if kind == "local":
        sweep = spec(Point(point.params, gpu="L4", region="eu", settings=Settings(command=("x", word))))
    else:
        sweep = spec(point, runner=RunnerSpec("command", argv=("x", word)))
    assert argv(RUNNERS[kind], sweep)[-1] == expanded


def test_id_placeholder_is_the_cells_id():
    sweep = spec(Point({"lr": "1"}), runner=RunnerSpec("command", argv=("x", "{id}")))
    assert argv(COMMAND, sweep) == ["x", cells.number(sweep, {})[0].id]


@pytest.mark.parametrize(
    ("word", "message"),
    [
        pytest.param("{rnak}", "command[1]: unknown name {rnak} (did you mean 'rank'?)", id="misspelt"),
        pytest.param("{zzz}", "command[1]: unknown name {zzz} (write '{{zzz}}' for the text itself)", id="unknown"),
        pytest.param("{gpu}", "command[1]: unknown name {gpu} (write '{{gpu}}' for the text itself)", id="no-gpu"),
        pytest.param("a}b", "command[1]: a lone '}': write '}}' for the brace itself", id="lone-brace"),
    ],
)
def test_unknown_placeholder_is_an_error_with_its_place(word, message):
    assert lines(LOCAL, spec(Point({"rank": "1"}, settings=Settings(command=("x", word))))) == [message]


def test_placeholder_that_only_some_cells_can_fill_is_an_error():
    settings = Settings(command=("x", "{wd}"))
    found = lines(LOCAL, spec(Point({"wd": "1"}, settings=settings), Point({"lr": "2"}, settings=settings)))
    assert [line.partition(" (")[0] for line in found] == ["command[1]: not every cell has a value for {wd}"]


# ---- prices


@pytest.mark.parametrize(
    ("gpu", "micro"),
    [
        pytest.param("L4", 430_000, id="shipped"),
        pytest.param("L4:8", 3_440_000, id="eight-of-them"),
        pytest.param("H100!", 2_990_000, id="exactly-that-one"),
        pytest.param("H100!:2", 5_980_000, id="two-of-exactly-that-one"),
        pytest.param("rtx 4090", 690_000, id="however-it-is-written"),
        pytest.param("A10", 1_000_000, id="the-spec's-own"),
        pytest.param("A10:2", 2_000_000, id="two-of-the-spec's-own"),
        pytest.param("A10:4", 3_000_000, id="the-spec's-own-for-four"),
        pytest.param("Abacus", None, id="unknown-is-unknown"),
    ],
)
def test_price_of_a_gpu_request(gpu, micro):
    assert prices.of_gpu(gpu, {"A10": 1_000_000, "A10:4": 3_000_000}) == micro


def test_price_said_in_the_spec_comes_before_any_table():
    sweep = spec(Point({}, gpu="L4", settings=Settings(price_per_hour=7)), prices={"L4": 5})
    assert LOCAL.price(cells.number(sweep, {})[0], sweep) == 7


def test_instance_type_has_a_price_too():
    sweep = spec(Point({}, settings=Settings(instance_type="t3.micro")))
    assert LOCAL.price(cells.number(sweep, {})[0], sweep) == 10_400


def test_command_runner_has_no_prices_but_the_specs():
    sweep = spec(Point({}, gpu="L4:2"), prices={"L4": 5})
    assert COMMAND.price(cells.number(sweep, {})[0], sweep) == 10
    assert COMMAND.price(cells.number(spec(Point({}, gpu="L4")), {})[0], spec()) is None


def test_shipped_prices_are_amounts():
    assert all(prices.of_gpu(kind, {}) for kind in prices.GPUS)
    assert all(prices.of_instance(kind, {}) for kind in prices.INSTANCES)


# ---- what a runner cannot honour


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        pytest.param({"idle_timeout": 60}, "idle_timeout: the local runner cannot tell that a job is idle", id="idle"),
        pytest.param({"on_complete": "stop"}, "on_complete: the local runner has no machine to stop", id="on_complete"),
        pytest.param(
            {"cost_cap": 1},
            "prices: nothing says what an hour of Abacus costs, so cost_cap_usd cannot be kept",
            id="cap",
        ),
    ],
)
def test_local_refuses_what_it_cannot_keep(settings, message):
    found = lines(LOCAL, spec(Point({}, gpu="Abacus", settings=Settings(**settings))))
    assert [line.partition(" (")[0] for line in found] == [message]


def test_local_takes_labels_and_terminate():
    settings = Settings(instance_type="t3.micro", spot=True, on_complete="terminate", datacenter="X", image="y")
    assert lines(LOCAL, spec(Point({}, gpu="Abacus", region="eu", settings=settings))) == []


def test_command_runner_needs_an_argv():
    [line] = lines(COMMAND, spec(runner=RunnerSpec("command")))
    assert line.startswith("runner.argv: the command runner needs an argv (")


@pytest.mark.parametrize(
    "setting", [{"command": ("x",)}, {"spot": False}, {"image": "x"}, {"idle_timeout": 1}, {"instance_type": "x"}]
)
def test_command_runner_refuses_settings_that_it_would_ignore(setting):
    sweep = spec(Point({}, settings=Settings(**setting)), runner=RunnerSpec("command", argv=("x",)))
    [line] = lines(COMMAND, sweep)
    assert line.startswith(f"{next(iter(setting))}: the command runner has no use for {next(iter(setting))} (")


def test_programs_that_must_be_there_are_those_found_on_path():
    several = spec(
        *(Point({"n": str(n)}, settings=Settings(command=c)) for n, c in enumerate([("b",), ("./a",), "x", ("b",)]))
    )
    assert LOCAL.needs(several) == ["b", "bash"]
    assert COMMAND.needs(spec(runner=RunnerSpec("command", argv=("./a", "b")))) == []
    assert COMMAND.needs(spec(runner=RunnerSpec("command", argv=("a", "b")))) == ["a"]


# ---- verdicts


@pytest.mark.parametrize(
    ("code", "said", "others", "expected"),
    [
        pytest.param(0, {"failed": False}, {}, ("succeeded", ""), id="success"),
        pytest.param(0, {"failed": True}, {}, ("failed", "manifest"), id="manifest-says-failed"),
        pytest.param(0, {}, {}, ("failed", "manifest"), id="manifest-says-nothing"),
        pytest.param(0, {"failed": "false"}, {}, ("failed", "manifest"), id="manifest-says-text"),
        pytest.param(1, {"failed": False}, {}, ("failed", "exit"), id="exit-code-says-failed"),
        pytest.param(0, None, {}, ("failed", "no_manifest"), id="no-manifest"),
        pytest.param(0, None, {"run_dir": None}, ("failed", "no_run_dir"), id="no-run-dir"),
        pytest.param(130, {"failed": False}, {"interrupted": True}, ("interrupted", "interrupted"), id="interrupted"),
        pytest.param(137, None, {"interrupted": True}, ("interrupted", "interrupted"), id="killed-by-the-driver"),
        pytest.param(130, {"failed": True}, {}, ("failed", "exit"), id="130-of-its-own"),
        pytest.param(0, {"failed": False}, {"interrupted": True}, ("succeeded", ""), id="finished-before-the-signal"),
        pytest.param(1, {"failed": True}, {"interrupted": True}, ("failed", "exit"), id="failed-before-the-signal"),
    ],
)
@pytest.mark.parametrize("kind", ["local", "command"])
def test_verdict_on_exit_code_and_manifest(tmp_path, kind, code, said, others, expected):
    verdict = RUNNERS[kind].verdict(attempt(tmp_path, code=code, said=said, **others))
    assert (verdict.state, verdict.reason) == expected
    assert not verdict.halt


@pytest.mark.parametrize("kind", ["local", "command"])
@pytest.mark.parametrize("code", [126, 127])
def test_runner_that_cannot_be_started_is_the_sweeps_fault_and_free(tmp_path, kind, code):
    error = "bash: line 1: my-runner: command not found\n"
    verdict = RUNNERS[kind].verdict(attempt(tmp_path, code=code, stderr=error, run_dir=None))
    assert (verdict.state, verdict.reason, verdict.halt, verdict.free) == ("failed", "not_found", True, True)
    assert verdict.detail.endswith("my-runner: command not found")


@pytest.mark.parametrize(
    ("code", "own", "expected", "halt"),
    [
        pytest.param(124, {"reason": "timeout"}, ("failed", "timeout"), False, id="timeout"),
        pytest.param(124, {"reason": "exit"}, ("failed", "exit"), False, id="124-of-its-own"),
        pytest.param(137, {"reason": "killed"}, ("failed", "killed"), False, id="killed"),
        pytest.param(130, {"reason": "interrupted"}, ("interrupted", "interrupted"), False, id="signalled-by-hand"),
        pytest.param(127, {"reason": "not_found"}, ("failed", "not_found"), True, id="command-not-found"),
        pytest.param(127, {"reason": "exit"}, ("failed", "exit"), False, id="127-of-its-own"),
        pytest.param(126, {"reason": "not_runnable"}, ("failed", "not_runnable"), True, id="not-runnable"),
    ],
)
def test_local_verdict_follows_its_own_manifest(tmp_path, code, own, expected, halt):
    said = {"failed": True, "local": {"exit_code": code, **own}}
    verdict = LOCAL.verdict(attempt(tmp_path, code=code, said=said))
    assert (verdict.state, verdict.reason, verdict.halt) == (*expected, halt)


def test_program_that_varies_fails_only_its_own_cell(tmp_path):
    said = {"failed": True, "local": {"exit_code": 127, "reason": "not_found"}}
    evidence = attempt(tmp_path, code=127, said=said, stderr="error: ./resnet.sh: command not found\n")
    swept = dataclasses.replace(evidence, job={"params": {"model": "resnet"}})
    assert (LOCAL.verdict(evidence).halt, LOCAL.verdict(swept).halt) == (True, False)


def test_local_outcome_that_nobody_saw_is_in_its_manifest(tmp_path):
    said = {"failed": False, "local": {"exit_code": 0, "reason": ""}}
    assert LOCAL.verdict(attempt(tmp_path, code=None, said=said)).state == "succeeded"


def test_command_outcome_that_nobody_saw_is_no_success(tmp_path):
    verdict = COMMAND.verdict(attempt(tmp_path, code=None, said={"failed": False}))
    assert (verdict.state, verdict.reason) == ("interrupted", "unseen")


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ("error: artifacts/local: no run dir can be made: No space left on device", "disk_full"),
        ("error: artifacts/local: no run dir can be made: Permission denied", "unwritable"),
        ("error: /a/b: No space left on device; not all that the job does is recorded", "disk_full"),
    ],
)
def test_local_without_room_is_the_sweeps_fault(tmp_path, line, reason):
    verdict = LOCAL.verdict(attempt(tmp_path, code=1, stderr=f"{line}\n", run_dir=None))
    assert (verdict.state, verdict.reason, verdict.detail, verdict.halt) == ("failed", reason, line, True)


def test_log_that_was_cut_degrades_a_success(tmp_path):
    said = {"failed": False, "local": {"exit_code": 0, "fault": "No space left on device"}}
    verdict = LOCAL.verdict(attempt(tmp_path, code=0, said=said))
    assert (verdict.state, verdict.flags, verdict.detail) == ("succeeded", ("degraded",), "No space left on device")


def test_detail_ends_with_the_last_words_of_stderr(tmp_path):
    said = {"failed": True, "local": {"exit_code": 1, "reason": "exit"}}
    verdict = LOCAL.verdict(attempt(tmp_path, code=1, said=said, stderr="Traceback …\nValueError: bad lr\n\n"))
    assert verdict.detail == "exit 1: ValueError: bad lr"


@pytest.mark.parametrize(
    ("reason", "shown"), [("out_of_memory", "out_of_memory"), ("Not a word!", "exit"), (7, "exit")]
)
def test_command_may_name_its_reason_in_one_word(tmp_path, reason, shown):
    verdict = COMMAND.verdict(attempt(tmp_path, code=1, said={"failed": True, "reason": reason}))
    assert verdict.reason == shown


@pytest.mark.parametrize(
    ("text", "line"),
    [
        (b"", ""),
        (b"\n\n", ""),
        (b"one\ntwo\n\n", "two"),
        (b"no newline", "no newline"),
        (b"\xff\xfe\n", "��"),
        (b"\x1b[31mred\x1b[0m\n", r"\x1b[31mred\x1b[0m"),
        (b"x" * 9000 + b"\nlast\n", "last"),
    ],
)
def test_last_line_of_a_log(tmp_path, text, line):
    (tmp_path / "log").write_bytes(text)
    assert tail.last_line(tmp_path / "log") == line


def test_last_line_of_no_log(tmp_path):
    assert tail.last_line(tmp_path / "log") == ""
    assert tail.last_line(tmp_path) == ""


def test_a_runner_module_is_imported_only_when_looked_up(project):
    script = "import sys; from sweeptool.runners import RUNNERS; assert 'local' in RUNNERS; print(*sys.modules)"
    loaded = project().run("python", "-c", script).stdout
    assert not re.search(r"sweeptool\.runners\.\w+", loaded)
