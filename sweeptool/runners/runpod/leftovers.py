"""A verdict goes in; what its attempt left at the provider is released where that is safe, and the verdict says so.

The runner does not clean up when it is interrupted before its pod is ready, when it is terminated, or when the answer
to a creation is unclear; and one failed delete is enough to leave a pod behind. An attempt that has ended has no use
for its pod, so what the job config says is done, once more or for the first time. A lost attempt's pod is left to
``recover``: nobody saw how it ended, and its results may still be on it.
"""

from __future__ import annotations

from dataclasses import replace

from sweeptool.errors import SweepError
from sweeptool.runners.base import Evidence, Verdict
from sweeptool.runners.runpod import pods
from sweeptool.runners.runpod import template as templates
from sweeptool.runners.runpod.pods import Rented
from sweeptool.states import LEAKED

_DONE = {"delete": "deleted", "stop": "stopped"}


def settle(evidence: Evidence, verdict: Verdict) -> Verdict:
    """Return ``verdict`` with the flag ``leaked`` where something still bills, and only there."""
    pod = pods.rented(evidence.attempt)
    abandoned = evidence.manifest is None and pod.any and not (pod.released or pod.stopped)
    if verdict.state == "lost":
        return replace(verdict, flags=(LEAKED,)) if abandoned else verdict
    if LEAKED not in verdict.flags:
        return verdict
    action = _action(evidence, verdict, pod, abandoned=abandoned)
    ids = [pod.id] if pod.id else _named(pod.name)
    if action not in _DONE or not ids or any(pods.run((pods.CLIENT, "pod", action, one)) for one in ids):
        return verdict
    detail = f"{verdict.detail}; the pod it left is {_DONE[action]}" if verdict.detail else ""
    return replace(verdict, detail=detail, flags=tuple(flag for flag in verdict.flags if flag != LEAKED))


def _action(evidence: Evidence, verdict: Verdict, pod: Rented, *, abandoned: bool) -> str:
    """Return what is to be done with the pod, as the job config has it; nothing where a stop failed."""
    if verdict.reason == "create_unclear":
        return "delete"  # no job ever ran on it
    if not abandoned:
        stderr = pods.text(evidence.attempt.stderr)
        return "delete" if f"failed to delete pod {pod.id}" in stderr else ""
    try:
        lifecycle = templates.section(templates.read(evidence.attempt.config), "lifecycle")
    except SweepError:
        return ""
    if verdict.state == "interrupted":  # the runner, too, takes an interruption for a success
        return str(lifecycle.get("on_success", "delete"))
    return str(lifecycle.get("on_failure", "stop"))


def _named(name: str | None) -> list[str]:
    try:
        return [pod.id for pod in pods.listed() if pod.name == name] if name else []
    except OSError:
        return []
