"""Quoting: whatever text, one word of bash; and nothing in a template that is not quoted."""

from __future__ import annotations

import subprocess

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from sweeptool import shell
from sweeptool.text import printable

HOSTILE = [
    'run "A"',
    "$HOME/out",
    "`id`",
    "it's",
    "*",
    "--x",
    "-n",
    "a=b",
    "a\nb",
    "",
    "日本",
    "c(4,2*7)",
    "%s",
    "#",
    "!",
    "\\",
    "\\\\n",
    "{a,b}",
    "~",
    "a b",
    "\t",
    "\r\n",
    "\x1b[31m",
    "\x7f",
    "\u2028",
    "'\\''",
    "$'x'",
    "\x01\x02",
    "é" * 300,
]
no_nul = st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"]), max_size=40)


def bash(script: str) -> list[str]:
    """Return the NUL-separated words that a script prints."""
    done = subprocess.run(["bash", "-c", script], capture_output=True, check=True)
    return [word.decode() for word in done.stdout.split(b"\0")[:-1]]


@pytest.mark.parametrize("text", HOSTILE)
def test_a_hostile_word_arrives_byte_for_byte(text):
    assert bash(f"printf '%s\\0' {shell.word(text)}") == [text]


@settings(max_examples=40, deadline=None)
@given(st.lists(no_nul, min_size=1, max_size=20))
@example(HOSTILE)
def test_any_list_of_words_arrives_as_an_array(texts):
    assert bash(f"a=({shell.words(texts)}); printf '%s\\0' \"${{a[@]}}\"") == texts


@settings(max_examples=40, deadline=None)
@given(no_nul)
@example("a\nrm -rf /")
@example("\u2028x\u2029y\x85z\x0bw\x0cv")
def test_a_comment_stays_on_its_line(text):
    assert bash(f"# {shell.comment(text)}\nprintf 'here\\0'") == ["here"]
    assert len(shell.comment(text).splitlines()) <= 1


@settings(max_examples=40, deadline=None)
@given(st.lists(no_nul, min_size=1, max_size=20))
@example(HOSTILE)
@example(["\u2028x\u2029y\x85z\x0bw\x0cv\x9b", "x" * 5000])
def test_a_line_to_copy_is_one_line_whole_and_means_the_same_in_every_locale(texts):
    line = shell.line(["printf", r"%s\0", *texts])
    assert len(line.splitlines()) == 1
    assert printable(line) == line
    for locale in ("C.UTF-8", "C"):
        assert bash(f"export LC_ALL={locale}; {line}") == texts


def test_a_plain_word_is_left_plain():
    assert shell.words(["python3", "train.py", "--lr=1e-3", "a_b", "x@y:/z"]) == "python3 train.py --lr=1e-3 a_b x@y:/z"


def test_what_only_the_driver_knows_becomes_a_variable_in_double_quotes():
    assert shell.word("--out=it's/\0attempt\0/x") == "'--out=it'\\''s/'\"$attempt\"/x"
    assert bash(f"SECRET='a  $b'; printf '%s\\0' X={shell.word(shell.variable('SECRET'))}") == ["X=a  $b"]


def test_a_lone_nul_is_refused():
    with pytest.raises(ValueError, match="NUL"):
        shell.word("a\0b")


@pytest.mark.parametrize("first", ["if", "select", "A=b", "!", "{", "[[", "a b", "coproc", "function"])
def test_the_first_word_of_a_command_is_never_syntax(first):
    script = f"command_not_found_handle() {{ printf '%s\\0' \"$@\"; }}; {shell.command([first, 'x'])}"
    assert bash(script) == [first, "x"]


def test_a_program_may_be_called_by_its_path():
    assert shell.command(["./run.sh", "--x"]) == "./run.sh --x"
