"""The nodus.dev/v1 Sweep: what it means, and what that API refuses."""

from __future__ import annotations

import pytest

from tests.specs import nodus, params, read, rows, wrong

BATCH_SIZE = """
apiVersion: nodus.dev/v1
kind: Sweep
metadata:
  name: batch-size
spec:
  maxCostUSD: "0.75"
  maxParallel: 2
  matrix:
    gpu: [L4, A10]
    params:
      BATCH_SIZE: ["32", "64", "128"]
  template:
    kind: Job
    spec:
      image: example/pytorch
      timeout: 10m
      command:
        - python
        - -c
        - |
          sizes = {"batch": 1}
          print(f"batch {sizes}")
"""


def test_the_sweep_of_the_guide():
    spec = read(BATCH_SIZE)
    assert (spec.name, spec.dialect, spec.max_cost, spec.max_parallel) == ("batch-size", "nodus", 750_000, 2)
    assert len(spec.points) == 6
    settings = spec.points[0].settings
    assert settings.image == "example/pytorch"
    assert settings.max_runtime == 600
    assert spec.warnings == ()


def test_braces_in_a_command_stay_as_they_are():
    command = read(BATCH_SIZE).points[0].settings.command
    assert command == ("python", "-c", 'sizes = {"batch": 1}\nprint(f"batch {sizes}")\n')


def test_defaults_are_those_of_the_api():
    spec = read(nodus())
    assert (spec.max_parallel, spec.max_cost, spec.state, len(spec.points)) == (4, None, None, 1)
    assert spec.runner.kind == "local"


def test_the_job_sets_what_every_cell_has():
    job = 'timeout: 12:30:00\nenv: {MODE: "on", HF_TOKEN: {from: HF}}\nplacement: {regions: [eu]}\ngpu: "H100!:8"'
    [point] = read(nodus(job=job)).points
    assert (point.gpu, point.region, point.settings.max_runtime) == ("H100!:8", "eu", 12 * 3600 + 30 * 60)
    assert (point.settings.env, point.settings.secrets) == ({"MODE": "on"}, {"HF_TOKEN": "HF"})
    assert point.settings.placement == ("eu",)


def test_several_regions_of_the_placement_are_a_limit_and_no_axis():
    [point] = read(nodus(job="placement: {regions: [eu, us]}")).points
    assert (point.region, point.settings.placement) == (None, ("eu", "us"))


def test_a_command_may_be_one_text():
    text = nodus().replace("command: [python3, bench.py]", 'command: "echo {x} $NODUS_PARAM_A"')
    assert read(text).points[0].settings.command == "echo {x} $NODUS_PARAM_A"


@pytest.mark.parametrize("state", ["Suspended", "Cancelled"])
def test_the_wanted_state(state):
    assert read(nodus(f"state: {state}")).state == state
    assert read(nodus("state: Running")).state is None


def test_values_are_numbers_or_texts_as_they_were_written():
    assert params(read(nodus('matrix: {params: {V: [8, "16", 010, 1e-4, no]}}')), "V") == [
        "8",
        "16",
        "010",
        "1e-4",
        "no",
    ]


def test_a_longer_name_fits_as_long_as_every_cell_s_does():
    name = "x" * 61
    assert len(read(nodus("matrix: {params: {A: [1, 2]}}", name)).points) == 2
    listed = ", ".join(map(str, range(11)))
    [line] = wrong(nodus(f"matrix: {{params: {{A: [{listed}]}}}}", name))
    assert f"metadata.name: '{name}-10' is longer than 63 characters" in line


@pytest.mark.parametrize(
    ("change", "message"),
    [
        pytest.param(
            ("nodus.dev/v1", "nodus.dev/v2"), "apiVersion: 'nodus.dev/v2' is not one of nodus.dev/v1", id="version"
        ),
        pytest.param(("kind: Sweep", "kind: Sweeep"), "kind: 'Sweeep' is not one of Sweep (did you mean", id="kind"),
        pytest.param(("kind: Sweep\n", ""), "'kind' is missing", id="no-kind"),
        pytest.param(("apiVersion: nodus.dev/v1\n", ""), "'apiVersion' is missing", id="no-version"),
        pytest.param(
            ("kind: Job", "kind: Function"),
            "spec.template.kind: a template of kind 'Function' is unsupported",
            id="job",
        ),
        pytest.param(("    kind: Job\n", ""), "spec.template: 'kind' is missing", id="no-job"),
        pytest.param(("metadata: {name: batch-size}\n", ""), "metadata.name: is missing", id="no-metadata"),
        pytest.param(("{name: batch-size}", "{}"), "metadata.name: is missing", id="no-name"),
        pytest.param(("name: batch-size", "name: Batch"), "metadata.name: 'Batch' is not a DNS label", id="upper-case"),
        pytest.param(("name: batch-size", "name: a.b"), "metadata.name: 'a.b' is not a DNS label", id="dot"),
        pytest.param(("name: batch-size", "name: -a"), "metadata.name: '-a' is not a DNS label", id="hyphen"),
        pytest.param(
            ("spec:\n  template", "spec:\n  tmplate"), "unknown setting 'tmplate' (did you mean 'template'?)", id="typo"
        ),
        pytest.param(("command:", "comand:"), "unknown setting 'comand' (did you mean 'command'?)", id="command"),
        pytest.param(("[python3, bench.py]", "[]"), "spec.template.spec.command: is empty", id="empty"),
        pytest.param(("[python3, bench.py]", "[python3, null]"), "command[1]: null where a value belongs", id="null"),
    ],
)
def test_what_the_api_refuses_is_said_at_its_place(change, message):
    text = nodus()
    assert change[0] in text
    assert message in wrong(text.replace(*change, 1))[0]


@pytest.mark.parametrize(
    ("spec", "job", "message"),
    [
        pytest.param(
            "matrix: {regions: [eu, mars]}",
            "placement: {regions: [eu, us]}",
            "'mars' is not in template.spec.placement.regions (one of eu, us)",
            id="placement",
        ),
        pytest.param(
            "max_parallel: 2",
            "",
            "spec.max_parallel: unknown setting 'max_parallel' (did you mean 'maxParallel'?)",
            id="snake",
        ),
        pytest.param("maxCost: 2", "", "spec.maxCost: unknown setting 'maxCost' (use maxCostUSD)", id="cost"),
        pytest.param("matrix: {zip: []}", "", "spec.matrix.zip: unknown setting 'zip'", id="zip"),
        pytest.param(
            "matrix: {params: {A: 1}}", "", "spec.matrix.params.A: expected a list of values, got '1'", id="scalar"
        ),
        pytest.param(
            "matrix: {params: {A: {range: {}}}}",
            "",
            "spec.matrix.params.A: expected a list of values, got a map",
            id="range",
        ),
        pytest.param(
            "matrix: {params: {A: [1, 1]}}", "", "spec.matrix.params.A[1]: '1' stands there twice", id="twice"
        ),
        pytest.param(
            "matrix: {gpu: [H100, 'H100:1']}", "", "spec.matrix.gpu[1]: 'H100:1' stands there twice", id="same-gpu"
        ),
        pytest.param(
            "state: Paused", "", "spec.state: 'Paused' is not one of Running, Suspended, Cancelled", id="state"
        ),
        pytest.param("", "timeout: 0", "spec.template.spec.timeout: is 0, expected longer", id="timeout"),
        pytest.param("", "env: {API_KEY: abc}", "API_KEY looks like a secret", id="secret"),
        pytest.param("", "gpu: H100:3", "spec.template.spec.gpu: '3' is no GPU count", id="gpu"),
    ],
)
def test_what_is_wrong_inside_is_said_at_its_place(spec, job, message):
    [line] = wrong(nodus(spec, job=job))
    assert line.startswith("sweep.yaml:")
    assert message in line


def test_a_missing_kind_hides_nothing():
    lines = wrong(nodus(job="timeout: soon").replace("    kind: Job\n", ""))
    assert ["'kind' is missing" in lines[0], "'soon' is not a duration" in lines[1]] == [True, True]


def test_what_an_exported_sweep_carries_along_is_warned_of():
    text = nodus().replace("{name: batch-size}", "{name: batch-size, labels: {a: b}}") + "status: {phase: Pending}\n"
    assert tuple(map(str, read(text).warnings)) == (
        "sweep.yaml:11:9: status: is not used",
        "sweep.yaml:3:38: metadata.labels: is not used",
    )


def test_the_matrix_wins_over_the_job_s_gpu_and_says_so():
    spec = read(nodus("matrix: {gpu: [L4]}", job="gpu: A10"))
    assert rows(spec) == ["L4"]
    assert "spec.template.spec.gpu: is not used: matrix.gpu says it" in str(spec.warnings[0])


def test_the_command_line_bounds_what_the_sweep_does_not():
    spec = read(
        nodus(),
        runner="runpod-deploy",
        name="b",
        cost_limit="2",
        price_per_hour="0.5",
        max_concurrent="1",
        max_cost_usd="3",
    )
    settings = spec.points[0].settings
    assert (spec.runner.kind, spec.name, spec.max_parallel, spec.max_cost) == ("runpod-deploy", "b", 1, 3_000_000)
    assert (settings.cost_cap, settings.price_per_hour) == (2_000_000, 500_000)


@pytest.mark.parametrize(
    ("flags", "message"),
    [
        ({"gpu": "L4"}, "--gpu: the matrix says it already"),
        ({"region": "eu"}, "--region: the matrix says it already"),
        ({"name": "A_b"}, "--name: 'A_b' is not a DNS label"),
        ({"runner": "command"}, "--runner: the command runner needs argv"),
    ],
)
def test_the_command_line_cannot_contradict_the_sweep(flags, message):
    [line] = wrong(nodus("matrix: {gpu: [L4], regions: [us]}"), **flags)
    assert message in line


def test_a_command_of_the_command_line_is_taken_as_it_is():
    spec = read(nodus(), command=("python3", "-c", "print({})"))  # type: ignore[arg-type]
    assert spec.points[0].settings.command == ("python3", "-c", "print({})")
