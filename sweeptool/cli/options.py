"""Options that several commands share, and the values they mean."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import click

from sweeptool import layout
from sweeptool.errors import Problem, SweepError
from sweeptool.layout import SweepDir

F = TypeVar("F", bound=Callable[..., Any])
_FLAGS: tuple[tuple[str, str], ...] = (
    ("--name", "the sweep's name"),
    ("--runner", "local, runpod-deploy or command"),
    ("--max-concurrent", "how many cells at once; 0: all"),
    ("--launch-delay", "time between two launches: 30s, 1m30s"),
    ("--ttl", "one cell's time limit"),
    ("--idle-timeout", "end a cell that is idle for so long"),
    ("--instance-type", "a label, or what the runner's table maps"),
    ("--gpu", "the GPU of every cell"),
    ("--region", "the region of every cell"),
    ("--price-per-hour", "what one cell costs an hour, in dollars"),
    ("--cost-limit", "one cell's cap, in dollars"),
    ("--max-cost-usd", "the whole sweep's cap, in dollars"),
    ("--config", "the job config of every cell"),
)


def spec_options(function: F) -> F:
    """Give a command the SPEC argument, ``--grid`` and the settings of the command line."""
    for name, text in reversed(_FLAGS):
        function = click.option(name, metavar="TEXT", help=text)(function)
    function = click.option("--spot/--no-spot", default=None, help="ask for interruptible machines")(function)
    function = click.option("--command", "command", metavar="LINE", help="what every cell runs, a line of bash")(
        function
    )
    function = click.option("--grid", metavar="'K=V1,V2 K2=…'", help="a quick product instead of a SPEC")(function)
    function = click.option(
        "--project-dir",
        type=click.Path(file_okay=False, path_type=Path),
        default=Path(),
        help="where relative paths start",
    )(function)
    return click.argument("spec", required=False)(function)


def load(values: dict[str, Any]) -> Any:
    """Return the Spec that the values of ``spec_options`` mean; ``-`` and nothing else is stdin."""
    from sweeptool import spec as specs

    flags = {name[2:].replace("-", "_"): values[name[2:].replace("-", "_")] for name, _ in _FLAGS}
    spot = values["spot"]
    given = specs.Flags(**flags, command=values["command"], spot=None if spot is None else str(spot).lower())
    source, project = values["spec"], values["project_dir"]
    if values["grid"] is not None:
        if source is not None:
            raise SweepError(Problem("a SPEC and --grid exclude each other", remedy="drop one"))
        return specs.load_grid(values["grid"], flags=given)
    if source is None:
        raise SweepError(Problem("no SPEC", remedy="name a file, '-' for stdin, or use --grid"))
    if source.lstrip().startswith("{"):
        return specs.load(source, "the command line", flags=given, project=project)
    return specs.load(_read(source), source, flags=given, project=project)


def _read(source: str) -> bytes:
    if source == "-":
        return sys.stdin.buffer.read()
    try:
        return Path(source).read_bytes()
    except OSError as error:
        remedy = "'sweeptool init' writes one" if isinstance(error, FileNotFoundError) else ""
        raise SweepError(Problem(error.strerror or str(error), source=source, remedy=remedy)) from error


def sweeps_option(function: F) -> F:
    """Give a command ``--sweeps-dir``."""
    return click.option(
        "--sweeps-dir",
        envvar="SWEEPTOOL_SWEEPS_DIR",
        type=click.Path(file_okay=False, path_type=Path),
        default=Path(layout.SWEEPS_DIR),
        show_default=True,
        help="where the sweeps are",
    )(function)


def sweep_argument(function: F) -> F:
    """Give a command the optional SWEEP argument and ``--sweeps-dir``."""
    return sweeps_option(click.argument("sweep", required=False)(function))


def find(sweep: str | None, sweeps_dir: Path) -> SweepDir:
    """Return the sweep directory that SWEEP names."""
    from sweeptool import locate

    return locate.find(sweep, sweeps_dir)


def write(text: str | bytes, output: Path | None, *, executable: bool = False) -> None:
    """Write ``text`` to ``output`` whole or not at all; stdout where it is None or ``-``."""
    from sweeptool import files

    if output is None or str(output) == "-":
        click.echo(text, nl=False)
        return
    try:
        files.replace(output, text.encode() if isinstance(text, str) else text, mode=0o755 if executable else 0o644)
    except OSError as error:
        raise SweepError(Problem(f"cannot be written: {error.strerror}", source=str(output))) from error


def remake(values: dict[str, Any], target: str) -> str:
    """Return the command line that renders the same driver again."""
    from sweeptool import shell
    from sweeptool.render import FILES

    given = ["sweeptool", "render", *([values["spec"]] if values["spec"] else [])]
    for name in ("--grid", "--command", *(name for name, _ in _FLAGS)):
        value = values[name[2:].replace("-", "_")]
        if value is not None:
            given.append(f"{name}={value}")
    if values["spot"] is not None:
        given.append("--spot" if values["spot"] else "--no-spot")
    if target != "bash":
        given.append(f"--target={target}")
    return f"{shell.words(given)} > {FILES[target]}"


def old_cells(old: str, sweeps_dir: Path, values: dict[str, Any]) -> dict[str, tuple[str, bool]]:
    """Return the cells of OLD, a SPEC or a sweep: id -> what they are called, and whether they are done."""
    from sweeptool import plan, planview

    if Path(old).is_file():
        blank = dict.fromkeys(values) | {"spec": old, "project_dir": values["project_dir"]}
        return planview.cells_of_plan(plan.make(load(blank), values["project_dir"]))
    return planview.cells_of_sweep(find(old, sweeps_dir))
