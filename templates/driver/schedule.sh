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

# on_signal NAME: the first signal stops the launching, and goes on to the shards once the ledger has it in writing;
# each further one is harder, and at once. What comes within a second is an echo, and so is a second hang-up:
# timeout(1) and a terminal that closes send theirs twice.
on_signal() {
  local now=${EPOCHREALTIME:-$SECONDS.000000}
  now=${now//[!0-9]/} # the decimal point is the locale's
  if ((HARDNESS > 0)) && { [[ $1 == HUP ]] || ((now >= HEARD && now - HEARD <= 1000000)); }; then return; fi
  HEARD=$now
  SIGNAL=${SIGNAL:-$1}
  HARDNESS=$((HARDNESS + 1))
  if ((HARDNESS > 1)); then
    stop_shards
    say "stop    SIG$1 again: ${#RUNNING[@]} shards are stopped harder"
  else
    say "stop    SIG$1: launching stops, ${#RUNNING[@]} shards are asked to clean up; once more is harder"
  fi
}

# stop_shards: INT makes a runner release its pod, TERM ends it, KILL is the last resort. A shard gets each only
# once: a second INT would interrupt the runner's own clean-up, and its pod would bill on.
stop_shards() {
  local -a signals=(INT TERM KILL)
  local group wanted=$((HARDNESS > CANCELLED ? HARDNESS : CANCELLED))
  for group in "${!RUNNING[@]}" "${ADOPTED[@]}"; do
    if ((${STOPPED[group]:-0} < (wanted < 3 ? wanted : 3))); then
      kill -s "${signals[${STOPPED[group]:-0}]}" -- "-$group" 2>/dev/null || true # it may have ended
      STOPPED[group]=$((${STOPPED[group]:-0} + 1))
    fi
  done
}

# report_signal: let the ledger know that a signal stopped us. Its answer: the groups of runners that lost their shard.
report_signal() {
  ((HARDNESS > TOLD)) || return 0
  TOLD=$HARDNESS
  ask signal "$SIGNAL"
  adopt
}

# adopt: take the process groups that the ledger has just named.
adopt() {
  # shellcheck disable=SC2206 # numbers
  [[ $REPLY != stop ]] || ADOPTED=($WORD $REST)
}

# schedule: at most MAX_PARALLEL shards at once, each launch admitted by the ledger. Sets the exit code.
schedule() {
  while true; do
    reap
    report_signal
    ((HARDNESS + CANCELLED == 0)) || stop_shards # also those that were being launched when the signal came
    if ((${#RUNNING[@]} < MAX_PARALLEL)); then
      ask next
    elif [[ $REPLY == launch ]]; then
      REPLY='wait' # that launch took the last slot: nothing to ask before something happens
    else
      ask watch
    fi
    case $REPLY in
      launch)
        CANCELLED=0 # taken back, or nothing would be launched
        if ((HARDNESS == 0)); then
          launch "$WORD" "$REST"
        else
          note ended "$WORD" "$REST" 1 # before it began
        fi
        ;;
      stop)
        CANCELLED=1
        adopt
        ;;
      end)
        if ((${#RUNNING[@]} == 0)); then break; fi
        rest
        ;;
      *) rest ;;
    esac
  done
  CODE=$WORD
}
