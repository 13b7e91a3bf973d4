"""``doctor`` on the command line: what is missing, before it costs."""

from __future__ import annotations

from pathlib import Path

import click

from sweeptool.cli import options
from sweeptool.errors import FAILED
from sweeptool.runners import RUNNERS


@click.command()
@click.option("--runner", type=click.Choice(list(RUNNERS)), default="local", show_default=True)
@options.project_option(Path(), "your project")
@click.pass_context
def doctor(context: click.Context, *, runner: str, project_dir: Path) -> None:
    """Check bash, programs, credentials (by name) and limits; with runpod-deploy, show its table of GPUs and regions.

    Exits 0 where all is there, 1 where something is missing.
    """
    from sweeptool import doctor as checks

    found = checks.examine(runner, project_dir)
    click.echo("\n".join(checks.lines(found)))
    if runner == "runpod-deploy":
        click.echo("\n".join(["", *checks.table(project_dir)]))
    if not all(check.ok for check in found):
        context.exit(FAILED)


commands: list[click.Command] = [doctor]
