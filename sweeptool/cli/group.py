"""The click group: a command's name goes in, its module is imported only then; errors become lines and a code."""

from __future__ import annotations

import errno
import importlib
import importlib.util
import os
import stat
from collections.abc import Sequence
from contextlib import suppress

import click

from sweeptool import __version__
from sweeptool.errors import FAILED, USAGE, SweepError, near
from sweeptool.text import printable

MODULES = {  # module -> its commands, each with what it does in a few words; empty: not listed
    "make": {
        "init": "write a starter project that runs as it is",
        "validate": "name every problem of a spec at once",
        "plan": "the cells, and at most what they cost and take",
        "render": "the driver, a bash script; or make, Slurm, GNU parallel",
        "schema": "the JSON Schema of specs, for editors",
    },
    "run": {
        "run": "render a spec and run it, or go on with it",
        "ledger": "",
        "job-config": "",
        "status": "phase, cells, cost and best cell of a sweep",
        "list": "the sweeps here",
        "logs": "the output of one cell",
        "budget": "what is spent, reserved, unknown and left",
    },
    "control": {
        "suspend": "launch nothing more; what runs goes on to its end",
        "resume": "take back suspend or cancel, raise the cap, go on",
        "cancel": "launch nothing more and interrupt what runs",
    },
    "read": {
        "manifest-summary": "every run, and the totals",
        "best": "which cells won, and how sure that is",
        "events-query": "search the events of a sweep or a tree",
        "collect": "one tidy row a cell and attempt: CSV, JSON, Parquet",
        "report": "one HTML page: tables, plots, warnings",
        "compare": "two sweeps or two runs side by side",
    },
    "recover": {"recover": "what may still bill, and its release"},
    "doctor": {"doctor": "what is missing on this machine"},
    "localrun": {"local-run": "one job here, as a rented pod would run it"},
}
_HOME = {name: module for module, names in MODULES.items() for name in names}
_NO_DRIVER = b"""\
#!/bin/sh
echo "error: there is no driver in this file: 'sweeptool render' failed; it said why" >&2
exit 2
"""
_COMPLETE = "_SWEEPTOOL_COMPLETE"
_TERMINAL = {"help_option_names": ["-h", "--help"], "max_content_width": 100}


class LazyGroup(click.Group):
    """A group that knows its commands by name and imports ``sweeptool.cli.<module>`` when one is asked for."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the commands in the order in which a sweep meets them."""
        return [name for name in _HOME if self.get_command(ctx, name) is not None]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002 - click's own
        """Return a command by its full name, None where there is none."""
        module = f"sweeptool.cli.{_HOME.get(cmd_name, '')}"
        if cmd_name not in _HOME or importlib.util.find_spec(module) is None:
            return None
        commands: list[click.Command] = importlib.import_module(module).commands
        return next((command for command in commands if command.name == cmd_name), None)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002 - click's own
        """List the commands, each with a few words that are never cut."""
        with formatter.section("Commands"):
            formatter.write_dl([(name, text) for names in MODULES.values() for name, text in names.items() if text])

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Return the command that ``args`` begins with; name the nearest one where it is misspelt."""
        name = args[0]
        command = self.get_command(ctx, name)
        if command is None and not name.startswith("-"):
            hint = near(name, self.list_commands(ctx)) or "see 'sweeptool --help'"
            raise click.UsageError(f"no such command '{name}' ({hint})", ctx)
        return name, command, args[1:]


@click.group(cls=LazyGroup, context_settings=_TERMINAL)
@click.version_option(__version__, message="sweeptool %(version)s")
def group() -> None:
    """Write one sweep spec; get a bash driver you can read, that never overspends and survives anything.

    \b
    sweeptool plan spec.yaml            the cells, and at most what they cost
    sweeptool render spec.yaml          the driver, a bash script
    sweeptool run spec.yaml             render it, and run it or go on with it
    sweeptool manifest-summary          what ran, what it cost
    sweeptool best                      which cell won
    """  # noqa: D301 - click wants the control character


def invoke(words: Sequence[str]) -> int:
    """Run one command line and return the exit code that its command gave."""
    if _COMPLETE in os.environ:
        from click.shell_completion import shell_complete

        return shell_complete(group, {}, "sweeptool", _COMPLETE, os.environ[_COMPLETE])
    color = False if os.environ.get("NO_COLOR") else None
    try:
        with group.make_context("sweeptool", list(words), color=color) as context:
            group.invoke(context)
    except click.exceptions.Exit as done:
        return done.exit_code
    except click.exceptions.NoArgsIsHelpError as asked:
        click.echo(asked.format_message(), err=True)
        return USAGE
    return 0


def explain(error: Exception) -> int:
    """Print what the user can mend as ``error:`` lines and return the exit code; raise a bug again."""
    match error:
        case SweepError():
            lines, code = tuple(map(str, error.problems)), error.exit_code
        case click.Abort():
            lines, code = ("aborted",), FAILED
        case click.ClickException():
            lines, code = (_misuse(error),), USAGE
        case OSError(filename=str() | bytes() as path):
            lines, code = (f"{os.fsdecode(path)}: {error.strerror}",), USAGE
        case OSError(errno=errno.ENOSPC | errno.EDQUOT | errno.EFBIG | errno.EIO):
            lines, code = (f"cannot write: {error.strerror}",), FAILED
        case OSError(errno=errno.EAGAIN | errno.ENOMEM | errno.EMFILE | errno.ENFILE):
            lines, code = (f"the system gives no more: {error.strerror}",), FAILED
        case _:
            raise error
    for line in lines:
        click.echo(f"error: {printable(line)}", err=True)
    return code


def spoil() -> None:
    """Leave a script that fails where ``render > FILE`` failed: an empty one is a success to every shell."""
    with suppress(OSError):
        status = os.fstat(1)
        if stat.S_ISREG(status.st_mode) and status.st_size == 0:
            os.write(1, _NO_DRIVER)


def _misuse(error: click.ClickException) -> str:
    """Return click's own words on one line, with the nearest option or the page that lists them all."""
    text = " ".join(error.format_message().split()).removesuffix(".")
    context = error.ctx if isinstance(error, click.UsageError) else None
    if context is None or "(see " in text or "did you mean" in text:
        return text
    hint = f"see '{context.command_path} --help'"
    if isinstance(error, click.NoSuchOption):
        text = f"no such option '{error.option_name}'"
        known = {option for parameter in context.command.get_params(context) for option in parameter.opts}
        hint = near(error.option_name, known) or hint
    return f"{text} ({hint})"
