"""What a runner module provides: on the make side a command line, on the run side a verdict on an attempt."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from sweeptool.cells import Cell
from sweeptool.errors import Problem
from sweeptool.layout import AttemptDir
from sweeptool.manifest import Manifest
from sweeptool.spec.model import Retry, Spec

# Words of an argv that only the driver knows. NUL is the one character no value may hold,
# so no value can be taken for one of these; shell.word turns them into "$attempt" and the like.
ATTEMPT = "\0attempt\0"
ATTEMPT_DIR = "\0attempt_dir\0"
SWEEPTOOL = "\0sweeptool\0"
SWEEP_DIR = "\0sweep_dir\0"
MARKS = {
    ATTEMPT: "{attempt}",
    ATTEMPT_DIR: "{attempt_dir}",
    SWEEPTOOL: "sweeptool",
    SWEEP_DIR: "{sweep_dir}",
}  # as a person reads them


@dataclass(frozen=True, slots=True)
class Evidence:
    """What an attempt left behind. ``exit_code`` is None where nobody saw it end."""

    exit_code: int | None
    run_dir: Path | None  # from the first RUN_DIR= line of its stdout
    manifest: Manifest | None  # the run dir's own, where it parses
    attempt: AttemptDir
    job: Mapping[str, Any]  # the cell's line of the frozen plan
    interrupted: bool = False  # the driver had sent it a signal


@dataclass(frozen=True, slots=True)
class Verdict:
    """What an attempt was. ``state`` is succeeded, failed or interrupted.

    ``reason`` is one word of the runner's table (``exit``, ``timeout``, ``stock_out`` …), empty for success;
    ``detail`` one line for people; ``flags`` any of ``leaked`` and ``degraded``.
    """

    state: str
    reason: str = ""
    detail: str = ""
    flags: tuple[str, ...] = ()
    transient: bool = False  # worth another attempt by the runner's own judgement
    halt: bool = False  # the sweep's fault, not the cell's: launch nothing more
    free: bool = False  # known to have cost nothing, though no manifest says so
    if_again: str = ""  # what to ask the user where a second cell ends like this; the sweep halts then


class Runner(Protocol):
    """One single-job runner. A new runner is one module and one line in ``runners.RUNNERS``.

    One that says nothing of ``complete``, ``validation`` and ``release`` leaves all as it is.
    """

    name: str
    paid: bool  # money leaves the house: the ledger is synced to disk before each launch
    failure_streak: int  # consecutive failed attempts that stop the sweep; 0: off
    retry: Retry
    reasons: Sequence[str] = ()  # all that its verdicts may give, empty where a manifest may have its own
    spaced: bool  # run dirs are named by the second: no two launches in one second

    def complete(self, spec: Spec, project: Path) -> Spec:  # noqa: ARG002 - for runners that need it
        """Return ``spec`` with what the runner's own files say about bounds and prices, where the spec is silent."""
        return spec

    def check(self, spec: Spec, project: Path) -> Sequence[Problem]:
        """Return what this runner cannot honour in ``spec``, before anything is rendered."""

    def price(self, cell: Cell, spec: Spec) -> int | None:
        """Return the assumed price in micro-dollars an hour, None where nothing says."""

    def argv(self, cell: Cell, spec: Spec) -> tuple[str, ...] | None:
        """Return the command line of one attempt, None where the spec has no command yet."""

    def needs(self, spec: Spec) -> Sequence[str]:
        """Return the programs that must be on PATH."""

    def validation(self, spec: Spec, cells: Sequence[Cell]) -> Sequence[tuple[str, ...]]:  # noqa: ARG002 - likewise
        """Return the commands that check what would be run, once, before the first launch."""
        return ()

    def prepare(self, job: Mapping[str, Any], attempt: AttemptDir, project: Path) -> None:
        """Write what one attempt needs beside its logs (a concrete job config), just before its launch."""

    def verdict(self, evidence: Evidence) -> Verdict:
        """Return what the attempt was, from its own evidence only."""

    def release(self, evidence: Evidence, verdict: Verdict) -> Verdict:  # noqa: ARG002 - likewise
        """Release what the attempt left behind, where that is safe; return the verdict, ``leaked`` where it is not."""
        return verdict
