"""The ``configs`` of a spec go in, a path, a glob or a list of them; the job configs come out, one cell a file."""

from __future__ import annotations

import glob
from collections.abc import Sequence
from pathlib import Path

from sweeptool.spec import kinds
from sweeptool.spec.fields import Kind
from sweeptool.spec.tree import List, Node, Report, Text, quoted

_TEXTS = kinds.items(kinds.LINE, "paths", empty=False)


def _read(node: Node, path: str, report: Report) -> tuple[tuple[Text, str], ...] | None:
    """Return each path or glob with the node that it stands in."""
    nodes = node.items if isinstance(node, List) else (node,)
    texts = _TEXTS.read(List(tuple(nodes), node.line, node.column), path, report)
    return (
        None
        if texts is None
        else tuple((one, text) for one, text in zip(nodes, texts, strict=True) if isinstance(one, Text))
    )


CONFIGS: Kind[tuple[tuple[Text, str], ...]] = Kind(_read, {"anyOf": [kinds.LINE.schema, _TEXTS.schema]})


def files(named: Sequence[tuple[Text, str]], path: str, project: Path, report: Report) -> tuple[str, ...]:
    """Return the config files, relative to ``project`` as they were named; those of a glob in byte order.

    A glob that matches nothing and a file that is named twice land in the report.
    """
    found: dict[str, Node] = {}
    for node, text in named:
        is_glob = glob.has_magic(text) and not (project / text).exists()
        names = _matches(text, project) if is_glob else [text]
        if not names:
            report.error(node, path, f"{quoted(text)} matches no file", "globs start at the project directory")
        for name in names:
            if name in found:
                report.error(node, path, f"{quoted(name)} is named twice", "repetitions runs it again")
            found[name] = node
    return tuple(found)


def _matches(pattern: str, project: Path) -> list[str]:
    names = glob.glob(pattern, root_dir=project, recursive=True)  # noqa: PTH207 - Path.glob takes no absolute pattern
    return sorted((name for name in names if (project / name).is_file()), key=lambda name: name.encode())
