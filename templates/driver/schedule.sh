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
