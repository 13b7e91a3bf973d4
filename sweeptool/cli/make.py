"""The make side on the command line: init, validate, plan, render, schema."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import click

from sweeptool.cli import options


@click.command()
@options.spec_options
def validate(**values: Any) -> None:
    """Name every problem of SPEC at once, each with its file, line, path and the mend."""
    from sweeptool import plan

    found = plan.make(options.load(values), values["project_dir"])
    for warning in found.warnings:
        click.echo(f"warning: {warning}", err=True)
    click.echo(f"ok: {len(found.shards)} cells", err=True)


@click.command("plan")
@options.spec_options
@click.option("--json", "as_json", is_flag=True, help="for programs")
@click.option("--diff", metavar="OLD", help="another SPEC or a sweep: which cells are new, gone, done")
@options.sweeps_option
def plan_(*, as_json: bool, diff: str | None, sweeps_dir: Path, **values: Any) -> None:
    """Show the cells in order, and at most what they cost and take."""
    from sweeptool import plan, planview

    found = plan.make(options.load(values), values["project_dir"])
    for warning in found.warnings:
        click.echo(f"warning: {warning}", err=True)
    if diff is not None:
        click.echo(planview.difference(found, options.old_cells(diff, sweeps_dir, values)))
    elif as_json:
        click.echo(json.dumps(plan.describe(found), indent=2, ensure_ascii=False))
    else:
        click.echo(planview.table(found))


@click.command()
@options.spec_options
@click.option("--target", type=click.Choice(["bash", "make", "slurm", "parallel"]), default="bash", show_default=True)
@click.option("-o", "--output", type=click.Path(dir_okay=True, path_type=Path), help="default: stdout")
def render(*, target: str, output: Path | None, **values: Any) -> None:
    """Print the driver of SPEC: one bash script that runs the sweep, resumes it, and stops at the cap."""
    from sweeptool import plan, render

    found = plan.runnable(plan.make(options.load(values), values["project_dir"]))
    for warning in found.warnings:
        click.echo(f"warning: {warning}", err=True)
    options.write(
        render.render(found, target, remake=options.remake(values, target)), output, executable=target != "make"
    )


@click.command()
@click.option("-o", "--output", type=click.Path(path_type=Path), help="default: stdout")
def schema(output: Path | None) -> None:
    """Print the JSON Schema of the native form, for editors."""
    from sweeptool.spec.schema import json_schema

    options.write(json.dumps(json_schema(), indent=2, ensure_ascii=False) + "\n", output)


@click.command()
@click.argument("directory", default=".", type=click.Path(file_okay=False, path_type=Path))
@click.option("--runner", type=click.Choice(["local", "runpod-deploy", "command"]), default="local", show_default=True)
def init(directory: Path, runner: str) -> None:
    """Write a starter spec and Makefile into DIRECTORY that run as they are."""
    from sweeptool import starter

    for path in starter.write(directory, runner):
        click.echo(f"wrote {path}", err=True)
    click.echo("next: sweeptool plan sweep.yaml; make sweep", err=True)


commands: list[click.Command] = [init, validate, plan_, render, schema]
