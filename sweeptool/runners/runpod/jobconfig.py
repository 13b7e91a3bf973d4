"""A frozen cell goes in; the concrete job config of one attempt comes out, and nothing in it is shared with a sibling.

The user's template stays what it is in meaning. What becomes concrete: the cell's parameters stand first in
``variables`` (a derived variable then sees the cell's value, not a default); ``local.project_root`` is absolute and
``config_dir`` the template's own directory, since the copy lives elsewhere; ``state_file`` is the attempt's; the
pod's name ends in the sweep's id, the cell's index and the attempt's number, so that it is found by name whatever
happens; GPU, datacenters, image, lifecycle and budget are the cell's; the parameters, the spec's ``env`` and the
SWEEP_ variables stand in ``remote_env.exports`` and, since the runner gives those to setup and preflight commands
only, at the head of ``run.body`` too.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Mapping
from decimal import Decimal
from pathlib import Path
from typing import Any

import yaml

from sweeptool.layout import AttemptDir
from sweeptool.runners.runpod import gpus
from sweeptool.runners.runpod import template as templates
from sweeptool.runners.runpod.gpus import Table
from sweeptool.runners.runpod.template import BRACE, Template, escape

LIFECYCLES: Mapping[str, str] = {
    "delete": "delete",
    "terminate": "delete",
    "stop": "stop",
    "hibernate": "stop",
    "preserve": "preserve",
    "keep": "preserve",
}
_UNSAFE = re.compile(r"[^A-Za-z0-9._-]+")
_LONGEST = 40  # characters of one value in a pod's name
_SECRETS = "{volume_mount}/{run_id}/sweeptool.env"
_ODD_BREAKS = re.compile("[\r\x85\u2028\u2029\ufeff]")  # YAML takes them for line breaks, unless escaped
_HEREDOC_END = re.compile(r"^BASH$", re.MULTILINE)
Job = Mapping[str, Any]


def concrete(template: Template, job: Job, config: Path, attempt: AttemptDir, table: Table) -> dict[str, Any]:
    """Return the job config of one attempt of ``job``, made from the template that stands at ``config``."""
    settings = job["settings"]
    made = dict(template)
    made["variables"] = _variables(template, job, config)
    made["run_id_prefix"] = pod_name(template, job)
    made["state_file"] = str(attempt.state.absolute())
    made["local"] = {
        **templates.section(template, "local"),
        "project_root": str(templates.project_root(template, config)),
    }
    made["pod"] = {**templates.section(template, "pod"), **placement(job, table)}
    made["budget"] = {**templates.section(template, "budget"), **_budget(job)}
    if settings.get("on_complete"):
        action = LIFECYCLES[settings["on_complete"]]
        made["lifecycle"] = {"on_success": action, "on_failure": action}
    exports = environment(job)
    env = templates.section(template, "remote_env")
    made["remote_env"] = {**env, "exports": {**(env.get("exports") or {}), **_escaped(exports)}}
    run = templates.section(template, "run")
    made["run"] = {**run, "body": _body(str(run.get("body", "")), exports, settings)}
    if settings.get("secrets"):
        own = {"name": "sweeptool", "destination": _SECRETS, "env": sorted(settings["secrets"])}
        made["secrets"] = [*(template.get("secrets") or []), own]
    return made


def dump(config: Mapping[str, Any]) -> str:
    """Return the config as YAML that the runner reads back as the very same objects."""
    return yaml.dump(config, Dumper=_Dumper, sort_keys=False, allow_unicode=True, width=10_000)


def suffix(job: Job) -> str:
    """Return how the name of every pod of this attempt ends, but for the runner's own time stamp."""
    return f"{job.get('sweep_id') or job.get('sweep')}-{job['index']}-a{job['attempt']}"


def pod_name(template: Template, job: Job) -> str:
    """Return the pod's name without its stamp: the template's own, its values made safe, then ``suffix``."""
    own = templates.variables(template)
    values: dict[str, str] = {"job_name": str(template.get("name", ""))}
    for name, value in {**job["params"], **{k: v for k, v in own.items() if k not in job["params"]}}.items():
        values[name] = templates.expand(value, values)
    safe = {name: _UNSAFE.sub("_", value)[:_LONGEST].strip("_") for name, value in values.items()}
    prefix = str(template.get("run_id_prefix") or template.get("name") or job["name"])
    return f"{templates.expand(prefix, safe)}-{suffix(job)}"


def placement(job: Job, table: Table) -> dict[str, Any]:
    """Return what the cell says about its pod: image, GPUs, datacenters. Raises SweepError for an unmapped name."""
    settings = job["settings"]
    pod: dict[str, Any] = {}
    if settings.get("image"):
        pod["image"] = settings["image"]
    request = job["gpu"] or settings.get("instance_type")
    if request:
        choice = gpus.choose(table, request)
        pod |= {"gpu_order": list(choice.ids), "gpu_count": choice.count}
    if settings.get("datacenter"):
        pod["datacenters"] = [settings["datacenter"]]
    elif job["region"]:
        pod["datacenters"] = list(gpus.datacenters(table, job["region"]))
    elif settings.get("placement"):
        pod["datacenters"] = [each for region in settings["placement"] for each in gpus.datacenters(table, region)]
    return pod


def environment(job: Job) -> dict[str, str]:
    """Return what the job finds in its environment: the sweep's tags, every parameter, the spec's ``env``."""
    tags = {
        "SWEEP_ID": job.get("sweep_id") or "",
        "SWEEP_NAME": job.get("sweep") or "",
        "SWEEP_INDEX": str(job["index"]),
        "SWEEP_SIZE": str(job.get("sweep_size", "")),
    }
    for name, value in job["params"].items():
        tags |= {f"PARAM_{name}": value, f"NODUS_PARAM_{name}": value}
    return {**tags, **job["settings"].get("env", {})}


def quoted(text: str) -> str:
    """Return ``text`` as one word of the pod's bash, whole after the runner's expansion and inside its heredoc."""
    return escape(_HEREDOC_END.sub("BA''SH", shlex.quote(text)))


def _variables(template: Template, job: Job, config: Path) -> dict[str, str]:
    own = templates.section(template, "variables")
    made = {BRACE: "{", **_escaped(job["params"])}
    made.setdefault("config_dir", escape(str(config.parent.resolve())))
    return {**made, **{name: value for name, value in own.items() if name not in job["params"]}}


def _budget(job: Job) -> dict[str, Any]:
    said: dict[str, Any] = {}
    if job.get("cost_cap_usd") is not None:
        said["cost_cap_usd"] = float(Decimal(job["cost_cap_usd"]))
    if job.get("price_per_hour_usd") is not None:
        said["assumed_hourly_rate_usd"] = float(Decimal(job["price_per_hour_usd"]))
    if job.get("max_runtime") is not None:
        said["max_runtime_minutes"] = minutes(job["max_runtime"])
    return said


def minutes(seconds: int) -> int:
    """Return ``seconds`` in the whole minutes that the runner counts in, rounded up."""
    return -(-seconds // 60)


def _body(body: str, exports: Mapping[str, str], settings: Mapping[str, Any]) -> str:
    """Return the script with the exports at its head, behind a ``#!`` line where it has one."""
    shebang, rest = "", body
    if body.startswith("#!"):
        shebang, _, rest = body.partition("\n")
    lines = [shebang] if shebang else []
    lines += ["# The cell's own environment, added by sweeptool; the rest is the config's run.body."]
    lines += [f"export {name}={quoted(value)}" for name, value in exports.items()]
    if settings.get("secrets"):
        lines.append(f"while IFS= read -r line; do export \"$line\"; done <'{_SECRETS}'")
    return "\n".join([*lines, rest])


def _escaped(values: Mapping[str, str]) -> dict[str, str]:
    return {name: escape(value) for name, value in values.items()}


class _Dumper(yaml.SafeDumper):
    """Writes texts of several lines as blocks, so that a person can read the body; the rest as usual."""

    def ignore_aliases(self, data: object) -> bool:  # noqa: ARG002 - what stands twice is written twice
        return True


def _text(dumper: yaml.SafeDumper, value: str) -> yaml.ScalarNode:
    style = '"' if _ODD_BREAKS.search(value) else "|" if "\n" in value else None
    return dumper.represent_scalar("tag:yaml.org,2002:str", value, style=style)


_Dumper.add_representer(str, _text)
