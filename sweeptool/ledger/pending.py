"""Cells that still have to run go in; they come out in index order, retries not before their time."""

from __future__ import annotations

import heapq
from collections.abc import Iterable
from dataclasses import dataclass, field


@dataclass(slots=True)
class Pending:
    """The queue of indexes. Times are seconds of one monotonic clock."""

    ready: list[int] = field(default_factory=list)
    later: list[tuple[float, int]] = field(default_factory=list)

    @classmethod
    def of(cls, indexes: Iterable[int]) -> Pending:
        return cls(sorted(indexes))

    def __len__(self) -> int:
        return len(self.ready) + len(self.later)

    def indexes(self) -> set[int]:
        """Return what is queued, ready or not."""
        return {*self.ready, *(index for _, index in self.later)}

    def put(self, index: int, at: float) -> None:
        """Queue a cell that may not start before ``at``."""
        heapq.heappush(self.later, (at, index))

    def head(self, now: float) -> int | None:
        """Return the index that is next, without taking it; None where none is ready."""
        while self.later and self.later[0][0] <= now:
            heapq.heappush(self.ready, heapq.heappop(self.later)[1])
        return self.ready[0] if self.ready else None

    def take(self) -> int:
        """Take the index that ``head`` returned."""
        return heapq.heappop(self.ready)
