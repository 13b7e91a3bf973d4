"""A sweep directory goes in; its status on the terminal, kept up to date until the sweep ends, comes out."""

from __future__ import annotations

import time

from rich.console import Console
from rich.live import Live
from rich.text import Text

from sweeptool import status as statuses
from sweeptool import statusview
from sweeptool.layout import SweepDir

_EVERY = 0.5  # seconds between two looks
_OVER = ("Succeeded", "Failed", "Cancelled", "Suspended")


def watch(sweep: SweepDir) -> int:
    """Show ``sweep`` until it ends; return 0. Without a terminal, print a line for each change."""
    console = Console(highlight=False)
    found = statuses.read(sweep)
    if not console.is_terminal:
        _print_changes(console, sweep)
        return 0
    with Live(_text(found), console=console, auto_refresh=False) as live:
        while found.phase not in _OVER:
            time.sleep(_EVERY)
            found = statuses.read(sweep)
            live.update(_text(found), refresh=True)
    return 0


def _print_changes(console: Console, sweep: SweepDir) -> None:
    shown = ""
    while True:
        found = statuses.read(sweep)
        text = statusview.table([found])
        summary = f"{found.phase} {found.done} {found.state.spent}"
        if summary != shown:
            shown = summary
            console.print(text, markup=False, soft_wrap=True)
        if found.phase in _OVER:
            return
        time.sleep(_EVERY)


def _text(found: statuses.Status) -> Text:
    return Text(statusview.table([found], cells=True))
