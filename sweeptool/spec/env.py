"""The ``env`` of a spec goes in, plain values and the names of secrets come out; a secret's value never enters."""

from __future__ import annotations

import re

from sweeptool.spec.fields import Key, Kind, Table
from sweeptool.spec.kinds import matching, value
from sweeptool.spec.tree import Map, Node, Report, describe, quoted

VARIABLE = r"[A-Za-z_][A-Za-z0-9_]*"
_OURS = ("SWEEP_", "PARAM_", "NODUS_PARAM_")
_SECRET = re.compile(
    r"(^|_)(TOKEN|SECRETS?|PASSWORD|PASSWD|PASSPHRASE|CREDENTIALS?|API_?KEY|ACCESS_KEY|PRIVATE_KEY|SECRET_KEY)(_|$)"
)
_FROM = Key("from", matching(VARIABLE, "a variable's name"), "the variable of your own environment", required=True)
_REFERENCE = Table((_FROM,), {"name": "from", "env": "from", "secret": "from", "valuefrom": "from"})
Environment = tuple[dict[str, str], dict[str, str]]
"""Plain variables with their values; secret ones with the name of the variable that holds them at run time."""


def is_secret(name: str) -> bool:
    """Tell whether a name promises a secret: HF_TOKEN, WANDB_API_KEY, but not TOKENIZERS_PARALLELISM."""
    return _SECRET.search(name.upper().replace("-", "_")) is not None


def _read(node: Node, path: str, report: Report) -> Environment | None:
    if not isinstance(node, Map):
        report.error(node, path, f"expected a map from names to values, got {describe(node)}")
        return None
    plain: dict[str, str] = {}
    secret: dict[str, str] = {}
    for name, one in sorted(node.members.items()):
        at = f"{path}.{name}"
        _check_name(name, node.keys[name], at, report)
        if isinstance(one, Map):
            fields = _REFERENCE.read(one, at, report)
            secret[name] = (fields.get(_FROM) if fields else None) or ""
            continue
        plain[name] = value(one, at, report) or ""
        if is_secret(name):
            report.error(one, at, f"{name} looks like a secret, which would land in the driver", f"{{from: {name}}}")
    return plain, secret


def _check_name(name: str, key: Node, at: str, report: Report) -> None:
    if not re.fullmatch(VARIABLE, name):
        report.error(key, at, f"{quoted(name)} is not a variable's name")
    elif name.startswith(_OURS):
        report.error(
            key,
            at,
            f"{name} would hide what sweeptool tells the job",
            f"names beginning with {', '.join(_OURS)} are taken",
        )


ENV: Kind[Environment] = Kind(
    _read,
    {
        "type": "object",
        "additionalProperties": {"anyOf": [{"type": ["string", "number", "boolean"]}, _REFERENCE.kind().schema]},
    },
)
