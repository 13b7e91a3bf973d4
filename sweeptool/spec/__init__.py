"""The text of a spec in any of three dialects goes in, one Spec with all its points comes out."""

from __future__ import annotations

from pathlib import Path

from sweeptool.spec.model import Flags, Spec

__all__ = ["Flags", "Spec", "load"]


def load(text: bytes | str, source: str, *, flags: Flags | None = None, project: Path) -> Spec:
    """Return the sweep that a spec means, its points in index order.

    ``source`` names the spec in errors; globs of ``configs`` start at ``project``.
    Raises one SweepError with every problem of the spec.
    """
    from sweeptool.spec import dialects  # noqa: PLC0415 - who needs the model only shall not wait for YAML

    return dialects.load(text, source, said=flags or Flags(), project=project)
