"""A run directory and its logs go in, what the job measured comes out: finished units and named metrics."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from decimal import Decimal, InvalidOperation
from pathlib import Path
from typing import Any

from sweeptool import layout
from sweeptool.lines import blocks, lines, open_plain, reason
from sweeptool.text import encodable

COST, TIME, THROUGHPUT = "cost", "time", "throughput"  # known of a run without its help, and so no names for metrics
BUILT_IN = (COST, TIME, THROUGHPUT)
_UNIT_LINE = re.compile(rb"(?:^|\s)nodus\.(unit_done|event) (\{.*)")
_ECHO = b"$ ["  # the runner echoes every command: what stands there is source text, not output
_LARGEST = 16 << 20  # bytes of a metrics file
_DECODER = json.JSONDecoder()
_NAN = Decimal("NaN")


def logs(run_dir: Path) -> list[Path]:
    """Return the logs that a runner pulled into ``run_dir``, by name."""
    try:
        with os.scandir(run_dir) as entries:
            return sorted(Path(entry.path) for entry in entries if entry.name.endswith(".log"))
    except OSError:
        return []


def count_units(run_dir: Path | None, log_paths: Sequence[Path], file: str = layout.UNITS) -> int | None:
    """Return how many distinct units a run finished, None where it reported none.

    They stand in ``file`` under the run dir, or else in the logs as ``nodus.unit_done {json}``
    and ``nodus.event {json, "type": "unit"}`` lines. An id is text or a whole number.
    """
    found = set(_ids(_objects(_quiet(run_dir / file)))) if run_dir is not None else set()
    if not found:
        found = {unit for path in log_paths for unit in _ids(_logged(_quiet(path, blocks)))}
    return len(found) or None


def units_per_second(
    run_dir: Path | None, log_paths: Sequence[Path], wall_seconds: Decimal | float | None, file: str = layout.UNITS
) -> float | None:
    """Return finished units a second of wall time, None where either is unknown or no time passed."""
    if not wall_seconds or wall_seconds <= 0:
        return None
    units = count_units(run_dir, log_paths, file)
    return None if units is None else float(units / Decimal(wall_seconds))


def metrics(
    run_dir: Path | None,
    log_paths: Sequence[Path] = (),
    file: str = layout.METRICS,
    patterns: Mapping[str, str] | None = None,
) -> tuple[dict[str, Decimal], list[str]]:
    """Return the numbers a run reported, by name, and what was wrong with them, one line each.

    ``file`` under the run dir is a JSON object of numbers; objects inside it make dotted names. ``patterns``
    maps a name to a regular expression over the logs: its first group, or the whole match; the last match counts.
    NaN and infinities stay what they are, so that a reader can say why they never win.
    """
    found: dict[str, Decimal] = {}
    problems: list[str] = []
    if run_dir is not None:
        found.update(_numbers(_metrics_file(run_dir / file, problems)))
    if patterns:
        found.update(_matched(log_paths, {name: re.compile(pattern) for name, pattern in patterns.items()}))
    return found, problems


def _ids(objects: Iterable[Mapping[str, Any]]) -> Iterator[str]:
    for unit in objects:
        name = unit.get("id")
        if (type(name) is str and name) or type(name) is int:
            yield str(name)


def _objects(source: Iterable[bytes]) -> Iterator[dict[str, Any]]:
    for line in source:
        try:
            value = json.loads(line)
        except (ValueError, RecursionError):
            continue
        if isinstance(value, dict):
            yield value


def _logged(source: Iterable[bytes]) -> Iterator[dict[str, Any]]:
    for block in source:
        if b"nodus." not in block:
            continue  # most logs, as a whole
        for line in block.split(b"\n"):
            if b"nodus." not in line or line.startswith(_ECHO) or not (match := _UNIT_LINE.search(line)):
                continue
            try:
                value, _ = _DECODER.raw_decode(match[2].decode())
            except (ValueError, RecursionError):
                continue
            if match[1] == b"unit_done" or value.get("type") == "unit":
                yield value


def _quiet(path: Path, reader: Callable[[str], Iterator[bytes]] = lines) -> Iterator[bytes]:
    """Yield the lines, or what ``reader`` yields, of a file that need not be there."""
    try:
        yield from reader(os.fspath(path))
    except OSError:
        return


def _metrics_file(path: Path, problems: list[str]) -> Mapping[str, Any]:
    try:
        handle, size = open_plain(os.fspath(path))
    except FileNotFoundError:
        return {}
    except (OSError, ValueError) as error:
        problems.append(f"{path}: {reason(error)}")
        return {}
    with os.fdopen(handle, "rb") as stream:
        text = stream.read(_LARGEST) if size <= _LARGEST else b""
    try:
        value = json.loads(text, parse_float=Decimal)
    except (ValueError, ArithmeticError, RecursionError):
        problems.append(f"{path}: is torn, no JSON, or too large")
        return {}
    if isinstance(value, dict):
        return value
    problems.append(f"{path}: is no JSON object of numbers")
    return {}


def _numbers(value: Mapping[str, Any]) -> Iterator[tuple[str, Decimal]]:
    """Yield the numbers in an object and in those inside it, however deep, under their dotted names."""
    opened = [("", iter(value.items()))]
    while opened:
        prefix, entries = opened[-1]
        for key, inner in entries:
            if isinstance(inner, dict):
                opened.append((f"{prefix}{key}.", iter(inner.items())))
                break
            if isinstance(inner, int | float | Decimal) and not isinstance(inner, bool):
                yield encodable(prefix + key), Decimal(inner)
        else:
            opened.pop()


def _matched(log_paths: Sequence[Path], patterns: Mapping[str, re.Pattern[str]]) -> dict[str, Decimal]:
    found: dict[str, Decimal] = {}
    for path in log_paths:
        for line in _quiet(path):
            if line.startswith(_ECHO):
                continue
            text = line.decode(errors="replace")
            for name, pattern in patterns.items():
                for match in pattern.finditer(text):
                    value = _number(match[1] if pattern.groups else match[0])
                    if value is not None:
                        found[name] = value
    return found


def _number(text: str | None) -> Decimal | None:
    if not text or "_" in text:  # Python's, no log's
        return None
    try:
        value = Decimal(text.strip())
    except InvalidOperation:
        return None
    return _NAN if value.is_nan() else value  # one that signals cannot be a float
