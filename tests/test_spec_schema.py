"""The JSON Schema of the native form: what loads is valid, what is misspelt is not, and no key is missing."""

from __future__ import annotations

import json
import re
import textwrap

import jsonschema
import pytest

from sweeptool.spec import tree, yamltext
from sweeptool.spec.schema import json_schema
from sweeptool.spec.settings import NATIVE
from tests.specs import read

EXAMPLES = {
    "runpod": """
        name: lora-rank
        runner: runpod-deploy
        config: configs/runpod/template.yaml
        max_parallel: 2
        max_cost_usd: 25
        cost_cap_usd: "5.00"
        max_runtime: 60m
        matrix:
          gpu: [L4]
          regions: [eu]
          params: {rank: [4, 8, 16], seed: [42, 43]}
        repetitions: 3
        retry: {max_attempts: 2, on: [pod_killed], delay: 30s}
        metrics: {file: metrics.json, best: {name: accuracy, goal: max}}
        """,
    "local": """
        command: [python3, train.py, --lr, "{lr}", --epochs, "{epochs}", 1, true]
        prices: {L4: 0.43, A10: 0.52}
        env: {A: 1, HF_TOKEN: {from: HF_TOKEN}}
        before: [make audit, [touch, x]]
        after: make report
        validate: false
        launch_delay: 5
        matrix:
          gpu: [L4, A10]
          params:
            lr: {range: {start: 0.1, stop: 0.5, step: 0.1}}
            wd: {logspace: {start: 1e-5, stop: 1e-1, num: 5}}
            lang: ["en", "no"]
            ratio: [0.1, 0.10]
          zip: [{model: [s, m], epochs: [10, 20]}]
          exclude: [{model: m, lr: "0.5"}]
          include: [{gpu: L4, model: l, lr: "0.1", epochs: 30}]
          sample: {n: 20, seed: 0}
        """,
    "command": """
        runner: {kind: command, argv: [./my-runner, run, --var, "rank={rank}"], manifest: manifest.json}
        matrix: {params: {rank: [4]}}
        metrics: {best: loss, patterns: {loss: "loss=([0-9.]+)"}}
        """,
    "grid": """
        name: hp
        command: ./train
        defaults: {ttl: 1h}
        params: [{a: 1}]
        grid: {a: [2, 3]}
        """,
}


def as_editor(node: tree.Node) -> object:
    """Return a document as an editor sees it: numbers and booleans by JSON's rules, ``on`` and ``no`` are texts."""
    match node:
        case tree.Map(members):
            return {name: as_editor(one) for name, one in members.items()}
        case tree.List(items):
            return [as_editor(item) for item in items]
        case tree.Text(text, plain=True) if re.fullmatch(
            r"true|false|-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][-+]?[0-9]+)?", text
        ):
            return json.loads(text)
        case tree.Text(text):
            return text
    return None


def problems(text: str) -> list[str]:
    document = as_editor(yamltext.parse(textwrap.dedent(text), tree.report("sweep.yaml")))
    validator = jsonschema.Draft202012Validator(json_schema())
    return [error.message for error in validator.iter_errors(document)]


def test_it_is_a_schema_and_json():
    jsonschema.Draft202012Validator.check_schema(json_schema())
    assert json.loads(json.dumps(json_schema())) == json_schema()


@pytest.mark.parametrize("text", EXAMPLES.values(), ids=EXAMPLES)
def test_what_loads_is_valid(text):
    assert read(text).points
    assert problems(text) == []


@pytest.mark.parametrize(
    "text",
    [
        "nmae: x",
        "max_parallel: many",
        "max_parallel: -1",
        "max_cost_usd: $5",
        "budget_policy: hard",
        "runner: slurm",
        "matrix: {gpu: L4}",
        "matrix: {gpus: [L4]}",
        "matrix: {params: {lr: 0.1}}",
        "matrix: {params: {lr: {range: {start: 1}}}}",
        "retry: {attempts: 2}",
        "env: {A: {form: B}}",
        "command: {a: 1}",
        "repetitions: 0",
        "name: ../x",
        "metrics: {best: {goal: max}}",
    ],
)
def test_what_an_editor_can_see_is_invalid(text):
    assert problems(text) != []


def test_every_known_key_is_in_the_schema_and_described():
    properties = json_schema()["properties"]
    assert set(properties) == {key.name for key in NATIVE.keys}
    assert all(one["description"] for one in properties.values())
    assert set(properties["matrix"]["properties"]) == {
        "gpu",
        "regions",
        "params",
        "zip",
        "exclude",
        "include",
        "sample",
    }
