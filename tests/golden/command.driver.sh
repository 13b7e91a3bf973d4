#!/usr/bin/env bash
# seeds: 4 cells through the runner command, at most 4 at a time.
#
# Made by sweeptool 0.1.0 from sweep.yaml (sha256 9cf8cc29290e911bb3e7b0298fe02e6a710c7275ee2e7cd6dd2d629fb105e20c). To make it again:
#   sweeptool render sweep.yaml > driver.sh
#
# Usage, in the project directory; running it again goes on with what is missing:
#   bash driver.sh [-j N] [--max-cost-usd X] [--project-dir DIR]
#   bash driver.sh shard N     one cell, for make, Slurm or GNU parallel
#   bash driver.sh list        the cells
#   bash driver.sh --help      this text
#
# Files, under artifacts/sweeps/seeds:
#   ledger.jsonl               what was launched, how it ended, what it cost; only ever appended to
#   cells/ID/attempt-N/        stdout.log and stderr.log of one attempt, start and exit
#   plan.jsonl, driver.sh      this plan and this file, as last run
#
# Exit codes: 0 all succeeded, 1 some cells failed, 2 bad usage and nothing started, 3 stopped by the budget,
#   4 suspended or cancelled, 5 another driver holds this sweep, 6 stopped by a failure streak,
#   70 the ledger died, 129/130/143 hung up, interrupted, terminated.

if [ -z "${BASH_VERSION:-}" ] || [ "${BASH_VERSINFO[0]}${BASH_VERSINFO[1]}" -lt 44 ]; then
  echo "driver: needs bash 4.4 or newer, this is ${BASH_VERSION:-another shell}; on macOS: brew install bash" >&2
  exit 2
fi
set -euo pipefail

# cut_short: what happens at the end of a file that is not whole.
cut_short() {
  echo "error: this driver was cut short; render it again" >&2
  exit 2
}
trap cut_short EXIT

# ---- the sweep: the only generated part ------------------------------------------------------------------

SWEEP_NAME=seeds
SWEEP_SIZE=4
MAX_PARALLEL=4 # 0: all at once
PROGRAMS=()
FILES=()
VARIABLES=() # secrets, which stay in the environment

# before, after: the spec's commands around the sweep.
before() {
  true
}
after() {
  true
}

# environment: what the spec sets for every cell.
environment() {
  true
}

# command_N WORD...: the command line of one attempt; the words are what differs between the cells.
command_0() {
  argv=(./runner run --seed "$1" --out "$2""$attempt")
}

# cell ID NAME=VALUE... -- COMMAND_N WORD...: one cell, its parameters and its command line. Plain words in one
# array, since bash copies at every launch what it knows: functions would be five times as much.
CELL_WORDS=()
CELL_AT=() # where each cell's words begin
cell() {
  CELL_AT+=("${#CELL_WORDS[@]}")
  CELL_WORDS+=("$@")
}

# 0 seed=42
cell 42-3fcu2sg5gr seed=42 -- command_0 42 out/42/
# 1 seed=42 r1
cell 42-r1-sdcxjgdw6e seed=42 -- command_0 42 out/42/
# 2 seed=43
cell 43-jkitbwmb26 seed=43 -- command_0 43 out/43/
# 3 seed=43 r1
cell 43-r1-jebeqmq2hx seed=43 -- command_0 43 out/43/
CELL_AT+=("${#CELL_WORDS[@]}")

# ---- from here on every driver is the same ---------------------------------------------------------------

SWEEPTOOL=${SWEEPTOOL:-sweeptool}
PROJECT_DIR=${SWEEP_PROJECT_DIR:-.}
SWEEP_DIR=${SWEEPTOOL_SWEEPS_DIR:-artifacts/sweeps}/$SWEEP_NAME
DRIVER=${BASH_SOURCE[0]}
[[ $DRIVER == /* ]] || DRIVER=$PWD/$DRIVER

RUNNING=() # process id of a shard -> "INDEX ATTEMPT"
ADOPTED=() # process groups of shards that an earlier driver started
SIGNAL=''  # the first signal that stopped us
TOLD=''    # the signal that the ledger knows of
HARDNESS=0 # how many signals came
STOPPED=() # process group of a shard -> how hard it was stopped already
LEDGER_DIED=0
CODE=0
BOOT_ID=/proc/sys/kernel/random/boot_id
BOOT=- # tells this boot of the machine from any other, where there is /proc

# say TEXT...: one line for people, on stderr. A terminal that is gone is no reason to stop.
say() {
  printf '%s\n' "$*" >&2 2>/dev/null || true
}

# die CODE TEXT...: say why and end, before anything was started.
die() {
  local code=$1
  shift
  say "error: $*"
  exit "$code"
}

# usage: print the header of this file.
usage() {
  local line
  while IFS= read -r line; do
    case $line in
      '#!'*) ;;
      '#'*)
        line=${line#\#}
        printf '%s\n' "${line# }"
        ;;
      *) break ;;
    esac
  done <"$DRIVER"
}

# preflight: name everything that is missing, at once, before anything is started.
preflight() {
  local program file # file: also a variable's name
  local -a missing=()
  cd -- "$PROJECT_DIR" 2>/dev/null || die 2 "no project directory $PROJECT_DIR"
  for program in "$SWEEPTOOL" "${PROGRAMS[@]}"; do
    type -P -- "$program" >/dev/null || missing+=("program $program is not on PATH")
  done
  for file in "${FILES[@]}"; do
    [[ -e $file ]] || missing+=("$file is not in $PWD (run this in the project directory, or use --project-dir)")
  done
  for file in "${VARIABLES[@]}"; do
    [[ -n ${!file:-} ]] || missing+=("the environment variable $file is not set")
  done
  if ((${#missing[@]} > 0)); then
    for file in "${missing[@]}"; do say "error: $file"; done
    exit 2
  fi
  [[ $SWEEP_DIR == /* ]] || SWEEP_DIR=$PWD/$SWEEP_DIR
  export SWEEP_DIR
}

# default_signals ARG...: a shell that starts a job with '&' makes it ignore Ctrl-C for ever, and every
# runner under it; then nothing could make a runner release its pod. Start again with the default.
default_signals() {
  local again=${SWEEP_SIGNALS_RESET:-}
  unset SWEEP_SIGNALS_RESET
  [[ $(trap -p INT) == "trap -- '' "* && -z $again ]] || return 0
  export SWEEP_SIGNALS_RESET=1
  if env --default-signal=INT true 2>/dev/null; then
    exec env --default-signal=INT,QUIT "$BASH" "$DRIVER" "$@"
  fi
  exec python3 -c 'import os, signal, sys
signal.signal(signal.SIGINT, signal.SIG_DFL)
signal.signal(signal.SIGQUIT, signal.SIG_DFL)
os.execvp(sys.argv[1], sys.argv[1:])' "$BASH" "$DRIVER" "$@"
}

# open_ledger [OPTION...]: start the ledger, which owns the money and the records, and wait until it is ready.
open_ledger() {
  local -a options=(--driver "$DRIVER" --pid "$$" "$@")
  local from to
  set -m # a process group of its own: a Ctrl-C for this driver must not end it
  coproc LEDGER { exec "$SWEEPTOOL" ledger "$SWEEP_DIR" "${options[@]}"; }
  set +m
  from=${LEDGER[0]} to=${LEDGER[1]} # bash forgets the array when the coprocess ends; we need to notice
  exec {FROM_LEDGER}<&"$from" {TO_LEDGER}>&"$to" {from}<&- {to}>&- {NOWHERE}>/dev/null
  read -r -u "$FROM_LEDGER" REPLY WORD REST || die 70 "the ledger did not start"
  [[ $REPLY == ready ]] || exit "${WORD:-70}" # it has said why
  SWEEP_ID=$WORD
  read -r HOST PENDING REST <<<"$REST"
  read -r -a ADOPTED <<<"$REST"
  [[ ! -r $BOOT_ID ]] || read -r BOOT <"$BOOT_ID"
}

# note WORD...: report something to the ledger. There is no answer: where it died, the next question shows it.
note() {
  printf '%s\n' "$*" 1>&"$TO_LEDGER" 2>&"$NOWHERE" || true
}

# ask WORD: put a question to the ledger. Its answer: the verb in REPLY, the rest in WORD and REST.
ask() {
  note "$1"
  if read -r -u "$FROM_LEDGER" REPLY WORD REST; then return; fi
  ((LEDGER_DIED)) || say "error: the ledger died; nothing more is launched, what runs is waited for. Run this again to go on."
  LEDGER_DIED=1 REPLY=wait WORD='' REST=''
  ((${#RUNNING[@]} > 0)) || REPLY=end WORD=70
}

# find_cell INDEX: set id, params and own (a command_N and its words) to what the cell's line says.
find_cell() {
  local at=${CELL_AT[$1]} end=${CELL_AT[$1 + 1]}
  id=${CELL_WORDS[at]}
  while [[ ${CELL_WORDS[++at]} != -- ]]; do
    params+=("${CELL_WORDS[at]}")
  done
  while ((++at < end)); do
    own+=("${CELL_WORDS[at]}")
  done
}

# claim: make this attempt ours. Fails where a later driver has given it up, so no cell runs twice.
claim() {
  local ticks=- stat
  local -a fields
  if [[ $BOOT != - ]]; then
    read -r stat <"/proc/$BASHPID/stat"
    # shellcheck disable=SC2206 # numbers and one letter; a here-string would cost a pipe or a file
    fields=(${stat##*) })
    ticks=${fields[19]}
  fi
  set -o noclobber
  { printf '%s %s %s %s\n' "$BASHPID" "$ticks" "$BOOT" "$HOST" >"$attempt_dir/start"; } 2>/dev/null || return 1
  set +o noclobber
}

# shard INDEX ATTEMPT: run one attempt of the cell at hand, in a process group of its own, and write down how it ended.
# Its output goes straight to its own files, not through tee: no pipe to break, and nothing of a sibling in it.
shard() {
  local index=$1 attempt=$2 status=0 stopped=0 pair
  local -a argv
  trap 'stopped=1' INT TERM HUP # the runner gets them too; this shell stays to record the outcome
  trap - USR1 PIPE
  exec {TO_LEDGER}>&- {FROM_LEDGER}<&-
  environment
  "${own[@]}" # the cell's command_N sets argv
  claim || return 0
  for pair in "${params[@]}"; do
    if [[ ${pair%%=*} != *[!A-Za-z0-9_]* ]]; then
      export "PARAM_$pair" "NODUS_PARAM_$pair"
    else # no name for a shell variable, but one for the environment
      argv=(env "PARAM_$pair" "NODUS_PARAM_$pair" "${argv[@]}")
    fi
  done
  export SWEEP_ID SWEEP_NAME SWEEP_SIZE SWEEP_INDEX=$index SWEEPTOOL_ATTEMPT=$SWEEP_ID/$id/$attempt
  if ((stopped)); then
    : >|"$attempt_dir/start" # an empty claim: the runner was never called
    return 1
  fi
  "${argv[@]}" >"$attempt_dir/stdout.log" 2>"$attempt_dir/stderr.log" || status=$?
  printf '%s\n' "$status" >"$attempt_dir/exit"
  return "$status"
}

# launch INDEX ATTEMPT: start a shard in the background. Job control gives it its own process group
# and leaves SIGINT at its default, so that it can be asked to release its pod.
launch() {
  local id attempt_dir
  local -a params=() own=()
  find_cell "$1"
  attempt_dir=$SWEEP_DIR/cells/$id/attempt-$2
  set -m
  shard "$1" "$2" </dev/null &
  set +m
  RUNNING[$!]="$1 $2"
}

# rest: sleep until a shard ends, or the ledger or a signal wakes us.
rest() {
  wait -n 2>/dev/null || true # only the wake-up: each shard's own status is taken in reap
}

# reap: report every shard that ended.
reap() {
  local pid status
  local -a ended=()
  for pid in "${!RUNNING[@]}"; do
    kill -0 "$pid" || ended+=("$pid")
  done 2>&"$NOWHERE"
  for pid in "${ended[@]}"; do
    status=0
    wait "$pid" 2>&"$NOWHERE" || status=$?
    report_signal # first, so that what a signal ended is no failure
    # shellcheck disable=SC2086 # two words, INDEX ATTEMPT
    note ended ${RUNNING[$pid]} "$status"
    unset "RUNNING[$pid]"
  done
}

# on_signal NAME: stop launching and pass the signal on; each further one is harder.
on_signal() {
  SIGNAL=${SIGNAL:-$1}
  HARDNESS=$((HARDNESS + 1))
  say "stop    SIG$1: launching stops, ${#RUNNING[@]} shards are asked to clean up; once more is harder"
  stop_shards
}

# stop_shards: INT makes a runner release its pod, TERM ends it, KILL is the last resort. A shard gets each only
# once: a second INT would interrupt the runner's own clean-up, and its pod would bill on.
stop_shards() {
  local -a signals=('' INT TERM KILL)
  local group hardness=$((HARDNESS > 3 ? 3 : HARDNESS))
  for group in "${!RUNNING[@]}" "${ADOPTED[@]}"; do
    ((${STOPPED[group]:-0} < hardness)) || continue
    STOPPED[group]=$hardness
    kill -s "${signals[hardness]}" -- "-$group" 2>/dev/null || true # it may have ended
  done
}

# report_signal: let the ledger know, once, that a signal stopped us.
report_signal() {
  if [[ -n $SIGNAL && -z $TOLD ]]; then
    TOLD=$SIGNAL
    note signal "$SIGNAL"
  fi
}

# schedule: at most MAX_PARALLEL shards at once, each launch admitted by the ledger. Sets the exit code.
schedule() {
  local stopped=0
  while true; do
    reap
    report_signal
    if ((HARDNESS > stopped)); then
      stopped=$HARDNESS
      stop_shards # also those that were being launched when the signal came
    fi
    if ((${#RUNNING[@]} < MAX_PARALLEL)); then
      ask next
    elif [[ $REPLY == launch ]]; then
      REPLY='wait' # that launch took the last slot: nothing to ask before something happens
    else
      ask watch
    fi
    case $REPLY in
      launch) launch "$WORD" "$REST" ;;
      adopt) # only a shard was killed, its runner goes on
        # shellcheck disable=SC2206 # process groups, numbers
        ADOPTED+=($WORD $REST)
        ;;
      interrupt) HARDNESS=1 ;;
      end) break ;;
      *) rest ;;
    esac
  done
  CODE=$WORD
}

# list_cells: one line a cell: index, id, name, parameters.
list_cells() {
  local index id
  local -a params own
  for ((index = 0; index < SWEEP_SIZE; index++)); do
    params=() own=()
    find_cell "$index"
    printf '%s\t%s\t%s-%s' "$index" "$id" "$SWEEP_NAME" "$index"
    ((${#params[@]} == 0)) || printf '\t%q' "${params[@]}"
    printf '\n'
  done
}

# count TEXT NAME: a whole number, or the end.
count() {
  [[ $1 =~ ^[0-9]{1,9}$ ]] || die 2 "$2: '$1' is not a whole number"
}

# run_sweep [OPTION...]: the whole sweep, or with --only N one cell of it.
run_sweep() {
  trap ':' USR1 PIPE
  trap 'on_signal INT' INT
  trap 'on_signal TERM' TERM
  trap 'on_signal HUP' HUP
  open_ledger "$@"
  [[ -n $ONLY ]] || ((PENDING == 0)) || around before
  schedule
  [[ -n $ONLY || -n $SIGNAL ]] || ((PENDING == 0)) || around after
  [[ -n $ONLY ]] || "$SWEEPTOOL" status "$SWEEP_DIR" --final || true # the table is for people; the code is ours
  exit "$CODE"
}

# around before|after: the spec's commands around the sweep. One that fails before it starts nothing.
around() {
  if "$1"; then return; fi
  say "error: a command of '$1:' failed"
  if [[ $1 == before ]]; then exit 2; fi
  if ((CODE == 0)); then CODE=1; fi
}

main() {
  local -a given=("$@") options=()
  ONLY=''
  while (($# > 0)); do
    case $1 in
      -h | --help) usage && exit 0 ;;
      list) list_cells && exit 0 ;;
      shard)
        count "${2:-}" shard
        ONLY=$((10#$2))
        ((ONLY < SWEEP_SIZE)) || die 2 "shard $ONLY: the cells are 0 to $((SWEEP_SIZE - 1))"
        options+=(--only "$ONLY")
        shift
        ;;
      -j*)
        if [[ $1 == -j ]]; then
          set -- "-j${2:-}" "${@:3}"
        fi
        count "${1#-j}" -j
        MAX_PARALLEL=$((10#${1#-j}))
        ;;
      --max-cost-usd)
        (($# > 1)) || die 2 "--max-cost-usd needs an amount"
        options+=(--max-cost-usd "$2")
        shift
        ;;
      --project-dir)
        (($# > 1)) || die 2 "--project-dir needs a directory"
        PROJECT_DIR=$2
        shift
        ;;
      *) die 2 "unknown option or command '$1'; see $0 --help" ;;
    esac
    shift
  done
  options+=(--max-parallel "$MAX_PARALLEL")
  ((MAX_PARALLEL > 0)) || MAX_PARALLEL=$SWEEP_SIZE
  default_signals "${given[@]}"
  preflight
  run_sweep "${options[@]}"
}

trap - EXIT
if [[ ${BASH_SOURCE[0]} == "$0" ]]; then
  main "$@"
fi

# ---- the plan: what the ledger reads, a line for the sweep and one a cell --------------------------------
#plan {"format": 1, "name": "seeds", "cells": 4, "runner": "command", "manifest": "m.json", "events": "events.jsonl", "max_parallel": 4, "max_cost_usd": null, "budget_policy": "reserve", "failure_streak": 0, "launch_delay": 0, "retry": {"max_attempts": 1, "on": [], "delay": 0}, "metrics": {"file": "metrics.json", "patterns": {}, "best": null, "goal": null}, "units": "units.jsonl", "configs": {}, "state": null, "common": {"config": null, "gpu": null, "region": null, "price_per_hour_usd": null, "reservation_usd": "0.25", "cost_cap_usd": "0.25", "max_runtime": null, "dialect": "native", "settings": {"command": null, "image": null, "env": {}, "instance_type": null, "datacenter": null, "on_complete": null, "secrets": [], "placement": []}}}
#plan {"index": 0, "id": "42-3fcu2sg5gr", "name": "seeds-0", "params": {"seed": "42"}, "repetition": 0, "label": "seed=42"}
#plan {"index": 1, "id": "42-r1-sdcxjgdw6e", "name": "seeds-1", "params": {"seed": "42"}, "repetition": 1, "label": "seed=42 r1"}
#plan {"index": 2, "id": "43-jkitbwmb26", "name": "seeds-2", "params": {"seed": "43"}, "repetition": 0, "label": "seed=43"}
#plan {"index": 3, "id": "43-r1-jebeqmq2hx", "name": "seeds-3", "params": {"seed": "43"}, "repetition": 1, "label": "seed=43 r1"}
