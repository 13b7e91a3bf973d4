"""What can be said of an attempt, one word each: the same in the ledger, in a verdict, in records and in tables."""

from __future__ import annotations

RUNNING, SUCCEEDED, FAILED, INTERRUPTED, LOST = "running", "succeeded", "failed", "interrupted", "lost"
CANCELLED = "cancelled"  # interrupted since somebody cancelled the sweep
UNKNOWN = "unknown"  # a manifest that does not say how it ended
LEAKED = "leaked"  # a flag: a pod that it rented may still bill
NO_METRIC = "no_metric"  # a flag: succeeded, but without the number that the sweep is judged by
PENDING = "pending"  # of a cell that has no attempt yet
