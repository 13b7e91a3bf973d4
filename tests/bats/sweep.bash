# A small sweep in a directory of its own, over a runner that the test writes; nothing of it is left afterwards.
# shellcheck shell=bash

PATIENCE=60 # seconds for what has to come true, on a machine that is busy

setup() {
  export HOME=$BATS_TEST_TMPDIR/home RECORD=$BATS_TEST_TMPDIR/record
  PATH=$BATS_TEST_TMPDIR/bin:$BATS_TEST_DIRNAME/../../.venv/bin:$PATH
  unset SWEEPTOOL SWEEPTOOL_SWEEPS_DIR SWEEP_PROJECT_DIR
  mkdir -p "$HOME" "$BATS_TEST_TMPDIR/bin" "$BATS_TEST_TMPDIR/project"
  touch "$RECORD"
  cd "$BATS_TEST_TMPDIR/project" || return
  LEDGER=artifacts/sweeps/s/ledger.jsonl
  stub 'begin; succeed'
}

teardown() {
  finish_test
}

# finish_test: end what the test started and left; it has failed then.
finish_test() {
  soon nothing_left && return
  local left
  left=$(leftovers)
  # shellcheck disable=SC2086 # process ids; they may have ended by now
  ps -o pid,ppid,pgid,stat,args -p $left >&2 || true
  # shellcheck disable=SC2086 # process ids
  kill -KILL $left || true
  return 1
}

# skipped WHY: skip the test, or fail it where everything that the tests need must be there.
skipped() {
  [[ ${SWEEPTOOL_REQUIRE_ALL:-} != 1 ]] || return 1
  skip "$1"
}

# leftovers: the processes that this test started and that still run.
leftovers() {
  local file
  for file in $(env -i "$(type -P grep)" -lzsxF "RECORD=$RECORD" /proc/[0-9]*/environ); do
    file=${file#/proc/}
    printf '%s ' "${file%/environ}"
  done
}

nothing_left() {
  [[ -z $(leftovers) ]]
}

# stub BODY: write the program 'stub', whose first argument is the cell's value; see stub.bash for its words.
stub() {
  printf '#!/usr/bin/env bash\nsource %q\n%s\n' "$BATS_TEST_DIRNAME/stub.bash" "$1" >"$BATS_TEST_TMPDIR/bin/stub.new"
  chmod +x "$BATS_TEST_TMPDIR/bin/stub.new"
  mv "$BATS_TEST_TMPDIR/bin/stub.new" "$BATS_TEST_TMPDIR/bin/stub" # a bash that runs the old one reads on in it
}

# spec LINE...: sweep.yaml, these lines beside a name and a runner; and the driver that it makes.
spec() {
  printf '%s\n' 'name: s' 'runner: {kind: command, argv: [stub, "{x}"]}' "$@" >sweep.yaml
  sweeptool render sweep.yaml >driver.new
  mv driver.new driver.sh
}

# drive [ARG...]: the driver in the background, as an interactive shell starts one: its own group, SIGINT as usual.
drive() {
  set -m
  bash driver.sh "$@" >>out 2>>err </dev/null 3>&- 4>&- &
  DRIVER=$!
  set +m
}

# ended: wait for that driver; its exit code is in 'code'.
# shellcheck disable=SC2034 # the tests read it
ended() {
  soon gone "$DRIVER"
  code=0
  wait "$DRIVER" || code=$?
}

gone() {
  ! kill -0 "$1" 2>/dev/null
}

# soon COMMAND...: wait until COMMAND succeeds; fail when patience ends.
soon() {
  local now deadline
  printf -v deadline '%(%s)T' -1
  ((deadline += PATIENCE))
  until "$@"; do
    printf -v now '%(%s)T' -1
    if ((now > deadline)); then
      printf 'this did not come true: %s\n' "$*" >&2
      return 1
    fi
    sleep 0.02
  done
}

# noted WORD COUNT: COUNT stubs have written down WORD.
noted() {
  (($(grep -c "^$1 " "$RECORD") >= $2))
}

# wrote WORD: the cells that wrote down WORD, in that order.
wrote() {
  sed -n "s/^$1 //p" "$RECORD" | paste -sd ' '
}

# most_at_once: how many stubs ran at once, at most.
most_at_once() {
  awk '$1 == "begin" { if (++now > most) most = now } $1 == "end" { now-- } END { print most + 0 }' "$RECORD"
}

# outcomes INDEX [MEMBER]: the state (or another member) of each attempt of a cell, by the ledger.
outcomes() {
  sed -nE 's/.*"event": "settled".*"index": '"$1"', .*"'"${2:-state}"'": "?([^",]*).*/\1/p' "$LEDGER" | paste -sd ' '
}

# events NAME: how many of these the ledger has.
events() {
  grep -c "\"event\": \"$1\"" "$LEDGER" || true # 0 is a number too
}

# shards: the process ids of the shards' shells, by their claims.
shards() {
  cut -d ' ' -f 1 artifacts/sweeps/s/cells/*/attempt-*/start
}
