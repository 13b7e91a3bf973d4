"""Points go in, Cells come out: numbered from 0, each with an id that is a hash of what it runs."""

from __future__ import annotations

import base64
import hashlib
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass

from sweeptool.errors import Problem, raise_all
from sweeptool.spec.model import Point, Settings, Spec

_UNSAFE = re.compile(r"[^A-Za-z0-9._]+")
_SLUG = 32  # characters of an id that are for people
_DIGEST = 10  # base32 characters of an id that tell cells apart: 50 bits


@dataclass(frozen=True, slots=True)
class Cell:
    """One combination of a sweep: the unit that is run, paid for and compared.

    ``id`` matches ``[A-Za-z0-9._-]+`` and depends only on what runs, never on ``index``.
    """

    index: int
    id: str
    name: str
    params: Mapping[str, str]
    config: str | None
    gpu: str | None
    region: str | None
    repetition: int
    settings: Settings


def number(spec: Spec, digests: Mapping[str, str]) -> tuple[Cell, ...]:
    """Return the spec's points as cells in index order.

    ``digests`` maps each config path to a digest of its content, so that an edited config is another cell.
    Raises SweepError where two points would run the very same thing.
    """
    cells: list[Cell] = []
    seen: dict[str, int] = {}
    problems: list[Problem] = []
    for index, point in enumerate(spec.points):
        identity = _identity(spec, point, digests)
        first = seen.setdefault(identity, index)
        if first != index:
            problems.append(
                Problem(
                    f"cells {first} and {index} are the same: {label(point) or 'no parameters'}",
                    source=spec.source,
                    remedy="drop one, or use repetitions",
                )
            )
        cells.append(
            Cell(
                index=index,
                id=_readable(point, identity),
                name=f"{spec.name}-{index}",
                params=dict(sorted(point.params.items(), key=lambda item: item[0].encode())),
                config=point.config,
                gpu=point.gpu,
                region=point.region,
                repetition=point.repetition,
                settings=point.settings,
            )
        )
    raise_all(problems)
    return tuple(cells)


def label(cell: Cell | Point) -> str:
    """Return what tells this cell from its siblings, for people: ``L4 eu lr=1e-3 r1``."""
    words = [word for word in (cell.config, cell.gpu, cell.region) if word]
    words += [f"{name}={value}" for name, value in cell.params.items()]
    if cell.repetition:
        words.append(f"r{cell.repetition}")
    return " ".join(words)


def _identity(spec: Spec, point: Point, digests: Mapping[str, str]) -> str:
    settings = point.settings
    content = {
        "runner": [spec.runner.kind, list(spec.runner.argv)],
        "command": settings.command,
        "image": settings.image,
        "env": dict(settings.env),
        "instance_type": settings.instance_type,
        "datacenter": settings.datacenter,
        "spot": settings.spot,
        "config": point.config,
        "config_digest": digests.get(point.config or ""),
        "gpu": point.gpu,
        "region": point.region,
        "params": dict(point.params),
        "repetition": point.repetition,
    }
    raw = json.dumps(content, sort_keys=True, ensure_ascii=True).encode()
    return base64.b32encode(hashlib.sha256(raw).digest()).decode().lower()


def _readable(point: Point, identity: str) -> str:
    words = [point.gpu, point.region, *(value for _, value in sorted(point.params.items()))]
    if point.repetition:
        words.append(f"r{point.repetition}")
    slugs = [_UNSAFE.sub("_", word).strip("._") for word in words if word]
    slug = "-".join(slug for slug in slugs if slug)[:_SLUG].strip("-._")
    return f"{slug or 'cell'}-{identity[:_DIGEST]}"
