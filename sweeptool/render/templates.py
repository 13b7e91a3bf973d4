"""The shell templates go in; their jinja2 environment comes out, with a quoting filter for every value."""

from __future__ import annotations

import re
from pathlib import Path

import jinja2

from sweeptool import layout, shell
from sweeptool.layout import PLAN_MARK
from sweeptool.text import printable

_MAKE = re.compile(r"[A-Za-z0-9._ -]+")


def environment() -> jinja2.Environment:
    """Return the jinja2 environment for shell templates: every value must end in a quoting filter."""
    templates = layout.resource("templates")
    made = jinja2.Environment(  # noqa: S701 - shell text; HTML has an environment of its own
        loader=jinja2.FileSystemLoader(templates),
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        comment_start_string="{##",
        comment_end_string="##}",
    )
    made.filters.update(
        word=shell.word,
        words=shell.words,
        command=shell.command,
        comment=shell.comment,
        line=_line,
        planline=_planline,
        target=_target,
    )
    made.globals["raw"] = lambda name: _partial(templates / "driver" / name)
    return made


def _partial(path: Path) -> str:
    return path.read_text().replace("\r\n", "\n")


def _line(text: str) -> str:
    """Return a command that is one line already, whole."""
    if text != printable(text):
        raise ValueError(f"'{text}' is no line of a comment")
    return text


def _planline(text: str) -> str:
    return PLAN_MARK + text


def _target(value: str | int) -> str:
    """Return ids and numbers as they are, for make; nothing else may stand in its files."""
    text = str(value)
    if not _MAKE.fullmatch(text):
        raise ValueError(f"'{text}' cannot stand in a Makefile")
    return text
