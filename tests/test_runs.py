"""Which manifests of a tree count, what they come to, and what is said of the rest."""

from __future__ import annotations

import gc
import tracemalloc
from decimal import Decimal

import pytest

from sweeptool import layout, runs
from sweeptool.errors import SweepError
from sweeptool.runs import totals
from tests import oddtree, peer, sweepmaker


@pytest.fixture(scope="module")
def odd(tmp_path_factory) -> runs.Found:
    root = tmp_path_factory.mktemp("odd")
    oddtree.make(root)
    return runs.under(str(root))


def test_the_tree_of_odd_manifests_has_forty_of_them():
    assert len(oddtree.MANIFESTS) == 40


def test_an_odd_tree_has_the_totals_that_were_added_up_by_hand(odd):
    sums = totals.of(odd.runs)
    assert sums.manifests == oddtree.COUNTED
    assert sums.failed == oddtree.FAILED
    assert Decimal(sums.cost) / 1_000_000 == Decimal(oddtree.COST)
    assert sums.wall_seconds == oddtree.WALL
    assert sums.unknown_cost == oddtree.UNKNOWN_COST
    assert sums.interrupted == oddtree.INTERRUPTED
    assert len(odd.skipped) == oddtree.SKIPPED


LEFT_OUT = "torn empty nul-padded list null binary latin-1 deep digits foreign directory good-1-copy broken-link"
NAMED = (
    "text-failed number-failed null-failed future-schema wrong-types nan-cost infinite-cost negative-cost true-cost "
    "text-cost huge-cost long-cost negative-wall text-wall nan-wall"
)


@pytest.mark.parametrize("name", LEFT_OUT.split())
def test_what_does_not_count_is_named_with_the_reason(odd, name):
    assert [bool(why) for path, why in odd.skipped if path.split("/")[-2] == name] == [True]


@pytest.mark.parametrize("name", NAMED.split())
def test_each_oddity_of_what_counts_is_named(odd, name):
    assert any(f"/{name}/" in line for line in odd.oddities)


def test_the_runners_own_tool_counts_less_right_on_the_part_of_the_tree_that_it_survives(tmp_path):
    oddtree.make(tmp_path, peer=True)
    theirs = peer.footer(peer.run("manifest-summary", "--root", tmp_path).stdout)
    ours = totals.of(runs.under(str(tmp_path)).runs)
    assert theirs["estimated_cost"] == "$nan"
    assert Decimal(ours.cost) / 1_000_000 == Decimal(oddtree.COST) - Decimal("0.02") - Decimal("0.09")
    assert int(theirs["manifests"]) > ours.manifests  # it counts what it could not read


def test_the_totals_of_a_clean_tree_are_the_runners_own_to_the_cent(project, tmp_path):
    from tests.bench import corpus

    corpus.make(tmp_path / "runs", 250)
    theirs = peer.footer(peer.run("manifest-summary", "--root", tmp_path / "runs").stdout)
    ours = peer.footer(project().tool("manifest-summary", "--root", tmp_path / "runs").stdout)
    assert {name: ours[name] for name in theirs} == theirs
    assert theirs["manifests"] == "250"
    assert ours["unknown_cost"] == "1"


def test_a_copy_of_a_run_counts_once_and_the_newer_one(tmp_path):
    sweepmaker.manifest(tmp_path / "a", run_id="r", pod_id="p", pulled_at_utc="2026-03-01T10:00:00Z")
    sweepmaker.manifest(
        tmp_path / "b", run_id="r", pod_id="p", pulled_at_utc="2026-03-01T11:00:00Z", estimated_cost_usd=0.5
    )
    found = runs.under(str(tmp_path))
    assert [run.cost for run in found.runs] == [500_000]
    assert [(path.split("/")[-2], why.split(",")[0]) for path, why in found.skipped] == [("a", "a copy of run r")]


@pytest.mark.parametrize(
    ("older", "newer"),
    [
        pytest.param("2026-03-01T00:00:00Z", "2026-03-01T00:00:00.900Z", id="fraction"),
        pytest.param("2026-03-01T02:00:00+02:00", "2026-03-01T00:30:00+00:00", id="offset"),
    ],
)
def test_the_newer_copy_is_told_by_its_time_and_not_by_its_text(tmp_path, older, newer):
    for name, at in (("a", older), ("b", newer)):
        sweepmaker.manifest(tmp_path / name, run_id="r", pod_id="p", pulled_at_utc=at)
    assert [run.run_dir for run in runs.under(str(tmp_path)).runs] == [str(tmp_path / "b")]


def test_a_file_that_is_named_twice_counts_once(tmp_path, monkeypatch):
    for name in "ab":
        sweepmaker.manifest(tmp_path / name)
    monkeypatch.chdir(tmp_path)
    found = runs.of_files(f"{place}/{layout.MANIFEST}" for place in ("a", "b", "a", "./a", tmp_path / "b"))
    assert ([run.run_dir for run in found.runs], found.skipped) == (["a", "b"], [])


def test_two_attempts_with_one_run_id_but_two_pods_are_two_runs(tmp_path):
    for pod in ("p1", "p2"):
        sweepmaker.manifest(tmp_path / pod, run_id="r", pod_id=pod)
    assert len(runs.under(str(tmp_path)).runs) == 2


def test_runs_without_a_pod_are_copies_only_where_they_were_written_at_the_same_instant(tmp_path):
    for name, at in (("a", "10"), ("b", "10"), ("c", "11")):
        sweepmaker.manifest(tmp_path / name, run_id="r", pod_id=None, pulled_at_utc=f"2026-03-01T{at}:00:00.123456Z")
    assert len(runs.under(str(tmp_path)).runs) == 2


def test_manifests_without_a_run_id_all_count(tmp_path):
    for name in "abc":
        (tmp_path / name).mkdir()
        (tmp_path / name / layout.MANIFEST).write_text('{"failed": false, "estimated_cost_usd": 0.1}')
    assert totals.of(runs.under(str(tmp_path)).runs).cost == 300_000


def test_a_manifest_may_have_any_name(tmp_path):
    sweepmaker.manifest(tmp_path / "a", name="result.json")
    sweepmaker.manifest(tmp_path / "b")
    assert len(runs.under(str(tmp_path), "result.json").runs) == 1


def test_an_empty_tree_has_no_runs_and_a_missing_one_is_an_error(tmp_path):
    assert runs.under(str(tmp_path)).runs == []
    with pytest.raises(SweepError, match="does not exist"):
        runs.under(str(tmp_path / "gone"))


def test_a_run_takes_less_than_a_kilobyte_of_memory(tmp_path, monkeypatch):
    text = sweepmaker.manifest(tmp_path / "one").read_text()
    monkeypatch.chdir(tmp_path)
    for number in range(2000):
        run_dir = tmp_path / "artifacts" / "runpod" / f"20260301T{number:06d}Z"
        run_dir.mkdir(parents=True)
        (run_dir / layout.MANIFEST).write_text(text.replace("one", f"20260301T{number:06d}Z"))
    tracemalloc.start()
    found = runs.under("artifacts")
    gc.collect()  # the interpreter keeps some thousand empty tuples for later
    size = tracemalloc.get_traced_memory()[0]
    tracemalloc.stop()
    assert len(found.runs) == 2000
    assert size / 2000 < 1000
