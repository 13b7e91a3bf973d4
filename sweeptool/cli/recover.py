"""``recover`` on the command line: what a sweep left behind, and the commands that release it."""

from __future__ import annotations

import json
from pathlib import Path

import click

from sweeptool.cli import options
from sweeptool.errors import FAILED
from sweeptool.text import counted


@click.command()
@options.sweep_argument
@click.option("--release", is_flag=True, help="run the release commands, after asking")
@click.option("--yes", "-y", is_flag=True, help="do not ask")
@options.json_option
@click.pass_context
def recover(
    context: click.Context, *, sweep: str | None, sweeps_dir: Path, release: bool, yes: bool, as_json: bool
) -> None:
    """List what SWEEP (default: the newest) left behind: attempts without an outcome, pods that may still bill.

    What still runs is not listed. Only pods of this sweep are ever named, and their release deletes their disks.
    """
    from sweeptool import recover as recovery

    where = options.find(sweep, sweeps_dir)
    found = recovery.find(where)
    for note in found.notes:
        click.echo(f"note: {note}", err=True)
    if as_json:
        click.echo(json.dumps(recovery.describe(found), indent=2))
    else:
        click.echo("\n".join(recovery.lines(found)))
    pods = [one for one in found.left if one.release]
    if release and pods:
        if not yes:
            click.confirm(f"Delete {counted(len(pods), 'pod')}, disks included?", abort=True, err=True)
        if not recovery.release(where, pods, lambda line: click.echo(line, err=True)):
            context.exit(FAILED)


commands: list[click.Command] = [recover]
