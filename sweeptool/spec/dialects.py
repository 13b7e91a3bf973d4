"""A spec goes in, its dialect is recognised and read; one Spec, or one SweepError with every problem, comes out."""

from __future__ import annotations

import gc
import hashlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

from sweeptool.spec import document, env, flags, grid, kinds, native, nodus, templates, tree
from sweeptool.spec.model import Flags, Spec
from sweeptool.spec.tree import Map, Node, Report


def load(text: bytes | str, source: str, *, said: Flags, project: Path) -> Spec:
    """Return the sweep that a spec means. Raises one SweepError with every problem of it."""
    report = tree.report(source)
    with _no_collection():
        spec = _read(document.parse(text, report), said, project, report)
    return _finished(spec, text, report)


def load_grid(shorthand: str, *, said: Flags) -> Spec:
    """Return the sweep that a shorthand means. Raises one SweepError with every problem of it."""
    report = tree.report("--grid")
    with _no_collection():
        overrides = flags.read(said, templates.COMMAND, report)
        root = grid.shorthand(shorthand, report)
        spec = grid.read(root, overrides, report) if root.members else Spec("sweep", "grid", ())
    return _finished(spec, shorthand, report)


def _read(root: Node, said: Flags, project: Path, report: Report) -> Spec:
    if isinstance(root, Map) and not {"apiVersion", "kind"}.isdisjoint(root.members):
        return nodus.read(root, flags.read(said, kinds.COMMAND, report), report)
    overrides = flags.read(said, templates.COMMAND, report)
    if isinstance(root, Map) and root.members.keys() <= set(grid.MEMBERS):
        return grid.read(root, overrides, report)
    return native.read(root, overrides, project, report)


def _finished(spec: Spec, text: bytes | str, report: Report) -> Spec:
    report.finish()
    for name in sorted({name for point in spec.points for name in point.params if env.is_secret(name)}):
        report.warn(tree.Text(name), name, "is recorded like any parameter: a secret belongs in env", "{from: NAME}")
    raw = text.encode(errors="surrogatepass") if isinstance(text, str) else text
    digest = hashlib.sha256(raw).hexdigest()
    return replace(spec, source=report.source, sha256=digest, warnings=tuple(report.warnings))


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
