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
