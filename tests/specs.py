"""What the spec tests share: the points of a spec in short, and the lines of what is wrong with one."""

from __future__ import annotations

import json
import textwrap
from pathlib import Path

import pytest

from sweeptool.cells import label
from sweeptool.errors import SweepError
from sweeptool.spec import Flags, Spec, load, load_grid

NOWHERE = Path("/nonexistent")


def read(text: str | bytes, source: str = "sweep.yaml", project: Path = NOWHERE, **flags: str) -> Spec:
    """Return the spec that a text means."""
    dedented = textwrap.dedent(text) if isinstance(text, str) else text
    return load(dedented, source, flags=Flags(**flags), project=project)  # type: ignore[arg-type]


def shorthand(text: str, **flags: str) -> Spec:
    return load_grid(text, flags=Flags(**flags))  # type: ignore[arg-type]


def rows(spec: Spec) -> list[str]:
    """Return each point in a line: ``L4 eu lr=1 r1``."""
    return [label(point) for point in spec.points]


def params(spec: Spec, name: str) -> list[str]:
    """Return the values of one parameter, in order."""
    return [point.params[name] for point in spec.points]


def wrong(text: str | bytes, source: str = "sweep.yaml", project: Path = NOWHERE, **flags: str) -> list[str]:
    """Return a line for each thing that is wrong with a spec; fail where nothing is."""
    with pytest.raises(SweepError) as caught:
        read(text, source, project, **flags)
    assert caught.value.exit_code == 2
    lines = [str(problem) for problem in caught.value.problems]
    assert all("\n" not in line for line in lines)
    return lines


def wrong_shorthand(text: str, **flags: str) -> list[str]:
    with pytest.raises(SweepError) as caught:
        shorthand(text, **flags)
    assert caught.value.exit_code == 2
    return [str(problem) for problem in caught.value.problems]


def nodus(spec: str = "", name: str = "batch-size", job: str = "") -> str:
    """Return a nodus Sweep with these lines in its spec and in its job."""
    head = f"apiVersion: nodus.dev/v1\nkind: Sweep\nmetadata: {{name: {name}}}\nspec:\n"
    template = "  template:\n    kind: Job\n    spec:\n      command: [python3, bench.py]\n"
    return head + template + textwrap.indent(job, " " * 6) + "\n" + textwrap.indent(spec, "  ") + "\n"


def as_json(value: object) -> str:
    return json.dumps(value)
