# What the stub runner of a test is made of. Its first argument is the cell's value; what it did stands in $RECORD.
# shellcheck shell=bash

cell=${1-}
run_dir=$PWD/runs/${SWEEP_INDEX-}-$$
manifest=$run_dir/runpod_deploy_pull_manifest.json

# note WORD: write down WORD and the cell.
note() {
  printf '%s %s\n' "$1" "$cell" >>"$RECORD"
}

# begin: the run dir and the line that names it.
begin() {
  note begin
  mkdir -p "$run_dir"
  printf 'RUN_DIR=%s\n' "$run_dir"
}

# finish CODE FAILED [COST]: the manifest, and the end.
finish() {
  printf '{"schema_version": "v2", "failed": %s, "estimated_cost_usd": %s}\n' "$2" "${3:-0.10}" >"$manifest"
  note end
  exit "$1"
}

succeed() {
  finish 0 false "$@"
}

fail() {
  finish "${1:-1}" true
}

# gate FILE: wait until it is there, a minute at most; an interrupted runner releases what it has first.
gate() {
  local looks=3000
  until [[ -e $1 ]] || ((looks-- == 0)); do
    sleep 0.02
  done
}

# crowd COUNT: wait until as many have begun.
crowd() {
  local looks=3000
  until (($(grep -c '^begin ' "$RECORD") >= $1)) || ((looks-- == 0)); do
    sleep 0.02
  done
}

# interrupted: what SIGINT makes of a runner that behaves; its manifest says false, as the real one's does.
interrupted() {
  trap '' INT
  note INT
  finish 130 false 0.05
}

trap interrupted INT
