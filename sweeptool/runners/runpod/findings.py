"""An attempt's directory, run dir and manifest go in, what they tell comes out: read once, the runner's words apart.

Every failure of the runner is a traceback and exit 1, so the cause is read from its stderr, and only up to where that
quotes what the pod printed: a job can print anything. Its stdout holds every command line and the job's own lines.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import Any

from sweeptool.errors import SweepError
from sweeptool.layout import EVENTS
from sweeptool.manifest import Manifest
from sweeptool.runners.base import Evidence
from sweeptool.runners.runpod import pods
from sweeptool.runners.runpod import template as templates
from sweeptool.runners.runpod.template import Template

_REMOTE = re.compile(
    r"^(?:RuntimeError: remote log contains failure marker[^\n]*|(?:[\w.]+\.)?RemoteRunError: [^\n]*)(?:\n|$)",
    re.MULTILINE,
)
_LOG_LINES = 80
_LOG_END = 64 * 1024  # bytes in which these lines are looked for
_UNREACHED = re.compile(r"Command '\['rsync'.*exit status (?:12|255)\b")


@dataclass(frozen=True, slots=True)
class Findings:
    """One attempt, read once: its own words apart from those of its pod, its manifest, its run dir's files."""

    exit_code: int | None
    own: str  # stderr up to where it quotes the pod
    quoted: str  # what it quotes
    stdout: str
    manifest: Manifest | None
    events: Sequence[Mapping[str, Any]] = ()
    change: str = ""  # the provider's lastStatusChange at the end
    log: str = ""  # the end of the job's own log, as it was pulled
    silent: bool = False  # the last telemetry sample could not reach the pod
    config: Template = field(default_factory=dict)  # the attempt's own job config
    rented: pods.Rented = field(default_factory=lambda: pods.Rented(None, None, False))

    @property
    def state(self) -> str | None:
        """The pod's final state, None where the runner could not ask."""
        return self.manifest.pod_final_state if self.manifest else None

    @property
    def unpulled(self) -> bool:
        """Whether nothing could be pulled because rsync did not reach the pod."""
        if self.manifest is None or not _UNREACHED.search(self.own + self.quoted):
            return False
        return all(artifact.status != "success" for artifact in self.manifest.artifacts)


def read(evidence: Evidence) -> Findings:
    """Read what an attempt left behind."""
    stderr = "".join(
        line for line in pods.text(evidence.attempt.stderr).splitlines(keepends=True) if not line.startswith("$ [")
    )
    stdout = pods.text(evidence.attempt.stdout)
    quote = _REMOTE.search(stderr)
    cut = quote.end() if quote else len(stderr)
    where, config = evidence.run_dir, _config(evidence.attempt.config)
    return Findings(
        exit_code=evidence.exit_code,
        own=stderr[:cut],
        quoted=stderr[cut:],
        stdout=stdout,
        manifest=evidence.manifest,
        events=_lines(where / EVENTS) if where else (),
        change=_last_change(where) if where else "",
        silent=_silent(where) if where else False,
        log=_pulled_log(where, config) if where else "",
        config=config,
        rented=pods.of_output(stdout, stderr, pods.state_file(evidence.attempt.state)),
    )


def _config(path: Path) -> Template:
    try:
        return templates.read(path)
    except SweepError:
        return {}


def _lines(path: Path) -> Sequence[Mapping[str, Any]]:
    """Return the objects of a file of JSON lines; what is none is left out."""
    found = []
    for line in pods.text(path).split("\n"):
        try:
            one = json.loads(line)
        except ValueError:
            continue
        if isinstance(one, dict):
            found.append(one)
    return found


def _last_change(run_dir: Path) -> str:
    """Return what the provider says about the pod's last change, such as ``Outbid: …``."""
    try:
        described = json.loads(pods.text(run_dir / "pod_describe_end.json"))
    except ValueError:
        return ""
    change = described.get("lastStatusChange") if isinstance(described, dict) else None
    return change if isinstance(change, str) else ""


def _pulled_log(run_dir: Path, config: Template) -> str:
    """Return the end of the job's log. The tail that the runner quotes can be older than the marker it saw."""
    path = str(templates.section(config, "run").get("log_path", ""))
    name = PurePosixPath(templates.expand(path, templates.variables(config))).name
    lines = pods.text(run_dir / name, _LOG_END).splitlines(keepends=True)
    return "".join(lines[-_LOG_LINES:])


def _silent(run_dir: Path) -> bool:
    """Whether the last telemetry sample holds nothing but its time: no ssh reached the pod any more."""
    samples = _lines(run_dir / "metrics.jsonl")
    return bool(samples) and set(samples[-1]) == {"ts_utc"}
