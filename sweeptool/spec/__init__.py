"""The text of a spec in any of three dialects goes in, one Spec with all its points comes out."""

from __future__ import annotations

from pathlib import Path

from sweeptool.spec.model import Flags, Spec

__all__ = ["Flags", "Spec", "load", "load_grid"]


def load(text: bytes | str, source: str, *, flags: Flags | None = None, project: Path) -> Spec:
    """Return the sweep that a spec means, its points in index order.

    ``source`` names the spec in errors; globs of ``configs`` start at ``project``.
    Raises one SweepError with every problem of the spec.
    """
    from sweeptool.spec import dialects  # noqa: PLC0415 - who needs the model only shall not wait for YAML

    return dialects.load(text, source, said=flags or Flags(), project=project)


def load_grid(shorthand: str, *, flags: Flags | None = None) -> Spec:
    """Return the sweep that ``k=v1,v2 k2=…`` means, its points in index order.

    Raises one SweepError with every problem of the shorthand and the flags.
    """
    from sweeptool.spec import dialects  # noqa: PLC0415 - as above

    return dialects.load_grid(shorthand, said=flags or Flags())
