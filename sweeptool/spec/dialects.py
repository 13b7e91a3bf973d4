"""A spec goes in, its dialect is recognised and read; one Spec, or one SweepError with every problem, comes out."""

from __future__ import annotations

import gc
import hashlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

from sweeptool.spec import document, flags, native, nodus, tree
from sweeptool.spec.model import Flags, Spec
from sweeptool.spec.tree import Map, Node, Report


def load(text: bytes | str, source: str, *, said: Flags, project: Path) -> Spec:
    """Return the sweep that a spec means, its points in index order.

    ``source`` names the spec in errors; globs of ``configs`` start at ``project``.
    Raises one SweepError with every problem of the spec.
    """
    report = tree.report(source)
    with _no_collection():
        spec = _read(document.parse(text, report), said, project, report)
    report.finish()
    raw = text.encode(errors="surrogatepass") if isinstance(text, str) else text
    return replace(spec, source=source, sha256=hashlib.sha256(raw).hexdigest(), warnings=tuple(report.warnings))


def _read(root: Node, said: Flags, project: Path, report: Report) -> Spec:
    overrides = flags.read(said, report)
    if isinstance(root, Map) and not {"apiVersion", "kind"}.isdisjoint(root.members):
        return nodus.read(root, overrides, report)
    return native.read(root, overrides, project, report)


@contextmanager
def _no_collection() -> Iterator[None]:
    """Hold the garbage collector: a big spec makes many nodes and no garbage, and it would look through them all."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()
