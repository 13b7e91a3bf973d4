"""A sweep directory goes in; its status on the terminal, kept up to date until the sweep ends, comes out."""

from __future__ import annotations

import time
from collections.abc import Callable

from rich.console import Console
from rich.live import Live
from rich.text import Text

from sweeptool import status as statuses
from sweeptool.layout import SweepDir
from sweeptool.status import Status, show

_EVERY = 0.5  # seconds between two looks
_OVER = ("Succeeded", "Failed", "Cancelled", "Suspended")


def watch(sweep: SweepDir, say: Callable[[str], None]) -> None:
    """Show ``sweep`` on the terminal until it ends; without one, ``say`` a line whenever something changed.

    Raises SweepError where its plan is missing.
    """
    console = Console(highlight=False)
    if console.is_terminal:
        _show(sweep, console)
    else:
        _tell(sweep, say)


def _show(sweep: SweepDir, console: Console) -> None:
    found = statuses.read(sweep)
    with Live(_text(found), console=console, auto_refresh=False) as live:
        while found.phase not in _OVER:
            time.sleep(_EVERY)
            found = statuses.read(sweep)
            live.update(_text(found), refresh=True)


def _tell(sweep: SweepDir, say: Callable[[str], None]) -> None:
    found = statuses.read(sweep)
    told = _news(found)
    say(show.table([found]))
    while found.phase not in _OVER:
        time.sleep(_EVERY)
        found = statuses.read(sweep)
        if _news(found) != told:
            told = _news(found)
            say(show.line(found))


def _news(found: Status) -> tuple[str, int, int]:
    return found.named, found.done, found.state.spent


def _text(found: Status) -> Text:
    return Text(show.table([found], cells=True))
