"""The embedded runner: the words of ``local-run`` go in; a run dir with log, events and manifest comes out.

This and the modules it imports start once a cell, so they import little: dataclasses alone would cost 10 ms.
"""

from __future__ import annotations

import os
import time
from collections.abc import Sequence

from sweeptool import money
from sweeptool.runners.local import job
from sweeptool.runners.local.record import Record

ARTIFACTS = os.path.join("artifacts", "local")
GRACE = 5.0  # seconds between asking a job to end and killing it; not billed
TIMEOUT = 124
_EVER = 10.0**9  # seconds; no job runs for 30 years

OPTIONS = {
    "--job-name": "NAME     what the manifest calls this job",
    "--gpu": "TYPE          recorded as the GPU it ran on",
    "--region": "NAME       recorded as the place it ran in",
    "--datacenter": "NAME   recorded likewise, instead of the region",
    "--instance-type": "T   recorded",
    "--spot": "true|false   recorded",
    "--image": "NAME        recorded; nothing is pulled",
    "--price-per-hour-usd": "X  what an hour costs; without it the cost is unknown",
    "--cost-cap-usd": "X    stop the job when it has cost this much",
    "--max-runtime-seconds": "N  stop the job after this long",
    "--var": "NAME=VALUE    a parameter, in the job's environment as PARAM_NAME; repeatable",
    "--artifacts-dir": f"DIR  where the run dir is made, {ARTIFACTS} by default",
}
_FLAGS = ("--print-run-dir",)  # other runners print RUN_DIR= only when asked to; this one always does

EPILOG = "\b\n" + "\n".join(f"{name} {text}" for name, text in OPTIONS.items())


class Request:
    """One call of ``local-run``. Money is micro-dollars, None where nothing was said."""

    __slots__ = ("command", "options", "params", "price", "seconds")

    def __init__(self, options: dict[str, str], params: dict[str, str], command: list[str]) -> None:
        self.options = options
        self.params = params
        self.command = command
        self.price = _dollars(options, "--price-per-hour-usd")
        self.seconds = _limit(options, self.price)


def main(words: Sequence[str]) -> int:
    """Run one job to its end and return its exit code; 124 at a limit, 128+n after signal n.

    Raises SweepError for misuse (exit 2), and with exit 1 where the run dir cannot be made or kept.
    """
    request = parse(words)
    job.occupy_streams()
    path = _run_dir(request.options.get("--artifacts-dir", ARTIFACTS))
    record = Record(path, request.options, request.params)
    job.write(1, b"RUN_DIR=" + os.fsencode(path) + b"\n")
    with job.Watch(request.seconds, GRACE) as watch:
        record.look_at_git()
        failure = watch.start(request.command, _environment(request.params, path))
        record.started()
        outcome = watch.follow(record.output) if failure is None else _unstarted(request.command[0], failure)
    milliseconds, cost = billed(outcome.seconds, request.seconds, request.price)
    code = _exit_code(outcome)
    kept = record.finished(outcome.reason, code, milliseconds, request.price, cost)
    return code if kept else 1


def billed(seconds: float, limit: float | None, price: int | None) -> tuple[int, int | None]:
    """Return the milliseconds that are paid for, and what they cost in micro-dollars at ``price`` an hour.

    The clock stops at ``limit``: what a job does in its grace after it costs nothing.
    """
    milliseconds = int((seconds if limit is None else min(seconds, limit)) * 1000 + 1e-6)
    return milliseconds, None if price is None else -(-price * milliseconds // 3_600_000)


def parse(words: Sequence[str]) -> Request:
    """Return what ``words`` ask for. Raises SweepError for an unknown or incomplete option, or no command."""
    options: dict[str, str] = {}
    params: dict[str, str] = {}
    rest = list(words)
    while rest and rest[0] != "--":
        name = rest.pop(0)
        if name in _FLAGS:
            continue
        if name not in OPTIONS:
            raise _misuse(f"no such option '{name}'", name)
        if not rest:
            raise _misuse(f"{name} wants a value")
        value = rest.pop(0)
        if name == "--var":
            key, equals, text = value.partition("=")
            if not (key and equals):
                raise _misuse(f"--var wants NAME=VALUE, not '{value}'")
            params[key] = text
        else:
            options[name] = value
    if len(rest) < 2 or not rest[1]:
        raise _misuse("there is no command; it stands after '--'")
    return Request(options, params, rest[1:])


def _misuse(message: str, word: str = "") -> Exception:
    from sweeptool.errors import Problem, SweepError, near  # noqa: PLC0415 - 10 ms that a good call need not pay

    hint = near(word, OPTIONS) if word else ""
    return SweepError(Problem(f"local-run: {message}", remedy=hint or "see 'sweeptool local-run --help'"))


def _dollars(options: dict[str, str], name: str) -> int | None:
    if name not in options:
        return None
    try:
        return money.parse(options[name])
    except ValueError as error:
        raise _misuse(f"{name}: {error}") from None


def _limit(options: dict[str, str], price: int | None) -> float | None:
    """Return after how many seconds the job is stopped: its time limit, or when it has cost its cap."""
    limits: list[float] = []
    if (text := options.get("--max-runtime-seconds")) is not None:
        if not text.isascii() or not text.isdigit() or int(text) == 0:
            raise _misuse(f"--max-runtime-seconds wants a whole number of seconds, not '{text}'")
        limits.append(int(text))
    cap = _dollars(options, "--cost-cap-usd")
    if cap == 0:
        raise _misuse("--cost-cap-usd 0 leaves no time to run")
    if cap is not None and price is None:
        raise _misuse("--cost-cap-usd needs --price-per-hour-usd")
    if cap is not None and price:
        limits.append(cap * 3_600_000 // price / 1000)
    return min((*limits, _EVER)) if limits else None


def _run_dir(parent: str) -> str:
    """Make a directory that no other run has, however many start in this second, and return its path."""
    stamp = time.strftime("%Y%m%dT%H%M%SZ", time.gmtime())
    try:
        os.makedirs(parent, exist_ok=True)
        while True:
            path = os.path.join(os.path.abspath(parent), f"{stamp}-{os.urandom(3).hex()}")
            try:
                os.mkdir(path)
            except FileExistsError:
                continue
            return path
    except OSError as error:
        from sweeptool.errors import FAILED, Problem, SweepError  # noqa: PLC0415 - as above

        problem = Problem(f"no run dir can be made: {error.strerror}", source=parent)
        raise SweepError(problem, exit_code=FAILED) from None


def _environment(params: dict[str, str], run_dir: str) -> dict[str, str]:
    found = dict(os.environ)
    for name, value in params.items():
        found[f"PARAM_{name}"] = found[f"NODUS_PARAM_{name}"] = value
    found["RUN_DIR"] = found["SWEEPTOOL_RUN_DIR"] = run_dir
    return found


def _unstarted(program: str, failure: OSError) -> job.Outcome:
    missing = isinstance(failure, FileNotFoundError)
    what = "command not found" if missing else f"cannot be run: {failure.strerror}"
    job.write(2, os.fsencode(f"error: {program}: {what}\n"))
    return job.Outcome("not_found" if missing else "not_runnable", 127 if missing else 126, 0.0)


def _exit_code(outcome: job.Outcome) -> int:
    if outcome.reason == "timeout":
        return TIMEOUT
    if outcome.reason == "interrupted":
        return 128 + outcome.signal
    return 128 - outcome.status if outcome.status < 0 else outcome.status
