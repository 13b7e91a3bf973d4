"""A Plan goes in, the text of a driver comes out; the same plan gives the same bytes."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from sweeptool import __version__, layout, money, shell
from sweeptool.frozen import cells_digest
from sweeptool.plan.freeze import freeze
from sweeptool.plan.model import Plan, Shard
from sweeptool.render import argvs, templates
from sweeptool.spec.model import Command

FILES = {"bash": "driver.sh", "make": "sweep.mk", "slurm": "sweep.sbatch", "parallel": "sweep.parallel.sh"}
"""Each target, and what its file is called."""

_TEMPLATES = {"make": "sweep.mk.j2", "slurm": "sweep.sbatch.j2", "parallel": "sweep.parallel.sh.j2"}
_ARRAY = 1000  # tasks of one Slurm array, by its usual MaxArraySize of 1001
_SPARE = 10  # minutes a Slurm task gets beyond its cell's limit, to provision and to clean up


def render(plan: Plan, target: str = "bash", *, remake: Callable[[str], str] | None = None) -> str:
    """Return the file that runs ``plan`` under ``target``; ``remake`` tells the command that makes a target again."""
    remake = remake or _remake(plan)
    if target == "bash":
        return _driver(plan, remake("bash"))
    spec = plan.spec
    size = len(plan.shards)
    template = templates.environment().get_template(_TEMPLATES[target])
    return template.render(
        title=_title(plan),
        version=__version__,
        driver=remake("bash"),
        remake=remake(target),
        name=spec.name,
        size=size,
        digest=_digest(plan),
        last=min(size, _ARRAY) - 1 if target == "slurm" else size - 1,
        jobs=plan.max_parallel,
        minutes=_minutes(plan),
        chunk=_ARRAY,
        ids=[shard.cell.id for shard in plan.shards],
        cells=[{"id": shard.cell.id, "index": shard.cell.index} for shard in plan.shards],
    )


def _driver(plan: Plan, remake: str) -> str:
    spec = plan.spec
    shapes, calls = argvs.shapes([_words(shard) for shard in plan.shards])
    template = templates.environment().get_template("driver.sh.j2")
    return template.render(
        title=_title(plan),
        version=__version__,
        source=spec.source,
        sha256=spec.sha256,
        remake=remake,
        sweep_dir=f"{layout.SWEEPS_DIR}/{spec.name}",
        name=spec.name,
        size=len(plan.shards),
        digest=_digest(plan),
        max_parallel=spec.max_parallel,
        programs=sorted(plan.runner.needs(spec)),
        files=sorted(plan.digests),
        before=[*map(_argv, spec.before), *_validation(plan)],
        after=[*map(_argv, spec.after)],
        shapes=[{"name": shape.name, "words": shape.words} for shape in shapes],
        secrets=_secrets(plan.shards),
        variables=sorted({name for shard in plan.shards for name in shard.cell.settings.secrets.values()}),
        cells=[
            {
                "label": f"{shard.cell.index} {plan.label(shard)}".rstrip(),
                "words": [shard.cell.id, *_pairs(shard.cell.params), "--", *call],
            }
            for shard, call in zip(plan.shards, calls, strict=True)
        ],
        plan=freeze(plan),
    )


def _digest(plan: Plan) -> str:
    return cells_digest(plan.spec.name, [shard.cell.id for shard in plan.shards])


def _remake(plan: Plan) -> Callable[[str], str]:
    return lambda target: command([plan.spec.source], target)


def command(words: Sequence[str], target: str) -> str:
    """Return the command that renders ``target`` again; ``words`` are what was typed after ``sweeptool render``."""
    wanted = [] if target == "bash" else [f"--target={target}"]
    stdin = " < SPEC" if "-" in words else ""
    return f"{shell.line(['sweeptool', 'render', *wanted, *words])}{stdin} > {FILES[target]}"


def _title(plan: Plan) -> str:
    spec = plan.spec
    cap = f", at most {money.dollars(spec.max_cost)}" if spec.max_cost is not None else ""
    cells = "1 cell" if len(plan.shards) == 1 else f"{len(plan.shards)} cells"
    return f"{spec.name}: {cells} through the runner {spec.runner.kind}, at most {plan.max_parallel} at a time{cap}."


def _minutes(plan: Plan) -> int:
    """Return the time limit of a Slurm task: all attempts of the longest cell, with room to clean up; 0 is no limit."""
    limits = [shard.cell.settings.max_runtime for shard in plan.shards]
    known = [limit for limit in limits if limit is not None]
    if len(known) < len(limits):
        return 0
    seconds = plan.attempts * (max(known) + 60 * _SPARE) + plan.retry.delay * (plan.attempts - 1)
    return -int(-seconds // 60)


def _validation(plan: Plan) -> Sequence[Sequence[str]]:
    if not plan.spec.validate:
        return ()
    return plan.runner.validation(plan.spec, [shard.cell for shard in plan.shards])


def _argv(command: Command) -> Sequence[str]:
    return ["bash", "-c", command] if isinstance(command, str) else command


def _words(shard: Shard) -> tuple[str, ...]:
    """Return a cell's whole command line, the spec's variables set by env(1).

    Bash itself may have a variable of such a name, or not let go of it (UID).
    """
    pairs = _pairs(shard.cell.settings.env)
    argv = shard.argv or ()
    return ("env", *pairs, *argv) if pairs else argv


def _secrets(shards: Sequence[Shard]) -> list[str]:
    """Return the secrets by name only: their values stay in the environment of whoever runs the driver."""
    wanted = {item for shard in shards for item in shard.cell.settings.secrets.items()}
    return [f"{name}={shell.variable(source)}" for name, source in sorted(wanted)]


def _pairs(variables: Mapping[str, str]) -> list[str]:
    return [f"{name}={value}" for name, value in variables.items()]
