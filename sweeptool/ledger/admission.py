"""What is pending, in flight, spent and asked for goes in; launch, wait or end comes out. Pure: no clock, no files."""

from __future__ import annotations

from dataclasses import dataclass

from sweeptool import money
from sweeptool.errors import OVER_BUDGET, STOPPED, STREAK
from sweeptool.frozen import Job
from sweeptool.ledger.state import State
from sweeptool.states import CANCELLED

RESERVE, SPENT = "reserve", "spent"


@dataclass(frozen=True, slots=True)
class Rules:
    """The bounds of this driver: ``max_parallel`` shards at once (0: no bound), which budget policy, which streak."""

    max_parallel: int
    policy: str
    failure_streak: int  # 0: off


@dataclass(frozen=True, slots=True)
class Launch:
    """Launch the job at the head of the queue."""


@dataclass(frozen=True, slots=True)
class Wait:
    """Launch nothing now; ``why`` is for people, empty where there is nothing to say."""

    why: str = ""


@dataclass(frozen=True, slots=True)
class Interrupt:
    """Send the shards in flight SIGINT, then wait for them."""


@dataclass(frozen=True, slots=True)
class End:
    """Nothing is in flight and nothing more will be launched. ``code`` is the driver's exit code."""

    code: int
    why: str = ""  # budget, streak, requested, interrupted; empty where the sweep came to its end


Decision = Launch | Wait | Interrupt | End


def decide(state: State, rules: Rules, head: Job | None, own: int, *, signal: int = 0, told: bool = False) -> Decision:
    """Return what to do next.

    ``own`` counts the attempts in flight that this driver answers for: all of them, or its one cell's. ``head`` is the next job that is ready, None where none is; ``signal`` the number of the signal that
    stopped the driver; ``told`` says that the shards know of a cancellation already.
    """
    stop = _stop(state, rules, signal)
    if stop is not None:
        if own and state.request == CANCELLED and not told:
            return Interrupt()
        return Wait() if own else stop
    if head is None:
        return Wait() if own else End(0)
    if rules.max_parallel and len(state.running) >= rules.max_parallel:
        return Wait()
    refusal = refused(state, rules, head)
    if refusal:
        return Wait(refusal) if state.running else End(OVER_BUDGET, "budget")
    return Launch()


def refused(state: State, rules: Rules, job: Job) -> str:
    """Return why the budget does not admit ``job`` now, with the numbers; empty where it does."""
    if state.cap is None:
        return ""
    if rules.policy == SPENT:
        if state.spent + state.unknown < state.cap:
            return ""
        return f"spent {_exact(state.spent + state.unknown)} of {_exact(state.cap)}"
    need = job.reservation or 0
    if state.committed + need <= state.cap:
        return ""
    return (
        f"spent {_exact(state.spent + state.unknown)} + in flight {_exact(state.reserved)}"
        f" + this cell {_exact(need)} > {_exact(state.cap)}"
    )


def _exact(micro: int) -> str:
    """Return dollars to the last place: rounded ones may add up to less."""
    return f"${money.text(micro)}"


def _stop(state: State, rules: Rules, signal: int) -> End | None:
    if signal:
        return End(128 + signal, "interrupted")
    if state.request is not None:
        return End(STOPPED, "requested")
    if state.halted or (rules.failure_streak and max(state.streak, state.broken) >= rules.failure_streak):
        return End(STREAK, "streak")
    return None
