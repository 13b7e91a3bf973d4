"""The defaults/params/grid form and its shorthand: settings and parameters told apart, and nothing lost between."""

from __future__ import annotations

import pytest

from sweeptool.cells import number
from tests.specs import params, read, rows, shorthand, wrong, wrong_shorthand


def test_every_launch_key_is_a_setting():
    [point] = read(
        """
        params:
        - instance_type: g5.xlarge
          gpu: A10
          region: us-east-1
          datacenter: EU-RO-1
          ttl: 4h
          idle_timeout: 30m
          spot: true
          cost_limit: 3
          price_per_hour: 0.526
          on_complete: terminate
          command: ./job "$PARAM_alpha"
          alpha: 0.10
        """
    ).points
    settings = point.settings
    assert point.params == {"alpha": "0.10"}
    assert (point.gpu, point.region, settings.instance_type, settings.datacenter) == (
        "A10",
        "us-east-1",
        "g5.xlarge",
        "EU-RO-1",
    )
    assert (settings.max_runtime, settings.idle_timeout, settings.spot) == (4 * 3600, 1800, True)
    assert (settings.cost_cap, settings.price_per_hour, settings.on_complete) == (3_000_000, 526_000, "terminate")
    assert settings.command == './job "$PARAM_alpha"'


def test_defaults_hold_what_is_the_whole_sweep_s():
    spec = read(
        "{defaults: {name: hp, runner: local, max_concurrent: 2, launch_delay: 30s, max_cost_usd: 9}, params: [{}]}"
    )
    assert (spec.name, spec.max_parallel, spec.launch_delay, spec.max_cost) == ("hp", 2, 30, 9_000_000)


def test_the_command_line_stands_between_defaults_and_rows():
    spec = read(
        "{defaults: {name: a, ttl: 1h, region: us, max_concurrent: 9}, params: [{}, {ttl: 3h, region: eu}]}",
        name="b",
        ttl="2h",
        region="ap",
        max_concurrent="1",
    )
    assert (spec.name, spec.max_parallel) == ("b", 1)
    assert [(point.region, point.settings.max_runtime) for point in spec.points] == [("ap", 7200), ("eu", 3 * 3600)]


def test_a_parameter_of_defaults_reaches_every_row():
    spec = read("{defaults: {seed: 7, alpha: 1}, params: [{alpha: 2}], grid: {n: [1]}}")
    assert rows(spec) == ["alpha=2 seed=7", "alpha=1 n=1 seed=7"]


def test_gpu_and_region_are_the_slowest_axes_here_too():
    assert rows(read("grid: {a: [1, 2], region: [us, eu], gpu: [L4, A10]}")) == [
        f"{gpu} {region} a={a}" for gpu in ("L4", "A10") for region in ("us", "eu") for a in "12"
    ]


def test_a_setting_that_varies_stands_where_its_own_name_does():
    points = read("grid: {ttl: [1h, 2h], n: [1, 2]}").points
    assert [(point.params["n"], point.settings.max_runtime) for point in points] == [
        (n, ttl) for n in "12" for ttl in (3600, 7200)
    ]


@pytest.mark.parametrize("key", ["config", "image"])
def test_what_only_some_runners_take_is_a_parameter_for_the_others(key):
    text = f"params: [{{{key}: x.yaml}}]"
    assert params(read(text), key) == ["x.yaml"]
    [point] = read(text, runner="runpod-deploy").points
    assert point.params == {}
    assert "x.yaml" in (point.config, point.settings.image)


RIGHT = {
    "TTL": "ttl",
    "Ttl": "ttl",
    "ttl_hours": "ttl",
    "ttlMinutes": "ttl",
    "max_ttl": "ttl",
    "walltime": "ttl",
    "wall_time": "ttl",
    "timeout": "ttl",
    "time-limit": "ttl",
    "max_hours": "ttl",
    "max_runtime": "ttl",
    "max_runtime_minutes": "ttl",
    "job_timeout_sec": "ttl",
    "max_cost": "cost_limit",
    "maxCost": "cost_limit",
    "cost": "cost_limit",
    "cost-limit": "cost_limit",
    "costLimit": "cost_limit",
    "cost_limits": "cost_limit",
    "cost_cap_usd": "cost_limit",
    "budget": "cost_limit",
    "budget_usd": "cost_limit",
    "max_spend": "cost_limit",
    "price": "price_per_hour",
    "price_per_hour_usd": "price_per_hour",
    "hourly_rate": "price_per_hour",
    "idle": "idle_timeout",
    "idle_minutes": "idle_timeout",
    "idleTimeout": "idle_timeout",
    "on-complete": "on_complete",
    "onComplete": "on_complete",
    "on_compleet": "on_complete",
    "instance-type": "instance_type",
    "InstanceType": "instance_type",
    "instance_typ": "instance_type",
    "SPOT": "spot",
    "use_spot": "spot",
    "spot_instance": "spot",
    "GPU": "gpu",
    "gpu_type": "gpu",
    "Region": "region",
    "regions": "region",
    "data_center": "datacenter",
    "Command": "command",
    "Name": "name",
    "max_parallel": "max_concurrent",
    "maxConcurrent": "max_concurrent",
    "launch-delay": "launch_delay",
    "maxCostUSD": "max_cost_usd",
}


@pytest.mark.parametrize(
    "where", ["params: [{{{}: 1}}]", "grid: {{{}: [1]}}", "{{defaults: {{{}: 1}}, params: [{{}}]}}"]
)
@pytest.mark.parametrize("key", RIGHT)
def test_a_setting_under_another_name_is_an_error_that_says_the_right_one(where, key):
    [line] = wrong(where.format(key))
    assert f"{key}: unknown setting '{key}' (use {RIGHT[key]}" in line
    assert f"'param:{key}' makes it a parameter" in line


@pytest.mark.parametrize("key", RIGHT)
def test_and_the_mark_makes_it_a_parameter(key):
    assert params(read(f"grid: {{'param:{key}': [1, 2]}}"), key) == ["1", "2"]


ORDINARY = "alpha learning_rate batch_size suite seed max_steps n_hours rate num_gpus cost_matrix timeout_probability "
ORDINARY += (
    "temperature price_model min_lr time hour instance day max_tokens beta limit cap job runtime os python spots idler"
)


@pytest.mark.parametrize("key", ORDINARY.split())
def test_an_ordinary_name_is_a_parameter(key):
    assert params(read(f"grid: {{{key}: [1, 2]}}"), key) == ["1", "2"]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("params: [{name: x}]", "params[0].name: 'name' is the whole sweep's (put it in defaults"),
        ("grid: {max_cost_usd: [1]}", "grid.max_cost_usd: 'max_cost_usd' is the whole sweep's"),
        ("params: [{max_concurrent: 1}]", "'max_concurrent' is the whole sweep's"),
        ("params: [{'param:': 1}]", "'' is not a parameter's name"),
        ("params: [{'a b': 1}]", "'a b' is not a parameter's name"),
        ("params: [{'param:param:x': 1}]", "'param:x' is not a parameter's name"),
        ("params: [{'1a': 1}]", "'1a' is not a parameter's name"),
        ("params: [{a: 1, 'param:a': 2}]", "'a' is given twice"),
        ("grid: {a: [1], 'param:a': [2]}", "'a' is given twice"),
        ("params: [{ttl: soon}]", "params[0].ttl: 'soon' is not a duration"),
        ("params: [{ttl: 0}]", "params[0].ttl: is 0, expected longer"),
        ("params: [{ttl: null}]", "params[0].ttl: null where a value belongs"),
        ("params: [{spot: 1}]", "params[0].spot: '1' is neither true nor false"),
        ("params: [{cost_limit: $5}]", "params[0].cost_limit: '$5' is not an amount"),
        ("grid: {ttl: [1h, x]}", "grid.ttl[1]: 'x' is not a duration"),
        ("grid: {spot: [true, yes]}", "grid.spot[1]: 'yes' is neither true nor false"),
        ("params: [{gpu: 'H100:3'}]", "params[0].gpu: '3' is no GPU count"),
        ("params: [{}, {}]", "params[1]: cells 0 and 1 are the same: no parameters"),
        ("{defaults: {name: ../x}, params: [{}]}", "defaults.name: '../x' is not a name"),
        ("{defaults: {runner: slurm}, params: [{}]}", "defaults.runner: 'slurm' is not one of"),
        ("{defaults: {command: [x, '{q}']}, params: [{}]}", "defaults.command[1]: {q} is no parameter of cell 0"),
        ("params: [{command: [x, '{'], a: 1}]", "params[0].command[1]: a lone '{'"),
        ("params: null", "params: expected a list of maps, got null"),
        ("grid: null", "grid: expected a map from names to lists of values, got null"),
        ("{defaults: null, params: [{}]}", "defaults: expected a map of settings and parameters, got null"),
        ("{default: {a: 1}, params: [{}]}", "default: unknown setting 'default' (did you mean 'defaults'?)"),
    ],
)
def test_what_is_wrong_is_said_at_its_place(text, message):
    [line] = wrong(text)
    assert line.startswith("sweep.yaml:1:")
    assert message in line


def test_the_command_runner_fits_into_defaults():
    spec = read("{defaults: {runner: {kind: command, argv: [./run, '{a}']}}, grid: {a: [1, 2]}}")
    assert spec.runner.argv == ("./run", "{a}")
    [line] = wrong("{defaults: {runner: {kind: command, argv: [./run, '{b}']}}, grid: {a: [1, 2]}}")
    assert "defaults.runner.argv[1]: {b} is no parameter of cell 0" in line


def test_cells_that_differ_in_a_bound_are_two():
    spec = read("{defaults: {a: 1}, params: [{}, {cost_limit: 1}, {ttl: 2h}, {price_per_hour: 1}]}")
    assert len({cell.id for cell in number(spec, {})}) == 4


def test_a_product_beyond_a_million_is_refused_at_once():
    axis = "[" + ", ".join(map(str, range(200))) + "]"
    [line] = wrong(f"grid: {{a: {axis}, b: {axis}, c: {axis}}}")
    assert "grid: 8000000 combinations, at most 1000000" in line


def test_the_same_sweep_in_three_syntaxes():
    texts = ['{"grid": {"lr": [0.01, 0.1], "bs": [32, 64]}}', "grid:\n  lr: [0.01, 0.1]\n  bs: [32, 64]\n"]
    short = shorthand("lr=0.01,0.1 bs=32,64", name="sweep")
    for text in texts:
        assert read(text).points == short.points
    native = read("matrix: {params: {lr: [0.01, 0.1], bs: [32, 64]}}")
    assert native.points == short.points
    assert [cell.id for cell in number(native, {})] == [cell.id for cell in number(short, {})]


def test_shorthand_takes_every_flag_of_the_guide():
    spec = shorthand(
        "learning_rate=0.01,0.1\n\tbatch_size=32,64",
        name="hp",
        max_concurrent="2",
        launch_delay="1m30s",
        ttl="30m",
        idle_timeout="5m",
        instance_type="t3.micro",
        region="us-east-1",
        price_per_hour="0.01",
        spot="true",
    )
    settings = spec.points[0].settings
    assert (spec.name, spec.max_parallel, spec.launch_delay, spec.source) == ("hp", 2, 90, "--grid")
    assert (settings.max_runtime, settings.idle_timeout, settings.instance_type) == (1800, 300, "t3.micro")
    assert (settings.price_per_hour, settings.spot, spec.points[0].region) == (10_000, True, "us-east-1")


def test_shorthand_without_a_name_is_called_sweep():
    assert shorthand("a=1").name == "sweep"


def test_shorthand_and_its_flags_are_one_report():
    lines = wrong_shorthand("lr= b TTL=1", ttl="x", max_concurrent="y")
    assert len(lines) == 4
    assert any("'b' is not of the form key=value,value" in line for line in lines)


def test_shorthand_knows_settings_and_the_mark():
    assert "TTL: unknown setting 'TTL' (use ttl" in wrong_shorthand("TTL=1h")[0]
    assert params(shorthand("param:ttl=1,2"), "ttl") == ["1", "2"]
