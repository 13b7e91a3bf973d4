#!/usr/bin/env bats
# Steering from another terminal, a second driver, and when a sweep stops by itself.

load sweep

four='matrix: {params: {x: [a, b, c, d]}}'

two() {
  stub 'begin; gate go; succeed'
  spec 'max_parallel: 2' "$four"
  drive
  soon noted begin 2
}

@test "suspend: what runs goes on to its end, nothing more is launched, exit 4; resume finishes" {
  two
  sweeptool suspend s
  touch go
  ended
  [ "$code" -eq 4 ]
  [ "$(wrote begin | wc -w) $(wrote end | wc -w)" = "2 2" ]
  [[ $(sweeptool status) == *Requested* ]]
  run sweeptool resume s
  [ "$status" -eq 0 ]
  [ "$(wrote end | wc -w)" -eq 4 ]
}

@test "suspend while no driver runs: the next one launches nothing, exit 4, until resume" {
  spec 'before: ["touch before"]' "$four"
  run bash driver.sh shard 0
  sweeptool suspend s
  run bash driver.sh
  [ "$status" -eq 4 ]
  [ "$(wrote begin)" = a ]
  [ ! -e before ]
  run bash driver.sh shard 1
  [ "$status" -eq 4 ]
  [ "$(wrote begin)" = a ]
  run sweeptool resume s
  [ "$status" -eq 0 ]
  [ "$(wrote begin | wc -w)" -eq 4 ]
}

@test "suspend taken back while the driver still runs: it goes on" {
  two
  sweeptool suspend s
  soon grep -q '"event": "suspended"' "$LEDGER"
  run sweeptool resume s
  [ "$status" -eq 0 ]
  touch go
  ended
  [ "$code" -eq 0 ]
  [ "$(wrote end | wc -w)" -eq 4 ]
}

@test "a suspended driver that waits for nothing ends within seconds: no shard has to end first" {
  stub 'begin; [[ $1 == a ]] && fail; succeed'
  spec 'retry: {max_attempts: 2, on: ["*"], delay: 1h}' "$four"
  drive
  soon noted begin 4
  soon grep -q 'again in 3600 s' err
  sweeptool suspend s
  SECONDS=0
  ended
  [ "$code" -eq 4 ]
  ((SECONDS < 10))
}

@test "cancel: what runs gets one SIGINT within seconds and is cancelled, nothing more is launched, exit 4" {
  two
  SECONDS=0
  sweeptool cancel s
  ended
  ((SECONDS < 10)) # a second, on a machine that has nothing else to do
  [ "$code" -eq 4 ]
  [ "$(wrote INT | wc -w)" -eq 2 ]
  [ "$(outcomes 0) $(outcomes 1)" = "cancelled cancelled" ]
  [[ $(sweeptool status) == *Cancelled* ]]
}

@test "cancel of runners that ended well, their shards' shells killed: they have succeeded" {
  two
  # shellcheck disable=SC2046 # process ids
  kill -KILL $(pgrep -P "$DRIVER" -f 'bash driver.sh')
  soon grep -q 'cell 1 attempt 1 still runs' err
  touch go
  soon noted end 2
  sleep 0.1 # from its last word to its end
  sweeptool cancel s
  ended
  [ "$code" -eq 4 ]
  [ "$(outcomes 0) $(outcomes 1)" = "succeeded succeeded" ]
}

@test "cancel after the driver was killed: the shards it left are interrupted and counted" {
  two
  kill -KILL "$DRIVER"
  run sweeptool cancel s
  [ "$status" -eq 0 ]
  [ "$(wrote INT | wc -w)" -eq 2 ]
  soon nothing_left
  run bash driver.sh
  [ "$status" -eq 4 ]
  [ "$(wrote begin | wc -w)" -eq 2 ]
}

@test "cancelled and resumed: what was interrupted runs again" {
  two
  sweeptool cancel s
  ended
  touch go
  run sweeptool resume s
  [ "$status" -eq 0 ]
  [ "$(outcomes 0) $(outcomes 2)" = "cancelled succeeded succeeded" ]
}

@test "the cap is raised on a driver that the budget holds: it goes on within seconds" {
  stub 'begin; gate go; succeed 0.30'
  spec 'max_cost_usd: 0.75' 'cost_cap_usd: 0.30' 'max_parallel: 4' "$four"
  drive
  soon grep -q '^hold ' err
  run sweeptool resume s --max-cost-usd 2
  [ "$status" -eq 0 ]
  soon noted begin 4 # while the first two still run
  touch go
  ended
  [ "$code" -eq 0 ]
}

@test "a second driver: exit 5, it names host, pid and since when, and touches nothing" {
  two
  cp driver.sh other.sh
  run bash other.sh
  [ "$status" -eq 5 ]
  [[ $output == *"driver $DRIVER on $(uname -n) since 2"* ]]
  run sweeptool run sweep.yaml
  [ "$status" -eq 5 ]
  touch go
  ended
  [ "$code" -eq 0 ]
  [ "$(wrote begin | wc -w)" -eq 4 ]
  [ "$(events opened)" -eq 1 ]
}

@test "many drivers started at once: one runs the sweep, the others exit 5 or find it done" {
  spec "$four"
  pids=()
  for number in 1 2 3 4 5; do
    bash driver.sh >"out.$number" 2>&1 </dev/null 3>&- 4>&- &
    pids+=("$!")
  done
  for pid in "${pids[@]}"; do
    code=0
    wait "$pid" || code=$?
    [[ $code -eq 0 || $code -eq 5 ]]
  done
  [ "$(wrote begin | tr ' ' '\n' | sort | paste -sd ' ')" = "a b c d" ]
}

@test "a killed driver's shards hold no lock: the next driver starts at once and says what still runs" {
  two
  kill -KILL "$DRIVER"
  drive
  soon grep -q 'adopt   cell 0 attempt 1 still runs' err
  [ "$(grep -c 'held by' err)" -eq 0 ]
  touch go
  ended
  [ "$code" -eq 0 ]
}

@test "what a runner left in the background holds nothing up: neither the driver nor the next one" {
  stub 'begin; (setsid sleep 60 &) >/dev/null 2>&1; succeed'
  spec "$four"
  SECONDS=0
  run bash driver.sh
  [ "$status" -eq 0 ]
  run bash driver.sh
  [ "$status" -eq 0 ]
  ((SECONDS < 30))
  kill $(pgrep -f '^sleep 60$' | while read -r pid; do
    tr '\0' '\n' <"/proc/$pid/environ" | grep -qxF "RECORD=$RECORD" && echo "$pid"
  done)
}

@test "failure_streak: as many failures in a row stop the launching, exit 6, the rest is pending" {
  stub 'begin; fail'
  spec 'max_parallel: 1' 'failure_streak: 2' "$four"
  run bash driver.sh
  [ "$status" -eq 6 ]
  [ "$(wrote begin)" = "a b" ]
  [[ $(sweeptool status) == *FailureStreak* ]]
  stub 'begin; succeed'
  run bash driver.sh
  [ "$status" -eq 0 ]
}

@test "failure_streak counts in a row: a success in between starts anew" {
  stub 'begin; [[ $1 == c ]] && succeed; fail'
  spec 'max_parallel: 1' 'failure_streak: 3' 'matrix: {params: {x: [a, b, c, d, e]}}'
  run bash driver.sh
  [ "$status" -eq 1 ]
  [ "$(wrote begin)" = "a b c d e" ]
}

@test "failure_streak: what runs when it is reached goes on to its end" {
  stub 'begin; [[ $1 == a ]] && { gate go; succeed; }; fail'
  spec 'max_parallel: 2' 'failure_streak: 2' "$four"
  drive
  soon noted end 2
  touch go
  ended
  [ "$code" -eq 6 ]
  [ "$(outcomes 0)" = succeeded ]
  [ "$(outcomes 3)" = "" ]
}

@test "a driver that is stopped and continued loses nothing" {
  two
  kill -STOP "$DRIVER"
  touch go
  soon noted end 2
  kill -CONT "$DRIVER"
  ended
  [ "$code" -eq 0 ]
  [ "$(wrote end | wc -w)" -eq 4 ]
}
