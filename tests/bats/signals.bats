#!/usr/bin/env bats
# Ctrl-C, TERM and a terminal that closes: launching stops, every shard cleans up, nothing is called a success.

load sweep

four='matrix: {params: {x: [a, b, c, d]}}'

# stopped NUMBER: the driver ended as the signal NUMBER says, its two shards had one SIGINT and are interrupted,
# nothing else began; and the same driver again finishes what is missing.
stopped() {
  [ "$code" -eq $((128 + $1)) ]
  [ "$(wrote INT | wc -w)" -eq 2 ]
  [ "$(wrote begin | wc -w)" -eq 2 ]
  [ "$(outcomes 0) $(outcomes 1)" = "interrupted interrupted" ]
  soon nothing_left
  touch go
  run bash driver.sh
  [ "$status" -eq 0 ]
  [ "$(wrote begin | wc -w)" -eq 6 ]
  [ "$(outcomes 0) $(outcomes 3)" = "interrupted succeeded succeeded" ]
}

# at_terminal COMMAND...: run it in the background at a terminal of its own, which closes when 'close' is there.
at_terminal() {
  python3 "$BATS_TEST_DIRNAME/terminal.py" "$@" >terminal.out 2>&1 </dev/null 3>&- 4>&- &
  DRIVER=$!
}

# two: a driver whose first two cells run until go.
two() {
  stub 'begin; gate go; succeed'
  spec 'max_parallel: 2' "$four"
}

@test "SIGINT in the foreground: exit 130" {
  two
  drive
  soon noted begin 2
  kill -INT -- "-$DRIVER" # a terminal's Ctrl-C is for the whole group
  ended
  stopped 2
}

@test "SIGTERM: exit 143" {
  two
  drive
  soon noted begin 2
  kill -TERM "$DRIVER"
  ended
  stopped 15
}

@test "SIGHUP: exit 129" {
  two
  drive
  soon noted begin 2
  kill -HUP "$DRIVER"
  ended
  stopped 1
}

@test "SIGINT together with another wake-up, to a driver that is held up: exit 130" {
  two
  drive
  soon noted begin 2
  kill -STOP "$DRIVER"
  kill -INT "$DRIVER"
  sleep 1.5
  kill -CONT "$DRIVER"
  ended
  stopped 2
}

@test "a driver that was stopped with its group, and continued alone, hears of a cancel" {
  two
  drive
  soon noted begin 2
  sleep 0.6
  kill -STOP -- "-$DRIVER"
  kill -CONT "$DRIVER"
  sweeptool cancel s
  soon gone "$DRIVER"
  ended
  [ "$code" -eq 4 ]
  [ "$(outcomes 0) $(outcomes 1)" = "cancelled cancelled" ]
}

@test "a driver that waits forks nothing" {
  two
  drive
  soon noted begin 2
  for ((n = 0; n < 40; n++)); do
    [ "$(pgrep -c -P "$DRIVER")" -eq 3 ] # its ledger and two shards
    sleep 0.05
  done
  touch go
  ended
  [ "$code" -eq 0 ]
}

@test "started with & by a script, which ignores SIGINT in it: SIGINT works all the same" {
  two
  bash driver.sh >out 2>err </dev/null 3>&- 4>&- &
  DRIVER=$!
  soon noted begin 2
  kill -INT "$DRIVER"
  ended
  stopped 2
}

@test "every shard is started with SIGINT at its default, also by a driver that a script started with &" {
  stub 'begin; echo "$(sed -n "s/^SigIgn:.*\(....\)$/\1/p" /proc/$$/status)" >>ignored; succeed'
  spec "$four"
  bash driver.sh >out 2>err </dev/null 3>&- 4>&- &
  wait "$!"
  drive
  ended
  while read -r mask; do
    ((!(16#$mask & 2)))
  done <ignored
  [ "$(wc -l <ignored)" -eq 4 ]
}

@test "under make: Ctrl-C" {
  two
  printf 'sweep:\n\tbash driver.sh >out 2>err; echo $$? >code\n' >Makefile
  set -m
  make sweep >make.out 2>&1 </dev/null 3>&- 4>&- &
  DRIVER=$!
  set +m
  soon noted begin 2
  kill -INT -- "-$DRIVER"
  ended
  soon nothing_left
  code=130 # the driver's own is lost: make kills the shell that would tell
  stopped 2
}

@test "under make that is ended by SIGTERM: the shards are cleaned up" {
  two
  printf 'sweep:\n\t@bash driver.sh\n' >Makefile
  set -m
  make sweep >make.out 2>&1 </dev/null 3>&- 4>&- &
  DRIVER=$!
  set +m
  soon noted begin 2
  kill -TERM "$DRIVER" # make passes it on
  ended
  soon nothing_left
  code=143
  stopped 15
}

@test "nohup: a hang-up is survived, SIGINT is not" {
  two
  set -m
  nohup bash driver.sh >out 2>err </dev/null 3>&- 4>&- &
  DRIVER=$!
  set +m
  soon noted begin 2
  kill -HUP -- "-$DRIVER"
  for shard in $(shards); do kill -HUP -- "-$shard"; done
  sleep 0.2
  [ "$(wrote INT)" = "" ]
  kill -INT "$DRIVER"
  ended
  stopped 2
}

@test "nohup and & in a script: a hang-up is survived, the sweep goes on" {
  two
  nohup bash driver.sh >out 2>err </dev/null 3>&- 4>&- &
  DRIVER=$!
  soon noted begin 2
  kill -HUP "$DRIVER"
  touch go
  ended
  [ "$code" -eq 0 ]
  [ "$(wrote end | wc -w)" -eq 4 ]
}

@test "a terminal that closes, as when ssh loses its connection: exit 129, the shards are cleaned up" {
  two
  at_terminal bash driver.sh
  soon noted begin 2
  touch close
  ended
  stopped 1
}

@test "a terminal that closes on a login shell: it hangs up its jobs, and the shards are cleaned up" {
  two
  at_terminal bash --norc -i
  echo 'bash driver.sh' >typed
  mv typed keys
  soon noted begin 2
  touch close
  ended
  soon nothing_left
  grep -q '"event": "closed", "exit_code": 129' "$LEDGER"
  code=129
  stopped 1
}

@test "a terminal that closes under nohup: the sweep goes on" {
  two
  at_terminal nohup bash driver.sh
  soon noted begin 2
  touch close
  soon grep -q . nohup.out
  touch go
  ended
  [ "$code" -eq 0 ]
  [ "$(wrote end | wc -w)" -eq 4 ]
}

@test "Ctrl-C typed at a terminal: exit 130" {
  two
  at_terminal bash driver.sh
  soon noted begin 2
  printf '\003' >typed
  mv typed keys
  ended
  stopped 2
}

@test "a second signal is harder: a runner that ignores SIGINT is ended by the second" {
  stub 'trap "" INT; begin; gate go; succeed'
  spec 'max_parallel: 2' "$four"
  drive
  soon noted begin 2
  kill -INT "$DRIVER"
  soon grep -q '"event": "interrupted"' "$LEDGER"
  sleep 1.1 # what comes at once is an echo
  kill -INT "$DRIVER"
  ended
  [ "$code" -eq 130 ]
  [[ "$(outcomes 0) $(outcomes 1)" == "interrupted interrupted" ]]
  soon nothing_left
}

@test "a third signal kills: a runner that ignores INT and TERM is gone, exit of the first" {
  stub 'trap "" INT TERM; begin; gate go; succeed'
  spec 'max_parallel: 2' "$four"
  drive
  soon noted begin 2
  kill -TERM "$DRIVER"
  soon grep -q '"event": "interrupted"' "$LEDGER"
  sleep 1.1
  kill -INT "$DRIVER"
  soon grep -q 'again' err
  sleep 1.1
  kill -INT "$DRIVER"
  ended
  [ "$code" -eq 143 ]
  [[ "$(outcomes 0) $(outcomes 1)" != *succeeded* ]]
  soon nothing_left
}

@test "two signals at once are one: a runner that cleans up is not disturbed" {
  stub 'trap "sleep 0.5; interrupted" INT; trap "note TERM" TERM; begin; gate go; succeed'
  spec 'max_parallel: 2' "$four"
  drive
  soon noted begin 2
  kill -INT "$DRIVER"
  kill -TERM "$DRIVER"
  kill -HUP "$DRIVER"
  ended
  [[ $code -eq 130 || $code -eq 143 || $code -eq 129 ]]
  [ "$(wrote TERM)" = "" ]
  [ "$(wrote INT | wc -w)" -eq 2 ]
}

@test "two signals while the ledger is slow: the second asks, as nobody was asked yet, and a third is harder" {
  stub 'trap "note INT; sleep 0.5; fail 130" INT; trap "note TERM" TERM; begin; gate go; succeed'
  spec 'max_parallel: 2' "$four"
  drive
  soon noted begin 2
  local ledger
  ledger=$(pgrep -P "$DRIVER" -f 'sweeptool ledger')
  kill -STOP "$ledger"
  kill -INT "$DRIVER"
  soon grep -q 'launching stops' err
  sleep 1.1
  kill -TERM "$DRIVER"
  soon grep -q 'again' err
  kill -CONT "$ledger"
  ended
  [ "$code" -eq 130 ]
  [ "$(wrote INT | wc -w) $(wrote TERM)" = "2 " ]
}

@test "more signals while the ledger is slow: what they stopped has not succeeded, whatever its manifest says" {
  stub 'trap "" TERM; trap "note INT; (finish 0 false); exec sleep 60" INT; begin; gate go; succeed'
  spec 'max_parallel: 1' 'matrix: {params: {x: [a]}}'
  drive
  soon noted begin 1
  local ledger
  ledger=$(pgrep -P "$DRIVER" -f 'sweeptool ledger')
  kill -STOP "$ledger"
  kill -INT "$DRIVER"
  soon grep -q 'launching stops' err
  for ((n = 1; n <= 3; n++)); do
    sleep 1.2
    kill -INT "$DRIVER"
    soon eval '(($(grep -c again err) >= n))'
  done
  kill -CONT "$ledger"
  ended
  [ "$code" -eq 130 ]
  [ -e runs/*/runpod_deploy_pull_manifest.json ]
  [ "$(wrote INT) $(outcomes 0)" = "a interrupted" ]
}

@test "a shard that ends well while the others are stopped has succeeded" {
  stub 'trap "" INT; begin; gate go; succeed'
  spec 'max_parallel: 2' "$four"
  drive
  soon noted begin 2
  kill -INT "$DRIVER"
  soon grep -q 'launching stops' err
  touch go
  ended
  [ "$code" -eq 130 ]
  [ "$(outcomes 0) $(outcomes 1)" = "succeeded succeeded" ]
  [ "$(wrote begin | wc -w)" -eq 2 ]
}

@test "a runner that fails while it is stopped has been interrupted, not failed" {
  stub 'trap "note INT; fail 130" INT; begin; gate go; succeed'
  spec 'max_parallel: 2' 'failure_streak: 1' "$four"
  drive
  soon noted begin 2
  kill -INT "$DRIVER"
  ended
  stopped 2
}

@test "a signal during a retry's delay ends the driver at once" {
  stub 'begin; fail'
  spec 'retry: {max_attempts: 2, on: ["*"], delay: 1h}' 'matrix: {params: {x: [a]}}'
  drive
  soon grep -q 'again in 3600 s' err
  kill -INT "$DRIVER"
  ended
  [ "$code" -eq 130 ]
  [ "$(outcomes 0)" = failed ]
}

@test "a signal during before starts nothing" {
  spec 'before: ["touch began; until [[ -e go ]]; do sleep 0.02; done"]' 'after: ["touch after"]' "$four"
  for name in INT TERM; do
    rm -f began go
    drive
    soon test -e began
    if [[ $name == INT ]]; then
      kill -INT -- "-$DRIVER"
      sleep 0.3
    else
      kill -TERM "$DRIVER"
    fi
    touch go # it is the user's own command, and ends as it likes: a shell misses a SIGINT whose child just ended
    ended
    [ "$code" -eq $((128 + $(kill -l "$name"))) ]
  done
  [ ! -s "$RECORD" ]
  [ ! -e after ]
}

@test "a signal while the budget holds stops what runs, and ends" {
  stub 'begin; gate go; succeed 0.30'
  spec 'max_cost_usd: 0.75' 'cost_cap_usd: 0.30' "$four"
  drive
  soon grep -q '^hold ' err
  kill -INT "$DRIVER"
  ended
  stopped_code=$code
  [ "$stopped_code" -eq 130 ]
  [ "$(outcomes 0) $(outcomes 1)" = "interrupted interrupted" ]
}

@test "a signal to a driver that has adopted shards reaches them" {
  two
  drive
  soon noted begin 2
  kill -KILL "$DRIVER"
  drive
  soon grep -q 'cell 1 attempt 1 still runs' err
  kill -INT "$DRIVER"
  ended
  stopped 2
  grep -q 'adopted cells asked to clean up: 2' err
}

# slow_to_stop: two runners that take their time to clean up, and fail to where they are interrupted in it.
slow_to_stop() {
  # shellcheck disable=SC2016 # for the stub
  stub 'cleaning() { trap "note TWICE" INT; note INT; gate go; finish 130 false; }; trap cleaning INT
begin; gate never; succeed'
  spec 'max_parallel: 2' "$four"
  drive
  soon noted begin 2
}

@test "cancelled twice, its driver killed: a runner that cleans up is not interrupted again" {
  slow_to_stop
  kill -KILL "$DRIVER"
  sweeptool cancel s 2>first 3>&- 4>&- &
  soon noted INT 2
  soon grep -q '"asked"' "$LEDGER"
  sweeptool cancel s 2>second 3>&- 4>&- &
  soon grep -q 'cell 1 attempt 1: cleans up already' second
  touch go
  wait
  [ "$(wrote INT | wc -w) $(wrote TWICE | wc -w)" = "2 0" ]
}

@test "stopped, killed, and stopped again in its next driver: a runner that cleans up is not interrupted again" {
  slow_to_stop
  kill -TERM "$DRIVER"
  soon noted INT 2
  soon grep -q '"asked"' "$LEDGER"
  kill -KILL "$DRIVER"
  drive
  soon grep -q 'cell 1 attempt 1 still runs' err
  kill -TERM "$DRIVER"
  soon grep -q 'stop    SIGTERM' err
  sleep 1
  touch go
  ended
  [ "$code" -eq 143 ]
  [ "$(wrote INT | wc -w) $(wrote TWICE | wc -w)" = "2 0" ]
  ! grep -q 'adopted cells asked' err
}

# breaking: a driver whose bash gives up at the third launch, as where it can start no process.
breaking() {
  stub 'begin; gate go; succeed'
  spec 'max_parallel: 4' "$four"
  cp driver.sh whole.sh
  # shellcheck disable=SC2016 # for the driver
  sed -i 's/^  compose "$1" "$2"$/&\n  [[ $1 != 2 ]] || : "$no_such_thing"/' driver.sh
  drive
  soon noted begin 2
  soon grep -q 'this driver cannot go on' err
}

@test "a driver that can start no process waits for what runs: exit 70, and the next goes on" {
  breaking
  touch go
  ended
  [ "$code" -eq 70 ]
  [ "$(outcomes 0) $(outcomes 1)" = "succeeded succeeded" ]
  run bash whole.sh
  [ "$status" -eq 0 ]
  [ "$(wrote end)" = "a b c d" ] || [ "$(wrote end | wc -w)" -eq 4 ]
}

@test "a driver that can start no process still stops what runs" {
  breaking
  kill -TERM "$DRIVER"
  ended
  [ "$code" -eq 143 ]
  [ "$(wrote INT | wc -w)" -eq 2 ]
  [ "$(outcomes 0) $(outcomes 1)" = "interrupted interrupted" ]
}

@test "a signal to a driver whose shard's shell was killed reaches the runner" {
  two
  drive
  soon noted begin 2
  kill -KILL "$(shards | head -1)"
  soon grep -q 'still runs; waiting for it' err
  kill -TERM "$DRIVER"
  ended
  [ "$code" -eq 143 ]
  [ "$(wrote INT | wc -w)" -eq 2 ]
  soon nothing_left
}

@test "a runner that ended well before the signal came has succeeded, though its shard's shell was killed" {
  two
  drive
  soon noted begin 2
  # shellcheck disable=SC2046 # process ids
  kill -KILL $(shards)
  soon grep -q 'cell 1 attempt 1 still runs' err
  touch go
  soon noted end 2
  sleep 0.1 # from its last word to its end
  kill -TERM "$DRIVER"
  ended
  [ "$code" -eq 143 ]
  [ "$(outcomes 0) $(outcomes 1)" = "succeeded succeeded" ]
}

@test "signals at any instant of a short sweep: nothing begins after the end, nothing is called failed, resume finishes" {
  stub 'begin; sleep 0.05; succeed'
  spec 'max_parallel: 2' "$four"
  for delay in 0.05 0.15 0.25 0.3 0.35 0.45 0.6; do
    drive
    sleep "$delay"
    kill -INT "$DRIVER" 2>/dev/null || true
    ended
    [[ $code -eq 130 || $code -eq 0 ]]
    soon nothing_left
    [ -e "$LEDGER" ] || continue
    ! grep -q '"state": "failed"' "$LEDGER" || return 1
  done
  run bash driver.sh
  [ "$status" -eq 0 ]
  [ "$(grep -c '"state": "succeeded"' "$LEDGER")" -eq 4 ]
}

@test "shard N that is interrupted interrupts its runner: exit 130, the cell is missing afterwards" {
  two
  drive shard 2
  soon noted begin 1
  kill -INT "$DRIVER"
  ended
  [ "$code" -eq 130 ]
  [ "$(outcomes 2)" = interrupted ]
  touch go
  run bash driver.sh shard 2
  [ "$status" -eq 0 ]
}
