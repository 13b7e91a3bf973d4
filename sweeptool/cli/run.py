"""Running on the command line: run, ledger, status, list, logs, budget."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import click

from sweeptool.cli import options
from sweeptool.errors import Problem, SweepError
from sweeptool.layout import SweepDir


@click.command()
@options.spec_options
@options.sweeps_option
@click.option("-j", "parallel", metavar="N", help="at most N cells at once; 0: all")
@click.pass_context
def run(context: click.Context, /, *, parallel: str | None, sweeps_dir: Path, **values: Any) -> None:
    """Render SPEC into its sweep directory and run it, or go on with it. Exits as the driver does."""
    from sweeptool import launch, plan, render

    found = plan.runnable(options.planned(values))
    where = values["project_dir"] / sweeps_dir / found.spec.name
    _begun_elsewhere(found.spec.source, where, values["project_dir"])
    text = render.render(found, remake=options.remake(values))
    words = [] if parallel is None else ["-j", parallel]
    context.exit(launch.driver(SweepDir(where), text, values["project_dir"], words))


def _begun_elsewhere(source: str, where: Path, project: Path) -> None:
    """Raise SweepError where a sweep began beside its spec and would begin again here, with a ledger of its own."""
    home = Path(source).parent
    if project == Path() and not where.is_absolute() and not where.exists() and (home / where).exists():
        what = f"this sweep has begun in {home}"
        raise SweepError(Problem(what, source=source, remedy=f"run it there, or say where: --project-dir {home}"))


@click.command(hidden=True, context_settings={"ignore_unknown_options": True})
@click.argument("words", nargs=-1, type=click.UNPROCESSED)
@click.pass_context
def ledger(context: click.Context, words: tuple[str, ...]) -> None:
    """Keep the records of one driver: questions on stdin, answers on stdout. Only drivers call this."""
    from sweeptool.ledger import serve

    context.exit(serve.main(words))


@click.command("job-config", hidden=True)
@click.argument("directory", type=click.Path(path_type=Path))
@click.argument("index", type=int)
def job_config(directory: Path, index: int) -> None:
    """Write the job config of one cell, as its first attempt would get it, under DIRECTORY/validate."""
    from sweeptool import frozen
    from sweeptool.ledger import launching

    launching.rehearse(SweepDir(directory), frozen.read(SweepDir(directory).plan), index, Path())


@click.command()
@options.sweep_argument
@click.option("--watch", "-w", is_flag=True, help="go on showing it until it ends")
@options.json_option
@click.option("--check-complete", is_flag=True, help="exit 0 complete, 1 failed or cancelled, 2 not done yet, 3 error")
@click.option("--final", is_flag=True, hidden=True, help="as a driver prints it when it ends")
@click.pass_context
def status(
    context: click.Context,
    *,
    sweep: str | None,
    sweeps_dir: Path,
    watch: bool,
    as_json: bool,
    check_complete: bool,
    final: bool,
) -> None:
    """Show phase, cells, cost and the best cell of SWEEP (default: the newest)."""
    from sweeptool import status as statuses
    from sweeptool.cli import final as finals
    from sweeptool.status import show

    options.exclusive({"--watch": watch, "--json": as_json, "--check-complete": check_complete})
    if check_complete:
        code, word = statuses.completeness(lambda: options.find(sweep, sweeps_dir))
        click.echo(word, err=True)
        context.exit(code)
    where = options.find(sweep, sweeps_dir)
    if watch:
        from sweeptool.status import live

        live.watch(where, click.echo)
        return
    if final:
        context.exit(finals.main(str(where.path)))
    found = statuses.read(where)
    options.warn(found.state.oddities)
    if as_json:
        click.echo(json.dumps(statuses.describe(found), indent=2, ensure_ascii=False))
    else:
        click.echo(show.table([found], cells=True))


@click.command("list")
@options.sweeps_option
def list_(sweeps_dir: Path) -> None:
    """List the sweeps here."""
    from sweeptool import locate
    from sweeptool import status as statuses
    from sweeptool.status import show

    found, problems = statuses.every(locate.existing(sweeps_dir))
    options.warn(map(str, problems))
    click.echo(show.table(found))


@click.command()
@click.argument("sweep")
@click.argument("cell")
@options.sweeps_option
@click.option("--follow", "-f", is_flag=True, help="go on printing until the attempt ends")
@click.option("--attempt", type=int, help="default: the newest")
def logs(sweep: str, cell: str, sweeps_dir: Path, attempt: int | None, *, follow: bool) -> None:
    """Print the output of one cell of SWEEP: CELL is its index, name or id."""
    from sweeptool import logs as cell_logs

    files = cell_logs.find(options.find(sweep, sweeps_dir), cell, attempt, wait=follow)
    cell_logs.copy(files, sys.stdout.buffer, sys.stderr.buffer, follow=follow)


@click.command()
@options.sweep_argument
@click.option(
    "--root", type=click.Path(exists=True, file_okay=False, path_type=Path), help="run dirs instead of a sweep"
)
@click.option("--max-cost-usd", "cap", metavar="X", help="the cap; default: the sweep's own")
@options.json_option
@click.pass_context
def budget(
    context: click.Context, *, sweep: str | None, sweeps_dir: Path, root: Path | None, cap: str | None, as_json: bool
) -> None:
    """Show what is spent, reserved, unknown and left; exit 0 within the cap, 3 at it."""
    from sweeptool import budget as budgets

    options.exclusive({"SWEEP": sweep, "--root": root})
    found = budgets.of_root(root, cap) if root is not None else budgets.of_sweep(options.find(sweep, sweeps_dir), cap)
    options.warn(found.oddities)
    click.echo(json.dumps(budgets.describe(found), indent=2) if as_json else budgets.line(found))
    context.exit(budgets.verdict(found))


commands: list[click.Command] = [run, ledger, job_config, status, list_, logs, budget]
