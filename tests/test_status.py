"""status: the phase of a sweep from its ledger, the JSON shape, the table, the codes of --check-complete."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import time

import pytest

from sweeptool import money, status
from sweeptool.ledger import hold, liveness
from sweeptool.status import show
from tests.sweepmaker import stamp, sweep

TWO = """
    name: pair
    command: 'true'
    price_per_hour_usd: 1
    max_runtime: 6m
    max_cost_usd: 1
    matrix: {gpu: [L4], params: {a: [1, 2]}}
    """
DONE = [{"cell": 0, "state": "succeeded"}, {"cell": 1, "state": "succeeded"}]
ONE = DONE[:1]
KEYS = ["name", "sweep_id", "phase", "reason", "cells", "best", "cost"]
CELL_KEYS = [
    "index", "object", "id", "gpu", "region", "params", "repetition", "phase", "costUSD", "wallSeconds",
    "unitsPerSecond", "attempts", "run_dir", "exit_code", "failed", "reason",
]  # fmt: skip


def event(name: str, **members: object) -> str:
    """Return a line of a ledger, well after the attempts."""
    return json.dumps({"ts_utc": stamp(1000), "event": name, **members}) + "\n"


def stopped(why: str) -> str:
    return event("stopped", why=why)


def failed(cell: int) -> dict[str, object]:
    return {"cell": cell, "state": "failed"}


def phases(found: status.Status) -> list[str]:
    return [cell.phase for cell in found.cells]


@pytest.mark.parametrize(
    ("attempts", "lines", "phase", "reason", "cells"),
    [
        pytest.param([], [], "Pending", "", ["Pending", "Pending"], id="opened-only"),
        pytest.param(DONE, [], "Succeeded", "", ["Succeeded", "Succeeded"], id="all-succeeded"),
        pytest.param([*ONE, failed(1)], [], "Failed", "CellsFailed", ["Succeeded", "Failed"], id="one-failed"),
        pytest.param([failed(0), failed(1)], [], "Failed", "CellsFailed", ["Failed", "Failed"], id="all-failed"),
        pytest.param([failed(0), *DONE], [], "Succeeded", "", ["Succeeded", "Succeeded"], id="failed-then-succeeded"),
        pytest.param(
            [*ONE, {"cell": 1, "state": "lost"}], [], "Failed", "CellsFailed", ["Succeeded", "Lost"], id="lost-in-the-end"
        ),
        pytest.param(ONE, [stopped("budget")], "Suspended", "MaxCostReached", ["Succeeded", "Pending"], id="budget"),
        pytest.param([], [stopped("budget")], "Suspended", "MaxCostReached", ["Pending", "Pending"], id="budget-at-once"),
        pytest.param([failed(0)], [stopped("budget")], "Suspended", "MaxCostReached", ["Failed", "Pending"], id="budget+"),
        pytest.param([failed(0)], [stopped("streak")], "Suspended", "FailureStreak", ["Failed", "Pending"], id="streak"),
        pytest.param(
            [failed(0), failed(1)], [stopped("streak")], "Suspended", "FailureStreak", ["Failed", "Failed"], id="streak-again"
        ),
        pytest.param(
            [*ONE, failed(1)], [stopped("budget")], "Suspended", "MaxCostReached", ["Succeeded", "Failed"], id="budget-again"
        ),
        pytest.param(
            [*ONE, {"cell": 1, "state": "interrupted"}],
            [event("interrupted", signal="INT"), stopped("interrupted")],
            "Suspended", "Interrupted", ["Succeeded", "Pending"], id="interrupted",
        ),
        pytest.param(ONE, [event("suspended")], "Suspended", "Requested", ["Succeeded", "Pending"], id="suspended"),
        pytest.param([], [event("suspended")], "Suspended", "Requested", ["Pending", "Pending"], id="suspended-unstarted"),
        pytest.param(
            ONE, [event("suspended"), event("resumed")], "Suspended", "Interrupted", ["Succeeded", "Pending"], id="resumed"
        ),
        pytest.param(ONE, [event("cancelled")], "Cancelled", "Requested", ["Succeeded", "Cancelled"], id="cancelled"),
        pytest.param(
            [*ONE, {"cell": 1, "state": "cancelled"}], [event("cancelled")],
            "Cancelled", "Requested", ["Succeeded", "Cancelled"], id="cancelled-in-flight",
        ),
        pytest.param(
            [failed(0)], [event("cancelled")], "Cancelled", "Requested", ["Failed", "Cancelled"], id="cancelled-after-failure"
        ),
        pytest.param(DONE, [event("cancelled")], "Succeeded", "", ["Succeeded", "Succeeded"], id="cancelled-too-late"),
        pytest.param(
            ONE, [event("suspended"), event("cancelled")], "Cancelled", "Requested", ["Succeeded", "Cancelled"], id="both"
        ),
    ],
)  # fmt: skip
def test_phase_of_a_sweep_that_no_driver_runs(tmp_path, attempts, lines, phase, reason, cells):
    found = status.read(sweep(tmp_path, TWO, attempts, lines=lines))
    assert (found.phase, found.reason, phases(found)) == (phase, reason, cells)


def test_sweep_without_a_ledger_is_pending(tmp_path):
    where = sweep(tmp_path, TWO, [])
    where.ledger.unlink()
    found = status.read(where)
    assert (found.phase, found.age, found.state.sweep_id) == ("Pending", None, None)
    assert status.describe(found)["cost"]["limitUSD"] == "1.00"


def test_state_of_the_spec_suspends_a_sweep(tmp_path):
    where = sweep(tmp_path, TWO, [], closed=False, lines=[event("opened", sweep_id="pair-1", state="Suspended")])
    assert (status.read(where).phase, status.read(where).reason) == ("Suspended", "Requested")


@pytest.mark.parametrize("state", ["running", "pending"])
def test_sweep_is_running_while_a_driver_holds_it(tmp_path, state):
    attempts = [*ONE, {"cell": 1, "state": "running"}] if state == "running" else ONE
    where = sweep(tmp_path, TWO, attempts, closed=False)
    held = hold.take(where, os.getpid())
    found = status.read(where)
    held.release()
    assert (found.phase, found.reason) == ("Running", "")
    assert phases(found) == ["Succeeded", "Running" if state == "running" else "Pending"]


@pytest.mark.parametrize("wish", ["suspended", "cancelled"])
def test_sweep_with_a_wish_is_running_until_its_driver_has_ended(tmp_path, wish):
    where = sweep(tmp_path, TWO, [{"cell": 0, "state": "running"}], closed=False, lines=[event(wish)])
    held = hold.take(where, os.getpid())
    assert status.read(where).phase == "Running"
    held.release()
    assert status.read(where).phase == wish.capitalize()


# ---- what a dead driver left


def claimed(where, pid: int, *, host: str = "", boot: str = "") -> None:
    """Write the claim that a shard with this process id makes."""
    attempt = where.attempt(status.frozen.read(where.plan).jobs[0].id, 1)
    attempt.path.mkdir(parents=True)
    ticks = liveness.ticks(pid) or "1"
    attempt.start.write_text(f"{pid} {ticks} {boot or liveness.boot()} {host or socket.gethostname()}\n")


def left_running(tmp_path):
    return sweep(tmp_path, TWO, [{"cell": 0, "state": "running", "reserved": "0.10"}], closed=False)


def test_cell_of_a_dead_driver_and_a_dead_shard_is_lost_not_running(tmp_path):
    where = left_running(tmp_path)
    child = subprocess.Popen(["true"])
    child.wait()
    claimed(where, child.pid)
    found = status.read(where)
    assert (found.phase, found.reason, phases(found)) == ("Suspended", "Interrupted", ["Lost", "Pending"])
    assert status.describe(found)["cost"]["reservedUSD"] == "0.10"


def test_cell_that_was_admitted_and_never_begun_is_lost(tmp_path):
    assert phases(status.read(left_running(tmp_path))) == ["Lost", "Pending"]


def test_cell_whose_shard_outlived_its_driver_is_running(tmp_path):
    where = left_running(tmp_path)
    child = subprocess.Popen(["sleep", "60"], start_new_session=True)
    claimed(where, child.pid)
    found, alone = status.read(where), "no driver runs; what runs goes on to its end"
    shown = show.table([found], cells=True)
    held = hold.take(where, os.getpid())
    driven = show.table([status.read(where)], cells=True)
    held.release()
    child.kill()
    child.wait()
    assert (found.phase, phases(found)) == ("Running", ["Running", "Pending"])
    assert (alone in shown, alone in driven) == (True, False)


def test_cell_that_ended_while_no_driver_ran_is_not_running(tmp_path):
    where = left_running(tmp_path)
    claimed(where, os.getpid())
    where.attempt(status.frozen.read(where.plan).jobs[0].id, 1).exit.write_text("0\n")
    assert phases(status.read(where)) == ["Lost", "Pending"]


def test_cell_of_another_host_is_believed_to_run(tmp_path):
    where = left_running(tmp_path)
    claimed(where, 4711, host="node7", boot="another-boot")
    assert status.read(where).phase == "Running"


def test_cell_of_an_earlier_boot_is_lost(tmp_path):
    where = left_running(tmp_path)
    claimed(where, os.getpid(), boot="an-earlier-boot")
    assert phases(status.read(where)) == ["Lost", "Pending"]


def test_killed_driver_and_shard_show_as_interrupted_and_run_again(project):
    here = project({
        "sweep.yaml": """
            name: killed
            command: 'test -e again || { touch begun; sleep 600; }'
            matrix: {params: {a: [1]}}
            """
    })  # fmt: skip
    driver = subprocess.Popen(
        ["sweeptool", "run", "sweep.yaml"], cwd=here.path, stderr=subprocess.DEVNULL, process_group=0
    )
    deadline = time.monotonic() + 20
    while not (here.path / "begun").exists() and time.monotonic() < deadline:
        time.sleep(0.05)
    assert "Running" in here.tool("status").stdout
    claim = next(here.path.glob("artifacts/sweeps/killed/cells/*/attempt-1/start")).read_text()
    driver.kill()
    os.killpg(int(claim.split()[0]), signal.SIGKILL)
    driver.wait()
    shown = here.tool("status").stdout
    assert "Suspended (Interrupted)" in shown
    assert "its driver died; running the sweep again settles it" in shown
    assert here.tool("status", "--check-complete").returncode == 2
    (here.path / "again").touch()
    assert here.tool("run", "sweep.yaml").returncode == 0
    assert here.tool("status", "--check-complete").returncode == 0


# ---- the JSON shape


def test_json_has_every_key_of_a_sweep_that_never_ran(project, tmp_path):
    here = project()
    sweep(tmp_path, TWO, []).ledger.unlink()
    found = json.loads(here.tool("status", "--json").stdout)
    assert list(found) == KEYS
    assert found["cells"] == [
        {
            "index": index, "object": f"pair-{index}", "id": found["cells"][index]["id"], "gpu": "L4", "region": None,
            "params": {"a": str(index + 1)}, "repetition": 0, "phase": "Pending", "costUSD": None, "wallSeconds": None,
            "unitsPerSecond": None, "attempts": 0, "run_dir": None, "exit_code": None, "failed": None, "reason": None,
        }
        for index in (0, 1)
    ]  # fmt: skip
    assert {key: found[key] for key in KEYS if key != "cells"} == {
        "name": "pair", "sweep_id": None, "phase": "Pending", "reason": None,
        "best": {"byCost": None, "byThroughput": None},
        "cost": {"totalUSD": "0.00", "reservedUSD": "0.00", "unknownUSD": "0.00", "limitUSD": "1.00"},
    }  # fmt: skip


def test_json_tells_the_attempt_that_counts_and_the_cost_of_all(tmp_path):
    where = sweep(
        tmp_path, TWO,
        [
            {"cell": 0, "state": "failed", "cost": "0.40", "reason": "pod_killed"},
            {"cell": 0, "state": "succeeded", "cost": "0.30", "wall": 12.5, "units_per_second": 8.25},
            {"cell": 1, "state": "succeeded", "cost": "0.10", "units_per_second": 2.0},
            {"cell": 1, "state": "failed", "cost": "0.01"},
        ],
    )  # fmt: skip
    found = status.describe(status.read(where))
    first, second = found["cells"]
    assert list(first) == CELL_KEYS
    assert (first["phase"], first["costUSD"], first["wallSeconds"], first["unitsPerSecond"]) == (
        "Succeeded", "0.70", 12.5, 8.25,
    )  # fmt: skip
    assert (first["attempts"], first["exit_code"], first["failed"]) == (2, 0, False)
    assert first["run_dir"].endswith("run-001")
    assert (second["phase"], second["costUSD"], second["run_dir"][-7:]) == ("Succeeded", "0.11", "run-002")
    assert found["best"] == {"byCost": 1, "byThroughput": 0}
    assert found["cost"] == {"totalUSD": "0.81", "reservedUSD": "0.00", "unknownUSD": "0.00", "limitUSD": "1.00"}


def test_unknown_cost_is_null_charged_at_its_reservation_and_never_the_cheapest(tmp_path):
    where = sweep(
        tmp_path, TWO,
        [{"cell": 0, "state": "succeeded", "cost": None, "reserved": "0.10"}, {"cell": 1, "state": "succeeded", "cost": "0.05"}],
    )  # fmt: skip
    found = status.describe(status.read(where))
    assert [cell["costUSD"] for cell in found["cells"]] == [None, "0.05"]
    assert found["best"]["byCost"] == 1
    assert found["cost"] == {"totalUSD": "0.05", "reservedUSD": "0.00", "unknownUSD": "0.10", "limitUSD": "1.00"}


def test_cost_of_a_cell_with_one_unknown_attempt_is_unknown(tmp_path):
    attempts = [
        {"cell": 0, "state": "failed", "cost": None, "reserved": "0.10"},
        {"cell": 0, "state": "succeeded", "cost": "0.05"},
    ]
    found = status.read(sweep(tmp_path, TWO, attempts))
    assert found.cells[0].cost is None
    assert status.best(found) == (None, None)


def test_ties_go_to_the_lowest_index_and_nothing_is_rounded(tmp_path):
    same = [{"cell": index, "state": "succeeded", "cost": "0.20", "units_per_second": 3.0} for index in (1, 0)]
    cheapest, fastest = status.best(status.read(sweep(tmp_path / "same", TWO, same)))
    assert (cheapest.job.index, fastest.job.index) == (0, 0)
    close = [
        {"cell": 0, "state": "succeeded", "cost": "0.200001", "units_per_second": 3.0000001},
        {"cell": 1, "state": "succeeded", "cost": "0.200000", "units_per_second": 3.0000002},
    ]
    cheapest, fastest = status.best(status.read(sweep(tmp_path / "close", TWO, close)))
    assert (cheapest.job.index, fastest.job.index) == (1, 1)


def test_failed_cell_is_no_candidate(tmp_path):
    attempts = [{"cell": 0, "state": "failed", "cost": "0.01"}, {"cell": 1, "state": "succeeded", "cost": "0.50"}]
    cheapest, _ = status.best(status.read(sweep(tmp_path, TWO, attempts)))
    assert cheapest.job.index == 1


def test_raised_cap_is_the_limit(tmp_path):
    where = sweep(tmp_path, TWO, ONE, lines=[event("raised", max_cost_usd="7.50", was_usd="1.00")])
    assert status.describe(status.read(where))["cost"]["limitUSD"] == "7.50"


# ---- the command


@pytest.mark.parametrize(
    ("attempts", "lines", "code", "word"),
    [
        pytest.param(DONE, [], 0, "pair: Succeeded", id="complete"),
        pytest.param([*ONE, failed(1)], [], 1, "pair: Failed (CellsFailed)", id="failed"),
        pytest.param(ONE, [event("cancelled")], 1, "pair: Cancelled (Requested)", id="cancelled"),
        pytest.param(ONE, [stopped("budget")], 2, "pair: Suspended (MaxCostReached)", id="suspended"),
        pytest.param([], [], 2, "pair: Pending", id="pending"),
    ],
)
def test_check_complete_says_it_by_its_code(project, tmp_path, attempts, lines, code, word):
    here = project()
    sweep(tmp_path, TWO, attempts, lines=lines)
    done = here.tool("status", "--check-complete")
    assert (done.returncode, done.stdout, done.stderr) == (code, "", f"{word}\n")


@pytest.mark.parametrize("words", [["nosuch"], []], ids=["unknown", "none-at-all"])
def test_check_complete_of_no_sweep_is_3_and_says_why(project, words):
    done = project().tool("status", "--check-complete", *words)
    assert done.returncode == 3
    assert done.stderr.startswith("error: ")
    assert len(done.stderr.splitlines()) == 1


@pytest.mark.parametrize("spoil", ["plan-torn", "ledger-is-a-directory"])
def test_check_complete_of_a_broken_sweep_is_3(project, tmp_path, spoil):
    here = project()
    where = sweep(tmp_path, TWO, DONE)
    if spoil == "plan-torn":
        where.plan.write_bytes(where.plan.read_bytes()[:-20])
    else:
        where.ledger.unlink()
        where.ledger.mkdir()
    done = here.tool("status", "pair", "--check-complete")
    assert done.returncode == 3
    assert done.stderr.startswith("error: ")


@pytest.mark.parametrize(
    "flags", [["--watch", "--json"], ["--json", "--check-complete"], ["--watch", "--check-complete"]]
)
def test_status_flags_that_exclude_each_other(project, flags):
    done = project().tool("status", *flags)
    assert (done.returncode, done.stderr) == (
        2,
        f"error: {' and '.join(flags)} exclude each other (give one of them)\n",
    )


def test_table_shows_phase_cost_unknown_best_and_why(project, tmp_path):
    here = project()
    attempts = [
        {"cell": 0, "state": "failed", "cost": None, "reserved": "0.10", "detail": "exit 3: no\x1b[2J such file"},
        {"cell": 1, "state": "succeeded", "cost": "0.30", "wall": 61.25, "units_per_second": 8.25},
    ]
    sweep(tmp_path, TWO, attempts)
    lines = here.tool("status").stdout.splitlines()
    assert lines[0].split() == ["NAME", "PHASE", "CELLS", "COST", "BEST-COST", "AGE"]
    assert lines[1].split()[:-1] == ["pair", "Failed", "(CellsFailed)", "1/2", "$0.30", "+", "$0.10?", "1"]
    assert lines[3].split() == ["CELL", "WHAT", "PHASE", "COST", "WALL", "UNITS/S", "WHY"]
    assert lines[4].split()[:4] == ["0", "L4", "a=1", "Failed"]
    assert lines[4].endswith("exit 3: no\\x1b[2J such file")
    assert lines[5].split() == ["1", "L4", "a=2", "Succeeded", "$0.30", "61.2", "s", "8.2"]


def test_large_sweep_lists_what_needs_a_person_and_counts_the_rest(project, tmp_path):
    here = project()
    many = f"name: many\ncommand: 'true'\nmatrix: {{params: {{a: {list(range(200))}}}}}\n"
    sweep(tmp_path, many, [{"cell": 0, "state": "succeeded"}, failed(7)])
    lines = here.tool("status").stdout.splitlines()
    assert [line.split()[0] for line in lines[4:]] == ["7", "199"]
    assert lines[-1] == "199 cells more: 'status --json' has them all"


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(0, "0s"), (59.9, "59s"), (60, "1m"), (90, "1m30s"), (3600, "1h"), (5400, "1h30m"), (90000, "1d1h"), (-5, "0s")],
)
def test_age_is_short(seconds, text):
    from sweeptool.status import show

    assert show._age(seconds) == text


def test_list_shows_every_sweep_and_warns_of_those_it_cannot_read(project, tmp_path):
    here = project()
    sweep(tmp_path, TWO, DONE)
    sweep(tmp_path, TWO.replace("pair", "other"), [])
    broken = here.path / "artifacts/sweeps/broken"
    broken.mkdir()
    (broken / "plan.jsonl").write_text('{"format": 1')
    (here.path / "artifacts/sweeps/not-a-sweep").mkdir()
    done = here.tool("list")
    assert [line.split()[0] for line in done.stdout.splitlines()] == ["NAME", "other", "pair"]
    assert done.returncode == 0
    assert done.stderr == "warning: artifacts/sweeps/broken/plan.jsonl: holds no whole plan (render the spec again)\n"


def test_list_without_a_sweep_is_the_head(project):
    done = project().tool("list")
    assert (done.returncode, len(done.stdout.splitlines())) == (0, 1)


def test_final_names_the_failed_with_their_logs_and_what_is_next(project, tmp_path):
    here = project()
    where = sweep(tmp_path, TWO, [{"cell": 0, "state": "failed", "detail": "exit 3"}, DONE[1]])
    lines = here.tool("status", "--final").stdout.splitlines()
    attempt = where.attempt(status.frozen.read(where.plan).jobs[0].id, 1).path.relative_to(here.path)
    assert lines[2:5] == [
        "failed    0  pair-0  L4 a=1  exit 3", f"          {attempt}/stdout.log", f"          {attempt}/stderr.log"
    ]  # fmt: skip
    assert lines[5:] == [
        "cheapest  1  pair-1  L4 a=2  $0.0120", "next      run it again: what succeeded is kept, the rest is tried anew"
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("lines", "words"),
    [
        pytest.param(
            [stopped("budget")], "next      raise the cap: sweeptool resume pair --max-cost-usd 0.112", id="budget"
        ),
        pytest.param([event("suspended")], "next      sweeptool resume pair", id="suspended"),
        pytest.param([event("cancelled")], "next      sweeptool resume pair", id="cancelled"),
    ],
)
def test_final_says_how_to_go_on(project, tmp_path, lines, words):
    here = project()
    sweep(tmp_path, TWO, ONE, lines=lines)
    assert here.tool("status", "--final").stdout.splitlines()[-1] == words


def test_final_says_how_to_go_on_where_what_is_left_had_failed_before(project, tmp_path):
    here = project()
    sweep(tmp_path, TWO, [*ONE, failed(1)], lines=[stopped("budget")])
    assert here.tool("status", "--final").stdout.splitlines()[-1].startswith("next      raise the cap: ")


@pytest.mark.parametrize(
    ("metrics", "words"),
    [
        pytest.param("metrics: {best: {name: loss, goal: min}}", "next      which won by loss: sweeptool best pair", id="metric"),
        pytest.param("", "cheapest  0  pair-0  L4 a=1  $0.0120", id="none"),
    ],
)  # fmt: skip
def test_final_says_how_to_see_what_won_by_the_specs_metric(project, tmp_path, metrics, words):
    here = project()
    sweep(tmp_path, TWO.replace("command:", f"{metrics}\n    command:"), DONE)
    assert here.tool("status", "--final").stdout.splitlines()[-1] == words


def test_final_and_status_say_that_a_pod_may_still_bill(project, tmp_path):
    here = project()
    flagged = [{**attempt, "flags": ["leaked"]} for attempt in DONE]
    sweep(tmp_path, TWO, flagged)
    bills = "bills     2 attempts may have left a pod that still bills: sweeptool recover pair"
    assert here.tool("status", "--final").stdout.splitlines()[-1] == bills
    shown = here.tool("status").stdout.splitlines()
    assert shown[-1] == bills
    assert sum(line.endswith("leaked") for line in shown) == 2


def test_final_says_that_no_cell_reports_the_specs_metric(project, tmp_path):
    here = project()
    flagged = [{**attempt, "flags": ["no_metric"]} for attempt in DONE]
    sweep(tmp_path, TWO.replace("command:", "metrics: {best: lss}\n    command:"), flagged)
    said = here.tool("status", "--final").stdout.splitlines()[-1]
    assert said == "next      no cell reports lss (metrics.best); to see what they report: sweeptool best pair"


@pytest.mark.parametrize(
    "named", ["pair", "artifacts/sweeps/pair", "artifacts/sweeps/pair/", "./artifacts/sweeps/pair"]
)
def test_sweep_is_a_name_or_a_directory(project, tmp_path, named):
    here = project()
    sweep(tmp_path, TWO, DONE)
    assert here.tool("status", named, "--json").stdout == here.tool("status", "--json").stdout


def test_status_works_inside_the_sweep_directory(project, tmp_path):
    where = sweep(tmp_path, TWO, DONE)
    done = subprocess.run(["sweeptool", "status", "."], cwd=where.path, capture_output=True, text=True, check=True)
    assert "pair  " in done.stdout


def test_money_of_status_is_decimal_text(tmp_path):
    attempts = [{"cell": index, "state": "succeeded", "cost": "0.1"} for index in (0, 1)]
    assert status.describe(status.read(sweep(tmp_path, TWO, attempts)))["cost"]["totalUSD"] == money.text(200_000)


ODD = '{"event": "adm\nnot json\n[1]\n'


@pytest.mark.parametrize("command", [["status", "pair"], ["budget", "pair"]], ids=["status", "budget"])
def test_lines_of_the_ledger_that_tell_nothing_are_named(project, tmp_path, command):
    here = project()
    sweep(tmp_path, TWO, ONE, lines=[ODD])
    done = here.tool(*command)
    assert done.returncode == 0
    assert done.stderr.splitlines() == [
        "warning: ledger.jsonl:5: a torn or foreign line",
        "warning: ledger.jsonl:6: a torn or foreign line",
        "warning: ledger.jsonl:7: not an event",
    ]


def test_of_very_many_odd_lines_the_first_are_named_and_the_rest_counted(project, tmp_path):
    here = project()
    sweep(tmp_path, TWO, ONE, lines=["garbage\n"] * 1000)
    lines = here.tool("status").stderr.splitlines()
    assert len(lines) == 21
    assert lines[-1] == "warning: 980 more of that"
