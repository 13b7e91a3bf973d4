"""A job config and the cells that use it go in; what would break with siblings, or burn money, comes out as Problems.

Each is something the runner itself accepts: it would be found out after the pod bills, or never.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from sweeptool.errors import Problem, near
from sweeptool.runners.runpod import template as templates
from sweeptool.runners.runpod.template import BUILTINS, Template
from sweeptool.spec.model import Point

_UNIQUE = {"run_dir", "run_id"}  # sweeptool gives each attempt its own


@dataclass(frozen=True, slots=True)
class Users:
    """The cells that share one config: ``swept`` parameters differ between them, ``more`` says whether other things do."""

    params: frozenset[str]
    swept: frozenset[str]
    several: bool
    more: bool
    parallel: bool


def users(points: Sequence[Point], max_parallel: int) -> Users:
    """Return what the points that share a config have in common."""
    first = points[0]
    names = frozenset(name for point in points for name in point.params)
    return Users(
        params=names,
        swept=frozenset(name for name in names if any(p.params.get(name) != first.params.get(name) for p in points)),
        several=len(points) > 1,
        more=any((p.gpu, p.region, p.repetition) != (first.gpu, first.region, first.repetition) for p in points),
        parallel=max_parallel != 1 and len(points) > 1,
    )


def lint(template: Template, path: Path, source: str, cells: Users) -> list[Problem]:
    """Return what is wrong with the job config at ``path``; ``source`` is what the spec calls it."""
    found: list[tuple[str, str, str]] = [
        *_names(template, cells),
        *_literals(template),
        *_artifacts(template, cells),
        *_lifecycle(template),
        *_run(template),
        *_secrets(template),
    ]
    if cells.parallel and templates.section(template, "storage").get("mode") == "network_volume":
        found += _volume(template, cells)
    found += _places(template, path)
    return [Problem(what, where, source, remedy=mend) for where, what, mend in found]


Found = Iterator[tuple[str, str, str]]  # path, what is wrong, the mend


def _names(template: Template, cells: Users) -> Found:
    """A ``{name}`` that nothing defines is a KeyError, in run.body only after the pod bills."""
    known = {*BUILTINS, *templates.variables(template), *cells.params}
    earlier = {*BUILTINS, *cells.params}
    for name, value in templates.variables(template).items():
        for missing in sorted(templates.names(value) - earlier):
            yield f"variables.{name}", f"refers to {{{missing}}}, which is not defined before it", _mend(missing, known)
        earlier.add(name)
    for where, text in templates.expanded(template):
        for missing in sorted(templates.names(text) - known):
            yield where, f"refers to {{{missing}}}, which nothing defines", _mend(missing, known)


def _mend(name: str, known: set[str]) -> str:
    return near(name, known) or f"add {name} to variables; a shell's ${{{name}}} is written ${name} in a job config"


def _literals(template: Template) -> Found:
    for where, text in templates.literal(template):
        for name in sorted(templates.names(text)):
            yield (
                where,
                f"holds {{{name}}}, and runpod-deploy expands nothing there",
                "sweep gpu, region or image instead",
            )


def _artifacts(template: Template, cells: Users) -> Found:
    for number, artifact in enumerate(templates.entries(template, "artifacts")):
        where = f"artifacts[{number}].local_path"
        local = str(artifact.get("local_path", ""))
        if artifact.get("delete", True) is False:
            continue
        if local.rstrip("/") == "{run_dir}":
            yield where, "is {run_dir} itself, and delete: true would wipe the run's own records", "delete: false"
        elif cells.several and not _apart(local, template, cells):
            mend = "put {run_dir} into it, or delete: false"
            yield where, "is the same for several cells, and delete: true makes each wipe the others' results", mend


def _apart(text: str, template: Template, cells: Users) -> bool:
    """Whether ``text`` differs between any two cells."""
    names = templates.closure(text, template)
    return bool(names & _UNIQUE) or (not cells.more and bool(cells.swept) and cells.swept <= names)


def _lifecycle(template: Template) -> Found:
    if templates.section(template, "lifecycle").get("on_success") == "recycle":
        why = "recycle is for one job after another: in a sweep its pods stay behind, stopped and billing"
        yield "lifecycle.on_success", why, "delete"
    if templates.section(template, "pod").get("spot") is True:
        yield "pod.spot", "is not kept: runpod-deploy rents on demand, at full price", "spot: false"


def _run(template: Template) -> Found:
    markers = templates.section(template, "run").get("failure_markers")
    if markers == []:
        mend = "leave it out, or name what a failing job prints"
        yield "run.failure_markers", "is empty: neither success nor failure is seen and every cell costs its cap", mend


def _secrets(template: Template) -> Found:
    for number, secret in enumerate(templates.entries(template, "secrets")):
        for name in _listed(secret.get("env")):
            if name not in os.environ:
                what = f"wants the variable {name}, which is not set here; the runner would notice with the pod billing"
                yield f"secrets[{number}].env", what, f"export {name}"
        file = secret.get("file")
        if isinstance(file, str) and not templates.names(file) and not Path(file).expanduser().exists():
            yield f"secrets[{number}].file", f"there is no file {file}", "the runner would notice with the pod billing"


def _listed(value: object) -> Sequence[str]:
    return [str(one) for one in value] if isinstance(value, list) else ()


def _volume(template: Template, cells: Users) -> Found:
    """What all pods of a network volume would share."""
    run = templates.section(template, "run")
    shared: Mapping[str, object] = {
        "run.script_path": run.get("script_path"),
        "run.log_path": run.get("log_path"),
        **{
            f"staging[{number}].destination": entry.get("destination")
            for number, entry in enumerate(templates.entries(template, "staging"))
        },
        **{
            f"artifacts[{number}].remote_path": entry.get("remote_path")
            for number, entry in enumerate(templates.entries(template, "artifacts"))
        },
    }
    for where, text in shared.items():
        if isinstance(text, str) and not _apart(text, template, cells):
            mend = "put {run_id} into it, or max_parallel: 1, or storage.mode: ephemeral"
            yield where, "is the same for pods that run at once on one network volume", mend


def _places(template: Template, path: Path) -> Found:
    root = templates.project_root(template, path)
    if root == Path.home():
        yield (
            "local.project_root",
            f"is your home directory, {root}, which the runner refuses",
            "point it at the project",
        )
    place = root / "artifacts" / "runpod"
    existing = next(each for each in (place, *place.parents) if each.exists())
    if not (existing.is_dir() and os.access(existing, os.W_OK | os.X_OK)):
        what = f"{existing} cannot be written: the runner would lose its pod, running"
        yield "local.project_root", what, "make it writable"
