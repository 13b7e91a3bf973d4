"""Values reach the job as they were written, and what is no spec at all is said in one line with its place."""

from __future__ import annotations

import itertools
import json

import pytest

from sweeptool.spec import yamltext
from tests.specs import as_json, params, read, wrong

VERBATIM = [
    "1e-4",
    "0.10",
    "010",
    "3.10",
    "no",
    "on",
    "y",
    "12:30",
    "12:30:00",
    "1_000",
    "9007199254740993",
    "2026-01-15",
    "2026-01-15T10:00:00Z",
    "true",
    "True",
    "+1",
    ".5",
    "1.",
    "0x1F",
    "0o17",
    ".inf",
    ".NaN",
    "=",
    "<<",
    "1e400",
    "713752e1",
    "c(4,2*7)".replace(",", ";"),
    "50%",
    "a#b",
    "日本",
]


@pytest.fixture(params=["libyaml", "pure"])
def yaml_parser(request, monkeypatch):
    """Read YAML with the C library, and without it."""
    if request.param == "pure":
        monkeypatch.setattr(yamltext, "_COMPOSER", yamltext._SlowComposer)
    return request.param


@pytest.mark.parametrize(
    "spec",
    [
        pytest.param("matrix: {{params: {{v: [{}]}}}}", id="native"),
        pytest.param("grid: {{v: [{}]}}", id="grid"),
        pytest.param("params: [{{v: {}}}]", id="row"),
        pytest.param("matrix:\n  params:\n    v:\n      - {}", id="block"),
        pytest.param("matrix: {{include: [{{v: {}}}]}}", id="include"),
        pytest.param("matrix: {{zip: [{{v: [{}]}}]}}", id="zip"),
    ],
)
@pytest.mark.parametrize("text", VERBATIM)
def test_a_plain_scalar_is_its_text(yaml_parser, spec, text):
    assert params(read(spec.format(text)), "v") == [text]


@pytest.mark.parametrize(
    "text",
    [
        '"null"',
        "'null'",
        '"~"',
        "''",
        "!!str 1",
        "!!str null",
        "!!int 1",
        "!!bool no",
        "|-\n        null",
    ],
)
def test_quotes_a_block_and_the_tag_of_text_make_text(yaml_parser, text):
    expected = {
        "''": "",
        "!!str 1": "1",
        "!!int 1": "1",
        "!!bool no": "no",
        '"~"': "~",
    }.get(text, "null")
    assert params(read(f"matrix:\n  params:\n    v:\n      - {text}\n"), "v") == [expected]


@pytest.mark.parametrize("text", ["null", "~", "", "Null", "NULL"])
def test_a_null_is_no_value(yaml_parser, text):
    [line] = wrong(f"matrix:\n  params:\n    v:\n      - {text}\n")
    assert line.startswith("sweep.yaml:4:")
    assert "matrix.params.v[0]: null where a value belongs" in line


@pytest.mark.parametrize(
    "text", ["a\nb", "tab\there", "\u0007", "\u2028", "\u0085", "\x7f", "\ufeff", "😀", "e\u0301", "\u202e"]
)
def test_json_text_arrives_character_by_character(text):
    for ascii_only in (True, False):
        raw = json.dumps({"grid": {"v": [text]}}, ensure_ascii=ascii_only)
        assert params(read(raw, "s.json"), "v") == [text]


@pytest.mark.parametrize("form", ["grid: {{v: [{}]}}", "{{grid: {{v: [{}]}}}}"])
@pytest.mark.parametrize("text", ["\\u2028", "\\x07", "\\x85", "\\u0301", "\\U0001F600", "a\\nb"])
def test_yaml_escapes_in_double_quotes_arrive(yaml_parser, form, text):
    expected = text.encode().decode("unicode_escape")
    assert params(read(form.format(f'"{text}"')), "v") == [expected]


@pytest.mark.parametrize("end", ["\n", "\r\n"], ids=["lf", "crlf"])
@pytest.mark.parametrize("mark", [b"", b"\xef\xbb\xbf"], ids=["plain", "bom"])
def test_line_ends_and_a_byte_order_mark_are_no_part_of_values(yaml_parser, end, mark):
    text = end.join(["matrix:", "  params:", "    v: [x, y]", "command: |", "  echo 1", "  echo 2", ""])
    spec = read(mark + text.encode())
    assert params(spec, "v") == ["x", "y"]
    assert spec.points[0].settings.command == "echo 1\necho 2\n"


@pytest.mark.parametrize(
    ("text", "start"),
    [
        pytest.param("", "sweep.yaml: the spec is empty", id="empty"),
        pytest.param(" \n\n", "sweep.yaml: the spec is empty", id="blank"),
        pytest.param("# nothing\n", "sweep.yaml: the spec is empty", id="comment"),
        pytest.param("---\n", "sweep.yaml:", id="null"),
        pytest.param("[1, 2]", "sweep.yaml:1:1: expected a map, got a list", id="list"),
        pytest.param("hello", "sweep.yaml:1:1: expected a map, got 'hello'", id="word"),
        pytest.param("name: x\n\tmatrix: 1", "sweep.yaml:2:1: not YAML: ", id="tab"),
        pytest.param("matrix:\n\tgpu: [L4]", "sweep.yaml:2:1: not YAML: a tab (indent with spaces)", id="tab-indent"),
        pytest.param("a: b: c", "sweep.yaml:1:5: not YAML: mapping values are not allowed", id="two-colons"),
        pytest.param("a: @x", "sweep.yaml:1:4: not YAML: no value can start with '@' (quote it)", id="at"),
        pytest.param("a: `x`", "sweep.yaml:1:4: not YAML: no value can start with '`' (quote it)", id="backtick"),
        pytest.param("a: [1, 2", "sweep.yaml:", id="open-list"),
        pytest.param("a: 'x", "sweep.yaml:1:", id="open-quote"),
        pytest.param("a: *x", "sweep.yaml:1:4: not YAML: ", id="unknown-alias"),
        pytest.param("name: a\n---\nname: b", "sweep.yaml:2:1: not YAML: a second document starts here", id="two"),
        pytest.param("a: &x [*x]", "sweep.yaml:1:4: an alias stands inside what it names", id="cycle"),
        pytest.param("[" * 100 + "]" * 100, "sweep.yaml:1:", id="deep"),
        pytest.param("- " * 3_000 + "x", "sweep.yaml:", id="deep-block"),
        pytest.param("a: \x00", "sweep.yaml:1:4: the character U+0000 cannot stand in YAML", id="nul"),
        pytest.param("a: \x1b[0m", "sweep.yaml:1:4: the character U+001B cannot stand in YAML", id="escape"),
        pytest.param(
            "name: x\nv: a\u2028b", "sweep.yaml:2:5: the character U+2028 cannot stand in YAML", id="separator"
        ),
        pytest.param("a: \ud800", "sweep.yaml:1:4: half a character", id="surrogate"),
        pytest.param(b"a: 1\nb: caf\xe9", "sweep.yaml:2: byte 0xe9 is not UTF-8", id="latin-1"),
        pytest.param("a: 1".encode("utf-16"), "sweep.yaml: this is UTF-16", id="utf-16"),
        pytest.param("%YAML 9.9\n---\na: 1", "sweep.yaml:", id="directive"),
        pytest.param("&a a: &a 1\n&a b: 2\n? &a : x", "sweep.yaml:", id="anchors"),
        pytest.param(
            '{"name": "\\q"}', "sweep.yaml:1:10: not JSON: a text that is not closed, or holds a bad", id="escape-json"
        ),
    ],
)
def test_what_is_no_spec_is_one_line(yaml_parser, text, start):
    line = wrong(text)[0]
    assert line.startswith(start)


@pytest.mark.parametrize("text", ["[" * 20_000 + "]" * 20_000, '{"a":' * 20_000, "- " * 20_000 + "x"])
def test_huge_nesting_is_one_line(text):
    assert "deep" in wrong(text)[0] or "depth" in wrong(text)[0]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('{"a": 1,}', "1:9: not JSON: expected a key in double quotes, got '}'"),
        ('{"a": 01}', "1:7: not JSON: unexpected '01'"),
        ('{"a": NaN}', "1:7: not JSON: unexpected 'NaN'"),
        ('{"a": .5}', "1:7: not JSON: unexpected '.5'"),
        ('{"a" 1}', "1:6: not JSON: expected ':' after the key 'a', got '1'"),
        ('{"a": 1} x', "1:10: not JSON: unexpected 'x'"),
        ('{"a": 1} 2', "1:10: not JSON: unexpected '2' after the end of the document"),
        ('{"a": 1', "1:8: not JSON: expected ',' or '}', got the end of the document"),
        ('{"a": [1 2]}', "1:10: not JSON: expected ',' or ']', got '2'"),
        ("{'a': 1}", "1:2: not JSON: unexpected ''"),
        ("{a: 1}", "1:2: not JSON: unexpected 'a'"),
        ('{"a": "\n"}', "1:7: not JSON: the character U+000A in a text must be written as an escape"),
        ('{"a": "\\ud800"}', "1:7: not JSON: half a character"),
        ('{"a": ]}', "1:7: not JSON: expected a value, got ']'"),
        ("[" * 65, "1:65: not JSON: nested more than 64 deep"),
        ('{\n  "name": "a",\n  "name": "b"\n}', "3:3: name: the key 'name' is given twice, first in line 2"),
        ('{"params": [{}, {"x": 1, "x": 2}]}', "1:26: params[1].x: the key 'x' is given twice, first in line 1"),
    ],
)
def test_a_json_file_is_read_as_json_alone(text, message):
    assert wrong(text, "s.json")[0].startswith(f"s.json:{message}")


def test_flow_yaml_that_starts_like_json_is_read():
    assert params(read("{grid: {v: [1, 0.10, 'x']}}"), "v") == ["1", "0.10", "x"]
    assert params(read('{"grid": {"v": [1,\t2,],},}'), "v") == ["1", "2"]


@pytest.mark.parametrize(
    ("text", "start"),
    [
        pytest.param(
            "name: a\nname: b", "sweep.yaml:2:1: name: the key 'name' is given twice, first in line 1", id="top"
        ),
        pytest.param(
            "matrix:\n  params:\n    lr: [1]\n    bs: [2]\n    lr: [3]",
            "sweep.yaml:5:5: matrix.params.lr: the key 'lr' is given twice, first in line 3",
            id="nested",
        ),
        pytest.param(
            "params:\n- {a: 1}\n- {a: 1, b: 2, 'a': 3}",
            "sweep.yaml:3:16: params[1].a: the key 'a' is given twice, first in line 3",
            id="row",
        ),
        pytest.param(
            "matrix: {params: {1: [a]}}", "sweep.yaml:1:19: matrix.params: the key '1' is no text", id="number"
        ),
        pytest.param(
            "matrix: {params: {true: [a]}}", "sweep.yaml:1:19: matrix.params: the key 'true' is no text", id="true"
        ),
        pytest.param(
            "matrix: {params: {'1': [a], 1: [b]}}", "sweep.yaml:1:19: matrix.params.1: '1' is not a", id="quoted"
        ),
        pytest.param(
            "matrix: {params: {null: [a]}}", "sweep.yaml:1:19: matrix.params: the key null is no text", id="null"
        ),
        pytest.param("? [a]\n: b", "sweep.yaml:1:3: the key a list is no text", id="list"),
        pytest.param("? {a: 1}\n: b", "sweep.yaml:1:3: the key a map is no text", id="map"),
        pytest.param("name: !!python/object:os.system x", "sweep.yaml:1:7: name: the tag ", id="python"),
        pytest.param("name: !secret x", "sweep.yaml:1:7: name: the tag '!secret' is not read", id="tag"),
        pytest.param("grid: {v: [!!binary 1]}", "sweep.yaml:1:12: grid.v[0]: the tag ", id="binary"),
        pytest.param("\u00a0name: x", "sweep.yaml:1:1: a no-break space at the edge of '\\xa0name'", id="nbsp-key"),
        pytest.param(
            "grid: {v: [x\u00a0]}", "sweep.yaml:1:12: grid.v[0]: a no-break space at the edge of 'x\\xa0'", id="nbsp"
        ),
        pytest.param("name: x\n<<: [1]", "sweep.yaml:2:5: expected a map after '<<', got '1'", id="merge"),
    ],
)
def test_keys_and_tags_that_yaml_would_bend(yaml_parser, text, start):
    assert wrong(text)[0].startswith(start)


def test_a_quoted_number_does_not_make_the_plain_one_a_text(yaml_parser):
    assert wrong("prices: {'4090': 1}\nmetrics: {patterns: {4090: x}}") == [
        "sweep.yaml:2:22: metrics.patterns: the key '4090' is no text (quote it)"
    ]


def test_on_and_no_are_keys_like_any_other(yaml_parser):
    assert params(read("grid: {on: [a], no: [b], yes: [c]}"), "on") == ["a"]


def test_an_alias_and_a_merge_key_are_read(yaml_parser):
    spec = read(
        """
        defaults: {lr: &lr "0.1"}
        params:
        - &base {model: s, epochs: 10}
        - {<<: *base, epochs: 20, lr: *lr}
        - {<<: [{model: m}, *base]}
        """
    )
    assert [point.params for point in spec.points] == [
        {"epochs": "10", "lr": "0.1", "model": "s"},
        {"epochs": "20", "lr": "0.1", "model": "s"},
        {"epochs": "10", "lr": "0.1", "model": "m"},
    ]


def test_a_tree_of_aliases_is_not_grown():
    names = "abcdefghijklmnopqrst"
    lines = ["a: &a [x]"] + [f"{new}: &{new} [{', '.join([f'*{old}'] * 9)}]" for old, new in itertools.pairwise(names)]
    assert len(wrong("\n".join(lines))) == len(names)


def test_nul_and_half_a_character_are_no_values():
    assert "matrix.params.v[0]: holds NUL" in wrong('matrix: {params: {v: ["\\0"]}}')[0]
    assert "grid.v[0]: holds NUL" in wrong(as_json({"grid": {"v": ["\0"]}}), "s.json")[0]
    assert wrong("params: [{}]", region="\udcff")[0].startswith("--region: holds half a character")


def test_a_name_that_is_no_one_line_stays_one_line_in_the_error():
    [line] = wrong('{"na\\nme": 1, "matrix": {}}')
    assert "'na\\nme'" in line
