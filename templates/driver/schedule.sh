# launch INDEX ATTEMPT: start a shard in the background. Job control gives it its own process group
# and leaves SIGINT at its default, so that it can be asked to release its pod.
launch() {
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
  for pid in "${!RUNNING[@]}"; do
    if kill -0 "$pid" 2>/dev/null; then continue; fi
    status=0
    wait "$pid" 2>/dev/null || status=$?
    tell # first, so that what a signal ended is no failure
    # shellcheck disable=SC2086 # two words, INDEX ATTEMPT
    ask settle ${RUNNING[$pid]} "$status"
    # shellcheck disable=SC2206 # process groups, numbers
    [[ $REPLY != adopted ]] || ADOPTED+=($WORD $REST) # only the shard was killed, its runner goes on
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

# stop_shards: INT makes a runner release its pod, TERM ends it, KILL is the last resort.
stop_shards() {
  local -a signals=(INT INT TERM KILL)
  local group
  for group in "${!RUNNING[@]}" "${ADOPTED[@]}"; do
    kill -s "${signals[HARDNESS > 3 ? 3 : HARDNESS]}" -- "-$group" 2>/dev/null || true # it may have ended
  done
}

# tell: let the ledger know, once, that a signal stopped us.
tell() {
  if [[ -n $SIGNAL && -z $TOLD ]]; then
    TOLD=$SIGNAL
    ask signal "$SIGNAL"
  fi
}

# schedule: at most MAX_PARALLEL shards at once, each launch admitted by the ledger. Sets the exit code.
schedule() {
  local stopped=0
  while true; do
    reap
    tell
    if ((HARDNESS > stopped)); then
      stopped=$HARDNESS
      stop_shards # also those that were being launched when the signal came
    fi
    if ((${#RUNNING[@]} < MAX_PARALLEL)); then ask next; else ask watch; fi
    case $REPLY in
      launch) launch "$WORD" "$REST" ;;
      interrupt) HARDNESS=1 ;;
      end) break ;;
      *) rest ;;
    esac
  done
  CODE=$WORD
}
