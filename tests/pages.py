"""A page with console transcripts goes in; each command is run, and what it printed is compared with the page.

In a ```console block a line that begins with ``$ `` is a command (``> `` goes on with it), the lines after it are
what it prints on stdout and stderr. A line ``…`` stands for any others. Numbers, times, ids and paths that differ
from run to run are masked, and so is the order of the lines: shards end as they please.

A page may begin with ``<!-- needs: rig PROGRAM... -->``: its commands then run on the rig, or are skipped where a
program is missing.
"""

from __future__ import annotations

import os
import re
import shutil
import sys
import tempfile
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

from tests.conftest import Project
from tests.rig import rig

_BLOCK = re.compile(r"^```console\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_NEEDS = re.compile(r"\A<!-- needs: (.*?) -->")
_DAY, _MONTH = "Mon|Tue|Wed|Thu|Fri|Sat|Sun", "Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec"
_MASKS = (
    (re.compile(rf"\b(?:{_DAY}) (?:{_MONTH}) (?=\d\d? \d{{4}} )"), "DATE "),  # as the provider writes today
    (re.compile(r"RUN_DIR=\S+|/\S*/artifacts/\S+|artifacts/(?:local|runpod)/\S+"), "PATH"),
    (re.compile(r"\b[0-9a-f]{40}\b"), "SHA"),
    (re.compile(r"\b\d+(?:d(?:\d+h)?|h(?:\d+m)?|m(?:\d+s)?|s)\b"), "#UNIT"),  # an age: 45s, 1m2s
    (re.compile(r"\b(?:L4|A10)\b"), "GPU"),  # which of two equals won is chance
    (re.compile(r"\b(?:\d+[dhms])+\b"), "AGE"),
    (re.compile(r"[-+]?\d[\d,.:]*(?:e-?\d+)?(?:T[\d:.]+)?(?:\+00:00|Z)?"), "#"),
    (re.compile(r"\b(?:ms|s|min|h)\b"), "UNIT"),
    (re.compile(r"[\s─-]+"), " "),
)


class Step(NamedTuple):
    """One command of a page and the lines that the page says it prints."""

    command: str
    printed: list[str]


def steps(page: str) -> list[Step]:
    """Return the commands of all console blocks of a page, in order."""
    found: list[Step] = []
    for block in _BLOCK.findall(page):
        for line in block.splitlines():
            if line.startswith("$ "):
                found.append(Step(line[2:], []))
            elif line.startswith("> ") and not found[-1].printed:
                found[-1] = Step(f"{found[-1].command}\n{line[2:]}", [])
            else:
                found[-1].printed.append(line)
    return found


def needs(page: str) -> list[str]:
    """Return what the page says it needs."""
    match = _NEEDS.match(page)
    return match[1].split() if match else []


def check(page: str, here: Project, env: Mapping[str, str] | None = None) -> None:
    """Run the page's commands one after the other in ``here``, and assert that each prints what the page says."""
    found = steps(page)
    assert found, "the page shows no command"
    for step in found:
        done = here.run("bash", "-c", f"exec 2>&1\n{step.command}", env=env)
        expected, printed = Counter(map(masked, step.printed)), Counter(map(masked, done.stdout.splitlines()))
        elided = expected.pop("…", 0)
        missing, surplus = expected - printed, Counter() if elided else printed - expected
        assert not missing and not surplus, (
            f"$ {step.command}\nmissing: {list(missing)}\nsurplus: {list(surplus)}\nit printed:\n{done.stdout}"
        )


def masked(line: str) -> str:
    """Return a printed line without what differs from run to run."""
    for pattern, name in _MASKS:
        line = pattern.sub(name, line)
    return line.strip()


def read(path: Path) -> str:
    return path.read_text(encoding="utf-8")


def rewrite(page: str, here: Project, env: Mapping[str, str] | None = None) -> str:
    """Return the page with what its commands print now, elided (``…``) where the page is."""

    def block(match: re.Match[str]) -> str:
        lines = []
        for step in steps(match[0]):
            done = here.run("bash", "-c", f"exec 2>&1\n{step.command}", env=env)
            now = [line.rstrip() for line in done.stdout.splitlines()]
            shown = _elided(step.printed, now) if "…" in step.printed else now
            lines += ["$ " + step.command.replace("\n", "\n> "), *shown]
        return "\n".join(["```console", *lines, "```"])

    return _BLOCK.sub(block, page)


def _elided(before: list[str], now: list[str]) -> list[str]:
    """Return the lines of ``before`` as they are printed now."""
    left = list(now)
    shown = []
    for line in before:
        same = next((new for new in left if masked(new) == masked(line)), None)
        shown.append(line if same is None else left.pop(left.index(same)))
    return shown


def main(names: list[str]) -> None:
    """Rewrite the transcripts of pages: ``python -m tests.pages README.md recipes/*/README.md``."""
    os.environ["PATH"] = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"  # this Python's sweeptool
    for name in names:
        page = read(Path(name))
        with tempfile.TemporaryDirectory() as directory:
            here = Project(Path(directory) / "project")
            here.path.mkdir()
            shutil.copytree("recipes", here.path / "recipes", ignore=shutil.ignore_patterns("artifacts"))
            env = None
            if "rig" in needs(page):
                rig.require()
                rig.start(Path(directory) / "rig")
                env = rig.open_account(Path(directory) / "rig", Path(directory) / "account", here.path).env
            Path(name).write_text(rewrite(page, here, env), encoding="utf-8")
            rig.stop(Path(directory) / "rig")


if __name__ == "__main__":
    main(sys.argv[1:])
