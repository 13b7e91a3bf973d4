"""The output of one attempt goes in, the pod it rented comes out; and what the provider's client says about pods."""

from __future__ import annotations

import json
import re
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sweeptool.layout import AttemptDir
from sweeptool.lines import reason

CLIENT = "runpodctl"
_PATIENCE = 30.0  # seconds for one call of the provider's client
_LARGEST = 64 * 1024 * 1024  # bytes of one attempt's output that are looked at
_CREATED = re.compile(r"^\$ \[runpodctl\] runpodctl pod create .*?--name ('[^']*'|\S+)", re.MULTILINE)
_ASKED = re.compile(r"^\$ \[local\] runpodctl pod get (\S+) -o json$", re.MULTILINE)
_READY = re.compile(r"^\[pod\] (\S+) (?:RUNNING|waiting)\b", re.MULTILINE)
_REFUSED = re.compile(r"^RuntimeError: pod create failed exit=", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Rented:
    """The pod of one attempt, as far as its own output tells. ``released``: deleted, so that nothing bills."""

    name: str | None
    id: str | None
    released: bool
    stopped: bool = False

    @property
    def any(self) -> bool:
        """Whether a pod was asked for at all."""
        return self.name is not None or self.id is not None


@dataclass(frozen=True, slots=True)
class Pod:
    """A pod as the provider lists it. ``state`` is its desired status, such as RUNNING or EXITED."""

    id: str
    name: str
    state: str


def text(path: Path, largest: int = _LARGEST) -> str:
    """Return a log, its last ``largest`` bytes where it has more, with what is no UTF-8 replaced; empty if absent."""
    try:
        with path.open("rb") as file:
            file.seek(max(0, path.stat().st_size - largest))
            return file.read().decode(errors="replace")
    except OSError:
        return ""


def rented(attempt: AttemptDir) -> Rented:
    """Return the pod that an attempt rented, by its own output and its state file."""
    return of_output(text(attempt.stdout), text(attempt.stderr), state_file(attempt.state))


def of_output(stdout: str, stderr: str, noted: str | None = None) -> Rented:
    """Return the pod of an attempt that printed these. Only the first line of a kind is the runner's for sure."""
    created = _CREATED.search(stdout)
    ready = _ASKED.search(stdout) or _READY.search(stdout)
    pod_id = ready[1] if ready else noted
    gone = pod_id is not None and _deleted(pod_id, stdout, stderr)
    return Rented(
        name=created[1].strip("'") if created else None,
        id=pod_id,
        released=gone or (pod_id is None and created is not None and _surely_refused(stderr)),
        stopped=pod_id is not None and f"[lifecycle] pod '{pod_id}' stopped" in stderr,
    )


def state_file(path: Path) -> str | None:
    """Return the pod's id from the runner's state file, None where there is none."""
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    pod_id = found.get("pod_id") if isinstance(found, dict) else None
    return pod_id if isinstance(pod_id, str) and pod_id else None


def listed() -> Sequence[Pod]:
    """Return every pod of the account. Raises OSError, with the reason, where the client cannot say."""
    found = _ask("pod", "list", "-a", "-o", "json")
    if not isinstance(found, list):
        raise OSError(f"{CLIENT} pod list printed no list")
    return [
        Pod(str(one.get("id")), str(one.get("name") or ""), str(one.get("desiredStatus") or "?"))
        for one in found
        if isinstance(one, Mapping) and one.get("id")
    ]


def of_attempt(pods: Sequence[Pod], sweep_id: str, index: int, attempt: int) -> Sequence[Pod]:
    """Return those whose name says that they are this attempt's."""
    return [pod for pod in pods if place(pod, sweep_id) == (index, attempt)]


def place(pod: Pod, sweep_id: str) -> tuple[int, int] | None:
    """Return (index, attempt) of the attempt of this sweep that the pod's name names, None where it names none."""
    found = re.fullmatch(rf"(?:.*-)?{re.escape(sweep_id)}-(\d+)-a(\d+)-\d{{8}}T\d{{6}}Z", pod.name)
    return (int(found[1]), int(found[2])) if found else None


def release(pod_id: str) -> tuple[str, ...]:
    """Return the command line that deletes a pod, its disk with it."""
    return (CLIENT, "pod", "delete", pod_id)


def run(argv: Sequence[str]) -> str:
    """Run the provider's client; return empty text, or what went wrong in one line."""
    try:
        _call(argv)
    except OSError as error:
        return reason(error)
    return ""


def _deleted(pod_id: str, stdout: str, stderr: str) -> bool:
    """Whether the runner deleted the pod: it says so, or it tried and did not complain."""
    if f"[lifecycle] pod '{pod_id}' deleted" in stdout:
        return True
    tried = f"$ [runpodctl] runpodctl pod delete {pod_id}\n" in stdout
    failed = f"failed to delete pod {pod_id}" in stderr or f"delete failed for '{pod_id}'" in stderr
    return tried and not failed and "deleting to release compute" in stderr


def _surely_refused(stderr: str) -> bool:
    """Whether the provider said no to the pod, rather than failing to say anything."""
    found = _REFUSED.search(stderr)
    return found is not None and not unclear(stderr[found.start() :])


def unclear(answer: str) -> bool:
    """Whether a failed create leaves open if there is a pod now."""
    return re.search(r"\b5\d\d\b|server_error|network_error|time(?:d )?out|reply could not be read", answer) is not None


def _ask(*words: str) -> Any:
    try:
        return json.loads(_call((CLIENT, *words)))
    except ValueError as error:
        raise OSError(f"{CLIENT} printed no JSON: {error}") from error


def _call(argv: Sequence[str]) -> str:
    try:
        done = subprocess.run(argv, capture_output=True, text=True, timeout=_PATIENCE, check=False)
    except subprocess.TimeoutExpired as error:
        raise OSError(f"{argv[0]} did not answer in {_PATIENCE:g} s") from error
    if done.returncode != 0:
        raise OSError(" ".join((done.stderr or done.stdout).split()) or f"{argv[0]} exit {done.returncode}")
    return done.stdout
