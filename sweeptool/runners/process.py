"""The embedded runner: a job's command line goes in; a run dir with log, events and manifest comes out."""

from collections.abc import Sequence

EPILOG = ""


def main(words: Sequence[str]) -> int:
    """Run one job and return its exit code."""
    raise NotImplementedError(words)
