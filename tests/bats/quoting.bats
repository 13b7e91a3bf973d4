#!/usr/bin/env bats
# Hostile values reach the runner byte for byte, as argument and in its environment; the spec's and the user's
# variables too.

load sweep

@test "hostile values, through argv and through the environment" {
  # shellcheck disable=SC2016 # the stub's own
  stub 'begin; printf "%s\0%s\0%s\0" "$1" "$PARAM_x" "$NODUS_PARAM_x" >"got.$SWEEP_INDEX"; succeed'
  python3 - <<'P'
import json
values = ['run "A"', '$HOME/out', '`id`', "it's", '*', '--x', '-n', 'a=b', 'a\nb', '', '日本', '\\', '\\n', '!', '{y}',
          ' lead', 'trail ', 'a\tb', '#c', '%s', ';id', '$(id)', '\x01', 'a\r\n', '~', '[[ x ]]', '\u2028', '"', "''"]
json.dump(values, open('values.json', 'w'))
spec = {'name': 's', 'runner': {'kind': 'command', 'argv': ['stub', '{x}']}, 'matrix': {'params': {'x': values}}}
json.dump(spec, open('sweep.json', 'w'))
P
  sweeptool render sweep.json >driver.sh
  run bash driver.sh
  [ "$status" -eq 0 ]
  python3 - <<'P'
import json
for index, value in enumerate(json.load(open('values.json'))):
    got = open(f'got.{index}', 'rb').read().split(b'\0')[:3]
    assert got == [value.encode()] * 3, (value, got)
P
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
