"""The table of reasons: what each class of failure looks like in the runner's own words, and what it means.

A meaning is any of: ``again`` (transient, worth another attempt), ``halt`` (the sweep's fault: launch nothing more),
``free`` (no pod came of it, so it cost nothing).
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

from sweeptool.runners.runpod import pods
from sweeptool.runners.runpod.findings import Findings

_RSYNC_AGAIN = {10, 12, 30, 35, 255}  # sockets, streams, timeouts; the rest are files and disks
_THERE_MAY_BE = "there may be a pod: see 'sweeptool recover'"
_FEWER = "fewer shards at once"
_CLIENT_FAILED = r"^RuntimeError: command failed: \['runpodctl'"
_REMOTE_FAILED = r"^(?:[\w.]+\.)?RemoteRunError: (?:ssh command failed with exit|detached ssh exited) "


def _anything(_found: Findings, _match: re.Match[str]) -> bool:
    return True


@dataclass(frozen=True, slots=True)
class Rule:
    """One class of failure: a pattern at the beginning of a line of stderr, and what else must hold."""

    reason: str
    meaning: str
    pattern: str
    also: Callable[[Findings, re.Match[str]], bool] = _anything
    mend: str = ""


def _create(*answers: str) -> str:
    """Return a pattern: no pod was created, and the provider's answer says one of ``answers``."""
    return rf"^RuntimeError: pod create failed exit=(?s:.*?)(?i:{'|'.join(answers)})"


def _unclear(found: Findings, match: re.Match[str]) -> bool:
    return pods.unclear(found.own[match.start() :])


def _no_id(found: Findings, _match: re.Match[str]) -> bool:
    return found.rented.name is not None and found.rented.id is None


def _no_pod(found: Findings, _match: re.Match[str]) -> bool:
    return not found.rented.any


def _passing(_found: Findings, match: re.Match[str]) -> bool:
    return int(match[1]) in _RSYNC_AGAIN


def _gone(found: Findings, _match: re.Match[str]) -> bool:
    return found.silent or found.unpulled


# In precedence. What is wrong on this side:
LOCAL = (
    Rule("tool_missing", "halt", r"^FileNotFoundError: .*No such file or directory: '(?:runpodctl|ssh|rsync)'"),
    Rule("secret_missing", "halt", r"^KeyError: \"secret '.*' requires env var"),
    Rule("secret_missing", "halt", r"^FileNotFoundError: secret '.*' source file not found"),
    Rule("volume", "free", r"^ValueError: network-volume provisioning requires"),
    Rule("config", "halt", r"^KeyError: ['\"]unknown template variable"),
    Rule("config", "halt free", r"^KeyError: ['\"]unknown .* keys"),
    Rule("config", "halt free", r"^FileNotFoundError: (?:config file not found|required local paths are missing)"),
    Rule("config", "halt free", r"^(?:ValueError|TypeError|argparse\.ArgumentTypeError|yaml\.\S+): ", _no_pod),
    Rule("budget_precheck", "halt free", r"^RuntimeError: configured timeout exceeds cost cap"),
    Rule("unwritable", "halt", r"^(?:NotADirectoryError|PermissionError|OSError): .*artifacts"),
)
# What the provider answers:
PROVIDER = (
    Rule(
        "credentials",
        "halt free",
        r"^RuntimeError: (?:pod create|command) failed(?s:.*?)\"code\":\s*\"(?:no_credentials|unauthorized|forbidden)\"",
    ),
    Rule("stock_out", "again free", r"^RuntimeError: no configured GPU available across datacenters"),
    Rule("stock_out", "again free", _create("does not have the resources", "no longer any instances available")),
    Rule("stock_out", "again free", _create("no instances available", "not enough free GPUs")),
    Rule("money", "halt free", _create("balance", "insufficient", "spend(?:ing)? limit", "funds")),
    Rule("rate_limit", "again free", _create("rate_limited", r"\b429\b", "Too Many Requests"), mend=_FEWER),
    Rule("rate_limit", "again", _CLIENT_FAILED + r"(?s:.*?)(?:rate_limited|\b429\b|Too Many Requests)", mend=_FEWER),
    Rule("create_unclear", "again", r"^RuntimeError: pod create failed exit=", _unclear, _THERE_MAY_BE),
    Rule("create_unclear", "again", r"^json\.decoder\.JSONDecodeError: ", _no_id, _THERE_MAY_BE),
    Rule("create_unclear", "again", r"^RuntimeError: pod create returned no pod id", mend=_THERE_MAY_BE),
    Rule("create", "", r"^RuntimeError: pod create failed exit="),
    Rule("volume", "free", r"^RuntimeError: volume .* (?:is in .*, expected|not found; observed=|has no id)"),
    Rule("never_ready", "again", r"^RuntimeError: pod \S+ did not become SSH-ready in"),
    Rule("provider", "again", _CLIENT_FAILED),
)
# Then comes the fate of the pod, which stands in the manifest and not in stderr: verdicts reads it.
FATES = ("pod_killed", "killed_by_user", "pod_lost")
# The way to the pod:
TRANSPORT = (
    Rule(
        "ssh_key",
        "halt",
        r"^RuntimeError: sshd never became ready; .*Permission denied \(publickey",
        mend="is the job config's key the one at the provider?",
    ),
    Rule(
        "host_key",
        "again",
        r"^RuntimeError: sshd never became ready; .*Host key verification failed",
        mend="an old entry in known_hosts: ssh-keygen -R",
    ),
    Rule("ssh", "again", r"^RuntimeError: sshd never became ready; "),
    Rule("ssh", "again", r"^subprocess\.TimeoutExpired: Command '\['ssh'", mend=_FEWER),
    Rule("ssh", "again", _REMOTE_FAILED + r"255\b"),
    Rule("setup", "again", _REMOTE_FAILED + r"\d+"),
    Rule("setup", "again", r"^RuntimeError: remote job did not create "),
    Rule("transfer", "again", r"^subprocess\.TimeoutExpired: Command '\['rsync'"),
    Rule("transfer", "again", r"^subprocess\.CalledProcessError: Command '\['rsync'.*exit status (\d+)", _passing),
    Rule("transfer", "", r"^subprocess\.CalledProcessError: Command '\['rsync'"),
)
# The job:
JOB = (
    Rule("pod_lost", "again", r"^TimeoutError: remote job exceeded timeout/cost cap", _gone),
    Rule("timeout", "", r"^TimeoutError: remote job exceeded timeout/cost cap"),
    Rule("job", "", r"^RuntimeError: remote log contains failure marker"),
)
# And what needs no stderr: exit codes, and a manifest that does not bear out an exit 0.
OTHERS = ("usage", "not_found", "no_manifest", "manifest", "artifact", "collision", "exit", "interrupted")
REASONS = tuple(dict.fromkeys([*(rule.reason for rule in (*LOCAL, *PROVIDER, *TRANSPORT, *JOB)), *FATES, *OTHERS]))
