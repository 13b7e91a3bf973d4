#!/usr/bin/env bats
# Values and paths that shells, makes and file systems choke on: they arrive byte for byte.

load sweep

# hostile: write values.json, one value a line in it, and a driver with a cell for each.
hostile() {
  python3 - <<'END'
import json

values = [
    'run "A"', "$HOME/out", "`id`", "$(id)", "it's", "*", "--x", "-rf", "--k=-0.07x", "a=b", "a\nb", "\n", "ends\n", "",
    " ", " x ", "\t", "日本", "é", "e\u0301", "c(4,2*7)", "back\\slash", "\\", "100%", "%s%n", "#", "a,b", "!!", "!id",
    "~", "~root", "{x}", "{{x}}", "}", "[a-z]", "?", ";", "&", "|", ">", "<", "\r", "a\r\n", "\x7f", "\x1b[31m", "\x01",
    "'", '"', "'\"'", "$'x'", "a b", "a_b", "x/y", "x_y", "中文", "A", "a", "../../x", "/etc", ".", "..", "null", "007",
    "1e-4", "no", "\U0001f600", "\u202e", "\ufeff", "x" * 300, "日" * 300, "EOF", "\\n", "</script>", "PATH=/nowhere",
]
spec = {
    "name": "s",
    "runner": {"kind": "command", "argv": ["stub", "{x}"]},
    "max_parallel": 4,
    "matrix": {"params": {"x": values}},
}
open("values.json", "w").write(json.dumps(values))
open("spec.json", "w").write(json.dumps(spec))
END
  sweeptool render spec.json >driver.sh
  # what a runner got, as the file of its cell
  stub 'printf "%s\0" "$#" "$1" "$PARAM_x" "$NODUS_PARAM_x" "$SWEEP_SIZE" >"got.$SWEEP_INDEX"; begin; succeed'
}

# arrived: every runner got its value, as argument and in both variables.
arrived() {
  python3 - <<'END'
import json
import pathlib

values = json.load(open("values.json"))
for index, value in enumerate(values):
    got = pathlib.Path(f"got.{index}").read_bytes()
    text = value.encode()
    want = b"\0".join([b"1", text, text, text, str(len(values)).encode(), b""])
    assert got == want, (index, value, got)
END
}

@test "hostile values arrive byte for byte, as argument and as PARAM_ and NODUS_PARAM_ in the environment" {
  hostile
  run bash driver.sh
  [ "$status" -eq 0 ]
  arrived
}

@test "hostile values under LC_ALL=C, in a driver that was rendered so too" {
  export LC_ALL=C
  hostile
  run bash driver.sh
  [ "$status" -eq 0 ]
  arrived
}

@test "a locale whose decimal point is a comma: money, delays and signals are right" {
  localedef -i de_DE -f UTF-8 "$BATS_TEST_TMPDIR/de_DE.UTF-8" 2>/dev/null || skipped "localedef or its sources are missing"
  export LOCPATH=$BATS_TEST_TMPDIR LC_ALL=de_DE.UTF-8 # this shell itself may not take it
  [ "$(bash -c 'printf %.1f 1,5')" = 1,5 ]
  stub 'begin; [[ $1 == c ]] && gate never; succeed 0.30'
  spec 'max_cost_usd: 0.95' 'cost_cap_usd: 0.30' 'max_parallel: 3' 'launch_delay: 100ms' 'matrix: {params: {x: [a, b, c, 0.10, "1,5"]}}'
  drive
  soon noted end 2
  soon noted begin 3
  kill -INT "$DRIVER"
  kill -INT "$DRIVER" 2>/dev/null || true # an echo
  ended
  [ "$code" -eq 130 ]
  [ "$(outcomes 0) $(outcomes 2)" = "succeeded interrupted" ]
  [[ $(sweeptool budget) == *0.65* ]]
}

@test "parameter names that are no shell variables reach the environment; values cannot replace the tags" {
  printf '%s\n' 'name: s' 'runner: {kind: command, argv: [stub, "{a.b}"]}' \
    'matrix: {params: {a.b: ["x y"], SWEEP_INDEX: ["9"], PATH: [/nowhere], BASH_ENV: [/nowhere], IFS: [x], readonly: [y]}}' >sweep.yaml
  sweeptool render sweep.yaml >driver.sh
  stub 'env -0 | grep -zE "^(NODUS_)?PARAM_|^SWEEP_INDEX" | sort -z | tr "\0" "\n" >got; begin; succeed'
  run bash driver.sh
  [ "$status" -eq 0 ]
  grep -qx 'PARAM_a.b=x y' got
  grep -qx 'NODUS_PARAM_a.b=x y' got
  grep -qx 'PARAM_PATH=/nowhere' got
  grep -qx 'PARAM_readonly=y' got
  grep -qx 'SWEEP_INDEX=0' got
}

@test "project directories with spaces, apostrophes, a leading dash, unicode, a dollar, a newline" {
  stub 'run_dir=runs/$$; manifest=$run_dir/runpod_deploy_pull_manifest.json; begin; succeed' # RUN_DIR= is one line
  for name in -rf 'it'\''s "$HOME" `id`' '日本 * a\b #c=d:e' $'a\nb'; do
    mkdir -p -- "$BATS_TEST_TMPDIR/$name"
    cd -- "$BATS_TEST_TMPDIR/$name"
    spec 'before: ["touch before"]' 'matrix: {params: {x: [a]}}'
    run bash driver.sh
    [ "$status" -eq 0 ]
    [ -e before ]
    [ "$(outcomes 0)" = succeeded ]
  done
}

@test "sweeps directories with spaces, apostrophes, a leading dash, unicode, a newline; relative and absolute" {
  spec 'matrix: {params: {x: [a]}}'
  for name in -rf 'it'\''s "$HOME" `id`' $'a\nb' "$PWD/日本 * a\\b"; do
    SWEEPTOOL_SWEEPS_DIR=$name run bash driver.sh
    [ "$status" -eq 0 ]
    [ -s "$name/s/ledger.jsonl" ] || [ -s "./$name/s/ledger.jsonl" ]
    SWEEPTOOL_SWEEPS_DIR=$name run bash driver.sh
    [ "$status" -eq 0 ]
    [[ $output == *"nothing to launch"* ]]
  done
  [ "$(wrote begin | wc -w)" -eq 4 ]
}

@test "a driver whose own path is hostile: run, resumed, from elsewhere, by -- and by a bare name" {
  mkdir -p "it's here"
  spec 'matrix: {params: {x: [a]}}'
  mv driver.sh "it's here/-driver \$x.sh"
  cd "it's here"
  run bash -- '-driver $x.sh' --project-dir ..
  [ "$status" -eq 0 ]
  run bash './-driver $x.sh' --project-dir ..
  [[ $output == *"nothing to launch"* ]]
  run bash -- '-driver $x.sh' --help
  [ "$status" -eq 0 ]
  [[ ${lines[0]} == "s: 1 cell through the runner command"* ]]
}

@test "values that sanitise to one name are cells of their own, also where file names know no case" {
  spec 'matrix: {params: {x: ["a b", a_b, a/b, "a:b", A, a, x/y, x_y, 日本, 中文, "", " "]}}'
  run bash driver.sh
  [ "$status" -eq 0 ]
  [ "$(ls artifacts/sweeps/s/cells | tr '[:upper:]' '[:lower:]' | sort -u | wc -l)" -eq 12 ]
  [ "$(ls artifacts/sweeps/s/cells | LC_ALL=C grep -cvxE '[A-Za-z0-9._-]+')" -eq 0 ]
}

@test "a value that the system cannot pass is refused when the driver is made, with its cell" {
  python3 -c 'import json; print(json.dumps({"name": "s", "runner": {"kind": "command", "argv": ["stub", "{big}"]}, "matrix": {"params": {"big": ["x" * 200_000, "y"]}}}))' >spec.json
  run sweeptool render spec.json
  [ "$status" -eq 2 ]
  [[ $output == *"cell 0 has an argument of 200,0"* ]]
  ((${#output} < 1000))
}

@test "a value of 100 KB arrives" {
  python3 -c 'import json; print(json.dumps({"name": "s", "runner": {"kind": "command", "argv": ["stub", "{big}"]}, "matrix": {"params": {"big": ["x" * 100_000]}}}))' >spec.json
  sweeptool render spec.json >driver.sh
  stub 'printf "%s" "$1" | wc -c >got; cell=big; begin; succeed'
  run bash driver.sh
  [ "$status" -eq 0 ]
  [ "$(<got)" -eq 100000 ]
}

@test "a spec with CRLF makes a driver with LF" {
  printf 'name: s\r\nrunner: {kind: command, argv: [stub, "{x}"]}\r\nmatrix: {params: {x: [a]}}\r\n' >sweep.yaml
  sweeptool render sweep.yaml >driver.sh
  [ "$(grep -c $'\r' driver.sh)" -eq 0 ]
  run bash driver.sh
  [ "$status" -eq 0 ]
}

@test "a secret stays out of driver, plan, ledger and status" {
  printf '%s\n' 'name: s' 'runner: {kind: command, argv: [stub, "{x}"]}' 'env: {TOKEN: {from: MY_TOKEN}}' \
    'matrix: {params: {x: [a]}}' >sweep.yaml
  export MY_TOKEN=hunter2-hunter2
  sweeptool render sweep.yaml >driver.sh
  stub 'printf "%s" "$TOKEN" >got; begin; succeed'
  run bash driver.sh
  [ "$status" -eq 0 ]
  [ "$(<got)" = hunter2-hunter2 ]
  rm got
  [ "$(grep -rl hunter2 . | wc -l)" -eq 0 ]
}

@test "variables of the spec with the names of bash's and of the driver's own" {
  # shellcheck disable=SC2016 # the stub's own
  stub 'begin; tr "\0" "\n" </proc/$$/environ >got; succeed'
  spec 'env: {HOST: a, host: b, status: c, argv: d, own: e, UID: "7", RANDOM: "8", attempt_dir: /f, IFS2: "g h"}' \
    'matrix: {params: {x: [a]}}'
  run bash driver.sh
  [ "$status" -eq 0 ]
  for pair in HOST=a host=b status=c argv=d own=e UID=7 RANDOM=8 attempt_dir=/f 'IFS2=g h'; do
    grep -qxF -- "$pair" got
  done
  [ "$(cut -d ' ' -f 4 artifacts/sweeps/s/cells/*/attempt-1/start)" = "$(uname -n)" ]
}

@test "the user's own variables reach the job as they were" {
  # shellcheck disable=SC2016 # the stub's own
  stub 'begin; tr "\0" "\n" </proc/$$/environ >got; succeed'
  spec 'matrix: {params: {x: [a]}}'
  run env MAX_PARALLEL=9 PROJECT_DIR=/mine HOST=theirs CODE=x FILES=f SIGNAL=s RUNNING=r DRIVER=d bash driver.sh
  [ "$status" -eq 0 ]
  for pair in MAX_PARALLEL=9 PROJECT_DIR=/mine HOST=theirs CODE=x FILES=f SIGNAL=s RUNNING=r DRIVER=d; do
    grep -qxF -- "$pair" got
  done
}
