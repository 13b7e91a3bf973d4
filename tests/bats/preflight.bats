#!/usr/bin/env bats
# What a driver finds out before it starts anything: all of it at once, exit 2.

load sweep

one='matrix: {params: {x: [a]}}'

@test "everything that is missing is named at once; exit 2, nothing is started or left behind" {
  echo '{}' >conf.yaml
  spec 'config: conf.yaml' 'env: {TOKEN: {from: MY_TOKEN}, KEY: {from: MY_KEY}}' 'before: ["touch before"]' "$one"
  rm conf.yaml "$BATS_TEST_TMPDIR/bin/stub"
  export MY_KEY=''
  run bash driver.sh
  [ "$status" -eq 2 ]
  [ "${#lines[@]}" -eq 4 ]
  [[ $output == *"program stub is not on PATH"* ]]
  [[ $output == *"conf.yaml is not in $PWD"* ]]
  [[ $output == *"variable MY_TOKEN is not set"* ]]
  [[ $output == *"variable MY_KEY is not set"* ]]
  run bash driver.sh shard 0
  [ "$status" -eq 2 ]
  [ ! -e before ]
  [ ! -e artifacts ]
}

@test "without sweeptool on PATH: exit 2, and it says so; SWEEPTOOL names another" {
  spec "$one"
  tool=$(type -P sweeptool)
  mkdir tools
  for name in bash env mkdir grep; do ln -s "$(type -P "$name")" "tools/$name"; done
  PATH=$PWD/tools:$BATS_TEST_TMPDIR/bin run bash driver.sh
  [ "$status" -eq 2 ]
  [ "$output" = "error: program sweeptool is not on PATH" ]
  SWEEPTOOL=$tool run bash driver.sh
  [ "$status" -eq 0 ]
}

@test "a driver run in the wrong directory says so; --project-dir and SWEEP_PROJECT_DIR help" {
  echo '{}' >conf.yaml
  spec 'config: conf.yaml' "$one"
  mkdir elsewhere
  cd elsewhere
  run bash ../driver.sh
  [ "$status" -eq 2 ]
  [[ $output == *"conf.yaml is not in $PWD"*"--project-dir"* ]]
  [ ! -e artifacts ]
  run bash ../driver.sh --project-dir ..
  [ "$status" -eq 0 ]
  SWEEP_PROJECT_DIR=.. run bash ../driver.sh
  [ "$status" -eq 0 ]
  [[ $output == *"nothing to launch"* ]]
  run bash ../driver.sh --project-dir /nowhere
  [ "$status" -eq 2 ]
  [ "$output" = "error: no project directory /nowhere" ]
}

@test "sh driver.sh, where sh is no bash: exit 2, one line that says which bash" {
  command -v dash >/dev/null || skipped "dash is not on PATH"
  spec "$one"
  run dash driver.sh
  [ "$status" -eq 2 ]
  [ "${#lines[@]}" -eq 1 ]
  [[ $output == *"needs bash 4.4 or newer, this is another shell"* ]]
  [ ! -s "$RECORD" ]
}

@test "bash as sh, bash --posix, and a shell in strict mode run it all the same" {
  ln -s "$(type -P bash)" "$BATS_TEST_TMPDIR/bin/bsh"
  spec 'max_parallel: 1' 'matrix: {params: {x: [a, b]}}'
  for shell in bsh 'bash --posix' 'bash -eu -o pipefail' 'env POSIXLY_CORRECT=1 bash'; do
    rm -rf artifacts
    run $shell driver.sh
    [ "$status" -eq 0 ]
  done
}

@test "what is asked for wrongly: exit 2, one line, nothing starts" {
  spec "$one"
  for words in '-j' '-j x' '-j -1' '-j1.5' '--max-concurrent 2' '--project-dir' 'shard' 'shards 0' '--dry-run'; do
    # shellcheck disable=SC2086 # words
    run bash driver.sh $words
    [ "$status" -eq 2 ]
    [ "${#lines[@]}" -eq 1 ]
    [[ $output == error:* ]]
  done
  [ ! -s "$RECORD" ]
}

@test "--help needs nothing and touches nothing" {
  spec "$one"
  PATH=/nowhere run "$BASH" driver.sh --help
  [ "$status" -eq 0 ]
  [[ ${lines[0]} == "s: 1 cell through the runner command, at most "* ]]
  [[ $output == *"Exit codes: 0 all succeeded"* ]]
  [ ! -e artifacts ]
}

@test "variables that are called like the driver's own reach the jobs as they came" {
  # shellcheck disable=SC2016 # for the stub
  stub 'begin; printenv SERVICE_HOST host code running driver argv >>seen; echo "$-" >>seen; succeed'
  spec "$one" 'env: {SERVICE_HOST: {from: host}}'
  run env SHELLOPTS=noclobber host=db code=7 running='a b' driver=postgres argv=x bash driver.sh
  [ "$status" -eq 0 ]
  [ "$(head -6 seen | paste -sd ,)" = "db,db,7,a b,postgres,x" ]
  [[ $(tail -1 seen) != *[eu]* ]] # our own strictness is not for the jobs
  rm -rf artifacts
  run bash driver.sh
  [ "$status" -eq 2 ]
  [[ $output == *"the environment variable host is not set"* ]]
}

@test "signals that whoever starts it holds back are let through again" {
  stub 'begin; [[ -e once ]] || { touch once; fail; }; gate go; succeed'
  spec 'retry: {max_attempts: 2, on: ["*"], delay: 1s}' "$one"
  for name in HUP INT TERM; do
    rm -rf artifacts once go
    : >"$RECORD"
    python3 -c 'import os, signal, sys
signal.pthread_sigmask(signal.SIG_BLOCK, [signal.Signals["SIG" + sys.argv[1]]])
os.execvp("bash", ["bash", "driver.sh"])' "$name" >out 2>err </dev/null 3>&- 4>&- &
    DRIVER=$!
    soon noted begin 2
    kill -s "$name" "$DRIVER"
    ended
    [ "$code" -eq $((128 + $(kill -l "$name"))) ]
    [ "$(wrote INT | wc -w)" -eq 1 ]
  done
}

@test "rendered anew while it starts: exit 2, nothing starts" {
  spec 'matrix: {params: {x: [a, b]}}'
  cp driver.sh two.sh
  spec "$one"
  # shellcheck disable=SC2016 # for the driver
  sed -i "s|^open_ledger() {|&\n  cp two.sh driver.sh|" driver.sh
  run bash driver.sh
  [ "$status" -eq 2 ]
  [[ $output == *"it was rendered anew while it started (run it again)"* ]]
  [ ! -s "$RECORD" ]
}

@test "sourced it runs nothing, so that its functions can be looked at" {
  spec "$one"
  run bash -c 'source ./driver.sh && declare -F shard schedule'
  [ "$status" -eq 0 ]
  [ ! -s "$RECORD" ]
}

@test "a ledger that cannot start: exit as it says, or 70, and nothing starts" {
  spec "$one"
  printf '#!/bin/sh\nexit 1\n' >broken
  chmod +x broken
  SWEEPTOOL=$PWD/broken run bash driver.sh
  [ "$status" -eq 70 ]
  [[ $output == *"the ledger did not start"* ]]
  [ ! -s "$RECORD" ]
}

@test "CDPATH leads nowhere else" {
  mkdir -p elsewhere/sub sub
  spec 'matrix: {params: {x: [a]}}'
  run env CDPATH="$PWD/elsewhere" bash driver.sh --project-dir sub
  [ "$status" -eq 0 ]
  [ -d sub/artifacts ]
  [ ! -d elsewhere/sub/artifacts ]
}

@test "a driver of a sweep that began beside it does not begin it anew elsewhere, but does where it is told" {
  spec 'matrix: {params: {x: [a]}}'
  bash driver.sh
  mkdir sub
  cd sub
  run bash ../driver.sh
  [ "$status" -eq 2 ]
  [[ $output == *"this sweep has begun in $BATS_TEST_TMPDIR/project/sub/..: run it there, or say where with --project-dir"* ]]
  run sweeptool run ../sweep.yaml
  [ "$status" -eq 2 ]
  [[ $output == *"this sweep has begun in .. (run it there, or say where: --project-dir ..)"* ]]
  [ ! -e artifacts ]
  run bash ../driver.sh --project-dir ..
  [ "$status" -eq 0 ]
  [ "$(wrote begin)" = a ]
}

@test "a driver that comes through a pipe says that it is a file" {
  spec "$one"
  run bash <driver.sh
  [ "$status" -eq 2 ]
  [ "${#lines[@]}" -eq 1 ]
  [[ $output == *"cannot come through a pipe: bash driver.sh" ]]
  [ ! -s "$RECORD" ]
}
