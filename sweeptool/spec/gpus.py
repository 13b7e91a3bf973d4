"""The text of a GPU request goes in, its type, exactness and count come out: ``L4``, ``H100:8``, ``H100!:8``."""

from __future__ import annotations

import re
from dataclasses import dataclass

from sweeptool.spec.fields import Kind
from sweeptool.spec.kinds import parsed
from sweeptool.spec.tree import quoted

COUNTS = (1, 2, 4, 8)
_REQUEST = re.compile(r"([A-Za-z0-9][A-Za-z0-9._-]*)(!?)(?::(.*))?")


@dataclass(frozen=True, slots=True)
class Request:
    """A GPU type, or its whole family where not ``exact``, and how many of it."""

    type: str
    exact: bool = False
    count: int = 1


def parse(text: str) -> Request:
    """Return the request that ``TYPE[!][:COUNT]`` makes. Raises ValueError, whose text says what is wrong."""
    match = _REQUEST.fullmatch(text)
    if not match:
        raise ValueError(f"{quoted(text)} is not a GPU request such as L4, H100:8 or H100!")
    if match[3] is not None and match[3] not in map(str, COUNTS):
        raise ValueError(f"{quoted(match[3])} is no GPU count in {quoted(text)}, expected 1, 2, 4 or 8")
    return Request(match[1], exact=bool(match[2]), count=int(match[3] or 1))


def identity(text: str) -> str:
    """Return what makes two requests the same. Raises ValueError as ``parse`` does."""
    request = parse(text)
    return f"{request.type}{'!' * request.exact}:{request.count}"


def label(text: str) -> str:
    """Return what makes two GPUs the same where any text may name one, as long as it is no broken request."""
    if set(text) & set(":!,"):
        return identity(text)
    if not text.strip() or not text.isprintable():
        raise ValueError(f"{quoted(text)} names no GPU")
    return f"{text}:1"


def _named(text: str) -> str:
    label(text)
    return text


LABEL: Kind[str] = Kind(parsed(_named), {"type": ["string", "number"], "minLength": 1})
