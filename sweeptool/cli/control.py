"""Steering a sweep from another terminal: suspend, resume, cancel."""

from __future__ import annotations

from pathlib import Path

import click

from sweeptool.cli import options
from sweeptool.layout import SweepDir


@click.command()
@options.sweep_argument
def suspend(sweep: str | None, sweeps_dir: Path) -> None:
    """Launch nothing more of SWEEP until it is resumed; cells that run go on to their end."""
    from sweeptool import control

    click.echo(control.suspend(_found(sweep, sweeps_dir)), err=True)


@click.command()
@options.sweep_argument
@click.option("--max-cost-usd", "cap", metavar="X", help="the new cap of the whole sweep")
@options.project_option(None, "where relative paths start; default: above artifacts/sweeps, else here")
@click.option("--no-run", is_flag=True, help="start no driver: make, Slurm or parallel will")
@click.pass_context
def resume(
    context: click.Context,
    *,
    sweep: str | None,
    sweeps_dir: Path,
    cap: str | None,
    project_dir: Path | None,
    no_run: bool,
) -> None:
    """Take back suspend or cancel, raise the cap, and go on with SWEEP. Exits as the driver does."""
    from sweeptool import control, launch

    where = _found(sweep, sweeps_dir)
    idle = control.resume(where, cap)
    if no_run or not idle:
        click.echo("resumed; run it again to go on" if idle else "resumed; the driver that runs goes on", err=True)
        return
    context.exit(launch.driver(where, None, project_dir or launch.project_of(where), []))


@click.command()
@options.sweep_argument
def cancel(sweep: str | None, sweeps_dir: Path) -> None:
    """Launch nothing more of SWEEP and interrupt the cells that run, so that they release what they rent."""
    from sweeptool import control

    where = _found(sweep, sweeps_dir)
    click.echo(control.cancel(where, lambda line: click.echo(line, err=True)), err=True)


def _found(sweep: str | None, sweeps_dir: Path) -> SweepDir:
    """Return the sweep that is meant; say which where the user did not."""
    where = options.find(sweep, sweeps_dir)
    if sweep is None:
        click.echo(f"sweep   {where.path.name}", err=True)
    return where


commands: list[click.Command] = [suspend, resume, cancel]
