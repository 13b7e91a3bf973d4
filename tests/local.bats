#!/usr/bin/env bats
# The local runner as a driver's bash sees it: its first line, its exit code, its signals.

setup() {
  cd "$BATS_TEST_TMPDIR" || return
  export HOME=$BATS_TEST_TMPDIR
  PATH=$BATS_TEST_DIRNAME/../.venv/bin:$PATH
}

# wait_for FILE: until it is there, five seconds at most.
wait_for() {
  local tries=250
  until [[ -e $1 ]]; do
    ((tries--)) || return 1
    sleep 0.02
  done
}

manifest() { # KEY: print one member of the one manifest here
  python3 -c 'import json, sys; print(json.load(open(sys.argv[1]))[sys.argv[2]])' artifacts/local/*/*.json "$1"
}

@test "the first line names the run dir, and the exit code is the job's" {
  run sweeptool local-run --print-run-dir -- bash -c 'echo hello; exit 7'
  [ "$status" -eq 7 ]
  [ "${lines[0]}" = "RUN_DIR=$(echo "$PWD"/artifacts/local/*)" ]
  [ "${lines[1]}" = hello ]
  [ "$(manifest failed)" = True ]
}

@test "SIGINT to the runner's process group releases the job: exit 130 and a manifest" {
  set -m
  sweeptool local-run -- bash -c 'echo $$ >pid; touch ready; exec sleep 60' >out 2>err 3>&- &
  wait_for ready
  kill -INT -- "-$!"
  status=0
  wait "$!" || status=$?
  [ "$status" -eq 130 ]
  [ "$(manifest failed)" = True ]
  ! kill -0 "$(<pid)"
}

@test "SIGINT works on a runner that a script started with &, which ignores it otherwise" {
  sweeptool local-run -- bash -c 'touch ready; sleep 60' >out 2>err 3>&- &
  wait_for ready
  kill -INT "$!"
  status=0
  wait "$!" || status=$?
  [ "$status" -eq 130 ]
}

@test "a terminal that hangs up is survived under nohup" {
  nohup sweeptool local-run -- bash -c 'touch ready; sleep 1; touch done' >out 2>err 3>&- &
  wait_for ready
  kill -HUP "$!"
  wait "$!"
  [ -e done ]
}

@test "set -o pipefail sees the job's exit code through tee" {
  run bash -c 'set -o pipefail; sweeptool local-run -- bash -c "exit 9" | tee log'
  [ "$status" -eq 9 ]
  grep -q '^RUN_DIR=/' log
}

@test "values arrive byte for byte" {
  run sweeptool local-run --var $'hostile=a\nb $HOME `id` \' " \\ *' -- printenv NODUS_PARAM_hostile
  [ "${output#*$'\n'}" = $'a\nb $HOME `id` \' " \\ *' ]
}
