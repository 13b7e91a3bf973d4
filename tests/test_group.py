"""The command line as a whole: help, misuse, one place for errors, pipes and signals."""

from __future__ import annotations

import errno
import signal
import subprocess
import sys
import time

import click
import pytest

from sweeptool import cli
from sweeptool.cli import group
from sweeptool.errors import Problem, SweepError

COMMANDS = group.group.list_commands(click.Context(group.group))


def test_every_command_of_the_table_is_there():
    assert [name for names in group.MODULES.values() for name in names] == COMMANDS


def test_help_has_a_line_for_every_command_that_is_not_hidden_and_cuts_none(capsys):
    assert cli.perform(["--help"]) == 0
    text = capsys.readouterr().out
    listed = [line.split()[0] for line in text.partition("Commands:\n")[2].splitlines()]
    context = click.Context(group.group)
    assert listed == [name for name in COMMANDS if not group.group.get_command(context, name).hidden]
    assert "..." not in text.partition("Commands:")[2]
    assert max(map(len, text.splitlines())) <= 80


@pytest.mark.parametrize("name", COMMANDS)
@pytest.mark.parametrize("flag", ["-h", "--help"])
def test_every_command_explains_itself(capsys, name, flag):
    assert cli.perform([name, flag]) == 0
    text = capsys.readouterr().out
    assert text.startswith(f"Usage: sweeptool {name}")
    assert len(text.splitlines()) > 4


@pytest.mark.parametrize("name", COMMANDS)
def test_every_option_of_every_command_says_what_it_does_or_lists_its_choices(name):
    command = group.group.get_command(click.Context(group.group), name)
    options = [] if command.hidden else [p for p in command.params if isinstance(p, click.Option) and not p.hidden]
    assert [p.opts for p in options if not p.help and not isinstance(p.type, click.Choice)] == []


@pytest.mark.parametrize(
    ("words", "line"),
    [
        pytest.param(["plna"], "error: no such command 'plna' (did you mean 'plan'?)", id="command"),
        pytest.param(["events_query"], "error: no such command 'events_query' (did you mean 'events-query'?)", id="_"),
        pytest.param(["xyzzy"], "error: no such command 'xyzzy' (see 'sweeptool --help')", id="unknown-command"),
        pytest.param(["--versoin"], "error: no such option '--versoin' (did you mean '--version'?)", id="option"),
        pytest.param(["plan", "--jsn"], "error: no such option '--jsn' (did you mean '--json'?)", id="its-option"),
        pytest.param(["plan", "--name"], "error: Option '--name' requires an argument", id="no-value"),
        pytest.param(["logs"], "error: Missing argument 'SWEEP' (see 'sweeptool logs --help')", id="no-argument"),
        pytest.param(["list", "b"], "error: Got unexpected extra argument (b) (see 'sweeptool list --help')", id="extra"),
        pytest.param(["local-run", "--gp", "x"], "error: local-run: no such option '--gp' (did you mean '--gpu'?)", id="local-run"),
    ],
)  # fmt: skip
def test_misuse_is_one_line_and_exit_2(capsys, words, line):
    assert cli.perform(words) == 2
    assert capsys.readouterr() == ("", f"{line}\n")


def test_without_a_command_the_help_is_on_stderr_and_the_exit_code_2(capsys):
    assert cli.perform([]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith("Usage: sweeptool")


def test_several_problems_are_several_lines_and_the_errors_own_exit_code(capsys):
    problems = Problem("one", source="a.yaml", line=3), Problem("two", path="x.y", remedy="mend it")
    assert group.explain(SweepError(*problems, exit_code=5)) == 5
    assert capsys.readouterr().err == "error: a.yaml:3: one\nerror: x.y: two (mend it)\n"


@pytest.mark.parametrize(
    ("error", "line", "code"),
    [
        pytest.param(
            PermissionError(errno.EACCES, "Permission denied", "/a b"), "/a b: Permission denied", 2, id="file"
        ),
        pytest.param(
            OSError(errno.ENOSPC, "No space left on device"), "cannot write: No space left on device", 1, id="disk"
        ),
        pytest.param(OSError(errno.EAGAIN, "Try again"), "the system gives no more: Try again", 1, id="processes"),
    ],
)
def test_file_that_the_system_refuses_is_one_line(capsys, error, line, code):
    assert group.explain(error) == code
    assert capsys.readouterr().err == f"error: {line}\n"


@pytest.mark.parametrize("bug", [ValueError("a bug"), OSError(errno.EBADF, "Bad file descriptor"), KeyError("x")])
def test_a_bug_shows_its_traceback(bug):
    with pytest.raises(type(bug)):
        group.explain(bug)


def test_reader_that_has_seen_enough_is_no_error(project):
    values = list(range(5000))
    here = project({"sweep.yaml": f"name: a\ncommand: 'true'\nmatrix: {{params: {{a: {values}}}}}"})
    done = here.run("bash", "-c", "set -o pipefail; sweeptool plan sweep.yaml | head -n 1")
    assert (done.returncode, done.stderr, len(done.stdout.splitlines())) == (0, "", 1)


def test_full_disk_behind_stdout_is_one_line(project):
    here = project({"sweep.yaml": "name: a\ncommand: 'true'\n"})
    done = here.run("bash", "-c", f"{sys.executable} -m sweeptool render sweep.yaml > /dev/full")
    assert (done.returncode, done.stderr) == (1, "error: cannot write: No space left on device\n")


def test_ctrl_c_is_130_without_a_traceback(project):
    here = project()
    started = subprocess.Popen(
        [sys.executable, "-m", "sweeptool", "plan", "-"],
        cwd=here.path, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    time.sleep(1)
    started.send_signal(signal.SIGINT)
    assert started.wait(10) == 130
    assert "Traceback" not in started.stderr.read()


def test_output_is_utf_8_under_every_locale(project):
    here = project({"sweep.yaml": "name: a\ncommand: [echo, '{x}']\nmatrix: {params: {x: [日本]}}\n"})
    for locale in ("C", "POSIX", "de_DE.ISO-8859-1"):
        done = here.tool("render", "sweep.yaml", env={"LC_ALL": locale, "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"})
        assert "日本" in done.stdout


def test_completion_names_the_commands(project):
    env = {"_SWEEPTOOL_COMPLETE": "bash_complete", "COMP_WORDS": "sweeptool ev", "COMP_CWORD": "1"}
    assert project().tool(env=env).stdout == "plain,events-query\n"


def test_module_and_command_are_the_same(project):
    here = project()
    assert here.run("sweeptool", "--version").stdout == here.tool("--version").stdout
