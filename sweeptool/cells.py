"""Points go in, Cells come out: numbered from 0, each with an id that is a hash of what it runs."""

from __future__ import annotations

import base64
import hashlib
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from sweeptool.errors import Problem, raise_all
from sweeptool.spec.model import Point, Settings, Spec

_UNSAFE = re.compile(r"[^A-Za-z0-9._]+")
_SLUG = 32  # characters of an id that are for people
_DIGEST = 10  # base32 characters of an id that tell cells apart: 50 bits
_ENCODER = json.JSONEncoder(sort_keys=True)


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
    times: dict[str, int] = {}  # that each identity came up
    seen: set[tuple[str, str]] = set()  # identity and bounds
    problems: list[Problem] = []
    identity = _Identity(spec, digests)
    for index, point in enumerate(spec.points):
        own, bounds = identity.of(point)
        if (own, bounds) in seen:
            problems.append(_twice(spec, index, point))
        seen.add((own, bounds))
        count = times[own] = times.get(own, 0) + 1
        # The same work under other bounds is a further run of it, told apart by its count: bounds are no identity.
        cells.append(_cell(spec.name, index, point, _digest(own if count == 1 else f"{own}\0{count}")))
    raise_all(problems)
    return tuple(cells)


def label(cell: Cell | Point, *, config: bool = True) -> str:
    """Return what tells this cell from its siblings, for people: ``L4 eu lr=1e-3 r1``; the config on request."""
    settings = cell.settings
    words = [word for word in (cell.config if config else None, settings.instance_type, cell.gpu, cell.region) if word]
    if settings.spot:
        words.append("spot")
    words += [f"{name}={value}" for name, value in cell.params.items()]
    if cell.repetition:
        words.append(f"r{cell.repetition}")
    return " ".join(words)


@dataclass(frozen=True, slots=True)
class _Identity:
    """What each point runs, as text; the part that settings make is written once."""

    spec: Spec
    digests: Mapping[str, str]
    written: dict[int, tuple[str, str]] = field(default_factory=dict)

    def of(self, point: Point) -> tuple[str, str]:
        """Return a point's identity and its bounds; NUL parts them, since no value holds one."""
        known = self.written.get(id(point.settings))
        if known is None:
            known = self.written[id(point.settings)] = self.settings(point.settings), repr(point.settings)
        settings, bounds = known
        config = point.config or ""
        parts = [settings, config, self.digests.get(config, ""), point.gpu or "", point.region or ""]
        params = sorted([f"{name}={value}" for name, value in point.params.items()])
        return "\0".join([*parts, str(point.repetition), *params]), bounds

    def settings(self, settings: Settings) -> str:
        content = {
            "runner": [self.spec.runner.kind, self.spec.runner.argv],
            "command": settings.command,
            "image": settings.image,
            "env": settings.env,
            "secrets": settings.secrets,
            "instance_type": settings.instance_type,
            "datacenter": settings.datacenter,
            "spot": settings.spot,
        }
        return _ENCODER.encode(content)


def _digest(identity: str) -> str:
    raw = hashlib.sha256(identity.encode()).digest()[:_DIGEST]
    return base64.b32encode(raw).decode().lower()[:_DIGEST]


def _cell(sweep: str, index: int, point: Point, digest: str) -> Cell:
    return Cell(
        index=index,
        id=_readable(point, digest),
        name=f"{sweep}-{index}",
        params=dict(sorted(point.params.items(), key=lambda item: item[0].encode())),
        config=point.config,
        gpu=point.gpu,
        region=point.region,
        repetition=point.repetition,
        settings=point.settings,
    )


def _twice(spec: Spec, index: int, point: Point) -> Problem:
    message = f"cell {index} is there already: {label(point) or 'no parameters'}"
    return Problem(message, source=spec.source, remedy="drop one, or use repetitions")


def _readable(point: Point, digest: str) -> str:
    words = [
        point.settings.instance_type,
        point.gpu,
        point.region,
        *(value for _, value in sorted(point.params.items())),
    ]
    if point.repetition:
        words.append(f"r{point.repetition}")
    slugs = [_UNSAFE.sub("_", word).strip("._") for word in words if word]
    slug = "-".join(slug for slug in slugs if slug)[:_SLUG].strip("-._")
    return f"{slug or 'cell'}-{digest}"
