# identify ID: where the current attempt of a cell keeps its files.
identify() {
  id=$1
  attempt_dir=$SWEEP_DIR/cells/$id/attempt-$attempt
}

# claim DIR: make this attempt ours. Fails where a later driver has given it up, so no cell runs twice.
claim() {
  local boot=- ticks=- stat
  local -a fields
  if [[ -r /proc/sys/kernel/random/boot_id ]]; then
    read -r boot </proc/sys/kernel/random/boot_id
    read -r stat <"/proc/$BASHPID/stat"
    read -r -a fields <<<"${stat##*) }"
    ticks=${fields[19]}
  fi
  set -o noclobber
  { printf '%s %s %s %s\n' "$BASHPID" "$ticks" "$boot" "$HOST" >"$1/start"; } 2>/dev/null || return 1
  set +o noclobber
}

# shard INDEX ATTEMPT: run one attempt of one cell, in a process group of its own, and write down how it ended.
# Its output goes straight to its own files, not through tee: no pipe to break, and nothing of a sibling in it.
shard() {
  local index=$1 attempt=$2 status=0 stopped=0 id attempt_dir pair
  local -a params own argv
  trap 'stopped=1' INT TERM HUP # the runner gets them too; this shell stays to record the outcome
  trap - USR1 PIPE
  exec {TO_LEDGER}>&- {FROM_LEDGER}<&-
  "cell_$index"
  compose "${own[@]}"
  claim "$attempt_dir" || return 0
  for pair in "${params[@]}"; do
    if [[ ${pair%%=*} =~ ^[A-Za-z0-9_]+$ ]]; then
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
