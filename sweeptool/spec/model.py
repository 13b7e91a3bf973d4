"""The Spec: what every dialect is read into. Values are text exactly as written; bounds are whole units."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from sweeptool.errors import Problem

Command = tuple[str, ...] | str
"""An argv taken as it is (placeholders in braces), or a line for the user's own bash."""


@dataclass(frozen=True, slots=True)
class RunnerSpec:
    """Which single-job runner a shard calls. ``argv``, ``manifest`` and ``events`` are the command runner's."""

    kind: str = "local"
    argv: tuple[str, ...] = ()
    manifest: str | None = None
    events: str | None = None
    options: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Settings:
    """What shapes and bounds one cell's run; None where nothing was said.

    Seconds are whole seconds, money is micro-dollars (``price_per_hour``: micro-dollars an hour).
    """

    command: Command | None = None
    image: str | None = None
    env: Mapping[str, str] = field(default_factory=dict)
    secrets: Mapping[str, str] = field(default_factory=dict)  # the job's variable -> the driver's that holds it
    placement: tuple[str, ...] = ()  # region classes the job is limited to; empty: any
    max_runtime: int | None = None
    cost_cap: int | None = None
    price_per_hour: int | None = None
    instance_type: str | None = None
    datacenter: str | None = None
    spot: bool | None = None
    idle_timeout: int | None = None
    on_complete: str | None = None


@dataclass(frozen=True, slots=True)
class Point:
    """One combination of the sweep, before it has an index: what varies, and the settings it runs under."""

    params: Mapping[str, str]
    config: str | None = None
    gpu: str | None = None
    region: str | None = None
    repetition: int = 0
    settings: Settings = field(default_factory=Settings)


@dataclass(frozen=True, slots=True)
class Retry:
    """How often a cell may be tried, for which reasons (None: the runner's own), after how many seconds."""

    max_attempts: int = 2
    on: tuple[str, ...] | None = None
    delay: int = 0

    @staticmethod
    def means(word: str, reason: str) -> bool:
        """Say whether a word of ``on`` names ``reason``: itself, its family (``ssh`` for ``ssh_hang``) or all (``*``)."""
        return word in ("*", reason) or reason.startswith(f"{word}_")


@dataclass(frozen=True, slots=True)
class Metrics:
    """Where a run's numbers stand: a JSON file in the run dir, or name -> regular expression over the log."""

    file: str = "metrics.json"
    patterns: Mapping[str, str] = field(default_factory=dict)
    best: str | None = None
    goal: str | None = None


@dataclass(frozen=True, slots=True)
class Spec:
    """A whole sweep as its author meant it. ``points`` are in index order; money is micro-dollars."""

    name: str
    dialect: str  # "native", "nodus" or "grid"
    points: tuple[Point, ...]
    runner: RunnerSpec = field(default_factory=RunnerSpec)
    max_parallel: int = 4  # 0: all at once
    launch_delay: int = 0
    max_cost: int | None = None
    budget_policy: str = "reserve"  # or "spent"
    retry: Retry | None = None  # None: the runner's own default
    failure_streak: int | None = None  # None: the runner's own default; 0: off
    prices: Mapping[str, int] = field(default_factory=dict)  # GPU type -> micro-dollars an hour
    metrics: Metrics = field(default_factory=Metrics)
    units: str = "units.jsonl"
    before: tuple[Command, ...] = ()  # run once before the first launch; one that fails starts nothing
    after: tuple[Command, ...] = ()
    validate: bool = True
    state: str | None = None  # nodus spec.state: "Suspended", "Cancelled"
    warnings: tuple[Problem, ...] = ()
    source: str = "-"
    sha256: str = ""  # of the spec's bytes


@dataclass(frozen=True, slots=True)
class Flags:
    """What was said on the command line, as text; None where nothing was.

    In the grid dialect a row wins over these and these win over ``defaults``; elsewhere these win.
    """

    name: str | None = None
    runner: str | None = None
    max_concurrent: str | None = None
    launch_delay: str | None = None
    max_cost_usd: str | None = None
    ttl: str | None = None
    idle_timeout: str | None = None
    cost_limit: str | None = None
    price_per_hour: str | None = None
    instance_type: str | None = None
    gpu: str | None = None
    region: str | None = None
    datacenter: str | None = None
    spot: str | None = None
    on_complete: str | None = None
    config: str | None = None
    command: str | tuple[str, ...] | None = None
