"""A runner's manifest file goes in, a Manifest comes out: typed, in micro-dollars, with every oddity named."""

from __future__ import annotations

import codecs
import json
import os
from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from sys import intern
from types import MappingProxyType
from typing import Any, NamedTuple, TypeGuard

from sweeptool import money
from sweeptool.errors import Problem, SweepError
from sweeptool.lines import open_plain, reason, small

_LARGEST = 64 * 1024 * 1024  # bytes; a manifest has a few thousand
_LONGEST = Decimal(10) ** 10  # seconds; three centuries
_KNOWN = frozenset(
    {
        "failed",
        "run_id",
        "job_name",
        "estimated_cost_usd",
        "schema_version",
        "wall_time_sec",
    }
)
_DECODER = json.JSONDecoder(parse_float=Decimal)
_NOTHING: Mapping[str, Any] = MappingProxyType({})
_SCHEMAS = (None, "v1", "v2")


class Artifact(NamedTuple):
    """One pulled artifact: ``status`` is ``success``, ``failed`` or None for never tried."""

    label: str
    required: bool
    status: str | None
    error: str


@dataclass(frozen=True, slots=True)
class Manifest:
    """What a run says about itself; None wherever the file does not say, or says nonsense.

    ``cost`` is micro-dollars, ``price_per_hour`` micro-dollars an hour, ``wall_seconds`` seconds.
    ``untried`` says that a required artifact was never pulled: with ``failed: false``, an interrupted run.
    ``raw`` is the file's own object with its fractions as Decimal, ``oddities`` what is wrong with it, one line each.
    """

    source: str
    schema: str | None
    failed: bool | None
    job_name: str | None
    run_id: str | None
    config_path: str | None
    gpu_id: str | None
    datacenter_id: str | None
    price_per_hour: int | None
    price_source: str | None
    wall_seconds: Decimal | None
    cost: int | None
    pod_id: str | None
    pod_final_state: str | None
    pulled_at: str | None
    git_sha: str | None
    git_dirty: bool | None
    untried: bool
    raw: Mapping[str, Any]
    oddities: tuple[str, ...]

    @property
    def path(self) -> Path:
        return Path(self.source)

    @property
    def run_dir(self) -> Path:
        return Path(self.source).parent

    @property
    def directory(self) -> str:
        """The run dir as text, as quick as can be."""
        return self.source.rpartition("/")[0] or "."

    @property
    def artifacts(self) -> tuple[Artifact, ...]:
        entries = self.raw.get("artifacts")
        return tuple(map(_artifact, entries)) if _objects(entries) else ()


def read(path: Path | str, text: bytes | None = None, *, slim: bool = False) -> Manifest:
    """Return the manifest at ``path``; ``text`` is its content where the caller has it already.

    A ``slim`` one has an empty ``raw``, so that ten thousand of them fit in memory.
    Raises SweepError where it cannot be read, is torn, or is no manifest at all.
    """
    source = os.fspath(path)
    raw = _object(_content(source) if text is None else text, source)
    oddities: list[str] = []
    metadata = raw.get("deploy_metadata")
    if not isinstance(metadata, dict):
        metadata = {}
    schema = _text(raw, "schema_version", oddities)
    if schema not in _SCHEMAS:
        oddities.append(f"schema_version is {shown(schema)}, neither v1 nor v2")
    return Manifest(
        source=source,
        schema=schema,
        failed=_failed(raw, oddities),
        job_name=_word(raw, "job_name", oddities),
        run_id=_text(raw, "run_id", oddities),
        config_path=_word(raw, "config_path", oddities),
        gpu_id=_word(raw, "gpu_id", oddities),
        datacenter_id=_word(raw, "datacenter_id", oddities),
        price_per_hour=_money(raw, "gpu_price_per_hour_usd", oddities),
        price_source=_word(raw, "gpu_price_source", oddities),
        wall_seconds=_seconds(raw, "wall_time_sec", oddities),
        cost=_money(raw, "estimated_cost_usd", oddities),
        pod_id=_text(raw, "pod_id", oddities),
        pod_final_state=_word(raw, "pod_final_state", oddities),
        pulled_at=_text(raw, "pulled_at_utc", oddities),
        git_sha=_word(metadata, "local_git_sha", oddities),
        git_dirty=_flag(metadata, "local_git_dirty"),
        untried=_untried(raw, oddities),
        raw=_NOTHING if slim else raw,
        oddities=tuple(oddities),
    )


def shown(value: object) -> str:
    """Return a JSON value as it would stand in a file, short enough for a message."""
    if isinstance(value, list | dict):
        return "a list" if isinstance(value, list) else "an object"
    text = str(value) if isinstance(value, Decimal) else json.dumps(value, default=str)
    return text if len(text) <= 40 else text[:37] + "..."


def _content(source: str) -> bytes:
    try:
        text = small(source)
        return _large(source) if text is None else text
    except (OSError, ValueError) as error:
        raise SweepError(Problem(f"cannot be read: {reason(error)}", source=source)) from error


def _large(source: str) -> bytes:
    handle, size = open_plain(source)
    with os.fdopen(handle, "rb") as file:
        if size > _LARGEST:
            raise OSError(f"has {size} bytes, more than {_LARGEST}")
        return file.read()


def _object(text: bytes, source: str) -> dict[str, Any]:
    try:
        raw = _DECODER.decode(text.removeprefix(codecs.BOM_UTF8).decode())
    except UnicodeDecodeError as error:
        raise SweepError(Problem(f"is not UTF-8: byte {error.start}", source=source)) from error
    except json.JSONDecodeError as error:
        what = "is empty" if not text.strip() else f"is torn or no JSON: {error.msg}"
        raise SweepError(Problem(what, source=source, line=error.lineno, column=error.colno)) from error
    except RecursionError as error:
        raise SweepError(Problem("is nested too deep for a manifest", source=source)) from error
    except (ValueError, ArithmeticError) as error:
        raise SweepError(Problem("holds a number too long to read", source=source)) from error
    if not isinstance(raw, dict):
        raise SweepError(Problem(f"is {_kind(raw)}, not a JSON object", source=source))
    if _KNOWN.isdisjoint(raw):
        raise SweepError(Problem("is no run's manifest: it has none of its members", source=source))
    return raw


def _kind(value: object) -> str:
    names = {list: "a list", str: "text", bool: "a boolean", type(None): "null"}
    return names.get(type(value), "a number")


def _text(raw: Mapping[str, Any], key: str, oddities: list[str]) -> str | None:
    value = raw.get(key)
    if value is None or type(value) is str:
        return value
    oddities.append(f"{key} is {shown(value)}, not text")
    return None


def _word(raw: Mapping[str, Any], key: str, oddities: list[str]) -> str | None:
    """Return text that stands alike in many manifests, so that all of them share one copy."""
    value = _text(raw, key, oddities)
    return value and intern(value)


def _flag(raw: Mapping[str, Any], key: str) -> bool | None:
    value = raw.get(key)
    return value if isinstance(value, bool) else None


def _failed(raw: Mapping[str, Any], oddities: list[str]) -> bool | None:
    value = raw.get("failed")
    if isinstance(value, bool):
        return value
    what = f"failed is {shown(value)}, neither true nor false" if "failed" in raw else "failed is missing"
    oddities.append(f"{what}: the outcome is unknown")
    return None


def _money(raw: Mapping[str, Any], key: str, oddities: list[str]) -> int | None:
    value = raw.get(key)
    if value is None:
        return None
    amount = money.measured(value)
    if amount is None:
        oddities.append(f"{key} is {shown(value)}, not an amount of dollars: unknown, not 0")
    return amount


def _seconds(raw: Mapping[str, Any], key: str, oddities: list[str]) -> Decimal | None:
    value = raw.get(key)
    if value is None:
        return None
    if type(value) in (int, Decimal, float):
        seconds = Decimal(value)
        if seconds.is_finite() and 0 <= seconds < _LONGEST:
            return seconds
    oddities.append(f"{key} is {shown(value)}, not a number of seconds: unknown, not 0")
    return None


def _untried(raw: Mapping[str, Any], oddities: list[str]) -> bool:
    entries = raw.get("artifacts")
    if entries is None:
        return False
    if not _objects(entries):
        oddities.append("artifacts is not a list of objects")
        return False
    for entry in entries:
        if "status" in entry and entry["status"] is None and entry.get("required") is not False:
            return True
    return False


def _objects(entries: object) -> TypeGuard[list[dict[str, Any]]]:
    if type(entries) is not list:
        return False
    for entry in entries:  # noqa: SIM110 - ten thousand times, so no generator
        if type(entry) is not dict:
            return False
    return True


def _artifact(entry: Mapping[str, Any]) -> Artifact:
    status = entry.get("status")
    return Artifact(
        label=str(entry.get("label")),
        required=entry.get("required") is not False,
        status=status if isinstance(status, str) else None,
        error=str(entry.get("error") or ""),
    )
