"""A runner's manifest file goes in, a Manifest comes out: typed, in micro-dollars, with every oddity named."""

from __future__ import annotations

import os
from collections.abc import Mapping
from decimal import Decimal
from pathlib import Path
from sys import intern
from types import MappingProxyType
from typing import Any, NamedTuple

from sweeptool.manifest import document, members

# The first three differ from run to run; the others stand alike in many manifests, which share one copy of each.
_TEXTS = (
    *("run_id", "pod_id", "pulled_at_utc"),
    *("schema_version", "job_name", "config_path", "gpu_id", "datacenter_id", "gpu_price_source", "pod_final_state"),
)
_PRICES: dict[int, int] = {}  # likewise: there are few
_TEXT = frozenset({str, type(None)})
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
        return tuple(map(_artifact, entries)) if members.objects(entries) else ()


_WALL, _RAW = Manifest._fields.index("wall_seconds"), Manifest._fields.index("raw")


def read(path: Path | str, text: bytes | None = None, *, slim: bool = False) -> Manifest:
    """Return the manifest at ``path``; ``text`` is its content where the caller has it already.

    A ``slim`` one has an empty ``raw``, so that ten thousand of them fit in memory.
    Raises SweepError where it cannot be read, is torn, or is no manifest at all.
    """
    source = os.fspath(path)
    raw = document.load(source, text)
    oddities: list[str] = []
    metadata = raw.get("deploy_metadata")
    sha, dirty = (
        (metadata.get("local_git_sha"), metadata.get("local_git_dirty")) if type(metadata) is dict else (None, None)
    )
    texts = [*map(raw.get, _TEXTS), sha]
    if not _TEXT.issuperset(map(type, texts)):
        texts = [
            members.text(name, value, oddities) for name, value in zip((*_TEXTS, "local_git_sha"), texts, strict=True)
        ]
    run_id, pod_id, pulled_at, *words = texts
    schema, job_name, config, gpu, place, price_source, final_state, sha = [word and intern(word) for word in words]
    price = members.dollars(raw, "gpu_price_per_hour_usd", oddities)
    if schema not in _SCHEMAS:
        oddities.append(f"schema_version is {members.shown(schema)}, neither v1 nor v2")
    return Manifest(
        source=source,
        schema=schema,
        failed=members.failed(raw, oddities),
        job_name=job_name,
        run_id=run_id,
        config_path=config,
        gpu_id=gpu,
        datacenter_id=place,
        price_per_hour=price and _PRICES.setdefault(price, price),
        price_source=price_source,
        wall_seconds=members.seconds(raw, "wall_time_sec", oddities),
        cost=members.dollars(raw, "estimated_cost_usd", oddities),
        pod_id=pod_id,
        pod_final_state=final_state,
        pulled_at=pulled_at,
        git_sha=sha,
        git_dirty=dirty if type(dirty) is bool else None,
        untried=members.untried(raw, oddities),
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


def _artifact(entry: Mapping[str, Any]) -> Artifact:
    status = entry.get("status")
    return Artifact(
        label=str(entry.get("label")),
        required=entry.get("required") is not False,
        status=status if isinstance(status, str) else None,
        error=str(entry.get("error") or ""),
    )
