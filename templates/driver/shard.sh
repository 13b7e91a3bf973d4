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
