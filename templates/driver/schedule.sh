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

# doze: sleep until a shard ends, or the ledger or a signal wakes us.
doze() {
  wait -n 2>/dev/null || true # only the wake-up: each shard's own status is taken in reap
}

# reap: report every shard that ended.
reap() {
  local pid
  local -a ended=()
  for pid in "${!running[@]}"; do
    kill -0 "$pid" || ended+=("$pid")
  done 2>&"$nowhere"
  for pid in "${ended[@]}"; do
    wait "$pid" 2>&"$nowhere" || true # what counts is what the shard wrote down
    report_signal                     # first, so that what a signal ended is no failure
    note ended "${running[$pid]}"
    unset "running[$pid]"
  done
}

# on_signal NAME: the first signal stops the launching, and goes on to the shards once the ledger has it in writing;
# each further one is harder, and at once. What comes within a second is an echo, and so is a second hang-up:
# timeout(1) and a terminal that closes send theirs twice.
on_signal() {
  local now=${EPOCHREALTIME:-$SECONDS.000000} nth=0 echo=1000000
  now=${now//[!0-9]/} # the decimal point is the locale's
  [[ $1 != HUP ]] || echo=$now
  # one command, since another signal's trap may run between any two
  ((nth = hardness == 0 || now - heard > echo || heard - now > echo ? (heard = now, ++hardness) : 0)) || return 0
  if ((nth > 1)); then
    stop_shards
    say "stop    SIG$1 again: cells stopped harder: ${#running[@]}"
  else
    signal=$1
    say "stop    SIG$1: launching stops; running cells asked to clean up: ${#running[@]}; once more is harder"
  fi
}

# stop_shards: INT makes a runner release its pod, TERM ends it, KILL is the last resort. A shard gets each only
# once: a second INT would interrupt the runner's own clean-up, and its pod would bill on.
stop_shards() {
  local -a signals=(INT TERM KILL)
  local group sent wanted=$hardness
  if ((wanted < cancelled)); then wanted=$cancelled; fi
  if ((wanted > ${#signals[@]})); then wanted=${#signals[@]}; fi
  for group in "${!running[@]}" "${adopted[@]}"; do
    # one command, for a trap may call this too
    (((sent = ${asked[group]:-0}) < wanted && (asked[group] = sent + 1))) || continue
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

# schedule: at most MAX_PARALLEL shards at once, each launch admitted by the ledger. Sets the exit code.
schedule() {
  while true; do
    reap
    report_signal
    ((hardness + cancelled == 0)) || stop_shards # also those that were being launched when the signal came
    if ((${#running[@]} < max_parallel)); then
      ask next
    elif [[ $reply == launch ]]; then
      reply='wait' # that launch took the last slot: nothing to ask before something happens
    else
      ask watch
    fi
    case $reply in
      launch)
        cancelled=0 # taken back, or nothing would be launched
        if ((hardness == 0)); then
          launch "$word" "$rest"
        else
          note ended "$word" "$rest" # before it began
        fi
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
