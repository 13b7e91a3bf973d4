"""What an attempt of runpod-deploy left behind goes in, the Verdict comes out, by the table of reasons."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace

from sweeptool.runners.base import Evidence, Verdict
from sweeptool.runners.runpod import findings
from sweeptool.runners.runpod import template as templates
from sweeptool.runners.runpod.findings import Findings
from sweeptool.runners.runpod.reasons import JOB, LOCAL, PROVIDER, TRANSPORT, Rule
from sweeptool.states import LEAKED
from sweeptool.text import one_line

_SIGNALS: Mapping[int, str] = {129: "hung up", 130: "interrupted", 137: "killed", 143: "terminated"}
_LEAKED = re.compile(
    r"^\[warn\] failed to (?:stop|delete|recycle) pod|^\[warn\] orphan-pod delete failed|^\[warn\] force-fresh delete failed",
    re.MULTILINE,
)
_DEGRADED = re.compile(
    r"does not support --spot|RUNPOD_API_KEY not set|costPerHr missing|--fallback-cloud-type=\S+ skipped"
    r"|^\[warn\] optional pull skipped for",
    re.MULTILINE,
)
_ANSWER = re.compile(r"\"error\":\s*\"([^\"\n]+)\"")  # the provider's client answers in JSON
_BY_PROVIDER = re.compile(r"exited by runpod", re.IGNORECASE)
_BY_USER = re.compile(r"(?:exited|terminated) by user", re.IGNORECASE)


_SUBREASONS = (
    ("out of GPU memory", r"CUDA out of memory|OutOfMemoryError"),
    ("its disk was full", r"No space left on device"),
    ("killed, perhaps for memory", r"\bKilled\b"),
)


def verdict(evidence: Evidence) -> Verdict:
    """Return what the attempt was. Succeeded: exit 0, and a manifest of its own that says so in every point."""
    found = findings.read(evidence)
    flags = _flags(found)
    if evidence.exit_code == 0:
        judged = _finished(found)
    elif evidence.interrupted or evidence.exit_code is None or evidence.exit_code in _SIGNALS:
        judged = _stopped(evidence.exit_code)
    else:
        judged = _failed(found)
    free = judged.free and found.rented.id is None
    return replace(judged, detail=one_line(judged.detail), flags=flags, free=free)


def _finished(found: Findings) -> Verdict:
    manifest = found.manifest
    if manifest is None:
        return Verdict("failed", "no_manifest", "exit 0, but it left no manifest that can be read")
    foreign = _foreign(found)
    if foreign:
        return Verdict("failed", "collision", foreign)
    if manifest.failed is not False:
        return Verdict("failed", "manifest", "exit 0, but its manifest does not say failed: false")
    for artifact in manifest.artifacts:
        if artifact.required and artifact.status != "success":
            why = f": {artifact.error}" if artifact.error else ""
            return Verdict("failed", "artifact", f"exit 0, but '{artifact.label}' was not pulled{why}")
    return Verdict("succeeded", detail=_line(_DEGRADED, found.own))


def _foreign(found: Findings) -> str:
    """Return what says that the manifest, or the run dir, is another attempt's too; empty where nothing does."""
    manifest = found.manifest
    if manifest is None:
        return ""
    if sum(event.get("event") == "gpu_selected" for event in found.events) > 1:
        return "two runs wrote into its run dir"
    prefix = found.config.get("run_id_prefix")
    if prefix and manifest.run_id and not manifest.run_id.startswith(f"{prefix}-"):
        return f"the manifest is that of {manifest.run_id}"
    if found.rented.id and manifest.pod_id and manifest.pod_id != found.rented.id:
        return f"the manifest is that of pod {manifest.pod_id}, its own was {found.rented.id}"
    return ""


def _stopped(code: int | None) -> Verdict:
    if code is None:
        return Verdict("interrupted", "interrupted", "nobody saw how it ended")
    return Verdict("interrupted", "interrupted", _SIGNALS.get(code, f"stopped, exit {code}"))


def _failed(found: Findings) -> Verdict:
    if found.exit_code == 2:
        return Verdict("failed", "usage", _last(found.own) or "exit 2", halt=True, free=True)
    if found.exit_code in (126, 127):
        return Verdict("failed", "not_found", _last(found.own) or "runpod-deploy cannot be run", halt=True, free=True)
    for rules in (LOCAL, PROVIDER):
        judged = _first(rules, found)
        if judged:
            return judged
    return _fate(found) or _first((*TRANSPORT, *JOB), found) or _unexplained(found)


def _fate(found: Findings) -> Verdict | None:
    """Return what became of the pod, where something did before the runner released it."""
    if found.manifest is None:
        return None
    killed = any(event.get("event") == "pod_killed_unexpected" for event in found.events)
    state, what = found.state, found.change or f"the pod was {found.state}"
    ended = state in ("EXITED", "TERMINATED")
    if ended and _BY_USER.search(found.change):
        return Verdict("failed", "killed_by_user", what)
    if killed or (ended and found.change):  # outbid, or ended by the provider
        question = "is there money left?" if _BY_PROVIDER.search(found.change) else ""
        return Verdict("failed", "pod_killed", what, transient=True, if_again=question)
    if ended or (state != "RUNNING" and found.unpulled):
        return Verdict("failed", "pod_lost", what if ended else "the pod could not be reached any more", transient=True)
    return None


def _first(rules: Sequence[Rule], found: Findings) -> Verdict | None:
    for rule in rules:
        match = re.search(rule.pattern, found.own, re.MULTILINE)
        if match and rule.also(found, match):
            detail = _job(found) if rule.reason == "job" else _told(found.own, match)
            detail = f"{detail} ({rule.mend})" if rule.mend else detail
            means = rule.meaning.split()
            return Verdict(
                "failed", rule.reason, detail, transient="again" in means, halt="halt" in means, free="free" in means
            )
    return None


def _unexplained(found: Findings) -> Verdict:
    if found.manifest is None and not found.own.strip():
        return Verdict("failed", "no_manifest", f"exit {found.exit_code}, without a word or a manifest")
    return Verdict("failed", "exit", f"exit {found.exit_code}: {_last(found.own)}")


def _told(text: str, match: re.Match[str]) -> str:
    """Return what the exception at ``match`` says, the provider's answer in it too, without its class."""
    said = text[match.start() : match.start() + 600].partition("\n\n")[0]
    answer = _ANSWER.search(said)
    if answer:
        return answer[1]
    return " ".join(said.partition(": ")[2].split())


def _job(found: Findings) -> str:
    """Return what the job died of: a known cause with the line that says so, else its last line and its exit."""
    lines = [line.strip() for line in (found.quoted + "\n" + found.log).splitlines()]
    for what, pattern in _SUBREASONS:
        told = next((line for line in lines if re.search(pattern, line)), None)
        if told is not None:
            return f"{what}: {told}"
    markers = tuple(map(str, templates.section(found.config, "run").get("failure_markers") or ())) or ("\n",)
    ends = [line for line in lines if line.startswith(markers)]
    own = [line for line in lines if line and line not in ends and not line.startswith("__RUNPOD_DEPLOY")]
    exits = re.findall(r"exit \d+", " ".join(ends))
    return ": ".join(exits[-1:] + own[-1:]) or "the job failed"


def _flags(found: Findings) -> tuple[str, ...]:
    pod, flags = found.rented, []
    abandoned = found.manifest is None and pod.any and not (pod.released or pod.stopped)
    if abandoned or _LEAKED.search(found.own + found.quoted):
        flags.append(LEAKED)
    if _DEGRADED.search(found.own):
        flags.append("degraded")
    return tuple(flags)


def _line(pattern: re.Pattern[str], text: str) -> str:
    return next((line for line in text.splitlines() if pattern.search(line)), "")


def _last(text: str) -> str:
    lines = [line for line in text.splitlines() if line.strip()]
    return lines[-1].strip() if lines else ""
