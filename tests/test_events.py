"""Events of a whole tree or sweep as one timeline, whatever the files hold."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import tracemalloc
from collections.abc import Iterator
from itertools import islice

import pytest

from sweeptool import events
from sweeptool.errors import SweepError
from sweeptool.events import order, show
from sweeptool.lines import LONGEST
from sweeptool.sources import Source
from tests import oddtree, peer, sweepmaker


def query(root, *filters: str, since: str | None = None, until: str | None = None, now: int = 0) -> list[str]:
    notes = events.Notes()
    wanted = events.wanted(filters, since, until, now)
    return list(events.query(events.streams(Source(root=str(root)), notes), wanted, notes, show.as_json))


def write(root, **files: list[dict] | bytes) -> None:
    for name, content in files.items():
        (root / name).mkdir()
        data = content if isinstance(content, bytes) else b"".join(json.dumps(one).encode() + b"\n" for one in content)
        (root / name / "events.jsonl").write_bytes(data)


def at(second: float, event: str = "e", **fields) -> dict:
    return {"ts_utc": sweepmaker.stamp(second), "event": event, **fields}


@pytest.fixture(scope="module")
def odd(tmp_path_factory):
    root = tmp_path_factory.mktemp("odd-events")
    oddtree.make_events(root)
    return root


def killed(root, **options) -> list[str]:
    return query(root, f"event={oddtree.KILLED}", **options)


@pytest.fixture(scope="module")
def kills(odd) -> list[str]:
    return [json.loads(line)["run_dir"] for line in killed(odd)]


def test_every_kill_of_an_odd_tree_is_found(kills):
    assert len(kills) == oddtree.KILLS


@pytest.mark.parametrize(("name", "count"), [(name, count) for name, (_, count) in oddtree.EVENTS.items()])
def test_each_odd_file_gives_its_events(kills, name, count):
    assert kills.count("/elsewhere" if name == "own-run-dir" else name) == count


def test_what_is_printed_as_json_is_json(odd):
    def refuse(constant):
        raise ValueError(constant)

    for line in query(odd):
        assert line.isascii()
        assert "event" in json.loads(line, parse_constant=refuse)


def test_a_number_of_too_many_digits_changes_no_other(tmp_path):
    write(tmp_path, a=b'{"event": "e", "n": 3, "l": [-4], "wide": ' + b"9" * 5000 + b"}\n")
    assert [str(json.loads(line)["n"]) for line in query(tmp_path, "n=3")] == ["3"]
    assert [str(json.loads(line)["l"]) for line in query(tmp_path)] == ["[-4]"]


def test_lines_that_are_no_events_are_named_with_their_number(odd):
    notes = events.Notes()
    found = events.search(events.streams(Source(root=str(odd)), notes), events.Query(), notes)
    assert sum(1 for _ in found) > oddtree.KILLS
    said = [line.removeprefix(f"{odd}/") for line in notes.lines()]
    assert "torn-middle/events.jsonl:1: is torn or no JSON" in said
    assert "torn-last/events.jsonl:2: is torn or no JSON" in said
    assert "list-line/events.jsonl:2: is no JSON object" in said
    assert "deep/events.jsonl:1: is nested too deep" in said
    assert "latin-1/events.jsonl:1: is not UTF-8: the bad bytes are shown as U+FFFD" in said
    assert "a-pipe/events.jsonl: is no regular file" in said


@pytest.mark.parametrize("filters", [[], ["event=last"]], ids=["all", "few"])
@pytest.mark.parametrize("end", [b"\n", b""], ids=["whole", "torn"])
def test_a_line_that_is_too_long_is_named_once_and_those_after_it_by_their_number(tmp_path, filters, end):
    path = tmp_path / "events.jsonl"
    with path.open("wb") as file:
        file.write(oddtree.line("first"))
        for size in (4 * LONGEST, 2 * LONGEST):
            file.write(b'{"event": "last", "note": "')
            for _ in range(size >> 20):
                file.write(b"x" * (1 << 20))
            file.write(b'"}\n')
        file.write(b'{"event": "last"\n' + oddtree.line("last")[:-1] + end)
    notes = events.Notes()
    wanted = events.wanted(filters, None, None, 0)
    tracemalloc.start()
    found = [
        event.own["event"] for event in events.search(events.streams(Source(root=str(tmp_path)), notes), wanted, notes)
    ]
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert found == (["last"] if filters else ["first", "last"])
    long = "is longer than 16 MB and was passed over"
    assert notes.lines() == [f"{path}:2: {long}", f"{path}:3: {long}", f"{path}:4: is torn or no JSON"]
    assert peak < 4 * LONGEST


def test_a_file_that_ends_inside_a_line_that_is_too_long_is_passed_over_to_its_end(tmp_path):
    path = tmp_path / "events.jsonl"
    with path.open("wb") as file:
        file.truncate(2 * LONGEST + 5)
    notes = events.Notes()
    assert list(events.search(events.streams(Source(root=str(tmp_path)), notes), events.Query(), notes)) == []
    assert notes.lines() == [f"{path}:1: is longer than 16 MB and was passed over"]


def test_under_since_events_without_a_time_are_counted_and_left_out(odd):
    notes = events.Notes()
    wanted = events.wanted([f"event={oddtree.KILLED}"], "2000-01-01", None, 0)
    found = list(events.search(events.streams(Source(root=str(odd)), notes), wanted, notes))
    assert len(found) == oddtree.KILLS - oddtree.UNTIMED
    assert notes.lines()[-1] == f"{oddtree.UNTIMED} matching events have no usable time and were left out"


def test_the_runners_own_tool_agrees_on_a_clean_tree(tmp_path):
    from tests.bench import corpus

    corpus.make(tmp_path, 120)
    theirs = peer.run("events-query", "--root", tmp_path, "--filter", f"event={oddtree.KILLED}", "--json").stdout
    assert [json.loads(line) for line in killed(tmp_path)] == [json.loads(line) for line in theirs.splitlines()]
    assert killed(tmp_path)


def test_events_of_many_files_come_by_time(tmp_path):
    write(tmp_path, a=[at(3), at(1)], b=[at(2), at(4)])
    assert [json.loads(line)["run_dir"] for line in query(tmp_path)] == ["a", "b", "a", "b"]


def test_events_at_one_instant_keep_the_order_in_which_they_were_written(tmp_path):
    write(tmp_path, a=[at(1, n=1), at(1, n=2), at(1, n=3)])
    assert [json.loads(line)["n"] for line in query(tmp_path)] == [1, 2, 3]


def test_every_form_of_a_time_is_compared_as_the_moment_it_is(tmp_path):
    stamps = ["2026-03-01T12:00:00", "2026-03-01T12:00:01Z", "2026-03-01T13:00:02+01:00", 1_772_366_403]
    write(tmp_path, a=[{"ts_utc": stamp, "event": "e"} for stamp in stamps])
    assert len(query(tmp_path, since="2026-03-01T12:00:01Z")) == 3
    assert len(query(tmp_path, until="2026-03-01T12:00:01Z")) == 2
    assert len(query(tmp_path, since="2026-03-01T12:00:01Z", until="2026-03-01T12:00:02+00:00")) == 2
    assert len(query(tmp_path, since="1772366401", until="1772366402000")) == 2


def test_since_takes_a_duration_before_now(tmp_path):
    write(tmp_path, a=[at(0), at(100), at(200)])
    assert len(query(tmp_path, since="90s", now=(sweepmaker.START + 180) * 1_000_000)) == 2


def test_all_filters_must_hold(tmp_path):
    write(tmp_path, a=[at(1, "x", n=1), at(2, "x", n=2), at(3, "y", n=2)])
    assert len(query(tmp_path, "event=x", "n>=2")) == 1


def test_the_run_dir_can_be_filtered_by_and_counted(tmp_path):
    write(tmp_path, a=[at(1)], b=[at(2), at(3)])
    assert len(query(tmp_path, "run_dir=b")) == 2


def test_equal_basenames_in_different_places_are_told_apart(tmp_path):
    for place in ("one", "two"):
        (tmp_path / place).mkdir()
        write(tmp_path / place, run=[at(1)])
    assert {json.loads(line)["run_dir"] for line in query(tmp_path)} == {"one/run", "two/run"}


def test_a_prefilter_never_hides_what_is_written_with_escapes(tmp_path):
    write(tmp_path, a=b'{"event": "pod\\u005fkilled"}\n{"event": "pod_killed"}\n{"\\u0065vent":"pod_killed"}\n')
    assert len(query(tmp_path, "event=pod_killed")) == 3


def test_a_prefilter_never_hides_what_is_shown_other_than_it_is_written(tmp_path):
    write(tmp_path, a=b'{"event": "e", "x": NaN, "note": "caf\xe9"}\n{"event": "e", "x": 1}\n')
    assert len(query(tmp_path, "x=null")) == 1
    assert len(query(tmp_path, "note=caf\ufffd")) == 1


def test_counts_come_most_frequent_first_and_a_missing_key_is_a_row(tmp_path):
    write(tmp_path, a=[at(1, "x", gpu="L4"), at(2, "x", gpu="L4"), at(3, "y")])
    notes = events.Notes()
    found = events.count(
        events.search(events.streams(Source(root=str(tmp_path)), notes), events.Query(), notes), ["gpu"]
    )
    assert found == [(("L4",), 2), ((None,), 1)]


@pytest.mark.parametrize(
    ("fields", "line"),
    [
        ({"ts_utc": "2026-03-01T12:00Z", "ts": 5}, "[2026-03-01T12:00Z] a e ts=5"),
        ({"ts": 1_772_366_400}, "[1772366400] a e"),
        ({"timestamp": "2026-03-01"}, "[2026-03-01] a e"),
        ({"time": "2026-03-01", "n": 1}, "[2026-03-01] a e n=1"),
        ({"ts_utc": "soon", "ts": "2026-03-01"}, "[2026-03-01] a e ts_utc=soon"),
        ({"ts_utc": "soon"}, "[soon] a e"),
        ({"time": "soon"}, "[-] a e time=soon"),
    ],
)
def test_a_timeline_shows_the_time_that_an_event_is_ordered_by(tmp_path, fields, line):
    write(tmp_path, a=[{"event": "e", **fields}])
    notes = events.Notes()
    streams = events.streams(Source(root=str(tmp_path)), notes)
    assert list(events.query(streams, events.Query(), notes, show.as_line)) == [line]


def test_fractions_inside_a_value_stay_numbers_for_people(tmp_path):
    write(tmp_path, a=[at(1, d={"k": 1.5, "l": [0.5, 1]})])
    notes = events.Notes()
    found = list(events.search(events.streams(Source(root=str(tmp_path)), notes), events.Query(), notes))
    assert events.count(found, ["d"]) == [(('{"k":1.5,"l":[0.5,1]}',), 1)]
    assert json.loads(show.as_line(found[0]).partition(" d=")[2]) == '{"k":1.5,"l":[0.5,1]}'


def test_bad_words_of_a_query_are_reported_together():
    with pytest.raises(SweepError) as caught:
        events.wanted(["event", "x~("], "soon", "1y", 0)
    assert [problem.path for problem in caught.value.problems] == ["--filter", "--filter", "--since", "--until"]


def test_a_timeline_has_no_line_that_an_event_forged(tmp_path):
    write(tmp_path, a=[at(1, "e\n[2026] x", note="\x1b[2J", **{"k\r": 1})])
    notes = events.Notes()
    lines = list(events.query(events.streams(Source(root=str(tmp_path)), notes), events.Query(), notes, show.as_line))
    assert len(lines) == 1
    assert lines[0].isprintable()


def test_sorting_needs_no_more_memory_than_it_is_given():
    def lines(count: int):
        for number in range(count):
            yield (number * 7919) % count, f"{number:0100d}"

    tracemalloc.start()
    last = -1
    for text in order.by_time(lines(30_000), held=100_000):
        stamp = (int(text) * 7919) % 30_000
        assert stamp == last + 1
        last = stamp
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert last == 29_999
    assert peak < 1_500_000


@pytest.mark.parametrize("count", [0, 1, 3, 1000])
def test_sorting_on_disk_loses_nothing(count):
    lines = [(-number % 7, f"{number}\ud800\n") for number in range(count)]
    assert list(order.by_time(lines, held=50)) == [text for _, text in sorted(lines, key=lambda line: line[0])]


SPEC = """
    name: lora
    runner: local
    command: [python3, train.py]
    matrix: {params: {lr: ["1e-3", "1e-4"]}}
"""


def test_a_sweep_has_the_drivers_events_and_its_attempts_own_with_their_cell(tmp_path):
    text = json.dumps(at(2, "gpu_selected", gpu_id="L4")) + "\n"
    attempts = [{"cell": 1, "state": "succeeded", "files": {"events.jsonl": text}}]
    where = sweepmaker.sweep(tmp_path, SPEC, attempts)
    notes = events.Notes()
    found = list(events.query(events.streams(Source(sweep=where), notes), events.Query(), notes, show.as_json))
    rows = [json.loads(line) for line in found]
    assert [row["event"] for row in rows] == ["opened", "admitted", "gpu_selected", "settled", "closed"]
    assert (rows[2]["index"], rows[2]["attempt"], rows[2]["run_dir"]) == (1, 1, rows[3]["run_dir"])
    assert all("run_dir" in row for row in rows)


def follow(root, sleep, said: list[str] | None = None) -> Iterator[str]:
    notes = events.Notes()
    tell = [].extend if said is None else said.extend
    streams = lambda: events.streams(Source(root=str(root)), notes)  # noqa: E731
    return events.follow(streams, events.Query(), notes, show.as_json, tell, sleep)


def test_following_prints_what_is_there_and_then_what_is_added(tmp_path):
    write(tmp_path, a=[at(2, n=1)], b=[at(1, n=0)])
    said: list[str] = []
    steps = []

    def sleep(_seconds: float) -> None:
        steps.append(1)
        with (tmp_path / "a" / "events.jsonl").open("a") as file:
            half = json.dumps(at(3, n=len(steps)))
            file.write(half if len(steps) == 1 else f"\n{half}\n")
        if len(steps) == 2:
            write(tmp_path, c=[at(9, n="new")])

    assert [json.loads(line)["n"] for line in islice(follow(tmp_path, sleep, said), 5)] == [0, 1, 1, 2, "new"]
    assert said == []


def fill(path, numbers, note: str) -> None:
    path.write_text("".join(json.dumps(at(n, n=n, note=note)) + "\n" for n in numbers))


def rotate(path) -> None:
    path.rename(path.with_name("events.jsonl.1"))
    fill(path, [3, 4], "x" * 300)


def make_anew(path) -> None:
    shutil.rmtree(path.parent)
    path.parent.mkdir()
    fill(path, [3, 4], "y" * 500)


@pytest.mark.parametrize(
    "change",
    [
        pytest.param(lambda path: fill(path, [3, 4], "y" * 5), id="shorter"),
        pytest.param(lambda path: fill(path, [3, 4], "y" * 300), id="as-long"),
        pytest.param(lambda path: fill(path, [3, 4], "y" * 500), id="longer"),
        pytest.param(rotate, id="rotated"),
        pytest.param(make_anew, id="made-anew"),
    ],
)
def test_a_file_that_is_another_one_now_is_followed_from_its_start(tmp_path, change):
    write(tmp_path, a=[], b=[])
    fill(tmp_path / "a" / "events.jsonl", [1, 2], "x" * 300)
    looks = []

    def sleep(_seconds: float) -> None:
        looks.append(1)
        if len(looks) == 1:
            change(tmp_path / "a" / "events.jsonl")
        with (tmp_path / "b" / "events.jsonl").open("a") as file:
            file.write(json.dumps(at(9, n="end")) + "\n")

    assert [json.loads(line)["n"] for line in islice(follow(tmp_path, sleep), 6)] == [1, 2, 3, 4, "end", "end"]


def test_a_file_that_was_away_for_a_look_is_followed_from_its_start(tmp_path):
    write(tmp_path, a=[at(1, n=1)], b=[])
    away = (tmp_path / "a" / "events.jsonl", tmp_path / "events.jsonl.1")
    moves = [away, away[::-1]]

    def sleep(_seconds: float) -> None:
        if moves:
            here, there = moves.pop(0)
            here.rename(there)
        with (tmp_path / "b" / "events.jsonl").open("a") as file:
            file.write(json.dumps(at(9, n="end")) + "\n")

    assert [json.loads(line)["n"] for line in islice(follow(tmp_path, sleep), 5)] == [1, "end", 1, "end", "end"]


def test_following_says_each_odd_thing_once_as_it_is_met(tmp_path):
    write(tmp_path, a=[at(1, n=1)], odd=b"")
    (tmp_path / "odd" / "events.jsonl").unlink()
    (tmp_path / "odd" / "events.jsonl").mkdir()
    (tmp_path / "back").symlink_to(tmp_path.parent)
    said: list[str] = []
    seen = []

    def sleep(_seconds: float) -> None:
        seen.append([line.removeprefix(f"{tmp_path}/") for line in said])
        with (tmp_path / "a" / "events.jsonl").open("ab") as file:
            file.write(b'{"torn\n')
            if len(seen) == 2:
                file.write(b"x" * (2 * LONGEST) + b"\n")
            file.write(oddtree.line("e", n=len(seen)))

    assert len(list(islice(follow(tmp_path, sleep, said), 4))) == 4
    places = [f"back: links back to {tmp_path.parent}, which holds what was read already"]
    places.append("odd/events.jsonl: is a directory")
    torn = "a/events.jsonl:{}: is torn or no JSON".format
    assert seen == [
        places,
        [*places, torn(2)],
        [*places, torn(2), torn(4), "a/events.jsonl:5: is longer than 16 MB and was passed over"],
    ]


def test_follow_on_the_command_line_prints_at_once_and_ends_with_an_interrupt(tmp_path):
    import signal

    root = tmp_path / "artifacts"
    root.mkdir()
    write(root, a=[at(1, "first")])
    words = [sys.executable, "-m", "sweeptool", "events-query", "--follow"]
    with subprocess.Popen(words, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        assert process.stdout
        assert "first" in process.stdout.readline()
        with (root / "a" / "events.jsonl").open("a") as file:
            file.write(json.dumps(at(2, "second")) + "\n")
        assert "second" in process.stdout.readline()
        with (root / "a" / "events.jsonl").open("a") as file:
            file.write("{torn\n")
        assert process.stderr
        assert process.stderr.readline() == "read: artifacts\n"
        assert process.stderr.readline() == "artifacts/a/events.jsonl:3: is torn or no JSON\n"
        process.send_signal(signal.SIGINT)
        assert process.wait(20) == 130
        assert process.stderr.read() == ""


def test_follow_and_count_by_exclude_each_other(project, tmp_path):
    done = project().tool("events-query", "--root", tmp_path, "--follow", "--count-by", "event")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == "error: --follow and --count-by exclude each other (give one of them)\n"


@pytest.mark.parametrize(
    ("name", "why"), [("", "it is empty"), ("a/events.jsonl", "'a/events.jsonl' is a path, not a file's name")]
)
def test_an_events_name_that_is_no_plain_name_is_refused(project, tmp_path, name, why):
    write(tmp_path, a=[at(1)])
    done = project().tool("events-query", "--root", tmp_path, "--events-name", name)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == f"error: Invalid value for '--events-name': {why} (see 'sweeptool events-query --help')\n"


def test_head_closes_the_pipe_without_a_word(project, tmp_path):
    write(tmp_path, a=[at(number, note="x" * 200) for number in range(3000)])
    line = f"{sys.executable} -m sweeptool events-query --root {tmp_path} --json | head -1; echo ${{PIPESTATUS[0]}}"
    done = project().run("bash", "-c", line)
    assert done.stdout.splitlines()[1] == "0"
    assert done.stderr == ""


def test_counting_on_the_command_line_is_a_table_or_json(project, tmp_path):
    write(tmp_path, a=[at(1, "x"), at(2, "x"), at(3, "y")])
    base = ("events-query", "--root", tmp_path, "--count-by", "event")
    assert project().tool(*base).stdout == "EVENT  COUNT\nx          2\ny          1\n"
    assert json.loads(project().tool(*base, "--json").stdout) == [
        {"event": "x", "count": 2},
        {"event": "y", "count": 1},
    ]


def test_a_field_that_is_called_count_is_counted_too(project, tmp_path):
    write(tmp_path, a=[at(1, count="7"), at(2, count="7"), at(3)])
    done = project().tool("events-query", "--root", tmp_path, "--count-by", "count", "--json")
    assert json.loads(done.stdout) == [{"field.count": "7", "count": 2}, {"field.count": None, "count": 1}]


def test_no_events_are_no_lines_and_no_error(project, tmp_path):
    write(tmp_path, a=[])
    for words in ([], ["--json"]):
        done = project().tool("events-query", "--root", tmp_path, *words)
        assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    assert project().tool("events-query", "--root", tmp_path, "--count-by", "x", "--json").stdout == "[]\n"


def test_a_filter_by_a_key_that_no_event_has_says_so(project, tmp_path):
    write(tmp_path, a=[at(1, "x", exit_code=1)])
    done = project().tool("events-query", "--root", tmp_path, "--filter", "exit_cod=1", "--filter", "run_dir=b")
    assert (done.returncode, done.stdout) == (0, "")
    assert done.stderr == "no event has 'exit_cod': did you mean 'exit_code'?\n"
    done = project().tool("events-query", "--root", tmp_path, "--filter", "exit_code=2")
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def test_a_query_of_a_large_file_is_flat_in_memory(tmp_path):
    line = json.dumps(at(1, "remote_step_started", name="x" * 300)) + "\n"
    with (tmp_path / "events.jsonl").open("w") as file:
        for _ in range(20_000):
            file.write(line)
    notes = events.Notes()
    wanted = events.wanted(["event=remote_step_started", "name~y"], None, None, 0)
    tracemalloc.start()
    assert list(events.search(events.streams(Source(root=str(tmp_path)), notes), wanted, notes)) == []
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 5_000_000
