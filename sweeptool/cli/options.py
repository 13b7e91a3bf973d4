"""Options that several commands share, and the values they mean."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from sweeptool import layout
from sweeptool.errors import Problem, SweepError
from sweeptool.layout import SweepDir

if TYPE_CHECKING:
    from sweeptool.plan.model import Plan
    from sweeptool.plan.show import Old
    from sweeptool.spec.model import Spec

_WARNINGS = 20  # lines at once
_LONGEST = 64 << 20  # bytes of a spec: a device that never ends is none
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


def said(_context: click.Context, parameter: click.Parameter, value: str | None) -> str | None:
    """Refuse an empty word, which mostly is a variable that was never set."""
    if value == "":
        raise click.BadParameter("it is empty", param=parameter)
    return value


def filename(context: click.Context, parameter: click.Parameter, value: str) -> str:
    """Refuse what is no plain name of a file."""
    if "/" in value:
        raise click.BadParameter(f"'{value}' is a path, not a file's name", param=parameter)
    return said(context, parameter, value) or ""


def spec_options(function: F) -> F:
    """Give a command the SPEC argument, ``--grid`` and the settings of the command line."""
    for name, text in reversed(_FLAGS):
        function = click.option(name, metavar="TEXT", help=text)(function)
    function = click.option("--spot/--no-spot", default=None, help="ask for interruptible machines")(function)
    function = click.option("--command", "command", metavar="LINE", help="what every cell runs, a line of bash")(
        function
    )
    function = click.option("--grid", metavar="'K=V1,V2 K2=…'", help="a quick product instead of a SPEC")(function)
    function = project_option(Path())(function)
    return click.argument("spec", required=False)(function)


def project_option(default: Path | None, text: str = "where relative paths start") -> Callable[[F], F]:
    """Return what gives a command ``--project-dir``; ``text`` is its help."""
    kind = click.Path(exists=True, file_okay=False, path_type=Path)
    return click.option("--project-dir", type=kind, default=default, help=text)


def json_option(function: F) -> F:
    """Give a command ``--json``."""
    return click.option("--json", "as_json", is_flag=True, help="for programs")(function)


def planned(values: dict[str, Any]) -> Plan:
    """Return the plan that the values of ``spec_options`` mean, and say on stderr what it warns of."""
    from sweeptool import plan

    found = plan.make(load(values), values["project_dir"])
    warn(map(str, found.warnings))
    return found


def load(values: dict[str, Any]) -> Spec:
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
    if not source:
        raise SweepError(Problem("no SPEC", remedy="name a file, '-' for stdin, or use --grid"))
    if source.lstrip().startswith("{"):
        return specs.load(source, "the command line", flags=given, project=project)
    return specs.load(_read(source), source, flags=given, project=project)


def _read(source: str) -> bytes:
    try:
        if source == "-":
            text = sys.stdin.buffer.read(_LONGEST + 1)
        else:
            with Path(source).open("rb") as file:
                text = file.read(_LONGEST + 1)
    except OSError as error:
        remedy = "'sweeptool init' writes one" if isinstance(error, FileNotFoundError) else ""
        raise SweepError(Problem(error.strerror or str(error), source=source, remedy=remedy)) from error
    if len(text) > _LONGEST:
        raise SweepError(Problem(f"longer than {_LONGEST >> 20} MB, so no spec", source=source))
    return text


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
    return sweeps_option(click.argument("sweep", required=False, callback=said)(function))


def warn(lines: Iterable[str]) -> None:
    """Print each line as a warning; of very many the first ones, and how many more there are."""
    found = list(lines)
    for line in found[:_WARNINGS]:
        click.echo(f"warning: {line}", err=True)
    if len(found) > _WARNINGS:
        click.echo(f"warning: {len(found) - _WARNINGS} more of that", err=True)


def exclusive(given: Mapping[str, object]) -> None:
    """Raise SweepError where more than one of these is given."""
    names = [name for name, value in given.items() if value]
    if len(names) > 1:
        raise SweepError(Problem(f"{' and '.join(names)} exclude each other", remedy="give one of them"))


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
        raise files.refused(error, output) from error


def remake(values: dict[str, Any]) -> Callable[[str], str]:
    """Return what tells the command line that renders a target again from the same values."""
    from sweeptool import render

    spec, project, spot = values["spec"], values["project_dir"], values["spot"]
    words = [] if spec is None else [spec] if spec == "-" or not spec.startswith("-") else ["--", spec]
    options = [] if project == Path() else [f"--project-dir={project}"]
    for name in ("--grid", "--command", *(name for name, _ in _FLAGS)):
        value = values[name[2:].replace("-", "_")]
        if value is not None:
            options.append(f"{name}={value}")
    if spot is not None:
        options.append("--spot" if spot else "--no-spot")
    return lambda target: render.command([*options, *words], target)


def old_cells(old: str, sweeps_dir: Path, values: dict[str, Any]) -> Old:
    """Return the cells of OLD: a SPEC, read with the same options as the new one, or a sweep."""
    from sweeptool import plan
    from sweeptool.plan import show

    if Path(old).is_file() or old == "-" or old.lstrip().startswith("{"):
        return show.of_plan(plan.make(load({**values, "grid": None, "spec": old}), values["project_dir"]))
    return show.of_sweep(find(old, sweeps_dir))
