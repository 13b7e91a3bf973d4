"""An argv goes in and runs as a process group of its own, watched; its output and how it ended come out."""

from __future__ import annotations

import os
import select
import signal
import time
from collections.abc import Callable
from types import FrameType

_DEFAULTS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT, signal.SIGPIPE, signal.SIGXFSZ)
_LINGER = 2.0  # seconds that what a job left running may still write, once the job itself has ended
_CHUNK = 1 << 16


class Outcome:
    """How a job ended. ``status`` is its exit code, negative for the signal that killed it.

    ``reason`` is empty for exit 0, else one of exit, killed, timeout, interrupted, not_found, not_runnable;
    ``signal`` is the one that interrupted us, ``seconds`` the job's own wall time.
    """

    __slots__ = ("reason", "seconds", "signal", "status")

    def __init__(self, reason: str, status: int, seconds: float, signum: int = 0) -> None:
        self.reason = reason
        self.status = status
        self.seconds = seconds
        self.signal = signum


class Watch:
    """Everything that may end one job: its own exit, a time limit, a signal to us, our own sudden death.

    Signals act from their handlers, so that a job is stopped in time though our own output be blocked.
    The first asks the whole group to end and gives it ``grace`` seconds; the second kills it.
    """

    __slots__ = ("_began", "_grace", "_group", "_guard", "_limit", "_over", "_pipes", "_reason", "_signal", "_wake")

    def __init__(self, limit: float | None, grace: float) -> None:
        self._limit = limit
        self._grace = grace
        self._group = 0
        self._over = False
        self._reason = ""
        self._signal = 0
        self._began = 0.0
        self._pipes: dict[int, int] = {}  # where the job's stdout and stderr come in -> our 1 and 2

    def __enter__(self) -> Watch:
        for number in _beyond_stderr():  # a lock that we inherited must not live on in what the job starts
            os.set_inheritable(number, False)
        self._guard = _guardian()
        self._wake, waker = os.pipe()
        os.set_blocking(waker, False)
        signal.set_wakeup_fd(waker, warn_on_full_buffer=False)
        signal.signal(signal.SIGCHLD, _nothing)
        signal.signal(signal.SIGALRM, self._on_alarm)
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            if number != signal.SIGHUP or signal.getsignal(number) != signal.SIG_IGN:  # under nohup, go on
                signal.signal(number, self._on_signal)
        return self

    def __exit__(self, failure: type[BaseException] | None, *_: object) -> None:
        if failure is None:
            write(self._guard, b".")  # all is well: the guardian may go, if it has not gone
        os.close(self._guard)

    def start(self, argv: list[str], environment: dict[str, str]) -> OSError | None:
        """Start the job, stdin empty; return why it could not be, or None."""
        (out, out_end), (err, err_end) = os.pipe(), os.pipe()
        self._pipes = {out: 1, err: 2}
        self._began = time.monotonic()
        try:
            pid = os.posix_spawnp(
                argv[0],
                argv,
                environment,
                file_actions=[
                    (os.POSIX_SPAWN_OPEN, 0, os.devnull, os.O_RDONLY, 0),
                    (os.POSIX_SPAWN_DUP2, out_end, 1),
                    (os.POSIX_SPAWN_DUP2, err_end, 2),
                ],
                setpgroup=0,
                setsigmask=(),
                setsigdef=_DEFAULTS,
            )
        except OSError as error:
            return error
        finally:
            os.close(out_end)
            os.close(err_end)
        self._group = pid
        write(self._guard, b"%d " % pid)
        if self._limit is not None:
            signal.setitimer(signal.ITIMER_REAL, self._limit)
        if self._reason:  # a signal came before there was anything to stop
            self._stop(self._reason)
        return None

    def follow(self, sink: Callable[[int, bytes], None]) -> Outcome:
        """Give the job's output to ``sink(stream, data)`` as it comes; return how the job ended."""
        poller = select.poll()
        for pipe in (self._wake, *self._pipes):
            poller.register(pipe, select.POLLIN)
        outcome = None
        left = None  # milliseconds
        while outcome is None or (self._pipes and left):
            for pipe, _ in poller.poll(left):
                data = os.read(pipe, _CHUNK)
                if pipe == self._wake:
                    continue
                if data:
                    sink(self._pipes[pipe], data)
                else:
                    poller.unregister(pipe)
                    del self._pipes[pipe]
            if outcome is None:
                outcome = self._ended()
            if outcome is not None:
                left = max(0, int((self._began + outcome.seconds + _LINGER - time.monotonic()) * 1000))
        self._kill(signal.SIGKILL)
        self._group = 0
        return outcome

    def _ended(self) -> Outcome | None:
        """Return the job's outcome once it has ended; what it left running is asked to end too, as on a pod."""
        pid, status = os.waitpid(self._group, os.WNOHANG)
        if not pid:
            return None
        seconds = time.monotonic() - self._began
        reason, self._over = self._reason, True
        signal.setitimer(signal.ITIMER_REAL, 0)
        self._kill(signal.SIGTERM)
        code = os.waitstatus_to_exitcode(status)
        return Outcome(reason or ("" if code == 0 else "killed" if code < 0 else "exit"), code, seconds, self._signal)

    def _on_signal(self, number: int, _: FrameType | None) -> None:
        self._signal = self._signal or number
        self._stop("interrupted")

    def _on_alarm(self, _: int, __: FrameType | None) -> None:
        self._stop("timeout")

    def _stop(self, reason: str) -> None:
        if self._over or (self._reason and self._group):
            self._kill(signal.SIGKILL)
            return
        self._reason = reason
        if self._group:
            self._kill(signal.SIGTERM)
            signal.setitimer(signal.ITIMER_REAL, self._grace)

    def _kill(self, number: int) -> None:
        if not self._group:
            return
        try:
            os.killpg(self._group, number)
        except (ProcessLookupError, PermissionError):
            pass  # all of it has ended; macOS says EPERM where only a zombie is left


def occupy_streams() -> None:
    """Open /dev/null in place of a standard stream that we were started without, lest a file of ours become it."""
    while (number := os.open(os.devnull, os.O_RDWR)) <= 2:
        pass
    os.close(number)


def write(stream: int, data: bytes) -> OSError | None:
    """Write all of ``data`` to one of our own streams; return why it could not be, or None. Never raises."""
    while data:
        try:
            data = data[os.write(stream, data) :]
        except BlockingIOError:
            select.select((), (stream,), ())
        except OSError as error:
            return error
    return None


def _nothing(_: int, __: FrameType | None) -> None:
    """Let SIGCHLD wake the poll; its default is to be ignored."""


def _guardian() -> int:
    """Fork a process that kills the job should we die without a word; return the pipe that keeps it quiet.

    It reads ``<group> .``: the group once the job runs, the full stop when all is well. Nothing else can do
    this everywhere: a SIGKILL runs no handler, and a job left alone would run beside its own second attempt.
    """
    reader, writer = os.pipe()
    if os.fork():
        os.close(reader)
        return writer
    os.setsid()  # or it would die of the same killpg
    for asked in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):  # who stops a job may signal all that belongs to it
        signal.signal(asked, signal.SIG_IGN)
    null = os.open(os.devnull, os.O_RDWR)
    for stream in range(3):
        os.dup2(null, stream)
    for number in _beyond_stderr():
        if number != reader:
            os.close(number)
    words = b""
    while data := os.read(reader, 64):
        words += data
    group, _, rest = words.partition(b" ")
    if group and not rest:
        try:
            os.killpg(int(group), signal.SIGKILL)
        except OSError:
            os._exit(1)
    os._exit(0)


def _beyond_stderr() -> list[int]:
    """Return our open descriptors but the first three."""
    found = []
    for name in os.listdir("/dev/fd"):
        try:
            os.fstat(int(name))
        except OSError:
            continue  # listdir's own, closed by now
        if int(name) > 2:
            found.append(int(name))
    return found
