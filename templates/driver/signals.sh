# on_signal NAME: the first signal stops the launching, and goes on to the shards once the ledger has it in writing;
# each further one is harder, and at once. What comes within a second is an echo, and so is a second hang-up:
# timeout(1) and a terminal that closes send theirs twice.
on_signal() {
  local now=${EPOCHREALTIME:-$SECONDS.000000} nth=0 deaf=1000000
  now=${now//[!0-9]/} # the decimal point is the locale's
  # a second hang-up never counts
  if [[ $1 == HUP ]]; then deaf=$now; fi
  # one command, since another signal's trap may run between any two
  ((nth = (hardness == 0 || now - heard > deaf || heard - now > deaf) ? (heard = now, ++hardness) : 0)) || return 0
  if ((nth > 1)); then
    note harder # first: what ends from here on may have been stopped, whatever its manifest says
    stop_shards "$nth"
    say "stop    SIG$1 again: cells stopped harder: $((${#running[@]} + ${#adopted[@]}))"
  else
    signal=$1
    say "stop    SIG$1: launching stops; running cells asked to clean up: ${#running[@]}; once more is harder"
  fi
}

# stop_shards HARDNESS: the next of INT, TERM and KILL to each shard that has not had as many. INT makes a runner
# release its pod, TERM ends it, KILL is the last resort. A shard gets each only once: a second INT would interrupt
# the runner's own clean-up, and its pod would bill on. The schedule asks for INT only, signals for more.
stop_shards() {
  local -a signals=(INT TERM KILL)
  local group sent
  for group in "${!running[@]}" "${adopted[@]}"; do
    # one command, for a trap may call this too
    (((sent = ${asked[group]:-0}) < $1 && sent < 3 && (asked[group] = sent + 1))) || continue
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
