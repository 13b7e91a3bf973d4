#!/usr/bin/env bats
# How many cells run at once, in which order, and what becomes of the rest when some fail.

load sweep

six='matrix: {params: {x: [a, b, c, d, e, f]}}'

@test "max_parallel cells run at once, and never more" {
  stub 'begin; crowd 3; succeed'
  spec 'max_parallel: 3' "$six"
  run bash driver.sh
  [ "$status" -eq 0 ]
  [ "$(most_at_once)" -eq 3 ]
  [ "$(wrote end | wc -w)" -eq 6 ]
}

@test "-j N and -jN change the bound" {
  stub 'begin; [[ $1 == a ]] && fail; crowd 3; succeed'
  spec 'max_parallel: 5' "$six"
  run bash driver.sh -j 2
  [ "$status" -eq 1 ]
  [ "$(most_at_once)" -eq 2 ]
  stub 'begin; [[ $1 == a ]] && fail; succeed'
  rm -r artifacts
  : >"$RECORD"
  run bash driver.sh -j1
  [ "$status" -eq 1 ]
  [ "$(most_at_once)" -eq 1 ]
}

@test "-j0 and max_parallel 0 run all cells at once" {
  stub 'begin; crowd 6; succeed'
  spec 'max_parallel: 2' "$six"
  run bash driver.sh -j0
  [ "$status" -eq 0 ]
  [ "$(most_at_once)" -eq 6 ]
  rm -r artifacts "$RECORD"
  spec 'max_parallel: 0' "$six"
  run bash driver.sh
  [ "$status" -eq 0 ]
  [ "$(most_at_once)" -eq 6 ]
}

@test "cells are launched by index, also those of a resumed sweep" {
  stub 'begin; [[ $1 == [bd] ]] && fail; succeed'
  spec 'max_parallel: 1' "$six"
  run bash driver.sh
  [ "$(wrote begin)" = "a b c d e f" ]
  stub 'begin; succeed'
  run bash driver.sh
  [ "$(wrote begin)" = "a b c d e f b d" ]
  [ "$status" -eq 0 ]
}

@test "one of six fails: the others run, exit 1" {
  stub 'begin; [[ $1 == c ]] && fail 7; succeed'
  spec 'max_parallel: 2' "$six"
  run bash driver.sh
  [ "$status" -eq 1 ]
  [ "$(wrote begin | wc -w)" -eq 6 ]
  [ "$(outcomes 2) $(outcomes 2 exit_code)" = "failed 7" ]
  [ "$(grep -c '"state": "succeeded"' "$LEDGER")" -eq 5 ]
}

@test "every cell fails: exit 1, each with the path of its log" {
  stub 'begin; echo "out of memory" >&2; fail'
  spec 'max_parallel: 2' 'matrix: {params: {x: [a, b, c]}}'
  run bash driver.sh
  [ "$status" -eq 1 ]
  for log in artifacts/sweeps/s/cells/*/attempt-1/stderr.log; do
    [[ $output == *"$log"* ]]
    [ "$(<"$log")" = "out of memory" ]
  done
  [ "$(grep -c 'out of memory' <<<"$output")" -ge 3 ]
}

@test "a cell whose last line of output is a success is not taken for one: its exit code counts" {
  stub 'begin; echo "all done, success"; exit 3'
  spec 'matrix: {params: {x: [a]}}'
  run bash driver.sh
  [ "$status" -eq 1 ]
  [ "$(outcomes 0)" = failed ]
}

@test "more slots than cells, one cell, and a sweep without any parameter: never a hang" {
  printf 'name: s\nrunner: {kind: command, argv: [stub]}\nmax_parallel: 9\n' >sweep.yaml
  sweeptool render sweep.yaml >driver.sh
  run bash driver.sh
  [ "$status" -eq 0 ]
  [ "$(events settled)" -eq 1 ]
}

@test "launch_delay keeps launches apart" {
  stub 'date +%s%N >>launches; begin; succeed'
  spec 'launch_delay: 1s' 'matrix: {params: {x: [a, b, c]}}'
  run bash driver.sh
  [ "$status" -eq 0 ]
  mapfile -t at < <(sort launches)
  ((at[1] - at[0] > 700000000 && at[2] - at[1] > 700000000)) # a slow start may shorten one gap
}

@test "before and after run once, around the cells, in the project directory" {
  spec 'before: ["echo before . >>$RECORD", [cp, sweep.yaml, copy]]' 'after: ["echo after $PWD >>$RECORD"]' \
    'max_parallel: 1' 'matrix: {params: {x: [a, b]}}'
  run bash driver.sh
  [ "$status" -eq 0 ]
  [ "$(cut -d ' ' -f 1 "$RECORD" | paste -sd ' ')" = "before begin end begin end after" ]
  [ "$(wrote after)" = "$PWD" ]
  [ -e copy ]
}

@test "a failing before starts nothing: exit 2, the rest of it is not run" {
  spec 'before: ["false", "echo late . >>$RECORD"]' 'after: ["echo after . >>$RECORD"]' 'matrix: {params: {x: [a]}}'
  run bash driver.sh
  [ "$status" -eq 2 ]
  [[ $output == *"a command of 'before:' failed"* ]]
  [ ! -s "$RECORD" ]
  [ "$(events admitted)" -eq 0 ]
}

@test "a failing after is exit 1, and keeps no cell from being done" {
  spec 'after: ["false"]' 'matrix: {params: {x: [a]}}'
  run bash driver.sh
  [ "$status" -eq 1 ]
  [[ $output == *"a command of 'after:' failed"* ]]
  [ "$(outcomes 0)" = succeeded ]
}

@test "a failed attempt that retry names is tried again, with a log, a run dir and a cost of its own" {
  stub 'begin; [[ $SWEEPTOOL_ATTEMPT == */1 ]] && finish 1 true 0.40; succeed 0.30'
  spec 'retry: {max_attempts: 2, on: ["*"], delay: 0}' 'matrix: {params: {x: [a]}}'
  run bash driver.sh
  [ "$status" -eq 0 ]
  [ "$(outcomes 0)" = "failed succeeded" ]
  [ "$(ls -d artifacts/sweeps/s/cells/*/attempt-*/stdout.log runs/* | wc -l)" -eq 4 ]
  [[ $(sweeptool budget --max-cost-usd 5) == *0.70* ]]
}
