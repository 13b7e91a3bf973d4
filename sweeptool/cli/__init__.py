"""The words of a command line go in; stdout, ``error:`` lines on stderr and one exit code come out."""

from __future__ import annotations

import gc
import os
import sys
from collections.abc import Sequence
from contextlib import suppress

OK = 0
INTERRUPTED = 130
_OBJECTS = 100_000  # made between two searches for cycles: a big sweep has a million objects, and cycles nearly never


def main() -> None:
    """Run ``sweeptool`` on the process's own arguments and exit with its code."""
    gc.set_threshold(_OBJECTS)
    _open_streams()
    for number in (1, 2):  # a pipe that does not block loses what it has no room for, and says nothing
        with suppress(OSError):
            os.set_blocking(number, True)
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):  # the same bytes under every locale
            stream.reconfigure(encoding="utf-8", errors="surrogateescape")
    code = perform(sys.argv[1:])
    for stream in (sys.stdout, sys.stderr):
        with suppress(OSError, ValueError):
            stream.flush()
    os._exit(code)  # the system takes back at once what the interpreter would take apart piece by piece


def perform(words: Sequence[str]) -> int:
    """Return the exit code of one command line. What is not the user's to mend is raised."""
    try:
        code = _dispatch(words)
        sys.stdout.flush()
    except KeyboardInterrupt:
        return INTERRUPTED
    except BrokenPipeError:
        # The reader has all it wanted; its own status says how that went. The second flush, at exit, must not fail.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return OK
    except Exception as error:  # noqa: BLE001 - explain() raises again what is a bug
        from sweeptool.cli import group

        code = group.explain(error)
        if words[:1] == ["render"]:
            group.spoil()
    return code


def _open_streams() -> None:
    """Let a stream that was closed lead nowhere, for us and for the driver; else the next file opened takes its number."""
    for number, name in enumerate(("stdin", "stdout", "stderr")):
        if getattr(sys, name) is None:
            handle = os.open(os.devnull, os.O_RDWR)
            os.dup2(handle, number)
            os.set_inheritable(number, True)
            setattr(sys, name, open(number, "w" if number else "r", closefd=False))  # noqa: SIM115 - a number


def _dispatch(words: Sequence[str]) -> int:
    """Run what a driver starts directly, since click costs it 30 ms at each start; everything else through click."""
    if words[:1] == ["local-run"] and not {"-h", "--help"}.intersection(words[1:2]):
        from sweeptool.runners.local import process

        return process.main(words[1:])
    if words[:1] == ["ledger"] and len(words) > 2:
        from sweeptool.ledger import serve

        return serve.main(words[1:])
    if words[:1] == ["status"] and words[2:] == ["--final"] and "/" in words[1]:
        from sweeptool.cli import final

        return final.main(words[1])
    from sweeptool.cli import group

    return group.invoke(words)
