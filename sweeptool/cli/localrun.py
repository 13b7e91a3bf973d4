"""``sweeptool local-run``: the embedded single-job runner, listed and explained here, run by runners.local.process."""

from __future__ import annotations

import click

from sweeptool.runners.local import process


@click.command(
    "local-run",
    context_settings={"ignore_unknown_options": True, "allow_interspersed_args": False},
    options_metavar="[OPTIONS] --",
    epilog=process.EPILOG,
)
@click.argument("words", nargs=-1, type=click.UNPROCESSED, metavar="COMMAND...")
@click.pass_context
def local_run(context: click.Context, words: tuple[str, ...]) -> None:
    """Run one job here as a rented pod would: its own run dir, time limit, manifest and events.

    The driver calls this once a cell; it is of use by hand to try one cell's command.
    """
    context.exit(process.main(words))


commands: list[click.Command] = [local_run]
