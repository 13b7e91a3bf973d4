"""A job config of runpod-deploy goes in; what stands in it, what it refers to and what bounds it comes out."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from typing import Any

import yaml

from sweeptool import money
from sweeptool.errors import Problem, SweepError

BUILTINS = ("config_dir", "project_root", "run_dir", "run_id", "job_name", "volume_mount")
PLACEHOLDER = re.compile(r"\{([A-Za-z_][A-Za-z0-9_]*)\}")
BRACE = "sweeptool_brace"  # a variable whose value is an opening brace
ASSUMED_RATE = 1_650_000  # micro-dollars an hour that the runner assumes where the config says nothing
Template = Mapping[str, Any]

_EXPANDED: Mapping[str, Sequence[str]] = {
    "local": ("required_paths",),
    "remote_env": ("source_files", "exports"),
    "run": ("script_path", "log_path", "success_marker", "failure_markers", "body"),
    "setup": ("command",),
    "preflight": ("command",),
    "staging": ("source", "destination", "excludes", "excludes_extra"),
    "secrets": ("destination", "file"),
    "artifacts": ("remote_path", "local_path", "excludes"),
}
_LITERAL = ("pod", "storage", "ssh", "state_file", "budget")


@dataclass(frozen=True, slots=True)
class Bounds:
    """What a job config itself says about money: micro-dollars, micro-dollars an hour, seconds; None if nothing."""

    cost_cap: int | None
    per_hour: int | None
    max_runtime: int | None


def read(path: Path) -> Template:
    """Return the job config at ``path``, read as the runner reads it.

    Raises SweepError where it cannot be read, is no YAML, or is no mapping.
    """
    source = str(path)
    try:
        raw = yaml.safe_load(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise SweepError(Problem(f"the job config cannot be read: {error.strerror}", source=source)) from error
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark
        line, column = (mark.line + 1, mark.column + 1) if mark else (None, None)
        raise SweepError(Problem(f"is no YAML: {error.problem}", source=source, line=line, column=column)) from error
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        raise SweepError(Problem(f"is no YAML: {error}".splitlines()[0], source=source)) from error
    if not isinstance(raw, dict):
        raise SweepError(Problem("is no job config: its root is no mapping", source=source))
    return raw


def section(template: Template, name: str) -> Mapping[str, Any]:
    """Return a mapping inside the config, an empty one where it is absent or no mapping."""
    found = template.get(name)
    return found if isinstance(found, Mapping) else {}


def entries(template: Template, name: str) -> Sequence[Mapping[str, Any]]:
    """Return the mappings of a list inside the config, an empty list where it is absent or no list."""
    found = template.get(name)
    return [entry for entry in found if isinstance(entry, Mapping)] if isinstance(found, list) else []


def variables(template: Template) -> Mapping[str, str]:
    """Return the config's own ``variables``, those that are text."""
    return {name: value for name, value in section(template, "variables").items() if isinstance(value, str)}


def bounds(template: Template) -> Bounds:
    """Return what the config's ``budget`` says; a number that is no plain amount counts as nothing said."""
    budget = section(template, "budget")
    minutes = budget.get("max_runtime_minutes")
    return Bounds(
        cost_cap=_amount(budget.get("cost_cap_usd")),
        per_hour=_amount(budget.get("assumed_hourly_rate_usd")),
        max_runtime=minutes * 60
        if isinstance(minutes, int) and not isinstance(minutes, bool) and minutes > 0
        else None,
    )


def project_root(template: Template, path: Path) -> Path:
    """Return the absolute directory under which the runner makes ``artifacts/runpod``. ``path`` is the config's."""
    said = section(template, "local").get("project_root")
    return (path.parent / Path(said if isinstance(said, str) else ".").expanduser()).resolve()


def expanded(template: Template) -> Iterator[tuple[str, str]]:
    """Yield (path, text) for every text in which the runner expands ``{name}``, but for ``variables``."""
    for name in ("name", "run_id_prefix"):
        yield from _texts(template.get(name), name)
    for name, keys in _EXPANDED.items():
        found = template.get(name)
        if isinstance(found, Mapping):
            for key in keys:
                yield from _texts(found.get(key), f"{name}.{key}")
        for number, entry in enumerate(found if isinstance(found, list) else ()):
            for key in keys if isinstance(entry, Mapping) else ():
                yield from _texts(entry.get(key), f"{name}[{number}].{key}")


def literal(template: Template) -> Iterator[tuple[str, str]]:
    """Yield (path, text) for every text that the runner takes as it stands."""
    for name in _LITERAL:
        yield from _texts(template.get(name), name)
    yield from _texts(section(template, "local").get("project_root"), "local.project_root")


def names(text: str) -> set[str]:
    """Return the names that ``text`` refers to."""
    return set(PLACEHOLDER.findall(text))


def closure(text: str, template: Template) -> set[str]:
    """Return the names that ``text`` depends on in the end, through the config's variables and its own name."""
    own = {**variables(template), "job_name": str(template.get("name", ""))}
    found: set[str] = set()
    waiting = names(text)
    while waiting:
        name = waiting.pop()
        found.add(name)
        waiting |= names(own.get(name, "")) - found
    return found


def escape(text: str) -> str:
    """Return ``text`` so that the runner, having expanded it, has just ``text`` again."""
    return PLACEHOLDER.sub(lambda match: f"{{{BRACE}}}{match[0][1:]}", text)


def expand(text: str, values: Mapping[str, str]) -> str:
    """Return ``text`` with each known ``{name}`` replaced, once; unknown ones stay."""
    return PLACEHOLDER.sub(lambda match: values.get(match[1], match[0]), text)


def _texts(value: object, path: str) -> Iterator[tuple[str, str]]:
    if isinstance(value, str):
        yield path, value
    elif isinstance(value, list):
        for number, one in enumerate(value):
            yield from _texts(one, f"{path}[{number}]")
    elif isinstance(value, Mapping):
        for key, one in value.items():
            yield from _texts(one, f"{path}.{key}")


def _amount(value: object) -> int | None:
    return money.measured(Decimal(str(value)) if isinstance(value, float) else value) or None
