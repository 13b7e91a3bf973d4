"""A runner's manifest file goes in, a Manifest comes out: typed, in micro-dollars, with every oddity named."""

from __future__ import annotations

import codecs
import json
import os
from collections.abc import Mapping
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
# The first three differ from run to run; the others stand alike in many manifests, which share one copy of each.
_TEXTS = (
    *("run_id", "pod_id", "pulled_at_utc"),
    *("schema_version", "job_name", "config_path", "gpu_id", "datacenter_id", "gpu_price_source", "pod_final_state"),
)
_PRICES: dict[int, int] = {}  # likewise: there are few
_TEXT = frozenset({str, type(None)})
_DECODER = json.JSONDecoder(parse_float=Decimal)
_NOTHING: Mapping[str, Any] = MappingProxyType({})
_SCHEMAS = (None, "v1", "v2")


class Artifact(NamedTuple):
    """One pulled artifact: ``status`` is ``success``, ``failed`` or None for never tried."""

    label: str
    required: bool
    status: str | None
    error: str


class Manifest(NamedTuple):  # made ten thousand times, in a tenth of a dataclass's time
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


_WALL, _RAW = Manifest._fields.index("wall_seconds"), Manifest._fields.index("raw")


def read(path: Path | str, text: bytes | None = None, *, slim: bool = False) -> Manifest:
    """Return the manifest at ``path``; ``text`` is its content where the caller has it already.

    A ``slim`` one has an empty ``raw``, so that ten thousand of them fit in memory.
    Raises SweepError where it cannot be read, is torn, or is no manifest at all.
    """
    source = os.fspath(path)
    raw = _object(_content(source) if text is None else text, source)
    oddities: list[str] = []
    metadata = raw.get("deploy_metadata")
    sha, dirty = (
        (metadata.get("local_git_sha"), metadata.get("local_git_dirty")) if type(metadata) is dict else (None, None)
    )
    texts = [*map(raw.get, _TEXTS), sha]
    if not _TEXT.issuperset(map(type, texts)):
        texts = [_text(name, value, oddities) for name, value in zip((*_TEXTS, "local_git_sha"), texts, strict=True)]
    run_id, pod_id, pulled_at, *words = texts
    schema, job_name, config, gpu, place, price_source, final_state, sha = [word and intern(word) for word in words]
    price = _money(raw, "gpu_price_per_hour_usd", oddities)
    if schema not in _SCHEMAS:
        oddities.append(f"schema_version is {shown(schema)}, neither v1 nor v2")
    return Manifest(
        source=source,
        schema=schema,
        failed=_failed(raw, oddities),
        job_name=job_name,
        run_id=run_id,
        config_path=config,
        gpu_id=gpu,
        datacenter_id=place,
        price_per_hour=price and _PRICES.setdefault(price, price),
        price_source=price_source,
        wall_seconds=_seconds(raw, "wall_time_sec", oddities),
        cost=_money(raw, "estimated_cost_usd", oddities),
        pod_id=pod_id,
        pod_final_state=final_state,
        pulled_at=pulled_at,
        git_sha=sha,
        git_dirty=dirty if type(dirty) is bool else None,
        untried=_untried(raw, oddities),
        raw=_NOTHING if slim else raw,
        oddities=tuple(oddities),
    )


def packed(one: Manifest) -> tuple[Any, ...]:
    """Return a slim manifest as plain values that ``marshal`` writes, for another process."""
    own: list[Any] = list(one)
    own[_WALL], own[_RAW] = None if one.wall_seconds is None else str(one.wall_seconds), None
    return tuple(own)


def unpacked(values: tuple[Any, ...]) -> Manifest:
    """Return the manifest that ``packed`` gave."""
    own = list(values)
    own[_WALL], own[_RAW] = values[_WALL] and Decimal(values[_WALL]), _NOTHING
    return Manifest._make(own)


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


def _text(name: str, value: object, oddities: list[str]) -> str | None:
    if value is None or isinstance(value, str):
        return value
    oddities.append(f"{name} is {shown(value)}, not text")
    return None


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
