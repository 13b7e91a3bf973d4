"""The name of a sweep: a directory, the head of each cell's name, and safe wherever it is written."""

from __future__ import annotations

import re
from pathlib import PurePath

from sweeptool.spec.fields import Kind
from sweeptool.spec.kinds import matching

LONGEST = 63
PATTERN = r"[A-Za-z0-9]([A-Za-z0-9._-]{0,61}[A-Za-z0-9])?"
DNS_LABEL = r"[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?"
NAME: Kind[str] = matching(
    PATTERN, f"a name: letters, digits, '.', '_' and '-', at most {LONGEST}, no other at its ends"
)
LABEL: Kind[str] = matching(DNS_LABEL, f"a DNS label: lower case letters, digits and '-', at most {LONGEST}")


def default(source: str) -> str:
    """Return the name of a sweep that has none: its file's stem as a DNS label, ``sweep`` where it is in no file."""
    path = PurePath(source)
    stem = re.sub(r"[^a-z0-9]+", "-", path.stem.lower()).strip("-")[:40].strip("-")
    return stem if stem and path.suffix else "sweep"
