"""Every file of a name beneath a directory, each once, whatever links there are."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from sweeptool import walk
from sweeptool.errors import SweepError


def found(root, *, skipped: list[walk.Skipped] | None = None) -> list[str]:
    start = len(str(root)) + 1
    return [path[start:] for path in walk.files(str(root), "m.json", [] if skipped is None else skipped)]


def touch(root, *names: str) -> None:
    for name in names:
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("{}")


def test_files_come_in_path_order_at_every_depth(tmp_path):
    touch(tmp_path, "b/m.json", "a/m.json", "a/x/m.json", "m.json", "a/other.json")
    assert found(tmp_path) == ["m.json", "a/m.json", "a/x/m.json", "b/m.json"]


def test_a_linked_run_dir_counts_where_it_is_linked(tmp_path):
    touch(tmp_path, "far/run/m.json")
    (tmp_path / "root").mkdir()
    (tmp_path / "root" / "link").symlink_to(tmp_path / "far" / "run")
    assert found(tmp_path / "root") == ["link/m.json"]


def test_a_link_to_what_is_read_anyway_adds_nothing(tmp_path):
    touch(tmp_path, "runs/a/m.json")
    (tmp_path / "latest").symlink_to("runs/a")
    (tmp_path / "again").symlink_to("runs")
    assert found(tmp_path) == ["runs/a/m.json"]


def test_two_links_to_one_place_are_read_once(tmp_path):
    touch(tmp_path, "far/m.json")
    root = tmp_path / "root"
    root.mkdir()
    for name in ("one", "two"):
        (root / name).symlink_to(tmp_path / "far")
    assert found(root) == ["one/m.json"]


def test_a_link_that_leads_back_is_named_and_not_followed(tmp_path):
    touch(tmp_path, "root/a/m.json", "beside/m.json")
    (tmp_path / "root" / "up").symlink_to("..")
    skipped: list[walk.Skipped] = []
    assert found(tmp_path / "root", skipped=skipped) == ["a/m.json"]
    assert "links back" in skipped[0].why


def test_links_in_linked_trees_are_followed_too(tmp_path):
    touch(tmp_path, "two/m.json")
    for name in ("root", "one"):
        (tmp_path / name).mkdir()
    (tmp_path / "root" / "l1").symlink_to(tmp_path / "one")
    (tmp_path / "one" / "l2").symlink_to(tmp_path / "two")
    assert found(tmp_path / "root") == ["l1/l2/m.json"]


@pytest.mark.parametrize(("first", "second"), [("store", "store/sub"), ("store/sub", "store")])
def test_a_tree_and_one_inside_it_are_each_read_once_whichever_link_comes_first(tmp_path, first, second):
    touch(tmp_path, "store/c/m.json", "store/sub/d/m.json")
    root = tmp_path / "root"
    root.mkdir()
    (root / "a").symlink_to(tmp_path / first)
    (root / "b").symlink_to(tmp_path / second)
    skipped: list[walk.Skipped] = []
    read = found(root, skipped=skipped)
    assert (sorted(Path(path).parent.name for path in read), skipped) == (["c", "d"], [])


@pytest.mark.parametrize("name", ["a-first", "z-last", "m.json"])
def test_a_link_that_leads_nowhere_costs_nothing_but_itself(tmp_path, name):
    touch(tmp_path, *(f"{number}/m.json" for number in range(6)))
    (tmp_path / name).symlink_to(name)
    skipped: list[walk.Skipped] = []
    read = [path for path in found(tmp_path, skipped=skipped) if path != "m.json"]
    assert len(read) == 6
    assert [(path, "cannot be followed" in why) for path, why in skipped] == [(str(tmp_path / name), True)]


def test_thousands_of_links_do_not_cost_their_square(tmp_path):
    root = tmp_path / "root"
    root.mkdir()
    for number in range(2000):
        touch(tmp_path, f"far/{number}/m.json")
        (root / str(number)).symlink_to(tmp_path / "far" / str(number))
    assert len(found(root)) == 2000


def test_a_directory_that_cannot_be_listed_is_named(tmp_path, monkeypatch):
    touch(tmp_path, "open/m.json")
    monkeypatch.chdir(tmp_path)
    for _ in range(20):  # deeper than a path may be long
        Path("d" * 250).mkdir()
        os.chdir("d" * 250)
    monkeypatch.chdir(tmp_path)
    skipped: list[walk.Skipped] = []
    assert found(tmp_path, skipped=skipped) == ["open/m.json"]
    assert "cannot be listed: File name too long" in skipped[0].why
    subprocess.run(["rm", "-rf", "d" * 250], check=True)


@pytest.mark.parametrize("name", ["with space", "quote'd", "new\nline", "-rf", "日本", "*"])
def test_any_name_of_a_directory_will_do(tmp_path, name):
    touch(tmp_path, f"{name}/m.json")
    assert found(tmp_path) == [f"{name}/m.json"]


@pytest.mark.parametrize(("name", "why"), [("missing", "does not exist"), ("file", "is no directory")])
def test_a_root_that_is_no_directory_is_an_error(tmp_path, name, why):
    (tmp_path / "file").touch()
    with pytest.raises(SweepError, match=why):
        found(tmp_path / name)
