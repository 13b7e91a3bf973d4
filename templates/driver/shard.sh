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
