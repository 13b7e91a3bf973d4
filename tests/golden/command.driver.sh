#!/usr/bin/env bash
# shellcheck disable=SC2016 # what stands in single quotes is meant as it stands
trap 'exit 2' EXIT # this file was cut short, unless it is taken back below
# seeds: 4 cells through the runner command, at most 4 at a time.
#
# Made by sweeptool 0.1.0 from sweep.yaml (sha256 9cf8cc29290e911bb3e7b0298fe02e6a710c7275ee2e7cd6dd2d629fb105e20c). To make it again:
#   sweeptool render sweep.yaml > driver.sh
#
# Usage, in the project directory; running it again goes on with what is missing:
#   bash driver.sh [-j N] [--max-cost-usd X] [--project-dir DIR]
#   bash driver.sh shard N     one cell, for make, Slurm or GNU parallel; with --cells DIGEST only of these cells
#   bash driver.sh begin       before the first of them: the checks, 'before:', a new count of failures
#   bash driver.sh end         after the last of them: the table, 'after:', the exit code
#   bash driver.sh list        the cells
#   bash driver.sh --help      this text
#
# Files, under artifacts/sweeps/seeds:
#   ledger.jsonl               what was launched, how it ended, what it cost; only ever appended to
#   cells/ID/attempt-N/        stdout.log and stderr.log of one attempt, start and exit
#   plan.jsonl, driver.sh      this plan and this file, as last run
#   sweep-id                   what this sweep is called, here and in the tags of its jobs
#   driver.lock, ledger.lock   held while a driver runs, while the ledger is written; what is left of them is harmless
#
# Exit codes: 0 all succeeded, 1 some cells failed, 2 bad usage and nothing started, 3 stopped by the budget,
#   4 suspended or cancelled, 5 another driver holds this sweep, 6 stopped by a failure streak,
#   70 the ledger died, 129/130/143 hung up, interrupted, terminated.

# shellcheck disable=SC2016 # what stands in single quotes is for the jobs and their shells, not for this one
if [ -z "${BASH_VERSION:-}" ] || [ "${BASH_VERSINFO[0]}${BASH_VERSINFO[1]}" -lt 44 ]; then
  echo "driver: needs bash 4.4 or newer, this is ${BASH_VERSION:-another shell}; on macOS: brew install bash" >&2
  exit 2
fi
if [ -z "${BASH_SOURCE[0]:-}" ]; then
  echo "driver: the ledger reads this file too, so it cannot come through a pipe: bash driver.sh" >&2
  exit 2
fi
# Functions that somebody exported would be called instead; set and unset among them, so this comes first.
builtin unset -f cd command compgen disown echo env eval exec exit export kill local mapfile mkdir printf read return rm set \
  shift sleep trap true type unset wait
set -euo pipefail
export -n SHELLOPTS # what we set is not for the shells that your jobs start

# What you export in lower case, as our own variables are written: your jobs get it as it came.
KEPT=()
for REPLY in $(compgen -e); do
  [[ $REPLY != [[:lower:]]* ]] || KEPT+=("$REPLY=${!REPLY}")
done

# cut_short: what happens at the end of a file that is not whole.
cut_short() {
  echo "error: this driver was cut short; render it again" >&2
  exit 2
}
trap cut_short EXIT

# ---- the sweep: the only generated part ------------------------------------------------------------------

SWEEP_NAME=seeds
SWEEP_SIZE=4
cells_digest=bef5b347ce68
max_parallel=4 # 0: all at once
programs=()
files=()
variables=() # secrets, which stay in the environment

# before, after: the spec's commands around the sweep.
before() {
  true
}
after() {
  true
}

# secrets: what the spec takes from your environment, for every cell.
secrets() {
  true
}

# command_N WORD...: the command line of one attempt; the words are what differs between the cells.
command_0() {
  argv=(./runner run --seed "$1" --out "$2""$attempt")
}

# cell ID NAME=VALUE... -- COMMAND_N WORD...: one cell, its parameters and its command line. Plain words in one
# array, since bash copies at every launch what it knows: functions would be five times as much.
cell_words=()
cell_at=() # where each cell's words begin
cell() {
  cell_at+=("${#cell_words[@]}")
  cell_words+=("$@")
}

# 0 seed=42
cell 42-3fcu2sg5gr seed=42 -- command_0 42 out/42/
# 1 seed=42 r1
cell 42-r1-sdcxjgdw6e seed=42 -- command_0 42 out/42/
# 2 seed=43
cell 43-jkitbwmb26 seed=43 -- command_0 43 out/43/
# 3 seed=43 r1
cell 43-r1-jebeqmq2hx seed=43 -- command_0 43 out/43/
cell_at+=("${#cell_words[@]}")

# ---- from here on every driver is the same ---------------------------------------------------------------

SWEEPTOOL=${SWEEPTOOL:-sweeptool}
project_dir=${SWEEP_PROJECT_DIR:-.}
SWEEP_DIR=${SWEEPTOOL_SWEEPS_DIR:-artifacts/sweeps}/$SWEEP_NAME
driver=${BASH_SOURCE[0]}
[[ $driver == /* ]] || driver=$PWD/$driver

only=''       # the one cell to run; empty: the whole sweep
part=''       # begin or end: just what stands before or after the cells
running=()    # process id of a shard -> "INDEX ATTEMPT"
adopted=()    # process groups of runners whose shard is gone
asked=()      # process group of either -> how hard it was stopped already
signal=''     # the first signal that stopped us
heard=0       # when the last one came
hardness=0    # how many signals came
told=0        # how many of them the ledger knows of
cancelled=0   # 1: somebody cancelled the sweep
ledger_died=0 # 1: nobody answers any more
code=0        # what this driver exits with

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
      '#!'* | '# shellcheck '* | 'trap '*) ;;
      '#'*)
        line=${line#\#}
        printf '%s\n' "${line# }"
        ;;
      *) break ;;
    esac
  done <"$driver"
}

# stand_in: open what is closed of stdin, stdout and stderr: the next pipe would take its place, and our words
# would land in it.
stand_in() {
  { true <&0; } 2>/dev/null || exec </dev/null
  { true >&1; } 2>/dev/null || exec >/dev/null
  true >&2 || exec 2>/dev/null
}

# given NAME: whether it is set, and not empty, in the environment that we were started in.
given() {
  local pair
  if [[ $1 != [[:lower:]]* ]]; then
    [[ -n ${!1:-} ]]
    return
  fi
  for pair in "${KEPT[@]}"; do
    if [[ $pair == "$1="?* ]]; then return 0; fi
  done
  return 1
}

# preflight: name everything that is missing, at once, before anything is started.
preflight() {
  local program file variable thing
  local -a missing=()
  CDPATH='' cd -- "$project_dir" 2>/dev/null || die 2 "no project directory $project_dir"
  if [[ $project_dir == . && $SWEEP_DIR != /* && ! -e $SWEEP_DIR && -e ${driver%/*}/$SWEEP_DIR ]]; then
    die 2 "this sweep has begun in ${driver%/*}: run it there, or say where with --project-dir"
  fi
  for program in "$SWEEPTOOL" "${programs[@]}"; do
    type -P -- "$program" >/dev/null || missing+=("program $program is not on PATH")
  done
  for file in "${files[@]}"; do
    [[ -e $file ]] || missing+=("$file is not in $PWD (run this in the project directory, or use --project-dir)")
  done
  for variable in "${variables[@]}"; do
    given "$variable" || missing+=("the environment variable $variable is not set")
  done
  if ((${#missing[@]} > 0)); then
    for thing in "${missing[@]}"; do say "error: $thing"; done
    exit 2
  fi
  [[ $SWEEP_DIR == /* ]] || SWEEP_DIR=$PWD/$SWEEP_DIR
  export SWEEP_DIR
}

# blocked: whether whoever started us holds HUP, INT or TERM back, from us and from every runner.
blocked() {
  local key mask
  [[ -r /proc/$$/status ]] || return 1
  while read -r key mask; do
    [[ $key != SigBlk: ]] || break
  done <"/proc/$$/status"
  ((16#${mask:-0} & 0x4003))
}

# default_signals ARG...: a shell that starts a job with '&' makes it ignore Ctrl-C for ever, and every
# runner under it; then nothing could make a runner release its pod. Start again with the default.
default_signals() {
  local again=${SWEEP_SIGNALS_RESET:-}
  unset SWEEP_SIGNALS_RESET
  [[ -z $again ]] || return 0
  [[ $(trap -p INT) == "trap -- '' "* ]] || blocked || return 0
  export SWEEP_SIGNALS_RESET=1
  if ! blocked && env --default-signal=INT true 2>/dev/null; then
    exec env --default-signal=INT,QUIT "$BASH" "$driver" "$@"
  fi
  type -P python3 >/dev/null || die 2 "SIGINT is ignored here, so no pod could be released: start this in the foreground"
  exec python3 -c 'import os, signal, sys
signal.signal(signal.SIGINT, signal.SIG_DFL)
signal.signal(signal.SIGQUIT, signal.SIG_DFL)
signal.pthread_sigmask(signal.SIG_UNBLOCK, (signal.SIGHUP, signal.SIGINT, signal.SIGTERM))
os.execvp(sys.argv[1], sys.argv[1:])' "$BASH" "$driver" "$@"
}

# open_ledger [OPTION...]: start the ledger, which owns the money and the records, and wait until it is ready. Sets
# TO_LEDGER, FROM_LEDGER and NOWHERE (/dev/null, opened once), SWEEP_ID, HOST, BOOT (- where nothing tells boots
# apart), START_WORD, and PENDING, the number of cells that still have to run.
open_ledger() {
  local -a options=(--driver "$driver" --cells "$cells_digest" --pid "$$" "$@")
  local from to
  set -m # a process group of its own: a Ctrl-C for this driver must not end it
  coproc ledger { exec "$SWEEPTOOL" ledger "$SWEEP_DIR" "${options[@]}"; }
  set +m
  from=${ledger[0]} to=${ledger[1]} # bash forgets the array when the coprocess ends; we need to notice
  exec {from_ledger}<&"$from" {to_ledger}>&"$to" {from}<&- {to}>&- {nowhere}>/dev/null
  read -r -u "$from_ledger" reply SWEEP_ID host boot pending || die 70 "the ledger did not start"
  [[ $reply == ready ]] || exit "${SWEEP_ID:-70}" # it has said why; in the id's place is the exit code
  find_start
}

# leave_ledger: what we start has no part in the conversation, or the ledger would not notice our end.
leave_ledger() {
  exec {to_ledger}>&- {from_ledger}<&-
}

# note WORD...: report something to the ledger. There is no answer: where it died, the next question shows it.
note() {
  printf '%s\n' "$*" 1>&"$to_ledger" 2>&"$nowhere" || true
}

# ask WORD...: put a question to the ledger. Its answer: the verb in reply, the rest in word and rest.
ask() {
  note "$@"
  if read -r -u "$from_ledger" reply word rest; then return 0; fi # in a trap a bare return has the status from before it
  ((ledger_died)) || say "error: the ledger died; nothing more is launched, what runs is waited for. Run this again to go on."
  ledger_died=1 reply=end word=70 rest=''
}

# find_cell INDEX: set id, params and own (a command_N and its words) to what the cell's line says.
find_cell() {
  local at=${cell_at[$1]} end=${cell_at[$1 + 1]}
  id=${cell_words[at]}
  while [[ ${cell_words[++at]} != -- ]]; do
    params+=("${cell_words[at]}")
  done
  while ((++at < end)); do
    own+=("${cell_words[at]}")
  done
}

# compose INDEX ATTEMPT: set id, attempt_dir, argv and tags, all that an attempt is called with. This is done before
# the shard is forked: in a copy of this process every step costs thrice.
compose() {
  local index=$1 attempt=$2 pair
  local -a params=() own=()
  find_cell "$index"
  attempt_dir=$SWEEP_DIR/cells/$id/attempt-$attempt
  "${own[@]}" # the cell's command_N sets argv
  tags=("SWEEP_ID=$SWEEP_ID" "SWEEP_NAME=$SWEEP_NAME" "SWEEP_SIZE=$SWEEP_SIZE" "SWEEP_INDEX=$index")
  tags+=("SWEEPTOOL_ATTEMPT=$SWEEP_ID/$id/$attempt")
  for pair in "${params[@]}"; do
    if [[ ${pair%%=*} != *[!A-Za-z0-9_]* ]]; then
      tags+=("PARAM_$pair" "NODUS_PARAM_$pair")
    else # no name for a shell variable, but one for the environment
      argv=(env "PARAM_$pair" "NODUS_PARAM_$pair" "${argv[@]}")
    fi
  done
}

# find_start: learn which word of a process's stat line says when it started. The words of its name, which our shards
# share, stand before it.
find_start() {
  local stat
  local -a words after
  if [[ $boot == - ]]; then return; fi
  read -r stat <"/proc/$$/stat"
  read -r -a words <<<"$stat"
  read -r -a after <<<"${stat##*) }"
  start_word=$((${#words[@]} - ${#after[@]} + 19))
}

# claim: make this attempt ours. Fails where a later driver has given it up, so no cell runs twice.
claim() {
  local ticks=-
  local -a stat
  if [[ $boot != - ]]; then
    read -r -a stat <"/proc/$BASHPID/stat"
    ticks=${stat[start_word]}
  fi
  set -o noclobber
  { printf '%s %s %s %s\n' "$BASHPID" "$ticks" "$boot" "$host" >"$attempt_dir/start"; } 2>&"$nowhere" || return 1
  set +o noclobber
}

# shard: run one attempt, composed before, in a process group of its own, and write down how it ended.
# Its output goes straight to its own files, not through tee: no pipe to break, and nothing of a sibling in it.
shard() {
  local status=0 stopped=0
  trap 'stopped=1' INT TERM HUP # the runner gets them too; this shell stays to record the outcome
  trap - TRAP PIPE
  leave_ledger
  claim || return 0
  if ((stopped)); then
    : >|"$attempt_dir/start" # an empty claim: the runner was never called
    return 1
  fi
  (become "${#tags[@]}" "${tags[@]}" "${argv[@]}") >"$attempt_dir/stdout.log" 2>"$attempt_dir/stderr.log" || status=$?
  record "$status"
  return "$status"
}

# become COUNT NAME=VALUE... WORD...: be the runner, with these variables and the secrets. No function of ours can
# stand in for the program.
become() {
  # scancel sends TERM to every process at once: a runner would end with its pod rented. The driver asks it by INT.
  [[ -z ${SLURM_JOB_ID:-} ]] || trap '' TERM
  ((${#KEPT[@]} == 0)) || local -x "${KEPT[@]}"
  secrets
  export "${@:2:$1}"
  shift "$(($1 + 1))"
  exec -- "$@" {nowhere}>&-
}

# record STATUS: write down how the runner ended; where the disk is full, as soon as there is room. Once a signal
# came, somebody waits for our end: a few seconds at most.
record() {
  local told=0 tries=0
  until { printf '%s\n' "$1" >"$attempt_dir/exit"; } 2>&"$nowhere"; do
    rm -f "$attempt_dir/exit" 2>/dev/null || true # it is empty
    [[ -d $attempt_dir ]] || return 0
    if ((stopped && ++tries > 3)); then return 0; fi
    ((told)) || say "hold    no room to write down how ${attempt_dir#"$SWEEP_DIR/"} ended"
    told=1
    set -m # in a group of its own: should this shell be killed, nothing of the attempt seems to run
    sleep 1 &
    set +m
    wait "$!" || true # a signal may cut it short
  done
}

# on_signal NAME: the first signal stops the launching, and goes on to the shards once the ledger has it in writing;
# each further one is harder, and at once. What comes within a second is an echo, and so is a second hang-up:
# timeout(1) and a terminal that closes send theirs twice.
on_signal() {
  local now=${EPOCHREALTIME:-$SECONDS.000000} nth=0 deaf=1000000
  now=${now//[!0-9]/} # the decimal point is the locale's
  # a second hang-up never counts
  if [[ $1 == HUP ]]; then deaf=$now; fi
  # one command, since another signal's trap may run between any two
  ((nth = (hardness == 0 || now - heard > deaf || heard - now > deaf) ? (heard = now, ++hardness) : 0)) || return 0
  if ((nth > 1)); then
    note harder # first: what ends from here on may have been stopped, whatever its manifest says
    stop_shards "$nth"
    say "stop    SIG$1 again: cells stopped harder: $((${#running[@]} + ${#adopted[@]}))"
  else
    signal=$1
    say "stop    SIG$1: launching stops; running cells asked to clean up: ${#running[@]}; once more is harder"
  fi
}

# stop_shards HARDNESS: the next of INT, TERM and KILL to each shard that has not had as many. INT makes a runner
# release its pod, TERM ends it, KILL is the last resort. A shard gets each only once: a second INT would interrupt
# the runner's own clean-up, and its pod would bill on. The schedule asks for INT only, signals for more.
stop_shards() {
  local -a signals=(INT TERM KILL)
  local group sent
  for group in "${!running[@]}" "${adopted[@]}"; do
    # one command, for a trap may call this too
    (((sent = ${asked[group]:-0}) < $1 && sent < 3 && (asked[group] = sent + 1))) || continue
    kill -s "${signals[sent]}" -- "-$group" 2>/dev/null || true # it may have ended
  done
}

# report_signal: let the ledger know that a signal stopped us. Its answer: the groups of runners that lost their shard.
report_signal() {
  ((hardness > told)) || return 0
  told=$hardness
  ask signal "$signal"
  adopt
}

# adopt: take the process groups that the ledger has just named.
adopt() {
  # shellcheck disable=SC2206 # numbers
  [[ $reply != stop ]] || adopted=($word $rest)
}

# launch INDEX ATTEMPT: start a shard in the background. Job control gives it its own process group
# and leaves SIGINT at its default, so that it can be asked to release its pod.
launch() {
  local id attempt_dir
  local -a argv tags
  compose "$1" "$2"
  set -m
  shard </dev/null &
  set +m
  running[$!]="$1 $2"
}

# launch_all [INDEX ATTEMPT]...: launch each, unless a signal came: then it has ended before it began.
launch_all() {
  while (($# > 0)); do
    if ((hardness == 0)); then
      launch "$1" "$2"
    else
      report_signal # first, as in reap, or it would be tried again
      note ended "$1" "$2"
    fi
    shift 2
  done
}

# doze: sleep until a shard ends, or the ledger or a signal wakes us. No fork here: a driver that waits must outlive a
# shortage of processes.
doze() {
  wait -n 2>/dev/null || true # only the wake-up: reap looks who has ended
}

# reap: report every shard that ended.
reap() {
  local pid
  local -a ended=()
  for pid in "${!running[@]}"; do
    kill -0 "$pid" || ended+=("$pid")
  done 2>&"$nowhere"
  for pid in "${ended[@]}"; do
    # What counts is what the shard wrote down. Forget it, or the next wait -n returns for it. Not by wait: where a
    # signal came just as it ended, bash has lost its status, and would wait for ever.
    disown "$pid" 2>&"$nowhere" || true
    report_signal # first, so that what a signal ended is no failure
    note ended "${running[$pid]}"
    unset "running[$pid]" "asked[$pid]" # the number may be given out again
  done
}

# give_up: bash left the schedule in the middle, as where it could start no process. What runs is waited for.
give_up() {
  code=$?
  trap - EXIT
  if ((${#running[@]} == 0)); then exit "$code"; fi
  say "error: this driver cannot go on; nothing more is launched, what runs is waited for. Run this again to go on."
  while reap && ((${#running[@]} > 0)); do
    report_signal
    ((hardness + cancelled == 0)) || stop_shards 1
    doze
  done
  code=70
  if [[ -n $signal ]]; then code=$((128 + $(kill -l "$signal"))); fi
  exit "$code"
}

# schedule: at most MAX_PARALLEL shards at once, each launch admitted by the ledger. Sets the exit code.
schedule() {
  local slots
  while true; do
    reap
    report_signal
    ((hardness + cancelled == 0)) || stop_shards 1 # also those that were being launched when the signal came
    slots=$((max_parallel - ${#running[@]}))
    if ((slots == 0)) && [[ $reply == launch ]]; then
      reply='wait' # those launches took the last slots: nothing to ask before something happens
    else
      ask next "$slots"
    fi
    case $reply in
      launch)
        cancelled=0 # taken back, or nothing would be launched
        # shellcheck disable=SC2086 # numbers
        launch_all $word $rest
        ;;
      stop)
        cancelled=1
        adopt
        ;;
      end)
        if ((${#running[@]} == 0)); then break; fi
        doze
        ;;
      *) doze ;;
    esac
  done
  code=$word
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
  trap ':' PIPE # the ledger is gone: the next question shows it
  # The ledger has news. TRAP, since of two signals that are due at once bash's wait forgets the one whose handler would
  # run second; and Linux lets INT, TERM and HUP run before TRAP, so that this is never your Ctrl-C.
  trap ':' TRAP
  trap 'on_signal INT' INT
  trap 'on_signal TERM' TERM
  trap 'on_signal HUP' HUP
  trap give_up EXIT
  open_ledger "$@"
  if [[ -z $only ]] && ((pending > 0)); then around before; fi
  if [[ $part != begin ]]; then
    schedule
    if [[ -z $only ]] && ((pending > 0)); then around after; fi
  fi
  if [[ -n $signal ]] && ((told == 0)); then
    code=$((128 + $(kill -l "$signal"))) # it came when all was over
  fi
  [[ -n $only$part ]] || "$SWEEPTOOL" status "$SWEEP_DIR" --final || true # the table is for people; the code is ours
  exit "$code"
}

# end_sweep: what follows the cells where make, Slurm or parallel ran them. Exits as a driver would have.
end_sweep() {
  "$SWEEPTOOL" status "$SWEEP_DIR" --final || code=$?
  if after; then exit "$code"; fi
  say "error: a command of 'after:' failed"
  exit "$((code == 0 ? 1 : code))"
}

# around before|after: the spec's commands around the sweep, unless a signal stops us. One that fails before it
# starts nothing.
around() {
  [[ -z $signal ]] || return 0
  if (leave_ledger && "$1") || [[ -n $signal ]]; then return; fi
  say "error: a command of '$1:' failed"
  if [[ $1 == before ]]; then exit 2; fi
  if ((code == 0)); then code=1; fi
}

main() {
  local -a given=("$@") options=()
  while (($# > 0)); do
    case $1 in
      -h | --help)
        usage
        exit 0
        ;;
      list)
        (($# == 1)) || die 2 "unexpected '$2' after list"
        list_cells
        exit 0
        ;;
      shard)
        count "${2:-}" shard
        only=$((10#$2))
        ((only < SWEEP_SIZE)) || die 2 "shard $only: the cells are 0 to $((SWEEP_SIZE - 1))"
        options+=(--only "$only")
        shift
        ;;
      begin | end) part=$1 ;;
      -j*)
        if [[ $1 == -j ]]; then
          set -- "-j${2:-}" "${@:3}"
        fi
        count "${1#-j}" -j
        max_parallel=$((10#${1#-j}))
        ;;
      --max-cost-usd)
        (($# > 1)) || die 2 "--max-cost-usd needs an amount"
        options+=(--max-cost-usd "$2")
        shift
        ;;
      --cells)
        (($# > 1)) || die 2 "--cells needs a digest"
        [[ $2 == "$cells_digest" ]] || die 2 "$0 holds other cells than the file that calls it: render both again"
        shift
        ;;
      --project-dir)
        (($# > 1)) || die 2 "--project-dir needs a directory"
        project_dir=$2
        shift
        ;;
      *) die 2 "unknown option or command '$1'; see $0 --help" ;;
    esac
    shift
  done
  options+=(--max-parallel "$max_parallel")
  ((max_parallel > 0)) || max_parallel=$SWEEP_SIZE
  stand_in
  default_signals "${given[@]}"
  preflight
  if [[ $part == end ]]; then end_sweep; fi
  run_sweep "${options[@]}"
}

trap - EXIT
if [[ ${BASH_SOURCE[0]} == "$0" ]]; then
  main "$@"
fi

# ---- the plan: what the ledger reads, a line for the sweep and one a cell --------------------------------
#plan {"format": 1, "name": "seeds", "cells": 4, "runner": "command", "manifest": "m.json", "events": "events.jsonl", "max_parallel": 4, "max_cost_usd": null, "budget_policy": "reserve", "failure_streak": 0, "launch_delay": 0, "retry": {"max_attempts": 1, "on": [], "delay": 0}, "metrics": {"file": "metrics.json", "patterns": {}, "best": null, "goal": null}, "units": "units.jsonl", "configs": {}, "state": null, "common": {"config": null, "gpu": null, "region": null, "price_per_hour_usd": null, "reservation_usd": "0.25", "cost_cap_usd": "0.25", "max_runtime": null, "dialect": "native", "settings": {"command": null, "image": null, "env": {}, "instance_type": null, "datacenter": null, "spot": null, "on_complete": null, "secrets": [], "placement": []}}}
#plan {"index": 0, "id": "42-3fcu2sg5gr", "name": "seeds-0", "params": {"seed": "42"}, "repetition": 0, "label": "seed=42"}
#plan {"index": 1, "id": "42-r1-sdcxjgdw6e", "name": "seeds-1", "params": {"seed": "42"}, "repetition": 1, "label": "seed=42 r1"}
#plan {"index": 2, "id": "43-jkitbwmb26", "name": "seeds-2", "params": {"seed": "43"}, "repetition": 0, "label": "seed=43"}
#plan {"index": 3, "id": "43-r1-jebeqmq2hx", "name": "seeds-3", "params": {"seed": "43"}, "repetition": 1, "label": "seed=43 r1"}
