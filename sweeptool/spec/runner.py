"""The ``runner`` of a spec goes in, a word or an object with options; a RunnerSpec comes out."""

from __future__ import annotations

from typing import Any

from sweeptool.errors import near
from sweeptool.runners import RUNNERS
from sweeptool.spec import kinds, templates
from sweeptool.spec.fields import Fields, Key, Kind
from sweeptool.spec.model import RunnerSpec
from sweeptool.spec.tree import Map, Node, Report, Text, member, quoted

KIND: Kind[str] = kinds.choice(*RUNNERS)
_KIND = Key("kind", KIND, "which single-job runner", required=True)
_ARGV = Key("argv", templates.WORDS, "the command runner's own command line")
_MANIFEST = Key("manifest", kinds.LINE, "the name of the manifest that the command runner's program writes")
_EVENTS = Key("events", kinds.LINE, "the name of the events file that the command runner's program writes")
_NEEDS_ARGV = "the command runner needs argv"
_ARGV_EXAMPLE = 'runner: {kind: command, argv: [./my-runner, "{rank}"]}'
_COMMAND_ONLY: tuple[Key[Any], ...] = (_ARGV, _MANIFEST, _EVENTS)
_KEYS = (_KIND, *_COMMAND_ONLY)


def _read(node: Node, path: str, report: Report) -> RunnerSpec | None:
    if not isinstance(node, Map):
        kind = KIND.read(node, path, report)
        if kind == "command":
            report.error(node, path, _NEEDS_ARGV, _ARGV_EXAMPLE)
        return RunnerSpec(kind) if kind else None
    fields = Fields(node, path, report)
    if not fields.has(_KIND):
        report.error(node, path, "'kind' is missing", f"one of {', '.join(RUNNERS)}")
        return None
    kind = fields.get(_KIND)
    if kind is None:
        return None
    _check_command_only(fields, kind)
    return RunnerSpec(
        kind=kind,
        argv=fields.get(_ARGV) or (),
        manifest=fields.get(_MANIFEST),
        events=fields.get(_EVENTS),
        options=_options(fields, kind),
    )


def _check_command_only(fields: Fields, kind: str) -> None:
    if kind == "command" and not fields.has(_ARGV):
        fields.report.error(fields.node, fields.path, _NEEDS_ARGV, _ARGV_EXAMPLE)
    for key in _COMMAND_ONLY if kind != "command" else ():
        if fields.has(key):
            fields.report.error(fields.key(key), fields.at(key), f"{key.name} is the command runner's, not {kind}'s")


def _options(fields: Fields, kind: str) -> dict[str, str]:
    """Return the options that the runner itself declares, in a mapping ``options`` from names to a line each."""
    extra = {name: node for name, node in fields.node.members.items() if name not in {key.name for key in _KEYS}}
    own: tuple[str, ...] = tuple(getattr(RUNNERS[kind], "options", ())) if extra else ()
    found: dict[str, str] = {}
    for name, node in extra.items():
        at = member(fields.path, name)
        if name in own:
            found[name] = kinds.value(node, at, fields.report) or ""
        else:
            known = [*(key.name for key in _KEYS if kind == "command" or key is _KIND), *own]
            remedy = near(name, known) or f"known: {', '.join(known)}"
            fields.report.error(fields.node.keys[name], at, f"{kind} has no option {quoted(name)}", remedy)
    return found


def _schema() -> dict[str, Any]:
    properties = {key.name: {"description": key.about, **key.kind.schema} for key in _KEYS}
    return {"anyOf": [KIND.schema, {"type": "object", "required": ["kind"], "properties": properties}]}


RUNNER: Kind[RunnerSpec] = Kind(_read, _schema())


def places(node: Node | None, path: str, spec: RunnerSpec) -> dict[tuple[str, ...], tuple[Node, str]]:
    """Return where the runner's argv stands in the document, if it does."""
    argv = node.members.get(_ARGV.name) if isinstance(node, Map) else None
    return {spec.argv: (argv, member(path, _ARGV.name))} if argv is not None else {}


def chosen(spec: RunnerSpec | None, flag: str | None, report: Report) -> RunnerSpec:
    """Return the runner that a spec and the command line agree on: the command line wins, ``local`` is the default."""
    if flag is None or (spec is not None and spec.kind == flag):
        return spec or RunnerSpec()
    if flag == "command":
        report.error(Text(flag), "--runner", _NEEDS_ARGV, _ARGV_EXAMPLE)
    return RunnerSpec(flag)
