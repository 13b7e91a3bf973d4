"""A tree of forty manifests and as many event files, each odd in its own way, with what each of them comes to."""

from __future__ import annotations

import codecs
import json
import os
import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sweeptool import layout
from tests import sweepmaker


@dataclass(frozen=True)
class Odd:
    """One run dir: the bytes of its manifest or members over a good one, and whether the runner's own tool survives."""

    name: str
    manifest: dict[str, Any] | bytes | None
    peer: bool = True


def _raw(**members: str) -> bytes:
    """Return a manifest whose members are JSON text as given: ``cost="NaN"``."""
    names = {"cost": "estimated_cost_usd", "wall": "wall_time_sec"}
    whole = {"schema_version": '"v2"', "failed": "false", "wall_time_sec": "10", "estimated_cost_usd": "0.10"}
    whole |= {names.get(key, key): text for key, text in members.items()}
    return ("{" + ", ".join(f'"{key}": {text}' for key, text in whole.items()) + "}").encode()


MANIFESTS = (
    # what counts: 14 good or unknown ones whose cost is known
    Odd("good-1", {"estimated_cost_usd": 0.31, "wall_time_sec": 600.25}),
    Odd("good-2", {"estimated_cost_usd": 0.0, "wall_time_sec": 0}),
    Odd("good-3", {"estimated_cost_usd": 1, "wall_time_sec": 3600}),
    Odd("failed-1", {"failed": True, "estimated_cost_usd": 0.4, "wall_time_sec": 30.5}),
    Odd("failed-2", {"failed": True, "estimated_cost_usd": 0.0001, "wall_time_sec": 0.25}),
    Odd("bom", codecs.BOM_UTF8 + _raw(cost="0.02", wall="2"), peer=False),
    Odd("crlf", _raw(cost="0.03", wall="3").replace(b", ", b",\r\n")),
    Odd("interrupted", {"artifacts": [{"label": "out", "required": True, "status": None}], "wall_time_sec": 7}),
    Odd("text-failed", _raw(failed='"false"', cost="0.04")),
    Odd("number-failed", _raw(failed="1", cost="0.05")),
    Odd("null-failed", _raw(failed="null", cost="0.06")),
    Odd("nul-in-name", {"job_name": "a\0b\x1b[31m", "estimated_cost_usd": 0.07, "wall_time_sec": 7}),
    Odd("future-schema", {"schema_version": "v9", "estimated_cost_usd": 0.08, "wall_time_sec": 8}),
    Odd(
        "wrong-types", {"job_name": 5, "artifacts": "none", "estimated_cost_usd": 0.09, "wall_time_sec": 9}, peer=False
    ),
    # whose cost, or time, is unknown: 13
    Odd("v1", b'{"schema_version": "v1", "failed": false, "run_id": "old-1", "artifacts": []}'),
    Odd("v1-failed", b'{"schema_version": "v1", "failed": true, "run_id": "old-2", "artifacts": []}'),
    Odd("null-cost", {"estimated_cost_usd": None, "wall_time_sec": 11}),
    Odd("nan-cost", _raw(cost="NaN")),
    Odd("infinite-cost", _raw(cost="Infinity")),
    Odd("negative-cost", _raw(cost="-1.00")),
    Odd("true-cost", _raw(cost="true")),
    Odd("text-cost", _raw(cost='"0.31"')),
    Odd("huge-cost", _raw(cost="1e400")),
    Odd("long-cost", _raw(cost="9" * 400), peer=False),
    Odd("negative-wall", _raw(wall="-5", cost="0.01")),
    Odd("text-wall", _raw(wall='"12"', cost="0.01")),
    Odd("nan-wall", _raw(wall="NaN", cost="0.01")),
    # what is left out: 13
    Odd("torn", b'{"schema_version": "v2", "failed": false, "estimated_cost'),
    Odd("empty", b""),
    Odd("nul-padded", _raw() + b"\0" * 100),
    Odd("list", b"[1, 2]", peer=False),
    Odd("null", b"null", peer=False),
    Odd("binary", bytes(range(256)), peer=False),
    Odd("latin-1", b'{"failed": false, "job_name": "caf\xe9"}', peer=False),
    Odd("deep", b"[" * 100_000, peer=False),
    Odd("digits", _raw(cost="9" * 5000), peer=False),
    Odd("foreign", b'{"name": "a web app", "icons": []}'),
    Odd("directory", None, peer=False),
    Odd("good-1-copy", None),
    Odd("broken-link", None, peer=False),
)
# Added up by hand from the lines above.
COUNTED = 27
FAILED = 3
COST = "2.1921"
WALL = 4378
UNKNOWN_COST = 10
INTERRUPTED = 1
SKIPPED = 13


def make(root: Path, *, peer: bool = False) -> None:
    """Write the tree under ``root``; with ``peer`` only what the runner's own tool survives."""
    for odd in MANIFESTS:
        if peer and not odd.peer:
            continue
        run_dir = root / odd.name
        run_dir.mkdir(parents=True)
        path = run_dir / layout.MANIFEST
        if isinstance(odd.manifest, dict):
            sweepmaker.manifest(run_dir, **odd.manifest)
        elif odd.manifest is not None:
            path.write_bytes(odd.manifest)
        elif odd.name == "directory":
            path.mkdir()
        elif odd.name == "broken-link":
            path.symlink_to("gone.json")
        else:
            shutil.copy(root / "good-1" / layout.MANIFEST, path)


def line(event: str, second: float = 0, **fields: Any) -> bytes:
    """Return an event's line as the runner writes it."""
    return (json.dumps({"ts_utc": sweepmaker.stamp(second), "event": event, **fields}) + "\n").encode()


KILLED = "pod_killed_unexpected"
# The bytes of each event file, and how many events of kind KILLED it holds.
EVENTS: dict[str, tuple[bytes, int]] = {
    "good": (line("gpu_selected") + line(KILLED, 1, state="TERMINATED"), 1),
    "two": (line(KILLED, 2) + line(KILLED, 3), 2),
    "none": (line("gpu_selected") + line("remote_step_started", name=KILLED), 0),
    "empty": (b"", 0),
    "blank-lines": (b"\n\n" + line(KILLED, 4) + b"\n", 1),
    "crlf": (line(KILLED, 5).replace(b"\n", b"\r\n"), 1),
    "bom": (codecs.BOM_UTF8 + line(KILLED, 6), 1),
    "no-newline": (line("gpu_selected") + line(KILLED, 7)[:-1], 1),
    "torn-last": (line(KILLED, 8) + line(KILLED, 9)[:-20], 1),
    "torn-middle": (line(KILLED, 9)[:-30] + b"\n" + line(KILLED, 10), 1),
    "nul-padded": (line(KILLED, 11) + b"\0" * 4096, 1),
    "nul-then-event": (b"\0" * 512 + line(KILLED, 12), 1),
    "latin-1": (line(KILLED, 13, note="caf?").replace(b"caf?", b"caf\xe9"), 1),
    "binary": (bytes(range(256)) * 4, 0),
    "separators": (line(KILLED, 14, note="a?b").replace(b"a?b", "a\u2028b\u0085c".encode()), 1),
    "escaped-key": (line(KILLED, 15).replace(b'"event"', b'"\\u0065vent"'), 1),
    "escaped-value": (line(KILLED, 16).replace(b"pod_", b"pod\\u005f"), 1),
    "compact": (line(KILLED, 17).replace(b": ", b":").replace(b", ", b","), 1),
    "list-line": (b"[1]\n3\nnull\n" + line(KILLED, 18), 1),
    "deep": (b"[" * 100_000 + b"\n" + line(KILLED, 19), 1),
    "digits": (line(KILLED, 20)[:-2] + b', "n": ' + b"9" * 5000 + b"}\n", 1),
    "nan": (line(KILLED, 21)[:-2] + b', "n": NaN, "m": -Infinity}\n', 1),
    "naive-time": (line(KILLED, 22).replace(b"+00:00", b""), 1),
    "z-time": (line(KILLED, 23).replace(b"+00:00", b"Z"), 1),
    "offset-time": (b'{"ts_utc": "2026-02-25T07:13:44+01:00", "event": "%s"}\n' % KILLED.encode(), 1),
    "number-time": (b'{"ts_utc": 1772000025, "event": "%s"}\n' % KILLED.encode(), 1),
    "garbage-time": (b'{"ts_utc": "yesterday", "event": "%s"}\n' % KILLED.encode(), 1),
    "no-time": (b'{"event": "%s"}\n' % KILLED.encode(), 1),
    "future": (b'{"ts_utc": "2999-01-01T00:00:00Z", "event": "%s"}\n' % KILLED.encode(), 1),
    "ansi": (line(KILLED, 29, note="\x1b[31m\nforged row"), 1),
    "own-run-dir": (line(KILLED, 30, run_dir="/elsewhere"), 1),
    "key-is-value": (line("x", 31, other=KILLED), 0),
    "event-is-number": (b'{"event": 5}\n{"event": null}\n{"event": true}\n{"event": ["%s"]}\n' % KILLED.encode(), 0),
    "twice-a-key": (b'{"event": "x", "event": "%s"}\n' % KILLED.encode(), 1),
    "doubled": (line(KILLED, 34) * 2, 2),
    "long-line": (line(KILLED, 35, note="x" * 3_000_000), 1),
    "spaces": (b"   " + line(KILLED, 36).rstrip() + b"   \n", 1),
    "deep/inside/tree": (line(KILLED, 37), 1),
}
KILLS = 35
UNTIMED = 3  # of them without a time of their own


def make_events(root: Path) -> None:
    """Write the event files under ``root``, and a directory, a pipe and a broken link of that name."""
    for name, (content, _) in EVENTS.items():
        (root / name).mkdir(parents=True)
        (root / name / layout.EVENTS).write_bytes(content)
    for name in ("a-directory", "a-pipe", "a-broken-link"):
        (root / name).mkdir()
    (root / "a-directory" / layout.EVENTS).mkdir()
    os.mkfifo(root / "a-pipe" / layout.EVENTS)
    (root / "a-broken-link" / layout.EVENTS).symlink_to("gone")
