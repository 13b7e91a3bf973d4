#!/usr/bin/env bats
# One cell at a time, as make, GNU parallel, xargs and Slurm call it.

load sweep

four='matrix: {params: {x: [a, b, c, d]}}'

@test "shard N runs that cell alone and exits as it does" {
  stub 'begin; [[ $1 == c ]] && fail 7; succeed'
  spec 'before: ["touch before"]' "$four"
  run bash driver.sh shard 1
  [ "$status" -eq 0 ]
  run bash driver.sh shard 2
  [ "$status" -eq 1 ]
  [ "$(wrote begin)" = "b c" ]
  [ ! -e before ]
}

@test "shard of a cell that is done: exit 0, and nothing is launched" {
  spec "$four"
  run bash driver.sh
  run bash driver.sh shard 0
  [ "$status" -eq 0 ]
  run bash driver.sh shard 08 # out of range, not octal
  [ "$status" -eq 2 ]
  run bash driver.sh shard 03
  [ "$status" -eq 0 ]
  [ "$(wrote begin | wc -w)" -eq 4 ]
}

@test "shard out of range, or no number: exit 2, one line, nothing starts" {
  spec "$four"
  for index in 4 -1 '' abc 1.5 99999999999999999999; do
    run bash driver.sh shard "$index"
    [ "$status" -eq 2 ]
    [ "${#lines[@]}" -eq 1 ]
  done
  run bash driver.sh shard
  [ "$status" -eq 2 ]
  [ ! -s "$RECORD" ]
}

@test "shard while a driver runs: exit 5; a driver while a shard runs: exit 5" {
  stub 'begin; gate go; succeed'
  spec 'max_parallel: 1' "$four"
  drive
  soon noted begin 1
  run bash driver.sh shard 3
  [ "$status" -eq 5 ]
  [[ $output == *"driver $DRIVER on "* ]]
  touch go
  ended
  rm go
  stub 'begin; gate go; succeed'
  rm -r artifacts
  drive shard 0
  soon noted begin 5
  run bash driver.sh
  [ "$status" -eq 5 ]
  [[ $output == *"'driver.sh shard' processes"* ]]
  touch go
  ended
  [ "$code" -eq 0 ]
}

@test "the same shard twice at once: the cell runs once" {
  stub 'begin; gate go; succeed'
  spec "$four"
  drive shard 0
  first=$DRIVER
  soon noted begin 1
  drive shard 0
  soon grep -q 'adopt' err
  touch go
  ended
  [ "$code" -eq 0 ]
  wait "$first"
  [ "$(wrote begin)" = a ]
}

@test "make -j over sweep.mk: the cells run once each, at most N at once, again nothing" {
  stub 'begin; crowd 2; succeed'
  spec 'max_parallel: 4' "$four"
  sweeptool render --target make sweep.yaml >sweep.mk
  run make -k -j2 -f sweep.mk
  [ "$status" -eq 0 ]
  (($(most_at_once) <= 2))
  run make -k -j2 -f sweep.mk
  [ "$status" -eq 0 ]
  [ "$(wrote begin | tr ' ' '\n' | sort | paste -sd ' ')" = "a b c d" ]
}

@test "make -k over a failing cell: the others run, make says that it failed" {
  stub 'begin; [[ $1 == b ]] && fail; succeed'
  spec "$four"
  sweeptool render --target make sweep.yaml >sweep.mk
  run make -k -j2 -f sweep.mk
  [ "$status" -eq 2 ]
  [ "$(wrote end | wc -w)" -eq 4 ]
}

@test "GNU parallel: the cells run once each" {
  command -v parallel >/dev/null || skipped "GNU parallel is not on PATH"
  spec "$four"
  sweeptool render --target parallel sweep.yaml >sweep.parallel.sh
  run bash sweep.parallel.sh
  [ "$status" -eq 0 ]
  [ "$(wrote begin | tr ' ' '\n' | sort | paste -sd ' ')" = "a b c d" ]
}

@test "xargs -P: the cap holds among shards that know nothing of each other" {
  stub 'begin; succeed 0.30'
  spec 'max_cost_usd: 0.75' 'cost_cap_usd: 0.30' "$four"
  run bash -c 'seq 0 3 | xargs -P 4 -n 1 bash driver.sh shard'
  [ "$status" -eq 123 ]
  [ "$(wrote begin | wc -w)" -eq 2 ]
  [[ $(sweeptool budget) == *0.60* ]]
}

@test "shards that were killed, driver and all: the next call runs the cell again, once" {
  stub 'begin; gate go; succeed'
  spec "$four"
  drive shard 2
  soon noted begin 1
  kill -KILL "$DRIVER" "$(shards)"
  kill -KILL -- "-$(shards)"
  touch go
  run bash driver.sh shard 2
  [ "$status" -eq 0 ]
  [ "$(outcomes 2)" = "lost succeeded" ]
}

@test "list: index, id, name and parameters of each cell, and nothing is touched" {
  spec "$four"
  run bash driver.sh list
  [ "$status" -eq 0 ]
  [ "${#lines[@]}" -eq 4 ]
  [[ ${lines[1]} == $'1\tb-'*$'\ts-1\tx=b' ]]
  [ ! -e artifacts ]
}
