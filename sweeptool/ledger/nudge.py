"""A driver that may be asleep goes in; it is woken, unless a signal of its user's is on the way to it.

Of two signals that are due at once, bash's ``wait`` forgets the one whose handler would run second. SIGTRAP's runs after
those of INT, TERM and HUP where both are pending, since Linux sets it up before them. Where one of these has been set up
already, as in a driver that was stopped just then, SIGTRAP's would come first: then there is nothing to do but wait.
"""

from __future__ import annotations

import os
import re
import signal
from pathlib import Path

_USERS = sum(1 << (number - 1) for number in (signal.SIGHUP, signal.SIGINT, signal.SIGTERM))
_MASKS = re.compile(r"^(?:SigPnd|ShdPnd|SigBlk):\s*([0-9a-f]+)$", re.MULTILINE)


def wake(pid: int) -> bool:
    """Wake the driver ``pid``; False where a signal is on the way to it, or it is gone."""
    try:
        if any(int(mask, 16) & _USERS for mask in _MASKS.findall(Path(f"/proc/{pid}/status").read_text())):
            return False
    except OSError:
        pass  # no /proc
    try:
        os.kill(pid, signal.SIGTRAP)
    except ProcessLookupError:
        return False
    return True
