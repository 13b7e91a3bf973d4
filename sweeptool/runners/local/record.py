"""What happens to one local job goes in; its run dir's log, events and manifest come out, as a pod's would be."""

from __future__ import annotations

import os
import select
import time
from datetime import UTC, datetime

from sweeptool.runners.local import job

# layout has these names too; importing it would cost each cell 20 ms, so a test compares them instead.
MANIFEST = "runpod_deploy_pull_manifest.json"
EVENTS = "events.jsonl"
LOG = "run.log"
STEP = "job"
_MARK = b"__RUNPOD_STEP_"
_WINDOW = 256  # bytes; a step's marker is shorter
_GIT = ("git", "status", "--porcelain=v2", "--branch", "--untracked-files=no")
_GIT_PATIENCE = 2.0  # seconds, once the job has ended


class Record:
    """The files of one run dir. Where the disk refuses one, ``fault`` says why, as stderr did once."""

    __slots__ = ("_events", "_git", "_log", "_options", "_params", "_path", "_seen", "_tails", "fault")

    def __init__(self, path: str, options: dict[str, str], params: dict[str, str]) -> None:
        self._path = path
        self._options = options
        self._params = params
        self._git: tuple[int, int] | None = None
        self._seen: set[bytes] = set()
        self._tails = {1: b"", 2: b""}
        self.fault: OSError | None = None
        self._log = self._open(LOG)
        self._events = self._open(EVENTS)

    def look_at_git(self) -> None:
        """Ask git for the commit while the job runs; the answer is read when it has ended."""
        reader, writer = os.pipe()
        try:
            pid = os.posix_spawnp(
                _GIT[0],
                _GIT,
                {**os.environ, "GIT_OPTIONAL_LOCKS": "0"},  # many cells start at once in one checkout
                file_actions=[
                    (os.POSIX_SPAWN_OPEN, 0, os.devnull, os.O_RDONLY, 0),
                    (os.POSIX_SPAWN_DUP2, writer, 1),
                    (os.POSIX_SPAWN_OPEN, 2, os.devnull, os.O_WRONLY, 0),
                ],
                setpgroup=0,
            )
            self._git = pid, reader
        except OSError:
            os.close(reader)  # no git here: nothing is known
        finally:
            os.close(writer)

    def started(self) -> None:
        """Note that the job has its place and runs."""
        self._event("gpu_selected", gpu_id=self._gpu(), datacenter_id=self._place())
        self._event("remote_step_started", name=STEP)

    def output(self, stream: int, data: bytes) -> None:
        """Pass what the job wrote on to our own stream, keep it in the log, note the steps that it marks."""
        job.write(stream, data)  # a reader that has gone away is no failure of the job
        self._write(self._log, data)
        window = self._tails[stream] + data
        self._tails[stream] = window[-_WINDOW:]
        if _MARK in window:
            self._steps(window)

    def finished(self, reason: str, code: int, milliseconds: int, price: int | None, cost: int | None) -> bool:
        """Write the last events and the manifest, and return whether the manifest stands.

        ``milliseconds`` is the billed time, ``price`` micro-dollars an hour, ``cost`` micro-dollars.
        """
        if reason == "killed":
            self._event("pod_killed_unexpected", state="EXITED", note=f"the job was killed by signal {code - 128}")
        if reason not in ("not_found", "not_runnable"):
            self._event("remote_step_completed", name=STEP)
        text = _json(self._manifest(reason, code, milliseconds, price, cost), indent=2)
        part, whole = (os.path.join(self._path, name) for name in (f".{MANIFEST}.part", MANIFEST))
        handle = self._open(os.path.basename(part))
        if not self._write(handle, text.encode()):
            return False
        os.replace(part, whole)
        return True

    def _manifest(
        self, reason: str, code: int, milliseconds: int, price: int | None, cost: int | None
    ) -> dict[str, object]:
        options = self._options
        cap = options.get("--cost-cap-usd")
        name = options.get("--job-name", "local")
        return {
            "schema_version": "v2",
            "pulled_at_utc": _now(),
            "failed": code != 0,
            "job_name": name,
            "run_id": f"{name}-{os.path.basename(self._path)}",
            "config_path": None,
            "storage_mode": "local",
            "datacenter_id": self._place(),
            "gpu_id": self._gpu(),
            "gpu_price_per_hour_usd": None if price is None else price / 1_000_000,
            "gpu_price_source": None if price is None else "assumed_rate",
            "pod_id": None,
            "pod_final_state": None,
            "pod_resumed": False,
            "image": options.get("--image"),
            "cost_cap_usd": None if cap is None else float(cap),
            "wall_time_sec": milliseconds / 1000,
            "estimated_cost_usd": None if cost is None else cost / 1_000_000,
            "volume_mount": None,
            "volume_name": None,
            "volume_gb": None,
            "deploy_metadata": self._commit(),
            "artifacts": [],
            "telemetry_files": [EVENTS, LOG],
            "local": {
                "exit_code": code,
                "reason": reason,
                "fault": None if self.fault is None else self.fault.strerror,
                "instance_type": options.get("--instance-type"),
                "region": options.get("--region"),
                "spot": {"true": True, "false": False}.get(options.get("--spot", "")),
                "params": self._params,
            },
        }

    def _gpu(self) -> str | None:
        return self._options.get("--gpu", self._options.get("--instance-type"))

    def _place(self) -> str:
        return self._options.get("--datacenter", self._options.get("--region", "local"))

    def _steps(self, window: bytes) -> None:
        import re  # noqa: PLC0415 - few jobs mark steps

        for kind, name in re.findall(_MARK + rb"(START|DONE)__(.{1,200}?)__", window):
            if kind + name not in self._seen:
                self._seen.add(kind + name)
                event = "remote_step_started" if kind == b"START" else "remote_step_completed"
                self._event(event, name=name.decode(errors="replace"))

    def _commit(self) -> dict[str, object]:
        lines = self._answer().decode(errors="replace").splitlines()
        head = dict(line[2:].split(" ", 1) for line in lines if line.startswith("# "))
        sha, branch = head.get("branch.oid"), head.get("branch.head")
        return {
            "local_git_sha": None if sha == "(initial)" else sha,
            "local_git_dirty": any(not line.startswith("#") for line in lines) if head else None,
            "local_git_branch": None if branch == "(detached)" else branch,
            "payload_lockfile": None,
            "payload_lockfile_sha256": None,
        }

    def _answer(self) -> bytes:
        """Return what git said, or nothing where it failed or takes too long."""
        if self._git is None:
            return b""
        pid, reader = self._git
        until = time.monotonic() + _GIT_PATIENCE
        answer = b""
        while select.select((reader,), (), (), max(0.0, until - time.monotonic()))[0]:
            if not (data := os.read(reader, 1 << 16)):
                return answer if os.waitpid(pid, 0)[1] == 0 else b""
            answer += data
        return b""

    def _event(self, event: str, **fields: object) -> None:
        self._write(self._events, _json({"ts_utc": _now(), "event": event, **fields}).encode())

    def _open(self, name: str) -> int | None:
        try:
            return os.open(os.path.join(self._path, name), os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o666)
        except OSError as error:
            self._refused(error)
            return None

    def _write(self, handle: int | None, data: bytes) -> bool:
        error = None if handle is None else job.write(handle, data)
        if error is not None:
            self._refused(error)
        return handle is not None and error is None

    def _refused(self, error: OSError) -> None:
        if self.fault is None:
            self.fault = error
            text = f"error: {self._path}: {error.strerror}; not all that the job does is recorded\n"
            job.write(2, os.fsencode(text))


def _json(value: object, indent: int | None = None) -> str:
    import json  # noqa: PLC0415 - its import overlaps with the job

    return json.dumps(value, indent=indent) + "\n"


def _now() -> str:
    return datetime.now(UTC).isoformat()
