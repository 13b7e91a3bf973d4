"""Statuses go in, the tables that people read come out."""

from __future__ import annotations

from collections.abc import Sequence

from sweeptool import money, tables
from sweeptool import status as statuses
from sweeptool.layout import SweepDir
from sweeptool.ledger.state import leaking
from sweeptool.states import LEAKED, NO_METRIC, RUNNING
from sweeptool.status import CellStatus, Status
from sweeptool.text import duration, one_line

_HEAD = ("NAME", "PHASE", "CELLS", "COST", "BEST-COST", "AGE")
_CELLS = ("CELL", "WHAT", "PHASE", "COST", "WALL", "UNITS/S", "WHY")
_LISTED = 60  # cells shown one by one; of a larger sweep only those that need a person


def table(found: Sequence[Status], *, cells: bool = False) -> str:
    """Return the sweeps as ``NAME PHASE CELLS COST BEST-COST AGE``, with ``cells`` the cells under them."""
    rows = [_row(status) for status in found]
    text = "\n".join(tables.plain(_HEAD, rows))
    if not cells:
        return text
    notes = (note for status in found for note in (_unwatched(status), _bills(status)) if note)
    return "\n\n".join([text, *(_cells(status) for status in found), *notes])


def line(status: Status) -> str:
    """Return a sweep as one line without the head, for a log."""
    return "  ".join(_row(status))


def final(status: Status) -> str:
    """Return what a driver prints when it ends: the table, what failed and where to look, what is next."""
    cheapest, fastest = statuses.best(status)
    lines = [table([status])]
    failed = [cell for cell in status.cells if cell.phase in ("Failed", "Lost")]
    lines += [_failed(status.sweep, cell) for cell in failed]
    if cheapest is not None:
        lines.append(f"cheapest  {_named(cheapest)}  {money.dollars(cheapest.cost)}")
    if fastest is not None and fastest.last is not None:
        lines.append(f"fastest   {_named(fastest)}  {fastest.last.units_per_second:.1f} units/s")
    lines += [_bills(status), _next(status)]
    return "\n".join(line for line in lines if line)


def _row(status: Status) -> tuple[str, ...]:
    cheapest, _ = statuses.best(status)
    state = status.state
    unknown = f" + {money.dollars(state.unknown) if state.unknown else ''}?" if state.unknown_attempts else ""
    return (
        status.plan.name,
        status.named,
        f"{status.done}/{len(status.cells)}",
        f"{money.dollars(state.spent)}{unknown}",
        "-" if cheapest is None else str(cheapest.job.index),
        "-" if status.age is None else _age(status.age),
    )


def _cells(status: Status) -> str:
    shown = status.cells
    if len(shown) > _LISTED:
        shown = tuple(cell for cell in shown if cell.phase not in ("Succeeded", "Pending") or _leaked(cell))[:_LISTED]
    rows = [_cell(cell) for cell in shown]
    left = len(status.cells) - len(shown)
    more = f"{left:,} cells more: 'status --json' has them all" if left else ""
    listed = "\n".join(tables.plain(_CELLS, rows)) if rows else ""
    return "\n".join(text for text in (listed, more) if text)


def _cell(cell: CellStatus) -> tuple[str, ...]:
    last = cell.last
    return (
        str(cell.job.index),
        one_line(cell.job.label, 60),
        cell.phase,
        "-" if not cell.attempts else money.dollars(cell.cost),
        "-" if last is None or last.wall_seconds is None else f"{last.wall_seconds:.1f} s",
        "-" if last is None or last.units_per_second is None else f"{last.units_per_second:.1f}",
        one_line(_why(cell), 80),
    )


def _failed(sweep: SweepDir, cell: CellStatus) -> str:
    last = cell.last
    if last is None:
        return ""
    where = sweep.attempt(last.cell, last.number)
    why = one_line(_why(cell), 120)
    return f"{cell.phase.lower():<9} {_named(cell)}  {why}\n          {where.stdout}\n          {where.stderr}"


def _why(cell: CellStatus) -> str:
    last = cell.last
    why = ""
    if last is not None and cell.phase != "Succeeded":
        why = last.detail or last.reason
        if cell.phase == "Lost" and last.state == RUNNING:
            why = "its driver died; running the sweep again settles it"
    return "; ".join(filter(None, [why, _leaked(cell)]))


def _leaked(cell: CellStatus) -> str:
    return LEAKED if any(LEAKED in attempt.flags for attempt in cell.attempts) else ""


def _unwatched(status: Status) -> str:
    if status.phase != "Running" or status.watched:
        return ""
    return "note      no driver runs; what runs goes on to its end, and running the sweep again adopts it"


def _bills(status: Status) -> str:
    left = leaking(status.state, status.plan.name)
    return one_line(f"bills     {left}") if left else ""


def _named(cell: CellStatus) -> str:
    return one_line(f"{cell.job.index}  {cell.job.name}  {cell.job.label}", 120)


def _next(status: Status) -> str:
    name = status.plan.name
    match status.phase, status.reason:
        case "Suspended", "MaxCostReached":
            return f"next      raise the cap: sweeptool resume {name} --max-cost-usd {_caps(status)}"
        case ("Suspended", "Requested") | ("Cancelled", _):
            return f"next      sweeptool resume {name}"
        case "Suspended", "FailureStreak" if status.state.halted:
            return (
                f"next      the others would have failed so too ({status.state.halted}): mend that, then run it again"
            )
        case ("Suspended", _) | ("Failed", _):
            return "next      run it again: what succeeded is kept, the rest is tried anew"
        case "Succeeded", _ if by := (status.plan.sweep.get("metrics") or {}).get("best"):
            return one_line(f"next      {_question(status, by)}: sweeptool best {name}")
        case _:
            return ""


def _question(status: Status, by: str) -> str:
    if all(cell.last and NO_METRIC in cell.last.flags for cell in status.cells):
        return f"no cell reports {by} (metrics.best); to see what they report"
    return f"which won by {by}"


def _caps(status: Status) -> str:
    """Return the cap that one more cell needs, and the one that all do that are left; X where one has no bound."""
    needs = [cell.job.reservation for cell in status.cells if cell.phase != "Succeeded"]
    bounded = [need for need in needs if need is not None]
    if not bounded or len(bounded) < len(needs):
        return "X"
    one, every = (money.text(status.state.committed + need) for need in (bounded[0], sum(bounded)))
    return f"{one} # for one more cell; {every} for all that are left" if len(needs) > 1 else one


def _age(seconds: float) -> str:
    return duration(max(0, int(seconds))).replace(" min", "m").replace(" ", "")
