"""The rig: where it is to live goes in; a running sshd, an empty provider account and the environment come out.

Standard library only, so that `tests/rig/up` runs under any Python 3.11.
"""

from __future__ import annotations

import getpass
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
JOB = ROOT / "recipes" / "rehearsal" / "job.yaml"
VENV = ROOT / ".rig" / "venv"
PROGRAMS = ("sshd", "ssh", "ssh-keygen", "rsync", "setpriv")
_CHILDREN: list[subprocess.Popen[bytes]] = []  # the sshd that ends with this process
# HOME: a shell that sshd starts reads the ~/.bashrc of whoever runs the tests, and so would every pod.
_SSHD_CONFIG = """\
ListenAddress 127.0.0.1
Port {port}
HostKey "{base}/host_key"
AuthorizedKeysFile "{base}/client_key.pub"
PidFile "{base}/sshd.pid"
PermitRootLogin prohibit-password
PasswordAuthentication no
KbdInteractiveAuthentication no
StrictModes no
UsePAM no
UseDNS no
MaxStartups 500
MaxSessions 500
AcceptEnv RIG_POD
SetEnv "PATH={here}/pod:/usr/local/bin:/usr/bin:/bin" "HOME={base}/home" "RIG_VOLUMES={base}/volumes"
ForceCommand "{here}/enter"
"""
_SSH_CONFIG = """\
Host *
  UserKnownHostsFile "{base}/known_hosts"
  GlobalKnownHostsFile none
  IdentitiesOnly yes
  IdentityAgent none
  LogLevel ERROR
"""


class MissingError(Exception):
    """A component of the rig is not on this machine; the text says which and how to get it."""


@dataclass(frozen=True, slots=True)
class Rig:
    """One provider account and one project on a running rig. ``env`` is the whole environment to run in."""

    base: Path
    account: Path
    project: Path
    env: dict[str, str]

    def fault(self, kind: str, times: int | str = "always", pods: str = "*") -> None:
        """Let ``kind`` (README.md lists them) strike the next ``times`` pods whose name matches ``pods``."""
        with (self.account / "faults" / kind).open("a") as handle:
            handle.write(f"{times} {pods}\n")

    def mend(self, kind: str) -> None:
        """Take the fault away."""
        (self.account / "faults" / kind).unlink(missing_ok=True)

    def pods(self) -> list[dict[str, object]]:
        """Return every pod that ever was, in order of creation, the deleted ones too."""
        found = [json.loads(path.read_text()) for path in (self.account / "pods").glob("*.json")]
        return sorted(found, key=lambda pod: pod["created"])

    def billing(self) -> list[str]:
        """Return the names of the pods that still cost money: running, or stopped with a disk."""
        return [str(pod["name"]) for pod in self.pods() if pod["deleted"] is None]

    def running(self) -> list[str]:
        """Return the names of the RUNNING pods."""
        return [str(pod["name"]) for pod in self.pods() if pod["deleted"] is None and pod["status"] == "RUNNING"]

    def calls(self, *words: str) -> list[list[str]]:
        """Return the argv of every call of the provider's client that begins with ``words``."""
        log = self.account / "calls.jsonl"
        argvs = [json.loads(line)["argv"] for line in log.read_text().splitlines()] if log.exists() else []
        return [argv for argv in argvs if argv[: len(words)] == list(words)]

    def run(self, *argv: str, timeout: float = 600, **options: object) -> subprocess.CompletedProcess[str]:
        """Run ``argv`` in the project with the rig's environment; its output is captured as text."""
        settings: dict[str, object] = {"cwd": self.project, "env": self.env, "capture_output": True, "text": True}
        return subprocess.run(argv, timeout=timeout, check=False, **(settings | options))  # type: ignore[call-overload,no-any-return]


def require() -> None:
    """Make the runner's venv where it is missing. Raises MissingError where the rig cannot stand on this machine."""
    if not Path("/proc/self/environ").exists():
        raise MissingError("the rig finds a pod's processes in /proc: it needs Linux")
    absent = [name for name in PROGRAMS if _program(name) is None]
    if absent:
        raise MissingError(
            f"not on PATH: {', '.join(absent)} (Debian: apt-get install openssh-server rsync util-linux)"
        )
    made = subprocess.run([HERE / "setup"], capture_output=True, text=True, check=False)
    if made.returncode != 0:
        raise MissingError(made.stderr.strip())


def start(base: Path, *, outlive: bool = False) -> None:
    """Make keys and configuration under ``base`` and start its sshd on 127.0.0.1, on a port of its own.

    It ends with this process, whatever ends that, unless it shall ``outlive`` it. Raises MissingError where the sshd does not come up.
    """
    base.mkdir(parents=True, exist_ok=True)
    for name in ("bin", "home/.ssh", "volumes"):
        (base / name).mkdir(parents=True, exist_ok=True)
    for key in ("host_key", "client_key"):
        if not (base / key).exists():
            subprocess.run(
                [str(_program("ssh-keygen")), "-q", "-t", "ed25519", "-N", "", "-C", "rig", "-f", base / key],
                check=True,
            )
    (base / "ssh_config").write_text(_SSH_CONFIG.format(base=base))
    _link(base / "home" / ".ssh" / "id_ed25519", base / "client_key")
    _link(base / "bin" / "ssh", HERE / "ssh")
    _link(base / "bin" / "runpod-deploy", VENV / "bin" / "runpod-deploy")
    client = base / "bin" / "runpodctl"
    client.write_text(f'#!/bin/sh\nexec "{VENV}/bin/python" -I -S "{HERE}/runpodctl" "$@"\n')
    client.chmod(0o755)
    if os.geteuid() == 0:
        Path("/run/sshd").mkdir(mode=0o755, exist_ok=True)  # root's sshd refuses to start without it
    for _ in range(5):
        if _listen(base, _free_port(), outlive=outlive):
            return
    raise MissingError(f"sshd does not start: {(base / 'sshd.log').read_text()[-300:].strip()}")


def stop(base: Path) -> None:
    """Stop the sshd that ``start`` started under ``base``."""
    try:
        os.kill(int((base / "sshd.pid").read_text()), signal.SIGTERM)
    except (FileNotFoundError, ProcessLookupError, ValueError):
        return
    while _CHILDREN:
        _CHILDREN.pop().wait()


def open_account(base: Path, account: Path, project: Path) -> Rig:
    """Make an empty provider account and a project with one job config, ``configs/job.yaml``, on a started rig."""
    for name in ("pods", "ports", "faults"):
        (account / name).mkdir(parents=True, exist_ok=True)
    (project / "configs").mkdir(parents=True, exist_ok=True)
    job = project / "configs" / "job.yaml"
    if not job.exists():
        job.write_text(JOB.read_text().replace("project_root: ../..", "project_root: .."))
    return Rig(base, account, project, os.environ | variables(base, account))


def variables(base: Path, account: Path) -> dict[str, str]:
    """Return what the rig adds to an environment: its programs first on PATH, a HOME of its own, its account."""
    path = [str(base / "bin"), str(Path(sys.executable).parent), os.environ.get("PATH", "/usr/bin:/bin")]
    return {
        "PATH": os.pathsep.join(path),
        "HOME": str(base / "home"),
        "RIG": str(base),
        "RIG_STATE": str(account),
        "RIG_PORT": (base / "port").read_text().strip(),
        "RIG_SSH": str(_program("ssh")),
        "RIG_USER": getpass.getuser(),
        "RUNPOD_API_KEY": "rig",
        "PYENV_ROOT": os.environ.get("PYENV_ROOT", str(Path.home() / ".pyenv")),
    }


def _program(name: str) -> str | None:
    return shutil.which(name, path=f"{os.environ.get('PATH', '')}:/usr/sbin:/sbin")


def _link(name: Path, target: Path) -> None:
    name.unlink(missing_ok=True)
    name.symlink_to(target)


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def _listen(base: Path, port: int, *, outlive: bool) -> bool:
    """Whether an sshd under ``base`` answers on ``port``."""
    (base / "sshd.pid").unlink(missing_ok=True)
    (base / "sshd_config").write_text(_SSHD_CONFIG.format(base=base, port=port, here=HERE))
    (base / "port").write_text(f"{port}\n")
    argv = [str(_program("sshd")), "-f", str(base / "sshd_config"), "-E", str(base / "sshd.log")]
    if outlive:
        subprocess.run(argv, check=False)
    else:
        _CHILDREN.append(subprocess.Popen(["setpriv", "--pdeathsig", "TERM", *argv, "-D"], stdin=subprocess.DEVNULL))
    for _ in range(100):
        if (base / "sshd.pid").exists():
            return True
        time.sleep(0.05)
    return False
