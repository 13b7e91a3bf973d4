"""What an attempt was goes in; after how many seconds its cell is tried again comes out, None where it is not."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sweeptool.ledger.attempt import Attempt
from sweeptool.ledger.state import State
from sweeptool.spec.model import Retry
from sweeptool.states import FAILED, INTERRUPTED, LOST

_LOSSES = 3  # launches of one cell by one driver, where each is lost through no fault of the cell


def after(retry: Retry, state: State, attempt: Attempt, fields: Mapping[str, Any]) -> float | None:
    """Return the delay before the next attempt of a cell; ``fields`` are those of its ``settled`` event."""
    if _blameless(attempt, fields):
        launches = state.launches.get(attempt.cell, 0)
        return 0 if launches < max(retry.max_attempts, _LOSSES) else None
    reason = fields["reason"]
    wanted = fields["transient"] if retry.on is None else any(Retry.means(word, reason) for word in retry.on)
    tries = state.tries.get(attempt.cell, 0)
    if fields["state"] != FAILED or fields["halt"] or not wanted or tries >= retry.max_attempts:
        return None
    return retry.delay


def _blameless(attempt: Attempt, fields: Mapping[str, Any]) -> bool:
    """Say whether the cell had no part in how it ended: lost, never begun, or stopped by an earlier driver."""
    if fields["state"] == LOST or fields["reason"] in ("not_started", "collision"):
        return True
    stopped = attempt.interrupted or fields["exit_code"] is None
    return fields["state"] == INTERRUPTED and stopped
