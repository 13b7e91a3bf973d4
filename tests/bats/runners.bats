#!/usr/bin/env bats
# Runners that behave oddly: what they did is read from their own exit code, output and manifest, and nothing hangs.

load sweep

one='matrix: {params: {x: [a]}}'

# became STATE REASON CODE: how the one cell ended, and the driver.
became() {
  [ "$(outcomes 0) $(outcomes 0 reason)" = "$1 $2" ]
  [ "$status" -eq "$3" ]
}

@test "a megabyte before RUN_DIR" {
  stub 'yes "$(printf "%79s")" | head -13000; begin; succeed'
  spec "$one"
  run bash driver.sh
  became succeeded '' 0
}

@test "RUN_DIR printed twice: the first counts" {
  stub 'begin; printf "RUN_DIR=/nowhere\n"; succeed'
  spec "$one"
  run bash driver.sh
  became succeeded '' 0
}

@test "RUN_DIR without a newline" {
  stub 'begin | tr -d "\n"; mkdir -p "$run_dir"; succeed'
  spec "$one"
  run bash driver.sh
  became succeeded '' 0
}

@test "RUN_DIR with spaces, quotes and unicode, and relative to the project directory" {
  stub 'run_dir="my runs/it'\''s 日本"; manifest=$run_dir/runpod_deploy_pull_manifest.json; begin; succeed'
  spec "$one"
  run bash driver.sh
  became succeeded '' 0
}

@test "no RUN_DIR at all: failed, and said" {
  stub 'exit 0'
  spec "$one"
  run bash driver.sh
  became failed no_run_dir 1
  [[ $output == *"printed no RUN_DIR"* ]]
}

@test "RUN_DIR in the middle of a line, or on stderr, is none" {
  stub 'begin >&2; echo "now RUN_DIR=$run_dir"; succeed'
  spec "$one"
  run bash driver.sh
  became failed no_run_dir 1
}

@test "two runners that name the same RUN_DIR: both have failed, and it is counted once" {
  stub 'run_dir=$PWD/runs/same; manifest=$run_dir/runpod_deploy_pull_manifest.json; begin; succeed 0.30'
  spec 'max_parallel: 1' 'max_cost_usd: 5' 'cost_cap_usd: 0.30' 'matrix: {params: {x: [a, b]}}'
  run bash driver.sh
  [ "$status" -eq 1 ]
  [[ $(outcomes 1 reason) == collision* ]]
  [[ $(sweeptool status --json) != *Succeeded* ]]
  [[ $(sweeptool status) == *'$0.30 '* ]]
}

@test "stdout closed early, stderr closed too" {
  stub 'begin; exec >&- 2>&-; succeed'
  spec "$one"
  run bash driver.sh
  became succeeded '' 0
}

@test "stdin is empty: a runner that reads it takes nothing from the driver" {
  stub 'begin; cat; succeed'
  spec 'matrix: {params: {x: [a, b]}}'
  run bash driver.sh <<<'some words'
  [ "$status" -eq 0 ]
  [ "$(grep -rc 'some words' artifacts/sweeps/s/cells/*/attempt-1/stdout.log | grep -cv ':0')" -eq 0 ]
}

@test "a daemon that outlives its runner, in its group or out of it, holds nothing up" {
  for detached in '' setsid; do
    stub "begin; $detached bash -c 'echo \$\$ >daemon; exec sleep 60' >/dev/null 2>&1 & until [[ -s daemon ]]; do sleep 0.02; done; succeed"
    rm -rf artifacts daemon
    spec "$one"
    SECONDS=0
    run bash driver.sh
    kill "$(<daemon)"
    became succeeded '' 0
    ((SECONDS < 30))
  done
}

@test "exit codes 1, 2, 130, 137, 143 and 255: failed, with the code; nothing of it is a signal to us" {
  stub 'begin; fail "$1"'
  spec 'matrix: {params: {x: ["1", "2", "130", "137", "143", "255"]}}'
  run bash driver.sh
  [ "$status" -eq 1 ]
  [ "$(for index in 0 1 2 3 4 5; do outcomes "$index" exit_code; done | paste -sd ' ')" = "1 2 130 137 143 255" ]
  [ "$(grep -c '"state": "failed"' "$LEDGER")" -eq 6 ]
}

@test "a runner that is killed by a signal, or kills itself: failed" {
  stub 'begin; kill -"$1" $$; sleep 5'
  spec 'matrix: {params: {x: [KILL, TERM, SEGV]}}'
  run bash driver.sh
  [ "$status" -eq 1 ]
  [ "$(for index in 0 1 2; do outcomes "$index" exit_code; done | paste -sd ' ')" = "137 143 139" ]
}

@test "a manifest that is torn, missing, empty, no object, or says nothing: never a success" {
  stub 'begin; case $1 in
    torn) printf "{\"failed\": fal" >"$manifest" ;;
    missing) ;;
    empty) : >"$manifest" ;;
    list) echo "[]" >"$manifest" ;;
    silent) echo "{}" >"$manifest" ;;
    text) echo "{\"failed\": \"false\"}" >"$manifest" ;;
    null) echo "{\"failed\": null}" >"$manifest" ;;
    zero) echo "{\"failed\": 0}" >"$manifest" ;;
    folder) mkdir "$manifest" ;;
    pipe) mkfifo "$manifest" ;;
  esac'
  spec 'max_parallel: 2' 'matrix: {params: {x: [torn, missing, empty, list, silent, text, "null", zero, folder, pipe]}}'
  run bash driver.sh
  [ "$status" -eq 1 ]
  [ "$(grep -c '"state": "failed"' "$LEDGER")" -eq 10 ]
}

@test "failed: true with exit 0, and failed: false with exit 1: failed" {
  stub 'begin; [[ $1 == a ]] && finish 0 true; finish 1 false'
  spec 'matrix: {params: {x: [a, b]}}'
  run bash driver.sh
  [ "$status" -eq 1 ]
  [ "$(outcomes 0) $(outcomes 1)" = "failed failed" ]
}

@test "a program that is not there, or is no program: one failure stops the launching, nothing was spent" {
  spec 'max_parallel: 1' 'max_cost_usd: 5' 'cost_cap_usd: 0.30' 'matrix: {params: {x: [a, b, c]}}'
  printf '#!/nowhere/bash\n' >"$BATS_TEST_TMPDIR/bin/stub"
  run bash driver.sh
  [ "$status" -eq 6 ]
  [ "$(events admitted)" -eq 1 ]
  [ "$(outcomes 0 reason) $(outcomes 0 charged_usd)" = "not_found 0.00" ]
}

@test "a runner that fills its stderr: the reason shown is one short line, the log is whole" {
  stub 'begin; yes "$(printf "%9999s" x)" 2>/dev/null | head -500 >&2; printf "\033[31mlast \001words\n" >&2; fail'
  spec "$one"
  run bash driver.sh
  became failed exit 1
  [[ $output == *"last "* && $output != *$'\033'* ]]
  [ "$(stat -c %s artifacts/sweeps/s/cells/*/attempt-1/stderr.log)" -gt 4000000 ]
}

@test "a runner that stops itself is still waited for" {
  stub 'begin; (sleep 0.3; kill -CONT $$) & kill -STOP $$; succeed'
  spec "$one"
  run bash driver.sh
  became succeeded '' 0
}

@test "a runner that deletes its attempt's directory: failed or lost, never a hang" {
  stub 'begin; rm -rf artifacts/sweeps/s/cells/*/attempt-*; succeed'
  spec "$one"
  run bash driver.sh
  [ "$status" -eq 1 ]
  [[ $(outcomes 0) != *succeeded* ]]
}
