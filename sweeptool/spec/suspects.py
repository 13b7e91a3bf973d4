"""A key that would become a parameter goes in; the setting that it was meant for comes out, where it seems to be one.

A bound on cost or time that silently became a parameter would bound nothing.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable

from sweeptool.spec.fields import folded

_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+")
_CORES = {
    "idle": "idle_timeout",
    **dict.fromkeys(("price", "prices", "hourly"), "price_per_hour"),
    **dict.fromkeys(
        ("cost", "costs", "budget", "budgets", "spend", "spending", "usd", "dollar", "dollars"), "cost_limit"
    ),
    **dict.fromkeys(("ttl", "walltime", "timeout", "timelimit", "deadline", "maxruntime", "maxtime"), "ttl"),
    **dict.fromkeys(("preemptible", "interruptible", "spot"), "spot"),
}
"""Words that make a bound where only filling stands around them; the first that is there decides."""
_FILLING = {
    "max",
    "maximum",
    "min",
    "total",
    "limit",
    "cap",
    "hard",
    "soft",
    "per",
    "of",
    "in",
    "rate",
    "allowed",
    "use",
}
_FILLING |= {"cell", "job", "run", "task", "instance", "instances", "wall", "time", "runtime"}
_FILLING |= {"day", "days", "hour", "hours", "hr", "hrs", "h", "minute", "minutes", "mins", "m"}
_FILLING |= {"second", "seconds", "sec", "secs", "s"}
_TIME_BOUNDS = {("time", "limit"), ("time", "max"), ("time", "wall"), ("runtime", "max"), ("runtime", "limit")}
_TIME_BOUNDS |= {(unit, "max") for unit in ("hours", "minutes", "seconds", "mins", "secs", "days")}
_OTHER = {"regions": "region", "datacenters": "datacenter", "gputype": "gpu", "maxparallel": "max_concurrent"}
_SURE = 0.87  # of difflib's ratio, for long names only: alpha and beta are parameters
_LONG = 7


def meant(name: str, settings: Iterable[str]) -> str | None:
    """Return the setting that ``name`` misspells or rephrases, None where it is simply a parameter."""
    by_fold = {folded(one): one for one in settings}
    flat = folded(name)
    known = by_fold.get(flat) or _OTHER.get(flat)
    if known:
        return known
    words = [word.lower() for word in _WORD.findall(name)]
    core = next((setting for word, setting in _CORES.items() if word in words), None)
    if core and all(word in _CORES or word in _FILLING for word in words):
        return core
    if all(word in _FILLING for word in words) and any(set(pair) <= set(words) for pair in _TIME_BOUNDS):
        return "ttl"
    long = [one for one in by_fold if len(one) >= _LONG]
    match = difflib.get_close_matches(flat, long, n=1, cutoff=_SURE) if len(flat) >= _LONG else []
    return by_fold[match[0]] if match else None
