"""The native form: its settings, what varies and how, and what is wrong with it."""

from __future__ import annotations

import pytest

from sweeptool.errors import SweepError
from sweeptool.spec.model import Metrics, Retry, RunnerSpec
from tests.specs import params, read, rows, wrong


def test_the_first_example_of_the_contract():
    spec = read(
        """
        name: lora-rank
        runner: runpod-deploy
        config: configs/runpod/template.yaml
        max_parallel: 2
        max_cost_usd: 25
        cost_cap_usd: 5
        max_runtime: 60m
        matrix:
          gpu: [L4]
          regions: [eu]
          params: {rank: [4, 8, 16], seed: [42, 43]}
        repetitions: 3
        retry: {max_attempts: 2, on: [pod_killed, stock_out, ssh], delay: 30s}
        metrics: {file: metrics.json, best: {name: accuracy, goal: max}}
        """
    )
    assert (spec.name, spec.dialect, spec.runner, spec.max_parallel) == (
        "lora-rank",
        "native",
        RunnerSpec("runpod-deploy"),
        2,
    )
    assert (spec.max_cost, spec.points[0].settings.cost_cap, spec.points[0].settings.max_runtime) == (
        25_000_000,
        5_000_000,
        3600,
    )
    assert spec.retry == Retry(2, ("pod_killed", "stock_out", "ssh"), 30)
    assert spec.metrics == Metrics("metrics.json", {}, "accuracy", "max")
    assert len(spec.points) == 18
    assert rows(spec)[1:4] == [
        "configs/runpod/template.yaml L4 eu rank=4 seed=42 r1",
        "configs/runpod/template.yaml L4 eu rank=4 seed=42 r2",
        "configs/runpod/template.yaml L4 eu rank=4 seed=43",
    ]


def test_the_second_example_of_the_contract():
    spec = read(
        """
        name: demo
        runner: local
        command: [python3, train.py, --lr, "{lr}"]
        prices: {L4: 0.43, A10: 0.52}
        matrix: {gpu: [L4, A10], params: {lr: [1e-3, 1e-4]}}
        """
    )
    assert rows(spec) == ["L4 lr=1e-3", "L4 lr=1e-4", "A10 lr=1e-3", "A10 lr=1e-4"]
    assert spec.points[0].settings.command == ("python3", "train.py", "--lr", "{lr}")
    assert spec.prices == {"L4": 430_000, "A10": 520_000}
    assert spec.max_parallel == 4


def test_every_setting_lands_in_its_field():
    spec = read(
        """
        name: all
        max_parallel: 0
        launch_delay: 1m30s
        max_cost_usd: "0.75"
        budget_policy: spent
        failure_streak: 0
        units: done.jsonl
        before: [make audit, [touch, a b]]
        after: make report
        validate: false
        state: Suspended
        command: ./train --lr "$PARAM_lr" {}
        image: pytorch
        price_per_hour_usd: 0.43
        gpu: L4
        region: eu
        instance_type: g5.xlarge
        datacenter: EU-RO-1
        spot: false
        idle_timeout: 600
        on_complete: terminate
        env: {B: "1", HF_TOKEN: {from: MY_TOKEN}, A: x}
        metrics: {patterns: {acc: 'acc=([0-9.]+)'}, best: acc}
        """
    )
    [point] = spec.points
    assert (spec.max_parallel, spec.launch_delay, spec.max_cost, spec.budget_policy) == (0, 90, 750_000, "spent")
    assert (spec.failure_streak, spec.units, spec.validate, spec.state) == (0, "done.jsonl", False, "Suspended")
    assert (spec.before, spec.after) == (("make audit", ("touch", "a b")), ("make report",))
    assert spec.metrics == Metrics("metrics.json", {"acc": "acc=([0-9.]+)"}, "acc", None)
    assert (point.gpu, point.region) == ("L4", "eu")
    settings = point.settings
    assert settings.command == './train --lr "$PARAM_lr" {}'
    assert (settings.image, settings.price_per_hour, settings.instance_type) == ("pytorch", 430_000, "g5.xlarge")
    assert (settings.datacenter, settings.spot, settings.idle_timeout, settings.on_complete) == (
        "EU-RO-1",
        False,
        600,
        "terminate",
    )
    assert (settings.env, settings.secrets) == ({"A": "x", "B": "1"}, {"HF_TOKEN": "MY_TOKEN"})


@pytest.mark.parametrize(
    ("text", "start"),
    [
        ("nmae: x", "nmae: unknown setting 'nmae' (did you mean 'name'?)"),
        ("maxParallel: 2", "maxParallel: unknown setting 'maxParallel' (did you mean 'max_parallel'?)"),
        ("matrixx: {}", "matrixx: unknown setting 'matrixx' (did you mean 'matrix'?)"),
        ("ttl: 1h", "ttl: unknown setting 'ttl' (use max_runtime)"),
        ("timeout: 1h", "timeout: unknown setting 'timeout' (use max_runtime)"),
        ("budget: 5", "budget: unknown setting 'budget' (use max_cost_usd for the sweep, cost_cap_usd for a cell)"),
        ("max_cost: 5", "max_cost: unknown setting 'max_cost' (use max_cost_usd for the sweep"),
        ("cost-limit: 5", "'cost-limit': unknown setting 'cost-limit'"),
        ("max_concurrent: 5", "max_concurrent: unknown setting 'max_concurrent' (use max_parallel)"),
        ("gpus: [L4]", "gpus: unknown setting 'gpus' (use matrix.gpu)"),
        ("retries: 3", "retries: unknown setting 'retries' (use retry: {max_attempts: …})"),
        ("price_list: {L4: 0.4}", "price_list: unknown setting 'price_list' (use prices)"),
        ("zzzzzz: 3", "zzzzzz: unknown setting 'zzzzzz' ('sweeptool schema' lists the known ones)"),
        ("matrix: {param: {}}", "matrix.param: unknown setting 'param' (did you mean 'params'?)"),
        ("matrix: {gpus: [L4]}", "matrix.gpus: unknown setting 'gpus' (use gpu)"),
        ("retry: {max_attempt: 2}", "retry.max_attempt: unknown setting 'max_attempt' (did you mean 'max_attempts'?)"),
        ("metrics: {best: {nam: x}}", "metrics.best"),
    ],
)
def test_an_unknown_setting_is_named_with_the_right_one(text, start):
    line = wrong(text)[0].partition("sweep.yaml:1:")[2].partition(": ")[2]
    assert line.startswith(start.replace("'cost-limit': ", "cost-limit: "))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("name: ../../x", "name: '../../x' is not a name"),
        ("name: /etc", "name: '/etc' is not a name"),
        ("name: .", "name: '.' is not a name"),
        ("name: ..", "name: '..' is not a name"),
        ("name: -rf", "name: '-rf' is not a name"),
        ("name: a b", "name: 'a b' is not a name"),
        ("name: ''", "name: '' is not a name"),
        ("name: x-", "name: 'x-' is not a name"),
        (f"name: {'x' * 64}", "is not a name"),
        ('name: "a\\nb"', "name: 'a\\nb' is not a name"),
        ("name: [a]", "name: a list where a value belongs"),
        ("name:", "name: null where a value belongs"),
        ("runner: slurm", "runner: 'slurm' is not one of local, command, runpod-deploy"),
        ("runner: runpod", "did you mean 'runpod-deploy'?"),
        ("runner: {argv: [x]}", "runner: 'kind' is missing"),
        ("runner: command", "runner: the command runner needs argv"),
        ("runner: {kind: command}", "runner: the command runner needs argv"),
        ("runner: {kind: command, argv: []}", "runner.argv: is empty"),
        ("runner: {kind: local, argv: [x]}", "runner.argv: argv is the command runner's, not local's"),
        ("runner: {kind: local, arg: x}", "runner.arg: local has no option 'arg'"),
        (
            "runner: {kind: command, argv: [x], manifst: m}",
            "runner.manifst: command has no option 'manifst' (did you mean 'manifest'?)",
        ),
        ("command: []", "command: is empty, expected a list of arguments"),
        ("command: ' '", "command: is empty, expected a command"),
        ("command: [a, null]", "command[1]: null where a value belongs"),
        ("command: {a: 1}", "command: a map where a value belongs"),
        ("max_parallel: -1", "max_parallel: '-1' is out of bounds"),
        ("max_parallel: 2.0", "max_parallel: '2.0' is not a whole number"),
        ("max_parallel: '٣'", "max_parallel: '٣' is not a whole number"),
        ("max_cost_usd: -1", "max_cost_usd: '-1' is not an amount"),
        ("max_cost_usd: 0.1234567", "max_cost_usd: '0.1234567' has 7 decimal places"),
        ("max_cost_usd: 1e3", "max_cost_usd: '1e3' is not an amount"),
        ("max_cost_usd: ٣", "max_cost_usd: '٣' is not an amount"),
        ("max_cost_usd: 99999999999", "max_cost_usd: '99999999999' is more than 1000000000 dollars"),
        ("cost_cap_usd: 0", "cost_cap_usd: is 0, expected more"),
        ("max_runtime: 0", "max_runtime: is 0, expected longer"),
        ("max_runtime: -5m", "max_runtime: '-5m' is negative"),
        ("max_runtime: 12:30", "max_runtime: '12:30' could be hours or minutes"),
        ("spot: yes", "spot: 'yes' is neither true nor false"),
        ("budget_policy: hard", "budget_policy: 'hard' is not one of reserve, spent"),
        ("retry: 3", "retry: expected a map, got '3'"),
        ("retry: {max_attempts: 0}", "retry.max_attempts: '0' is out of bounds"),
        ("retry: {on: pod_killed}", "retry.on: expected a list of reasons, got 'pod_killed'"),
        ("metrics: {best: {goal: max}}", "metrics.best: 'name' is missing"),
        ("metrics: {best: {name: x, goal: maximum}}", "metrics.best.goal: 'maximum' is not one of min, max"),
        ("metrics: {patterns: {x: '('}}", "metrics.patterns.x: not a regular expression"),
        ("repetitions: 0", "repetitions: '0' is out of bounds"),
        ("repetitions: 1.5", "repetitions: '1.5' is not a whole number"),
        ("prices: {L4: cheap}", "prices.L4: 'cheap' is not an amount"),
        ("prices: [1]", "prices: expected a map, got a list"),
        ("env: [A=1]", "env: expected a map from names to values, got a list"),
        ("env: {1A: x}", "env.1A: '1A' is not a variable's name"),
        ("env: {A: null}", "env.A: null where a value belongs"),
        ("env: {PARAM_lr: x}", "env.PARAM_lr: PARAM_lr would hide what sweeptool tells the job"),
        ("env: {SWEEP_ID: x}", "env.SWEEP_ID: SWEEP_ID would hide"),
        ("env: {HF_TOKEN: hf_abc}", "env.HF_TOKEN: HF_TOKEN looks like a secret"),
        ("env: {A: {form: B}}", "env.A.form: unknown setting 'form' (did you mean 'from'?)"),
        ("env: {A: {from: 1B}}", "env.A.from: '1B' is not a variable's name"),
        ("matrix: [L4]", "matrix: expected a map, got a list"),
        ("matrix:", "matrix: expected a map, got null"),
        ("matrix: {gpu: L4}", "matrix.gpu: expected a list of values, got 'L4' (write [L4])"),
        ("matrix: {gpu: ['H100:3']}", "matrix.gpu[0]: '3' is no GPU count in 'H100:3'"),
        ("matrix: {gpu: ['L4, A10']}", "matrix.gpu[0]: 'L4, A10' is not a GPU request"),
        ("matrix: {gpu: ['']}", "matrix.gpu[0]: '' names no GPU"),
        ("matrix: {params: {lr: 0.1}}", "matrix.params.lr: expected a list of values, got '0.1' (write [0.1])"),
        ("matrix: {params: [lr]}", "matrix.params: expected a map from names to lists of values, got a list"),
        ("matrix: {params: {lr: [{a: 1}]}}", "matrix.params.lr[0]: a map where a value belongs"),
        ("matrix: {params: {gpu: [L4]}}", "matrix.params.gpu: 'gpu' is no parameter (use matrix.gpu)"),
        ("matrix: {params: {l r: [1]}}", "'l r' is not a parameter's name"),
        ("gpu: L4\nmatrix: {gpu: [A10]}", "gpu: matrix.gpu says it already"),
        ("region: eu\nmatrix: {regions: [us]}", "region: matrix.regions says it already"),
        ("matrix: {params: {a: [1]}}\ngrid: {b: [1]}", "matrix: stands beside grid (say what varies in one form)"),
    ],
)
def test_a_wrong_setting_is_said_at_its_place(text, message):
    [line] = wrong(text)
    assert line.startswith("sweep.yaml:")
    assert message in line


def test_ten_faults_are_ten_lines_each_with_its_own():
    lines = wrong(
        """\
        name: ../x
        runner: slurm
        max_paralel: 2
        max_cost_usd: $5
        max_runtime: fast
        cost_cap_usd: 0
        matrix:
          gpu: L4
          params:
            lr: [0.1, 0.1]
            bs: 32
        """
    )
    assert [int(line.split(":")[1]) for line in lines] == [1, 2, 3, 4, 5, 6, 8, 10, 11]
    assert len(lines) == 9


@pytest.mark.parametrize(
    ("source", "name"),
    [
        ("-", "sweep"),
        ("the command line", "sweep"),
        ("/dev/fd/63", "sweep"),
        ("lora.yaml", "lora"),
        ("specs/My Sweep_2.yml", "my-sweep-2"),
        ("/tmp/日本.yaml", "sweep"),
        ("..yaml", "sweep"),
        (f"{'x' * 200}.yaml", "x" * 40),
    ],
)
def test_a_sweep_without_a_name_is_called_like_its_file(source, name):
    assert read("repetitions: 1", source).name == name


@pytest.mark.parametrize("name", ["x", "Lora_2.1", "4090", "a" * 63])
def test_a_name_may_be(name):
    assert read(f"name: {name}").name == name


SECRETS = [
    "HF_TOKEN",
    "WANDB_API_KEY",
    "AWS_SECRET_ACCESS_KEY",
    "DB_PASSWORD",
    "token",
    "MY_SECRET",
    "OPENAI_APIKEY",
    "SSH_PRIVATE_KEY",
]
OTHERS = ["TOKENIZERS_PARALLELISM", "MAX_TOKENS", "KEYBOARD", "SORT_KEY", "PASSES", "AUTHOR"]


@pytest.mark.parametrize("name", SECRETS)
def test_a_secret_is_referred_to_by_name(name):
    [line] = wrong(f"env: {{{name}: hunter2}}")
    assert f"{{from: {name}}}" in line
    assert "hunter2" not in line
    assert read(f"env: {{{name}: {{from: {name}}}}}").points[0].settings.secrets == {name: name}


@pytest.mark.parametrize("name", OTHERS)
def test_what_only_sounds_like_a_secret_is_a_value(name):
    assert read(f"env: {{{name}: x}}").points[0].settings.env == {name: "x"}


def test_a_parameter_that_sounds_like_a_secret_is_warned_of():
    assert "is recorded like any parameter" in str(read("matrix: {params: {hf_token: [a]}}").warnings[0])


@pytest.mark.parametrize(
    ("command", "warnings"),
    [
        (
            "'train.py --lr {lr}'",
            ("{lr} stays as it is in a line of bash (write $PARAM_lr, or make the command a list)",),
        ),
        ("'train.py --lr ${lr} --seed {seed}'", ()),
        ("'train.py --lr $PARAM_lr'", ()),
        ("['train.py', '{lr}']", ()),
    ],
    ids=["braces", "bash-variables-and-strangers", "the-variable", "a-list"],
)
def test_braces_in_a_line_of_bash_are_warned_of(command, warnings):
    spec = read(f"command: {command}\nmatrix: {{params: {{lr: [1e-3, 1e-4]}}}}")
    assert tuple(map(str, spec.warnings)) == tuple(f"sweep.yaml:1:10: command: {text}" for text in warnings)


def test_a_price_that_no_cell_has_is_warned_of():
    spec = read("prices: {L40: 1, A10: 2}\nmatrix: {gpu: [L4, 'A10:8']}")
    assert tuple(map(str, spec.warnings)) == ("sweep.yaml:1:10: prices.L40: no cell runs on it (did you mean 'L4'?)",)


def test_part_of_a_second_is_rounded_up_and_said():
    spec = read("launch_delay: 500ms")
    assert spec.launch_delay == 1
    assert tuple(map(str, spec.warnings)) == ("sweep.yaml:1:15: launch_delay: rounded up to 1s",)


@pytest.mark.parametrize(
    ("params_", "name", "values"),
    [
        ("lr: {range: {start: 0.1, stop: 0.5, step: 0.1}}", "lr", ["0.1", "0.2", "0.3", "0.4", "0.5"]),
        ("lr: {logspace: {start: 1e-5, stop: 1e-1, num: 5}}", "lr", ["1e-5", "1e-4", "1e-3", "1e-2", "1e-1"]),
    ],
)
def test_a_progression_is_an_axis(params_, name, values):
    assert params(read(f"matrix: {{params: {{{params_}}}}}"), name) == values


@pytest.mark.parametrize(
    ("axis", "message"),
    [
        ("{range: {start: 1, stop: 2}}", "lr.range: 'step' is missing"),
        ("{range: {start: 1, stop: 2, step: 0}}", "lr.range: a step of 0 never ends"),
        ("{range: {start: 2, stop: 1, step: 1}}", "lr.range: a step of 1 leads from 2 away from 1"),
        ("{range: {start: a, stop: 1, step: 1}}", "lr.range: 'a' is not a number"),
        ("{range: {start: 0, stop: 1e9, step: 1}}", "lr.range: more than 100000 values"),
        ("{range: {start: 0, stop: 1e99, step: 1e-99}}", "lr.range: more than 100000 values"),
        ("{range: {start: 0, stop: 1e999, step: 1}}", "lr.range: '1e999' is beyond 1e100"),
        ("{range: {start: 0, stop: nan, step: 1}}", "lr.range: 'nan' is not a number"),
        (
            "{range: {start: 0, stop: 1, step: 1, by: 2}}",
            "lr.range.by: unknown setting 'by' (known: start, stop, step)",
        ),
        ("{range: [0, 1]}", "lr.range: expected a map, got a list"),
        ("{rang: {start: 0}}", "lr: expected a list of values, {range: …} or {logspace: …}"),
        ("{}", "lr: expected a list of values, {range: …} or {logspace: …}"),
        ("{range: {}, logspace: {}}", "lr: expected a list of values, {range: …} or {logspace: …}"),
        ("{logspace: {start: 0, stop: 1, num: 3}}", "lr.logspace: a logspace lies between positive numbers"),
        ("{logspace: {start: 1, stop: 10, num: 1}}", "lr.logspace: num is 1, expected a whole number from 2"),
        ("{logspace: {start: 1, stop: 10, num: x}}", "lr.logspace: num is 'x', expected a whole number"),
        ("{logspace: {start: 1, stop: 1, num: 3}}", "lr.logspace: its values are not all different"),
    ],
)
def test_a_progression_that_leads_nowhere(axis, message):
    assert message in wrong(f"matrix: {{params: {{lr: {axis}}}}}")[0]


def test_a_zip_stands_where_its_first_key_would():
    text = "matrix: {params: {b: [1, 2], z: [x, y]}, zip: [{c: [s, m], a: [10, 20]}]}"
    assert rows(read(text)) == [
        f"a={a} b={b} c={c} z={z}" for a, c in (("10", "s"), ("20", "m")) for b in "12" for z in "xy"
    ]


def test_a_zip_with_a_gpu_is_as_slow_as_gpu():
    text = "matrix: {params: {a: [1, 2]}, zip: [{gpu: [L4, A10], batch: [32, 64]}]}"
    assert rows(read(text)) == ["L4 a=1 batch=32", "L4 a=2 batch=32", "A10 a=1 batch=64", "A10 a=2 batch=64"]


@pytest.mark.parametrize(
    ("zip_", "message"),
    [
        ("[{a: [1, 2], b: [1]}]", "zip[0]: the lists of a zip must be equally long: a has 2, b has 1"),
        ("[{a: [], b: []}]", "zip[0].a: expected a list of values, got an empty one"),
        ("[{a: 1}]", "zip[0].a: expected a list of values, got '1'"),
        ("[{a: [1, 1], b: [2, 2]}]", "zip[0]: values 0 and 1 are the same: '1', '2'"),
        ("[{a: [1, null]}]", "zip[0].a[1]: null where a value belongs"),
        ("[{}]", "zip[0]: is empty"),
        ("[a]", "zip[0]: expected a map, got 'a'"),
        ("{a: [1]}", "zip: expected a list of maps, got a map"),
        ("[{x: [1, 2]}]", "zip: 'x' is an axis already"),
        ("[{a: [1, 2]}, {a: [3, 4]}]", "zip: 'a' is an axis already"),
        ("[{regions: [eu, us]}]", "zip[0].regions: 'regions' names a list (use region)"),
        ("[{gpu: ['H100:3', L4]}]", "zip[0].gpu[0]: '3' is no GPU count"),
    ],
)
def test_a_zip_that_does_not_fit(zip_, message):
    assert message in wrong(f"matrix: {{params: {{x: [0]}}, zip: {zip_}}}")[0]


SAMPLE_0 = ["7", "28", "32", "49", "79"]
SMALL = "params: {lr: [0.1, 0.2], model: [s, m]}"


@pytest.mark.parametrize(
    ("exclude", "left"),
    [
        ("[{model: m}]", ["lr=0.1 model=s", "lr=0.2 model=s"]),
        ("[{model: m, lr: 0.1}]", ["lr=0.1 model=s", "lr=0.2 model=s", "lr=0.2 model=m"]),
        ("[{model: m, lr: 0.1}, {lr: '0.2'}]", ["lr=0.1 model=s"]),
        ("[]", ["lr=0.1 model=s", "lr=0.1 model=m", "lr=0.2 model=s", "lr=0.2 model=m"]),
    ],
)
def test_exclude_leaves_out_what_matches(exclude, left):
    assert rows(read(f"matrix: {{{SMALL}, exclude: {exclude}}}")) == left


@pytest.mark.parametrize(
    ("exclude", "message"),
    [
        ("[{model: x}]", "exclude[0]: matches nothing that is left"),
        ("[{lr: 0.10}]", "exclude[0]: matches nothing that is left"),
        ("[{model: m}, {model: m}]", "exclude[1]: matches nothing that is left"),
        ("[{modle: m}]", "exclude[0].modle: 'modle' is no axis of this matrix (did you mean 'model'?)"),
        ("[{model: m}, {model: s}]", "exclude: leaves no combination"),
        ("[{model: [m]}]", "exclude[0].model: a list where a value belongs"),
        ("{model: m}", "exclude: expected a list of maps, got a map"),
        ("[{}]", "exclude[0]: is empty"),
    ],
)
def test_an_exclude_that_excludes_nothing_is_an_error(exclude, message):
    assert message in wrong(f"matrix: {{{SMALL}, exclude: {exclude}}}")[0]


@pytest.mark.parametrize(
    ("include", "expected"),
    [
        (
            "[{lr: 0.3, model: l}]",
            ["lr=0.1 model=s", "lr=0.1 model=m", "lr=0.2 model=s", "lr=0.2 model=m", "lr=0.3 model=l"],
        ),
        (
            "[{model: l, epochs: 30}]",
            ["lr=0.1 model=s", "lr=0.1 model=m", "lr=0.2 model=s", "lr=0.2 model=m", "epochs=30 model=l"],
        ),
        (
            "[{model: m, epochs: 30}]",
            ["lr=0.1 model=s", "epochs=30 lr=0.1 model=m", "lr=0.2 model=s", "epochs=30 lr=0.2 model=m"],
        ),
        (
            "[{x: 1}, {model: s, y: 2}]",
            ["lr=0.1 model=s x=1 y=2", "lr=0.1 model=m x=1", "lr=0.2 model=s x=1 y=2", "lr=0.2 model=m x=1"],
        ),
    ],
)
def test_include_adds_cells_at_the_end_or_keys_to_those_that_match(include, expected):
    assert rows(read(f"matrix: {{{SMALL}, include: {include}}}")) == [" ".join(sorted(row.split())) for row in expected]


def test_include_alone_is_the_list_of_cells():
    assert rows(read("matrix: {include: [{a: 1}, {b: 2}]}")) == ["a=1", "b=2"]


def test_an_included_cell_may_have_been_excluded():
    text = "matrix: {params: {a: [1, 2]}, exclude: [{a: 1}], include: [{a: 1}]}"
    assert rows(read(text)) == ["a=2", "a=1"]


def test_an_included_cell_runs_where_the_others_do():
    text = "matrix: {gpu: [L4], params: {a: [1]}, include: [{a: 2}]}\nrepetitions: 2"
    assert rows(read(text)) == ["L4 a=1", "L4 a=1 r1", "L4 a=2", "L4 a=2 r1"]


@pytest.mark.parametrize(
    ("include", "message"),
    [
        ("[{gpu: L4, a: 1}]", "include[0]: adds nothing"),
        ("[{a: 1}]", "include[0]: adds nothing"),
        ("[{a: 3}]", "include[0]: a combination of its own needs its gpu (one of A10, L4)"),
        ("[{gpu: L4, a: 3}, {gpu: L4, a: 3}]", "include[1]: adds nothing"),
        ("[{a: 1, x: 1}, {gpu: L4, x: 2}]", "include[1].x: 'x' was added to the same combination before"),
        ("[{a: 1, x: null}]", "include[0].x: null where a value belongs"),
        ("[{regions: eu}]", "include[0].regions: 'regions' names a list (use region)"),
        ("[{a b: 1}]", "'a b' is not a parameter's name"),
    ],
)
def test_an_include_that_cannot_be(include, message):
    assert message in wrong(f"matrix: {{gpu: [L4, A10], params: {{a: [1, 2]}}, include: {include}}}")[0]


def test_a_sample_is_the_same_on_every_machine_and_keeps_the_order():
    text = "matrix: {{params: {{a: {{range: {{start: 0, stop: 99, step: 1}}}}}}, sample: {{n: 5, seed: {}}}}}"
    assert params(read(text.format(0)), "a") == SAMPLE_0
    assert params(read(text.format(1)), "a") != SAMPLE_0


def test_a_sample_is_drawn_before_include_and_repeated_whole():
    text = "matrix: {params: {a: [1, 2, 3]}, sample: {n: 1}, include: [{a: 9}]}\nrepetitions: 2"
    assert len(read(text).points) == 4
    assert params(read(text), "a")[2:] == ["9", "9"]


def test_a_product_beyond_a_million_is_refused_at_once():
    axes = ", ".join(f"p{index}: {{range: {{start: 1, stop: 100, step: 1}}}}" for index in range(12))
    [line] = wrong(f"matrix: {{params: {{{axes}}}}}")
    assert "combinations, at most 1000000" in line


def test_repetitions_beyond_a_million_cells_are_refused_at_once():
    [line] = wrong("repetitions: 90000\nmatrix: {params: {a: {range: {start: 1, stop: 99, step: 1}}}}")
    assert "1:1: repetitions: 99 x 90000 cells, at most 1000000" in line


def test_names_in_an_argv_are_parameters_or_words_of_the_cell():
    spec = read(
        "command: [x, '{lr}-{gpu}', '{{}}', '{index}{id}{name}{repetition}{attempt}{sweep}']\nmatrix: {gpu: [L4], params: {lr: [1]}}"
    )
    assert spec.points[0].settings.command[1] == "{lr}-{gpu}"


@pytest.mark.parametrize(
    ("command", "message"),
    [
        ("[x, '{lrr}']", "command[1]: {lrr} is no parameter of cell 0 (did you mean 'lr'?)"),
        ("[x, y, '{']", "command[2]: a lone '{'"),
        ("[x, 'a}']", "command[1]: a lone '}'"),
        ("[x, '{0}']", "command[1]: a lone '{'"),
        ("[x, '{}']", "command[1]: a lone '{'"),
        ("[x, '{gpu}']", "command[1]: cell 0 has no gpu for {gpu}"),
        ("[x, '{extra}']", "command[1]: {extra} is no parameter of cell 0"),
    ],
)
def test_a_name_that_some_cell_lacks_is_an_error(command, message):
    [line] = wrong(f"command: {command}\nmatrix: {{params: {{lr: [1]}}, include: [{{lr: 2, extra: 1}}]}}")
    assert line.startswith("sweep.yaml:1:")
    assert message in line


def test_the_argv_of_the_command_runner_is_checked_alike():
    spec = read(
        "runner: {kind: command, argv: [./run, 'r={rank}'], manifest: m.json, events: e.jsonl}\nmatrix: {params: {rank: [1]}}"
    )
    assert spec.runner == RunnerSpec("command", ("./run", "r={rank}"), "m.json", "e.jsonl")
    [line] = wrong("runner: {kind: command, argv: [./run, '{rnk}']}\nmatrix: {params: {rank: [1]}}")
    assert line == "sweep.yaml:1:39: runner.argv[1]: {rnk} is no parameter of cell 0 (did you mean 'rank'?)"


def test_configs_of_a_glob_are_sorted_and_of_a_list_as_listed(tmp_path):
    for name in ("r8.yaml", "r16.yaml", "r4.yaml", "a[1].yaml"):
        (tmp_path / name).write_text("")
    (tmp_path / "r-dir.yaml").mkdir()
    for text, expected in {
        "configs: r*.yaml": ["r16.yaml", "r4.yaml", "r8.yaml"],
        "configs: [r8.yaml, r4.yaml]": ["r8.yaml", "r4.yaml"],
        "configs: ['r?.yaml', 'a[1].yaml']": ["r4.yaml", "r8.yaml", "a[1].yaml"],
        "configs: r4.yaml": ["r4.yaml"],
    }.items():
        assert [point.config for point in read(text, project=tmp_path).points] == expected


def test_configs_are_the_slowest_axis():
    spec = read("configs: [b.yaml, a.yaml]\nmatrix: {gpu: [L4, A10], params: {x: [1]}}")
    assert rows(spec) == ["b.yaml L4 x=1", "b.yaml A10 x=1", "a.yaml L4 x=1", "a.yaml A10 x=1"]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            "configs: 'none/*.yaml'",
            "1:10: configs: 'none/*.yaml' matches no file (globs start at the project directory)",
        ),
        ("configs: [r4.yaml, 'r*.yaml']", "1:20: configs: 'r4.yaml' is named twice"),
        ("configs: []", "1:10: configs: is empty"),
        ("configs: {a: 1}", "configs[0]: a map where a value belongs"),
        ("configs: [r4.yaml]\nconfig: t.yaml", "2:1: config: configs says it already"),
    ],
)
def test_configs_that_name_nothing_or_twice(tmp_path, text, message):
    (tmp_path / "r4.yaml").write_text("")
    assert message in wrong(text, project=tmp_path)[0]


def test_the_command_line_wins_over_the_spec():
    spec = read(
        "name: a\nmax_parallel: 1\nmax_runtime: 1h\ncost_cap_usd: 9\nrunner: {kind: command, argv: [x]}",
        name="b",
        max_concurrent="3",
        ttl="30m",
        cost_limit="2",
        max_cost_usd="7",
        launch_delay="5s",
        region="eu",
        runner="command",
    )
    [point] = spec.points
    assert (spec.name, spec.max_parallel, spec.max_cost, spec.launch_delay) == ("b", 3, 7_000_000, 5)
    assert (point.settings.max_runtime, point.settings.cost_cap, point.region) == (1800, 2_000_000, "eu")
    assert spec.runner.argv == ("x",)


@pytest.mark.parametrize(
    ("flags", "message"),
    [
        ({"ttl": "abc"}, "--ttl: 'abc' is not a duration"),
        ({"launch_delay": "-1s"}, "--launch-delay: '-1s' is negative"),
        ({"launch_delay": ""}, "--launch-delay: '' is not a duration"),
        ({"spot": "maybe"}, "--spot: 'maybe' is neither true nor false"),
        ({"name": "../x"}, "--name: '../x' is not a name"),
        ({"runner": "lokal"}, "--runner: 'lokal' is not one of"),
        ({"runner": "command"}, "--runner: the command runner needs argv"),
        ({"gpu": "A10"}, "--gpu: matrix.gpu says it already"),
        ({"max_cost_usd": "nan"}, "--max-cost-usd: 'nan' is not an amount"),
        ({"command": ("echo", "{")}, "--command[1]: a lone '{'"),
        ({"command": ("echo", "{q}")}, "--command: {q} is no parameter"),
    ],
)
def test_a_wrong_option_is_said_under_its_name(flags, message):
    [line] = wrong("matrix: {gpu: [L4]}", **flags)
    assert message in line


def test_the_grid_members_stand_beside_native_settings():
    spec = read(
        """
        name: hp
        command: [python3, t.py, "{q}"]
        max_runtime: 1h
        repetitions: 2
        defaults: {region: eu, w: 0}
        params: [{q: 9, ttl: 2h}]
        grid: {q: [1, 2]}
        """
    )
    assert rows(spec) == ["eu q=9 w=0", "eu q=9 w=0 r1", "eu q=1 w=0", "eu q=1 w=0 r1", "eu q=2 w=0", "eu q=2 w=0 r1"]
    assert [point.settings.max_runtime for point in spec.points[::2]] == [7200, 3600, 3600]
    assert spec.dialect == "native"


def test_the_order_of_problems_is_that_of_the_file():
    with pytest.raises(SweepError) as caught:
        read("b: 1\na: 1\nmatrix: {x: 1}\n")
    assert [problem.line for problem in caught.value.problems] == [1, 2, 3]
