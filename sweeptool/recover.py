"""A sweep directory goes in; the attempts without an outcome and the pods that may still bill come out.

What an attempt rented stands in its own output; whether it still bills, only the provider can say. A pod is this
sweep's by its id, or by its name, which ends in the sweep's id, the cell's index and the attempt's number; no other
pod of the account is ever named.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from sweeptool import frozen, rundir, shell, status
from sweeptool.layout import SweepDir
from sweeptool.ledger import hold, liveness
from sweeptool.ledger.attempt import Attempt
from sweeptool.ledger.book import Book
from sweeptool.runners.runpod import pods
from sweeptool.runners.runpod.pods import Pod, Rented
from sweeptool.states import LOST, RUNNING

NO_POD, UNKNOWN = "no pod", "unknown"


@dataclass(frozen=True, slots=True)
class Left:
    """Something an attempt left behind. ``state`` is the pod's at the provider, UNKNOWN where nobody could be asked.

    ``release`` is the command line that ends its billing, empty where there is no pod, or none that can be named.
    """

    cell: str
    index: int
    attempt: int
    outcome: str
    run_dir: str | None
    pod_id: str | None
    pod_name: str | None
    state: str
    release: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Found:
    """What is left of a sweep, and what there is to say about the search itself."""

    left: tuple[Left, ...]
    notes: tuple[str, ...]


def find(sweep: SweepDir) -> Found:
    """Return what the attempts of ``sweep`` that run no more left behind. Raises SweepError where it is no sweep."""
    plan = frozen.read(sweep.plan)
    book = Book.open(sweep)
    notes: list[str] = []
    listed = _listed(notes) if plan.sweep["runner"] == "runpod-deploy" else ()
    left: list[Left] = []
    for attempt in book.state.attempts:
        if not _runs(book, attempt):
            left += _left(book, attempt, listed)
    if hold.driving(sweep) is None and (unseen := status.unseen(len(status.unsettled(sweep, book.state)))):
        notes.append(unseen)
    known = {one.pod_id for one in left}
    left += [one for one in _unrecorded(book, listed) if one.pod_id not in known]
    return Found(tuple(left), tuple(notes))


def release(sweep: SweepDir, left: Sequence[Left], say: Callable[[str], None]) -> bool:
    """Run each release command and note it in the ledger; return whether all of them worked."""
    book = Book.open(sweep)
    done = True
    for one in left:
        if not one.release:
            continue
        failure = pods.run(one.release)
        say(f"failed   {shell.words(one.release)}: {failure}" if failure else f"released {one.pod_id}")
        done = done and not failure
        if not failure:
            event = {"event": "released", "cell": one.cell, "index": one.index, "attempt": one.attempt}
            with book.writing():
                book.record({**event, "pod_id": one.pod_id})
    return done


def describe(found: Found) -> dict[str, Any]:
    """Return what ``recover --json`` prints."""
    return {
        "attempts": [
            {
                "cell": one.cell,
                "index": one.index,
                "attempt": one.attempt,
                "outcome": one.outcome,
                "run_dir": one.run_dir,
                "pod_id": one.pod_id,
                "pod_name": one.pod_name,
                "state": one.state,
                "release": list(one.release),
            }
            for one in found.left
        ]
    }


def lines(found: Found) -> list[str]:
    """Return the same for people: what is left, then the commands that release it."""
    if not found.left:
        return ["nothing is left behind"]
    shown = [
        f"cell {one.index} attempt {one.attempt}  {one.outcome}  "
        + (f"pod {one.pod_id or one.pod_name} is {one.state}" if one.state != NO_POD else "rented no pod")
        for one in found.left
    ]
    commands = [shell.words(one.release) for one in found.left if one.release]
    return [*shown, "", *commands] if commands else shown


def _listed(notes: list[str]) -> Sequence[Pod] | None:
    """Return the account's pods, None where the provider cannot be asked."""
    try:
        return pods.listed()
    except OSError as error:
        notes.append(f"the provider cannot be asked, so a pod here may be long gone, and one may be missing: {error}")
        return None


def _runs(book: Book, attempt: Attempt) -> bool:
    """Say whether an attempt is still going on, here or on another host: its pod is not ours to release."""
    where = book.where(attempt)
    if attempt.state != RUNNING:
        return False
    if liveness.claim(where) is None and not where.ended:
        return hold.driving(book.sweep) is not None  # it is being launched right now
    return not liveness.over(where, book.marker(attempt))


def _left(book: Book, attempt: Attempt, listed: Sequence[Pod] | None) -> Sequence[Left]:
    where = book.where(attempt)
    rented = pods.rented(where)
    found = rundir.first(where.stdout)
    outcome = attempt.state if attempt.state != RUNNING else "without an outcome"
    base = Left(
        cell=attempt.cell,
        index=attempt.index,
        attempt=attempt.number,
        outcome=outcome,
        run_dir=attempt.run_dir or (str(found) if found else None),
        pod_id=rented.id,
        pod_name=rented.name,
        state=UNKNOWN,
        release=(),
    )
    if listed is None:
        if rented.any and not rented.released:
            return [replace(base, release=pods.release(rented.id) if rented.id else ())]
        return _without_pod(base, attempt, where.ended)
    mine = _mine(book, attempt, rented, listed)
    if mine:
        return [_pod(base, pod) for pod in mine]
    return _without_pod(base, attempt, where.ended)


def _mine(book: Book, attempt: Attempt, rented: Rented, listed: Sequence[Pod]) -> Sequence[Pod]:
    named = pods.of_attempt(listed, str(book.state.sweep_id), attempt.index, attempt.number)
    return [pod for pod in listed if pod.id == rented.id or pod in named]


def _without_pod(base: Left, attempt: Attempt, ended: bool) -> Sequence[Left]:
    if attempt.state == LOST or (attempt.state == RUNNING and not ended):
        return [replace(base, state=NO_POD)]
    return []


def _pod(base: Left, pod: Pod) -> Left:
    return replace(base, pod_id=pod.id, pod_name=pod.name, state=pod.state, release=pods.release(pod.id))


def _unrecorded(book: Book, listed: Sequence[Pod] | None) -> Sequence[Left]:
    """Return the pods that bear this sweep's id and an attempt's number that the ledger does not have."""
    known: Mapping[tuple[int, int], Attempt] = {(one.index, one.number): one for one in book.state.attempts}
    found = []
    for pod in listed or ():
        place = pods.place(pod, str(book.state.sweep_id))
        if place is not None and place not in known:
            index, number = place
            blank = Left("?", index, number, "not in the ledger", None, None, None, UNKNOWN, ())
            found.append(_pod(blank, pod))
    return found
