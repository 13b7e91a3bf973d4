"""The make side on the command line: init, validate, plan, render, schema."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path
from typing import Any

import click

from sweeptool.cli import options
from sweeptool.runners import RUNNERS
from sweeptool.text import counted


@click.command()
@options.spec_options
def validate(**values: Any) -> None:
    """Name every problem of SPEC at once, each with its file, line, path and the mend."""
    found = options.planned(values)
    click.echo(f"ok: {counted(len(found.shards), 'cell')}", err=True)


@click.command("plan")
@options.spec_options
@options.json_option
@click.option("--diff", metavar="OLD", help="another SPEC or a sweep: which cells are new, gone, done")
@options.sweeps_option
def plan_(*, as_json: bool, diff: str | None, sweeps_dir: Path, **values: Any) -> None:
    """Show the cells in order, and at most what they cost and take."""
    from sweeptool import plan
    from sweeptool.plan import show

    found = options.planned(values)
    if diff is not None:
        changes = show.changes(found, options.old_cells(diff, sweeps_dir, values))
        click.echo(_json([asdict(change) for change in changes]) if as_json else show.difference(changes))
    else:
        click.echo(_json(plan.describe(found, str(sweeps_dir))) if as_json else show.table(found))


@click.command()
@options.spec_options
@click.option(
    "--target",
    type=click.Choice(["bash", "make", "slurm", "parallel"]),
    default="bash",
    show_default=True,
    help="bash: the driver; the others call it once a cell",
)
@click.option("-o", "--output", type=click.Path(dir_okay=True, path_type=Path), help="where to, instead of stdout")
def render(*, target: str, output: Path | None, **values: Any) -> None:
    """Print the driver of SPEC: one bash script that runs the sweep, resumes it, and stops at the cap."""
    from sweeptool import plan, render

    found = plan.runnable(options.planned(values))
    text = render.render(found, target, remake=options.remake(values))
    options.write(text, output, executable=target != "make")


@click.command()
@click.option("-o", "--output", type=click.Path(path_type=Path), help="where to, instead of stdout")
def schema(output: Path | None) -> None:
    """Print the JSON Schema of the native form, for editors."""
    from sweeptool.spec.schema import json_schema

    options.write(_json(json_schema()) + "\n", output)


@click.command()
@click.argument("directory", default=".", type=click.Path(file_okay=False, path_type=Path))
@click.option(
    "--runner",
    type=click.Choice(list(RUNNERS)),
    default="local",
    show_default=True,
    help="what runs a cell: a process here, a pod, or a program of your own",
)
def init(directory: Path, runner: str) -> None:
    """Write a starter spec and Makefile into DIRECTORY that run as they are."""
    from sweeptool import shell, starter

    for path in starter.write(directory, runner):
        click.echo(f"wrote {path}", err=True)
    there = "" if directory == Path() else f"cd {shell.word(str(directory))}; "
    click.echo(f"next: {there}sweeptool plan sweep.yaml; make sweep", err=True)


def _json(value: Any) -> str:
    return json.dumps(value, indent=2, ensure_ascii=False)


commands: list[click.Command] = [init, validate, plan_, render, schema]
