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
