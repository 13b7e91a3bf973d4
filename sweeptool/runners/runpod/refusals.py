"""A Spec goes in; what runpod-deploy cannot honour in its values, names and settings comes out as Problems."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator

from sweeptool import money
from sweeptool.cells import label
from sweeptool.errors import Problem, SweepError
from sweeptool.runners.runpod import gpus
from sweeptool.runners.runpod.gpus import Table
from sweeptool.runners.runpod.jobconfig import LIFECYCLES, minutes
from sweeptool.runners.runpod.template import BRACE, BUILTINS, PLACEHOLDER
from sweeptool.spec.env import is_secret
from sweeptool.spec.model import Point, Spec

_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_RESERVED = {*BUILTINS, BRACE}
_SCRIPT_END = re.compile(r"^BASH$", re.MULTILINE)
_Found = Iterator[tuple[str, str, str]]  # path, what is wrong, the mend


def values(spec: Spec) -> list[Problem]:
    """Return what is wrong with parameters' names and values, each once."""
    seen: dict[str, set[str]] = {}
    for point in spec.points:
        for name, value in point.params.items():
            seen.setdefault(name, set()).add(value)
    found = [each for name in sorted(seen) for each in (*_name(name), *_values(name, sorted(seen[name])))]
    return [Problem(what, path, spec.source, remedy=mend) for path, what, mend in found]


def settings(spec: Spec, table: Table) -> list[Problem]:
    """Return what is wrong with the settings of the cells, each once."""
    distinct = {_key(point): point for point in spec.points}.values()
    found = dict.fromkeys(each for point in distinct for each in _settings(point, table))
    return [Problem(what, path, spec.source, remedy=mend) for path, what, mend in found]


def bounds(spec: Spec) -> list[Problem]:
    """Return what is wrong with the bounds of the cells, each once; their prices are known by now."""
    found: dict[tuple[str, str, str], Point] = {}
    for point in spec.points:
        for each in _bounds(point):
            found.setdefault(each, point)
    return [
        Problem(f"{what} (cell {label(point)})" if label(point) else what, path, spec.source, remedy=mend)
        for (path, what, mend), point in found.items()
    ]


def _name(name: str) -> _Found:
    place = f"params.{name}"
    if not _NAME.fullmatch(name):
        yield place, f"'{name}' cannot be a variable of runpod-deploy", "letters, digits and _, no digit first"
    elif name in _RESERVED:
        yield place, f"'{name}' is runpod-deploy's own variable", "choose another name"
    elif is_secret(name):
        mend = "use the job config's secrets, or env with {from: VARIABLE}"
        yield place, f"'{name}' looks like a secret: it would stand in logs, in the driver and in the pod's name", mend


def _values(name: str, texts: Iterable[str]) -> _Found:
    for text in texts:
        match = PLACEHOLDER.search(text)
        if match:
            what = f"the value '{_short(text)}' holds {match[0]}, which runpod-deploy would expand again"
            yield f"params.{name}", what, "put it into a file and sweep over the file's name"
        if _SCRIPT_END.search(text):
            what = f"the value '{_short(text)}' has a line BASH, which ends runpod-deploy's script"
            yield f"params.{name}", what, "put it into a file and sweep over the file's name"


def _key(point: Point) -> tuple[object, ...]:
    """Return what ``_settings`` looks at, so that twenty thousand alike points are looked at once."""
    said = point.settings
    own = (said.spot, said.idle_timeout, said.on_complete, said.command, said.image)
    return (*own, said.instance_type, said.datacenter, said.placement, point.gpu, point.region, point.config)


def _settings(point: Point, table: Table) -> _Found:
    said = point.settings
    if said.spot:
        yield "spot", "runpod-deploy rents on demand, at full price, whatever is asked for", "leave it out"
    if said.idle_timeout is not None:
        yield "idle_timeout", "runpod-deploy cannot tell that a job is idle", "use max_runtime (ttl)"
    if said.on_complete is not None and said.on_complete not in LIFECYCLES:
        yield "on_complete", f"'{said.on_complete}' is nothing a pod can do", " ".join(LIFECYCLES)
    if said.command is not None and point.config is not None:
        yield "command", "the job of a config is its run.body, so the command would not be run", "drop one of them"
    if point.config is None and (said.command is not None or said.image is not None):
        if said.command is not None and said.image is None:
            yield "image", "a command on a pod needs an image", "name a container image, or a config"
        if point.gpu is None and said.instance_type is None:
            yield "gpu", "nothing says which GPU to rent", "gpu, matrix.gpu or instance_type; or a config"
    if point.gpu and said.instance_type and point.gpu != said.instance_type:
        yield "instance_type", f"gpu says {point.gpu} and instance_type {said.instance_type}", "say one of them"
    yield from _mapped(point, table)


def _mapped(point: Point, table: Table) -> _Found:
    request = point.gpu or point.settings.instance_type
    if request:
        yield from _unmapped("gpu" if point.gpu else "instance_type", gpus.choose, table, request)
    regions = (point.region,) if point.region else point.settings.placement
    for region in () if point.settings.datacenter else regions:
        yield from _unmapped("regions", gpus.datacenters, table, region)


def _unmapped(path: str, look: Callable[[Table, str], object], table: Table, name: str) -> _Found:
    try:
        look(table, name)
    except SweepError as error:
        for problem in error.problems:
            yield path, problem.message, problem.remedy


def _bounds(point: Point) -> _Found:
    cap, limit, per_hour = point.settings.cost_cap, point.settings.max_runtime, point.settings.price_per_hour
    if cap is None and limit is None:
        yield "cost_cap_usd", "nothing bounds what a cell may cost", "set cost_cap_usd or max_runtime"
    elif per_hour is None and point.config is None:
        yield "prices", "nothing says what an hour costs", "price_per_hour_usd, or a price in the table"
    elif cap == 0:
        yield "cost_cap_usd", "is 0, which leaves no time to run", "raise it"
    elif cap is not None and limit is not None and per_hour is not None:
        need = money.priced(per_hour, minutes(limit) * 60)
        if need > cap:
            what = (
                f"{money.dollars(cap)} is less than {minutes(limit)} minutes at the assumed "
                f"{money.dollars(per_hour)} an hour, {money.dollars(need)}: runpod-deploy would refuse to start"
            )
            yield "cost_cap_usd", what, "raise it, lower max_runtime, or say the real price_per_hour_usd"


def _short(text: str) -> str:
    return text if len(text) <= 40 else text[:39] + "…"
