"""A runner's name goes in; what this machine has of what it needs comes out, each with the mend, before it costs."""

from __future__ import annotations

import os
import re
import resource
import shutil
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from sweeptool.errors import SweepError
from sweeptool.runners.runpod import gpus, pods
from sweeptool.text import counted

_BASH = (4, 4)
_FILES = 256  # open files that a driver of a few dozen shards is happy with
_FREE = 1 << 30  # bytes
_KEY = "RUNPOD_API_KEY"
_KEY_FILE = "~/.runpod/config.toml"


@dataclass(frozen=True, slots=True)
class Check:
    """One thing that was looked at. ``mend`` says what to do where it is missing."""

    what: str
    ok: bool
    found: str
    mend: str = ""


def examine(runner: str, project: Path) -> list[Check]:
    """Return the checks for ``runner``; credentials appear by name only."""
    checks = [_bash(), _signals(), _program("sweeptool", "install the package, or set SWEEPTOOL to its path")]
    if runner == "runpod-deploy":
        checks += _runpod(project)
    return [*checks, *_limits(project)]


def table(project: Path) -> list[str]:
    """Return the runpod-deploy table as lines: kind, name, what it is at the provider. Raises SweepError."""
    found = gpus.load(project)
    rows = gpus.shown(found)
    width = max(len(name) for _, name, _ in rows)
    head = f"table: {' + '.join(found.sources)}; add to it in {gpus.FILE}, or in the file {gpus.VARIABLE} names"
    return [head, *(f"  {kind:<6}  {name:<{width}}  {what}" for kind, name, what in rows)]


def lines(checks: Sequence[Check]) -> list[str]:
    """Return a line a check."""
    return [
        f"{'ok     ' if check.ok else 'missing'}  {check.what}: {check.found}"
        + (f" ({check.mend})" if check.mend and not check.ok else "")
        for check in checks
    ]


def _bash() -> Check:
    said = _said("bash", "--version")
    version = re.search(r"(\d+)\.(\d+)", said)
    ok = version is not None and (int(version[1]), int(version[2])) >= _BASH
    return Check("bash", ok, version[0] if version else "not on PATH", "4.4 or newer; on macOS: brew install bash")


def _signals() -> Check:
    what = "signals"
    if subprocess.run(["env", "--default-signal=INT", "true"], capture_output=True, check=False).returncode == 0:
        return Check(what, True, "env --default-signal")
    if shutil.which("python3"):
        return Check(what, True, "python3, in place of env --default-signal")
    return Check(what, False, "env knows no --default-signal, and no python3", "coreutils 8.31 or newer")


def _runpod(project: Path) -> list[Check]:
    checks = [
        _program("runpod-deploy", "in a Python 3.13 or newer: pip install runpod-deploy"),
        _program(pods.CLIENT, "the provider's client, see its documentation"),
        _program("ssh", "Debian: apt-get install openssh-client"),
        _program("rsync", "Debian: apt-get install rsync"),
        _credentials(),
    ]
    if checks[1].ok:
        checks.append(_provider())
    try:
        key = Path(str(gpus.load(project).job["ssh_key"])).expanduser()
    except SweepError as error:
        return [*checks, Check("table", False, str(error))]
    return [
        *checks,
        Check("ssh key", key.exists(), str(key), "or ssh.key_path in the job config, ssh_key in the table's [job]"),
    ]


def _credentials() -> Check:
    if os.environ.get(_KEY):
        return Check("credentials", True, f"{_KEY} is set")
    file = Path(_KEY_FILE).expanduser()
    mend = f"export {_KEY}, or runpodctl config"
    return Check("credentials", file.exists(), _KEY_FILE if file.exists() else f"no {_KEY}, no {_KEY_FILE}", mend)


def _provider() -> Check:
    try:
        found = pods.listed()
    except OSError as error:
        return Check("provider", False, str(error), "the key, or the network")
    return Check("provider", True, f"answers; {counted(len(found), 'pod')} in the account")


def _limits(project: Path) -> list[Check]:
    soft, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    enough = soft == resource.RLIM_INFINITY or soft >= _FILES
    free = shutil.disk_usage(project).free
    return [
        Check(
            "open files", enough, "unlimited" if soft == resource.RLIM_INFINITY else str(soft), f"ulimit -n {_FILES}"
        ),
        Check("disk", free >= _FREE, f"{free / _FREE:.1f} GiB free here", "a run dir with artifacts may need more"),
        Check("writable", os.access(project, os.W_OK), str(project.resolve()), "sweeps are kept under it"),
    ]


def _program(name: str, mend: str) -> Check:
    found = shutil.which(name)
    return Check(name, found is not None, found or "not on PATH", mend)


def _said(*argv: str) -> str:
    try:
        return subprocess.run(argv, capture_output=True, text=True, check=False).stdout
    except OSError:
        return ""
