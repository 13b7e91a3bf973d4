"""Which module may import which: the two halves apart, and each heavy library in its one place."""

from __future__ import annotations

import ast
import fnmatch
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent / "sweeptool"
FILES = sorted(ROOT.rglob("*.py"))

MAKE = ("spec", "spec.*", "cells", "plan", "plan.*", "shell", "render", "render.*")
READ = (
    "runs",
    "runs.*",
    "frame",
    "analysis",
    "analysis.*",
    "events",
    "events.*",
    "report",
    "report.*",
    "summary",
    "compare",
    "collect",
)
# A library, and the only modules that may import it.
HOMES = {
    "click": ("cli", "cli.*"),
    "rich": ("cli", "cli.*", "status.live"),
    "jinja2": ("render.*", "report", "report.*"),
    "yaml": (
        "spec.*",
        "runners.runpod.template",
        "runners.runpod.jobconfig",
        "runners.runpod.verdicts",
    ),  # the last three: job configs
    "pandas": ("frame", "analysis", "analysis.*", "report", "report.*", "collect"),
    "tabulate": ("tables", "plan.show", "status.show"),
    "psutil": ("ledger.liveness",),
}
LAZY = ("pandas", "pyarrow", "rich", "jinja2", "yaml", "tabulate", "psutil", "click")


def name(path: Path) -> str:
    """Return a file's dotted name under sweeptool: ``spec.model``, ``cli``."""
    parts = path.relative_to(ROOT).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


MODULES = {f"sweeptool.{name(path)}" for path in FILES}


def imports(path: Path) -> Iterator[tuple[str, bool]]:
    """Yield the dotted name of everything that a file imports when it runs, and whether inside a function."""
    tree = ast.parse(path.read_text())
    for node in ast.walk(tree):
        if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING":
            node.body = [ast.Pass()]
    inside = {
        id(node)
        for function in ast.walk(tree)
        if isinstance(function, ast.FunctionDef | ast.Lambda)
        for node in ast.walk(function)
    }
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield alias.name, id(node) in inside
        elif isinstance(node, ast.ImportFrom):
            for alias in node.names:
                full = f"{node.module}.{alias.name}"
                yield full if full in MODULES else str(node.module), id(node) in inside


def among(module: str, patterns: tuple[str, ...]) -> bool:
    return any(fnmatch.fnmatchcase(module, pattern) for pattern in patterns)


IMPORTS = [(name(path), imported, lazy) for path in FILES for imported, lazy in imports(path)]


def reached(module: str) -> set[str]:
    """Return every module of ours that ``module`` imports, directly or through others."""
    found: set[str] = set()
    waiting = [module]
    while waiting:
        here = waiting.pop()
        new = {imported[10:] for importer, imported, _ in IMPORTS if importer == here and imported in MODULES} - found
        found |= new
        waiting += new
    return found


@pytest.mark.parametrize(("mine", "other"), [(MAKE, READ), (READ, MAKE)], ids=["make-side", "read-side"])
def test_the_make_side_never_reaches_the_read_side_nor_the_reverse(mine, other):
    ours = [name(path) for path in FILES if among(name(path), mine)]
    crossed = {module: sorted(found for found in reached(module) if among(found, other)) for module in ours}
    assert ours
    assert {module: found for module, found in crossed.items() if found} == {}


@pytest.mark.parametrize("library", HOMES)
def test_each_library_stays_in_its_place(library):
    strays = {module for module, imported, _ in IMPORTS if imported.partition(".")[0] == library}
    assert sorted(module for module in strays if not among(module, HOMES[library])) == []


def test_pandas_is_imported_inside_functions_only():
    assert [
        module for module, imported, lazy in IMPORTS if imported.startswith(("pandas", "pyarrow")) and not lazy
    ] == []


def test_the_library_never_imports_the_command_line():
    found = {module for module, imported, _ in IMPORTS if imported.startswith("sweeptool.cli")}
    assert {module for module in found if not among(module, ("cli", "cli.*", "__main__"))} == set()


PROGRAMS = ("cli", "cli.*", "ledger.serve", "runners.local.process")  # what is run, not called


@pytest.mark.parametrize("path", [p for p in FILES if not among(name(p), PROGRAMS)], ids=name)
def test_the_library_neither_prints_nor_exits(path):
    said = [
        f"{path.name}:{node.lineno}"
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.Call) and ast.unparse(node.func) in ("print", "exit", "sys.exit", "sys.stdout.write")
    ]
    assert said == []


@pytest.mark.parametrize("path", FILES, ids=name)
def test_no_module_is_longer_than_300_lines(path):
    assert len(path.read_text().splitlines()) <= 300


@pytest.mark.parametrize("path", FILES, ids=name)
def test_a_module_opens_with_a_sentence(path):
    text = path.read_text()
    assert not text.strip() or (ast.get_docstring(ast.parse(text)) or "").splitlines()[0].endswith((".", "!"))


def loaded(here: Path, *words: str) -> set[str]:
    """Return the top-level modules that a command line has imported when it ends."""
    script = (
        "import sys, atexit; atexit.register(lambda: print(*{m.partition('.')[0] for m in sys.modules}, file=sys.stderr))\n"
        "import sweeptool.cli; sys.exit(sweeptool.cli.perform(sys.argv[1:]))"
    )
    done = subprocess.run([sys.executable, "-c", script, *words], cwd=here, capture_output=True, text=True, check=False)
    return set(done.stderr.splitlines()[-1].split())


@pytest.mark.parametrize(
    ("words", "allowed"),
    [
        pytest.param(["local-run", "--", "true"], set(), id="local-run"),
        pytest.param(["--version"], {"click"}, id="version"),
        pytest.param(["suspend", "--help"], {"click"}, id="suspend"),
        pytest.param(["budget", "--help"], {"click"}, id="budget"),
        pytest.param(["ledger", "--help"], {"click"}, id="ledger"),
        pytest.param(["manifest-summary", "--help"], {"click"}, id="manifest-summary"),
        pytest.param(["render", "--help"], {"click"}, id="render"),
    ],
)
def test_a_command_starts_without_what_it_does_not_need(tmp_path, words, allowed):
    assert loaded(tmp_path, *words) & set(LAZY) == allowed


def test_importing_the_package_imports_nothing_of_it():
    script = "import sys, sweeptool; print(*(m for m in sys.modules if m.startswith('sweeptool')))"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["sweeptool"]
