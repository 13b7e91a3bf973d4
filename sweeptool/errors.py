"""Everything a user can cause goes in as a Problem; one SweepError of one or several lines comes out."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

FAILED = 1  # some cells failed
USAGE = 2  # bad spec or usage, nothing started
OVER_BUDGET = 3  # stopped by the budget
STOPPED = 4  # suspended or cancelled on request
HELD = 5  # another driver holds this sweep
STREAK = 6  # stopped by a failure streak
INTERNAL = 70  # the ledger died


@dataclass(frozen=True, slots=True)
class Problem:
    """One thing that is wrong: where it stands, what it is, and the mend.

    ``line`` and ``column`` count from 1; ``path`` is the dotted place inside the document.
    """

    message: str
    path: str = ""
    source: str = ""
    line: int | None = None
    column: int | None = None
    remedy: str = ""

    def __str__(self) -> str:
        place = ":".join(str(part) for part in (self.source, self.line, self.column) if part)
        head = ": ".join(part for part in (place, self.path, self.message) if part)
        return f"{head} ({self.remedy})" if self.remedy else head


class SweepError(Exception):
    """What a user can mend. ``str()`` is one line a problem; ``exit_code`` is the process's."""

    def __init__(self, *problems: Problem | str, exit_code: int = USAGE) -> None:
        self.problems: tuple[Problem, ...] = tuple(
            problem if isinstance(problem, Problem) else Problem(problem) for problem in problems
        )
        self.exit_code = exit_code
        super().__init__("\n".join(map(str, self.problems)))


class Unsupported(SweepError):  # noqa: N818 - as users of the Python API know it
    """Something that could be meant, but that sweeptool does not do."""


def raise_all(problems: Sequence[Problem]) -> None:
    """Raise one SweepError that carries every problem; do nothing where there is none."""
    if problems:
        raise SweepError(*problems)


def near(word: str, known: Iterable[str]) -> str:
    """Return ``did you mean 'x'?`` for the known word closest to ``word``, or an empty string."""
    import difflib  # every command starts with this module, and few need it

    folded = {_fold(name): name for name in sorted(known)}
    match = difflib.get_close_matches(_fold(word), folded, n=1, cutoff=0.6)
    return f"did you mean '{folded[match[0]]}'?" if match else ""


def _fold(word: str) -> str:
    return word.lower().replace("-", "_")
