#!/usr/bin/env bats
# The same driver again, after it, a shard, the ledger or the plan came to harm: nothing lost, nothing twice.

load sweep

three='matrix: {params: {x: [a, b, c]}}'

# crash: kill the driver as nothing can prevent, and wait until it is gone.
crash() {
  kill -KILL "$DRIVER"
  wait "$DRIVER" || true
}

# begun: each cell that began, how often.
begun() {
  wrote begin | tr ' ' '\n' | sort | uniq -c | awk '{ print $2 $1 }' | paste -sd ' '
}

# ledger: the process id of the driver's ledger.
ledger() {
  pgrep -P "$DRIVER" -f "sweeptool ledger"
}

@test "all done: nothing is launched, exit 0" {
  spec 'before: ["echo before . >>$RECORD"]' "$three"
  run bash driver.sh
  [ "$status" -eq 0 ]
  run bash driver.sh
  [ "$status" -eq 0 ]
  [[ $output == *"all 3 cells are done, nothing to launch"* ]]
  [ "$(begun)" = "a1 b1 c1" ]
  [ "$(wrote before | wc -w)" -eq 1 ]
}

@test "driver killed with two shards alive: resumed at once it adopts both, and runs no cell twice" {
  stub 'begin; gate go; succeed'
  spec 'max_parallel: 2' "$three"
  drive
  soon noted begin 2
  crash
  drive
  soon grep -q 'cell 1 attempt 1 still runs' err
  sleep 0.3 # a third would have begun
  [ "$(most_at_once)" -eq 2 ]
  touch go
  ended
  [ "$code" -eq 0 ]
  [ "$(begun)" = "a1 b1 c1" ]
  [ "$(outcomes 0) $(outcomes 1) $(outcomes 2)" = "succeeded succeeded succeeded" ]
}

@test "adopted shards count against the budget" {
  stub 'begin; gate go; succeed 0.30'
  spec 'max_parallel: 3' 'max_cost_usd: 0.75' 'cost_cap_usd: 0.30' "$three"
  drive
  soon noted begin 2
  crash
  drive
  soon grep -q 'hold    spent $0.00 + in flight $0.60 + this cell $0.30 > $0.75' err
  touch go
  ended
  [ "$code" -eq 3 ]
  [ "$(begun)" = "a1 b1" ]
}

@test "a shard that finished while no driver ran is counted" {
  stub 'begin; gate go; [[ $SWEEPTOOL_ATTEMPT == */b-*/1 ]] && fail 9; succeed'
  spec 'max_parallel: 3' "$three"
  drive
  soon noted begin 3
  crash
  touch go
  soon noted end 3
  soon nothing_left
  run bash driver.sh
  [ "$status" -eq 0 ]
  [ "$(begun)" = "a1 b2 c1" ]
  [ "$(outcomes 0) $(outcomes 1 exit_code)" = "succeeded 9 0" ]
}

@test "shell of a shard killed: its runner is waited for, and what its manifest says is believed" {
  stub 'begin; gate go; succeed'
  spec 'max_parallel: 3' "$three"
  drive
  soon noted begin 3
  kill -KILL "$(shards | head -1)"
  soon grep -q 'still runs; waiting for it' err
  touch go
  ended
  [ "$code" -eq 0 ]
  [ "$(begun)" = "a1 b1 c1" ]
}

@test "a whole shard killed: lost, charged at its reservation, listed, and run again" {
  stub 'begin; [[ $SWEEPTOOL_ATTEMPT == */a-*/1 ]] && gate never; succeed 0.10'
  spec 'max_parallel: 3' 'max_cost_usd: 2' 'cost_cap_usd: 0.40' "$three"
  drive
  soon noted begin 3
  kill -KILL -- "-$(cut -d ' ' -f 1 artifacts/sweeps/s/cells/a-*/attempt-1/start)"
  ended
  [ "$code" -eq 0 ]
  [ "$(outcomes 0) $(outcomes 0 charged_usd)" = "lost succeeded 0.40 0.10" ]
  [ "$(begun)" = "a2 b1 c1" ]
}

@test "driver and all its shards killed: every cell is lost once and succeeds" {
  stub 'begin; gate go; succeed'
  spec 'max_parallel: 3' "$three"
  drive
  soon noted begin 3
  crash
  for shard in $(shards); do kill -KILL -- "-$shard"; done
  touch go
  run bash driver.sh
  [ "$status" -eq 0 ]
  for index in 0 1 2; do [ "$(outcomes "$index")" = "lost succeeded" ]; done
}

@test "ledger killed: nothing more is launched, what runs is waited for, exit 70; resumed it is counted" {
  stub 'begin; gate go; succeed'
  spec 'max_parallel: 2' "$three"
  drive
  soon noted begin 2
  kill -KILL "$(ledger)"
  touch go
  ended
  [ "$code" -eq 70 ]
  [ "$(begun)" = "a1 b1" ]
  grep -q 'error: the ledger died; nothing more is launched' err
  run bash driver.sh
  [ "$status" -eq 0 ]
  [ "$(begun)" = "a1 b1 c1" ]
}

@test "a value inserted at the head of an axis runs alone: ids decide, not indexes" {
  spec "$three"
  run bash driver.sh
  spec 'matrix: {params: {x: [new, a, b, c]}}'
  run bash driver.sh
  [ "$status" -eq 0 ]
  [ "$(begun)" = "a1 b1 c1 new1" ]
}

@test "an axis shrunk: what is gone is said, its cost still counts" {
  stub 'begin; succeed 0.30'
  spec 'max_cost_usd: 1' 'cost_cap_usd: 0.30' "$three"
  run bash driver.sh
  spec 'max_cost_usd: 1' 'cost_cap_usd: 0.30' 'matrix: {params: {x: [d, e]}}'
  run bash driver.sh
  [ "$status" -eq 3 ]
  [[ $output == *'3 cells of other plans are not in this one; their $0.90 still count'* ]]
  [ "$(begun)" = "a1 b1 c1" ]
}

@test "a command edited: old results are not taken for the new" {
  spec "$three"
  run bash driver.sh
  sed 's/"{x}"/"{x}", "--fast"/' sweep.yaml >edited.yaml
  sweeptool render edited.yaml >driver.sh
  run bash driver.sh
  [ "$status" -eq 0 ]
  [ "$(begun)" = "a2 b2 c2" ]
}

@test "a plan edited while its shards run on without a driver: they are waited for, and not taken for the new ones" {
  stub 'begin; gate go; succeed'
  spec 'max_parallel: 2' "$three"
  drive
  soon noted begin 2
  crash
  spec 'max_parallel: 2' 'matrix: {params: {x: [b, d]}}'
  drive
  soon grep -q 'adopt   cell 1 attempt 1' err
  touch go
  ended
  [ "$code" -eq 0 ]
  [ "$(begun)" = "a1 b1 d1" ]
}

@test "torn last line of the ledger: nothing is glued to it, and only its cell runs again" {
  stub 'begin; succeed 0.25'
  spec 'max_parallel: 1' 'cost_cap_usd: 0.40' "$three"
  run bash driver.sh
  grep -v '"closed"' "$LEDGER" | head -c -20 >torn # the last settlement, cut
  mv torn "$LEDGER"
  run bash driver.sh
  [ "$status" -eq 0 ]
  [[ $output == *"a torn or foreign line"* ]]
  [ "$(begun)" = "a1 b1 c1" ] # it left its exit code and its manifest
  [[ $(sweeptool budget --max-cost-usd 5) == *0.75* ]]
}

@test "doubled lines, NULs and foreign text in the ledger change nothing and are named" {
  stub 'begin; succeed 0.25'
  spec 'max_parallel: 1' "$three"
  run bash driver.sh
  { cat "$LEDGER" && tail -3 "$LEDGER" && printf 'not json\n[1]\n\0\0\0\n\377\n'; } >more
  mv more "$LEDGER"
  run bash driver.sh
  [ "$status" -eq 0 ]
  [ "$(begun)" = "a1 b1 c1" ]
  (($(grep -c '^note ' <<<"$output") >= 5))
  [[ $(sweeptool budget --max-cost-usd 5) == *0.75* ]]
}

@test "killed between the admission and the start of a shard: the cell runs once, and cost nothing before" {
  spec 'max_parallel: 1' "$three"
  run bash driver.sh
  printf '%s\n' '{"ts_utc": "2026-01-01T00:00:00+00:00", "event": "admitted", "cell": "'"$(basename artifacts/sweeps/s/cells/a-*)"'", "index": 0, "attempt": 2, "reserved_usd": null}' >>"$LEDGER"
  run bash driver.sh
  [ "$status" -eq 0 ]
  [ "$(outcomes 0 reason)" = " not_started" ]
  [ "$(begun)" = "a1 b1 c1" ]
}

@test "a log that exists is not taken for success" {
  spec "$three"
  id=$(bash driver.sh list | awk 'NR == 1 { print $2 }')
  mkdir -p "artifacts/sweeps/s/cells/$id/attempt-1"
  echo 'RUN_DIR=/nowhere' >"artifacts/sweeps/s/cells/$id/attempt-1/stdout.log"
  run bash driver.sh
  [ "$status" -eq 0 ]
  [ "$(begun)" = "a1 b1 c1" ]
}

@test "a driver cut anywhere starts nothing" {
  spec "$three"
  size=$(wc -c <driver.sh)
  for part in 10 30 50 70 90 99; do
    head -c "$((size * part / 100))" driver.sh >cut.sh
    run bash cut.sh
    [ "$status" -ne 0 ]
  done
  [ ! -s "$RECORD" ]
}

# no_room: a driver whose one cell ended well, and whose shard finds no room to write that down.
no_room() {
  stub 'begin; (cd artifacts/sweeps/s/cells/*/attempt-1 && mkdir exit); succeed'
  spec 'matrix: {params: {x: [a]}}'
  drive
  soon grep -q 'hold    no room to write down' err
}

@test "a shard that finds no room for its outcome writes it down as soon as there is" {
  no_room
  [ "$(outcomes 0)" = "" ]
  rmdir artifacts/sweeps/s/cells/*/attempt-1/exit
  ended
  [ "$code $(outcomes 0)" = "0 succeeded" ]
}

@test "a shard that is killed while it finds no room leaves nothing that looks like its runner" {
  no_room
  local shard
  shard=$(shards)
  kill -KILL "$DRIVER" "$shard"
  [ "$(pgrep -c -g "$shard" -x sleep)" -eq 0 ]
  rmdir artifacts/sweeps/s/cells/*/attempt-1/exit
}
