"""GPU requests and region classes go in; the provider's ids and assumed prices come out of a table users may extend."""

from __future__ import annotations

import os
import re
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from sweeptool import money
from sweeptool.errors import Problem, SweepError, near

FILE = "runpod.toml"
VARIABLE = "SWEEPTOOL_RUNPOD_TABLE"
_SHIPPED = Path(__file__).with_name(FILE)
_TABLES = ("gpu", "price", "region", "job")
_REQUEST = re.compile(r"(?P<type>[^:!]+)(?P<exact>!)?(?::(?P<count>[1-9]\d*))?")


@dataclass(frozen=True, slots=True)
class Table:
    """What the provider calls things. ``price`` is micro-dollars an hour by GPU id; ``sources`` the files it is from."""

    gpu: Mapping[str, tuple[str, ...]]
    price: Mapping[str, int]
    region: Mapping[str, tuple[str, ...]]
    job: Mapping[str, str | int]
    sources: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Choice:
    """GPUs that answer a request: the provider's ``ids``, first choice first, ``count`` of one.

    ``per_hour`` is micro-dollars an hour for all of them, at the dearest id; None where the table has no price.
    """

    ids: tuple[str, ...]
    count: int
    per_hour: int | None


def load(project: Path) -> Table:
    """Return the shipped table with the project's, or the one SWEEPTOOL_RUNPOD_TABLE names, laid over it.

    Raises SweepError for a table that cannot be read or holds something else.
    """
    named = os.environ.get(VARIABLE)
    own = Path(named) if named else project / FILE
    return _merged((str(_SHIPPED), str(own)) if named or own.exists() else (str(_SHIPPED),))


def choose(table: Table, request: str) -> Choice:
    """Return the GPUs for ``TYPE[!][:COUNT]``; TYPE is a name of the table or the provider's own id.

    Raises SweepError, naming the table, where it has no such type.
    """
    match = _REQUEST.fullmatch(request.strip())
    if match is None:
        raise SweepError(Problem(f"'{request}' is no GPU request", remedy="TYPE[!][:COUNT], such as H100:8"))
    ids = _find(table.gpu, match["type"], "GPU type", table)
    if match["exact"]:
        ids = ids[:1]
    count = int(match["count"] or 1)
    prices = [table.price.get(name) for name in ids]
    dearest = max((price for price in prices if price is not None), default=None)
    return Choice(ids, count, None if dearest is None or None in prices else dearest * count)


def datacenters(table: Table, region: str) -> tuple[str, ...]:
    """Return the datacenter ids of a region class, or of one datacenter. Raises SweepError like ``choose``."""
    return _find(table.region, region, "region", table)


def _find(table: Mapping[str, tuple[str, ...]], name: str, what: str, whole: Table) -> tuple[str, ...]:
    folded = {_fold(key): ids for key, ids in table.items()}
    if _fold(name) in folded:
        return folded[_fold(name)]
    if any(name in ids for ids in table.values()):
        return (name,)
    hint = near(name, table) or f"it has {', '.join(sorted(table))}"
    raise SweepError(
        Problem(f"{what} '{name}' is not in the runpod-deploy table ({' + '.join(whole.sources)})", remedy=_mend(hint))
    )


def _mend(hint: str) -> str:
    return f"{hint}; or add it in a {FILE} in the project, see 'sweeptool doctor --runner runpod-deploy'"


def _fold(name: str) -> str:
    return re.sub(r"[\s_-]", "", name).lower()


@cache
def _merged(sources: tuple[str, ...]) -> Table:
    merged: dict[str, dict[str, Any]] = {name: {} for name in _TABLES}
    for source in sources:
        for name, entries in _read(source).items():
            merged[name].update(entries)
    return Table(
        gpu=merged["gpu"],
        price=merged["price"],
        region=merged["region"],
        job=merged["job"],
        sources=tuple("shipped" if source == str(_SHIPPED) else source for source in sources),
    )


def _read(source: str) -> dict[str, dict[str, Any]]:
    try:
        raw = tomllib.loads(Path(source).read_text(encoding="utf-8"))
    except OSError as error:
        raise SweepError(Problem(f"the table cannot be read: {error.strerror}", source=source)) from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise SweepError(Problem(f"is no TOML: {error}", source=source)) from error
    problems = [
        Problem(f"has no table '{name}'", path=name, source=source, remedy=near(name, _TABLES) or " ".join(_TABLES))
        for name in raw
        if name not in _TABLES or not isinstance(raw[name], dict)
    ]
    read: dict[str, dict[str, Any]] = {}
    for name in _TABLES:
        entries = raw.get(name, {})
        for key, value in entries.items() if isinstance(entries, dict) else ():
            try:
                read.setdefault(name, {})[key] = _entry(name, key, value)
            except ValueError as error:
                problems.append(Problem(str(error), path=f"{name}.{key}", source=source))
    if problems:
        raise SweepError(*problems)
    return read


def _entry(table: str, key: str, value: object) -> Any:
    if table == "price":
        return money.parse(str(value))
    if table == "job":
        return _default(key, value)
    if isinstance(value, str):
        value = [value]
    if not (isinstance(value, list) and value and all(isinstance(name, str) and name for name in value)):
        raise ValueError("is no list of the provider's ids")
    return tuple(value)


def _default(key: str, value: object) -> object:
    known: Mapping[str, object] = _shipped_defaults()
    if known and key not in known:
        raise ValueError(f"there is no such default ({near(key, known) or ' '.join(sorted(known))})")
    if type(value) is not type(known.get(key, value)):
        raise ValueError(f"'{value}' is not a value like {known.get(key)!r}")
    return value


@cache
def _shipped_defaults() -> Mapping[str, object]:
    defaults: Mapping[str, object] = tomllib.loads(_SHIPPED.read_text(encoding="utf-8"))["job"]
    return defaults


def shown(table: Table) -> Sequence[tuple[str, str, str]]:
    """Return the table as rows (kind, name, what it is at the provider), for people."""
    rows = [
        ("gpu", name, ", ".join(f"{each} {_dollars(table, each)}" for each in ids)) for name, ids in table.gpu.items()
    ]
    rows += [("region", name, " ".join(ids)) for name, ids in table.region.items()]
    return sorted(rows) + [("job", name, str(value)) for name, value in sorted(table.job.items())]


def _dollars(table: Table, name: str) -> str:
    price = table.price.get(name)
    return "(no price)" if price is None else f"${money.text(price)}/h"
