#!/usr/bin/env bats
# Hostile hosts and hostile runners: odd paths, few descriptors, full and read-only disks, clocks, locales.

load sweep

two='matrix: {params: {x: [a, b]}}'

# skipped WHY: skip the test, or fail it where all components must be there.
skipped() {
  [[ ${SWEEPTOOL_REQUIRE_ALL:-} != 1 ]] || return 1
  skip "$1"
}

# small_disk SIZE: put the sweeps on a disk of their own.
small_disk() {
  [[ $EUID == 0 ]] || skipped 'only root mounts a disk'
  mkdir -p artifacts/sweeps
  mount -t tmpfs -o "size=$1" tmpfs artifacts/sweeps || skipped 'nothing can be mounted here'
}

fill() {
  head -c 1G /dev/zero >artifacts/sweeps/hog 2>/dev/null || true # until it is full
}

done_all() { # COUNT: that many cells have succeeded, by the ledger
  (($(grep -c '"state": "succeeded"' "$LEDGER") == $1))
}

@test "paths with spaces, quotes and an apostrophe: run, killed, resumed" {
  mkdir -p "it's a \"project\" \$dir" && cd "it's a \"project\" \$dir"
  export SWEEPTOOL_SWEEPS_DIR="my sweeps' dir"
  LEDGER="$SWEEPTOOL_SWEEPS_DIR/s/ledger.jsonl"
  stub 'begin; gate go; succeed'
  spec 'max_parallel: 2' "$two"
  drive
  soon noted begin 2
  kill -KILL "$DRIVER"
  touch go
  run bash driver.sh
  [ "$status" -eq 0 ]
  [ "$(wrote begin | wc -w)" -eq 2 ]
  done_all 2
}

@test "ulimit -n 64: forty cells at once" {
  stub 'begin; crowd 40; succeed'
  spec 'max_parallel: 0' "matrix: {params: {x: [$(seq -s , 40)]}}"
  run bash -c 'ulimit -n 64; exec bash driver.sh' 3>&- 4>&-
  [ "$status" -eq 0 ]
  done_all 40
}

@test "20,000 cells: the driver parses, and its first shard starts soon" {
  stub 'begin; gate go; succeed'
  spec 'max_parallel: 2' 'matrix: {params: {x: {range: {start: 1, stop: 20000, step: 1}}}}'
  bash -n driver.sh
  drive
  soon noted begin 2
  kill -INT "$DRIVER"
  ended
  [ "$code" -eq 130 ]
}

@test "a value of 200 KB is refused before anything starts" {
  printf 'name: s\nrunner: {kind: command, argv: [stub, "{x}"]}\nmatrix: {params: {x: ["%s"]}}\n' \
    "$(head -c 200000 /dev/zero | tr '\0' v)" >sweep.yaml
  run sweeptool render sweep.yaml
  [ "$status" -eq 2 ]
  [[ $output == *'put the value in a file'* ]]
}

@test "LC_ALL=de_DE.UTF-8: a comma for a point changes nothing" {
  localedef -i de_DE -f UTF-8 "$BATS_TEST_TMPDIR/de_DE.UTF-8" 2>/dev/null || skipped 'this locale cannot be made'
  export LOCPATH=$BATS_TEST_TMPDIR
  stub 'begin; gate go; succeed 0.30'
  spec 'max_parallel: 2' 'max_cost_usd: 0.75' 'cost_cap_usd: 0.30' "$two"
  # shellcheck disable=SC2016 # the inner shell's own
  [ "$(LC_ALL=de_DE.UTF-8 bash -c 'echo "${EPOCHREALTIME//[0-9]/}"')" = , ]
  LC_ALL=de_DE.UTF-8 drive
  soon noted begin 2
  kill -TERM "$DRIVER"
  sleep 0.01
  kill -TERM "$DRIVER"
  ended
  [ "$code" -eq 143 ]
  [ "$(wrote INT | wc -w)" -eq 2 ]
}

@test "a sweep directory that cannot be written: exit 2, nothing starts" {
  local -a bound=()
  # root may write anywhere, unless that is taken from it
  [[ $EUID != 0 ]] || bound=(setpriv --bounding-set=-dac_override,-dac_read_search --inh-caps=-all)
  spec "$two"
  mkdir -p artifacts/sweeps
  chmod 555 artifacts/sweeps
  run "${bound[@]}" bash driver.sh
  chmod 755 artifacts/sweeps
  [ "$status" -eq 2 ]
  [[ $output == *'cannot be written: Permission denied'* ]]
  [ ! -s "$RECORD" ]
}

@test "a full disk: launching stops, says so, and goes on by itself when there is room" {
  small_disk 4m
  stub 'begin; gate "go$cell"; succeed'
  spec 'max_parallel: 1' "$two"
  drive
  soon noted begin 1
  fill
  touch goa
  soon grep -qi '^hold .*no room' err
  sleep 1
  [ "$(wrote begin)" = a ]
  rm artifacts/sweeps/hog
  soon noted begin 2
  touch gob
  ended
  [ "$code" -eq 0 ]
  done_all 2
}

@test "a full disk loses no exit code: a failure beside a manifest that says otherwise stays one" {
  small_disk 4m
  stub 'begin; gate go; finish 3 false'
  spec 'matrix: {params: {x: [a]}}'
  drive
  soon noted begin 1
  fill
  touch go
  soon noted end 1
  sleep 1
  rm artifacts/sweeps/hog
  ended
  [ "$code" -eq 1 ]
  [ "$(outcomes 0)" = failed ]
}

@test "a clock that jumps back an hour: nothing is lost, nothing runs twice" {
  local library
  library=$(find /usr/lib -name libfaketime.so.1 2>/dev/null | head -n 1)
  [[ -n $library ]] || skipped 'libfaketime is not there'
  stub 'begin; gate go; succeed'
  spec 'max_parallel: 2' "matrix: {params: {x: [a, b, c, d]}}"
  echo '+0' >clock
  export FAKETIME_TIMESTAMP_FILE=$PWD/clock FAKETIME_NO_CACHE=1 FAKETIME_DONT_FAKE_MONOTONIC=1
  LD_PRELOAD=$library drive
  soon noted begin 2
  echo '-1h' >clock
  touch go
  ended
  [ "$code" -eq 0 ]
  done_all 4
  [ "$(wrote begin | wc -w)" -eq 4 ]
}

@test "a terminal with stty tostop stops neither the ledger nor the sweep" {
  spec "$two"
  timeout 60 python3 "$BATS_TEST_DIRNAME/terminal.py" bash -c 'stty tostop; bash driver.sh' >terminal.out 2>&1 </dev/null 3>&- 4>&-
  done_all 2
}

# ---- runners

@test "a runner that prints a megabyte, closes its output, or leaves a daemon behind" {
  stub 'begin
case $cell in
  flood) head -c 1048576 /dev/zero | tr "\0" y ;;
  mute) exec >&- 2>&- ;;
  daemon) setsid sleep 2 >/dev/null 2>&1 & ;;
esac
succeed'
  spec 'max_parallel: 3' 'matrix: {params: {x: [flood, mute, daemon]}}'
  run bash driver.sh
  [ "$status" -eq 0 ]
  done_all 3
  [ "$(stat -c %s artifacts/sweeps/s/cells/flood-*/attempt-1/stdout.log)" -gt 1048576 ]
}

@test "a program that has the name of one of the driver's functions is the program" {
  local name
  for name in launch claim tell record count; do
    ln -sf stub "$BATS_TEST_TMPDIR/bin/$name"
  done
  for name in launch claim record count; do
    printf 'name: %s\nrunner: {kind: command, argv: [%s, a]}\nmatrix: {params: {x: [a]}}\n' "$name" "$name" >sweep.yaml
    sweeptool render sweep.yaml >driver.sh
    run bash driver.sh
    [ "$status" -eq 0 ]
  done
  [ "$(wrote begin | wc -w)" -eq 4 ]
}

@test "a daemon that before: starts does not keep the sweep" {
  spec 'before: ["sleep 20 >/dev/null 2>&1 & echo $! >daemon"]' "$two"
  run bash driver.sh
  [ "$status" -eq 0 ]
  run timeout 10 bash driver.sh
  [ "$status" -eq 0 ]
  kill "$(<daemon)"
}

@test "a second driver: exit 5, naming process, host and since when" {
  stub 'begin; gate go; succeed'
  spec "$two"
  drive
  soon noted begin 2
  run bash driver.sh
  [ "$status" -eq 5 ]
  [[ $output == *"held by driver $DRIVER on $(uname -n) since 20"* ]]
  touch go
  ended
  [ "$code" -eq 0 ]
}

@test "a true streak of failures: exit 6, the rest is pending" {
  stub 'begin; fail'
  spec 'max_parallel: 1' 'failure_streak: 3' 'matrix: {params: {x: [a, b, c, d, e]}}'
  run bash driver.sh
  [ "$status" -eq 6 ]
  [ "$(wrote begin)" = 'a b c' ]
}

# ---- readers, shells, waiting

@test "a reader that closes early, under pipefail: the list ends quietly, the sweep goes on" {
  spec 'matrix: {params: {x: {range: {start: 1, stop: 3000, step: 1}}}}'
  run bash -c 'set -o pipefail; bash driver.sh list | head -n 1'
  [ "${#lines[@]}" -eq 1 ]
  spec "$two"
  run bash -c 'bash driver.sh 2>&1 | true; echo "${PIPESTATUS[0]}"'
  [ "$output" -eq 0 ]
  done_all 2
}

@test "waiting costs next to nothing: no spinning on a shard, nor on a ledger that is gone" {
  stub 'begin; gate go; succeed'
  spec "$two"
  drive
  soon noted begin 2
  sleep 3
  pkill -KILL -P "$DRIVER" -f 'sweeptool ledger'
  sleep 3
  touch go
  read -r -a stat <"/proc/$DRIVER/stat"
  ((stat[13] + stat[14] < 100)) # hundredths of a second
  ended
  [ "$code" -eq 70 ]
}

@test "another shell, or a bash that is too old, is told in one line" {
  spec "$two"
  run sh driver.sh
  [ "$status" -eq 2 ]
  [ "${#lines[@]}" -eq 1 ]
  [[ $output == *'needs bash 4.4'* ]]
}
