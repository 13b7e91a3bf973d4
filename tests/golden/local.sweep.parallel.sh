#!/usr/bin/env bash
# rates: 4 cells through the runner local, at most 2 at a time, at most $1.00.
# The cells as jobs of GNU parallel, each one call of the driver; made by sweeptool 0.1.0.
#
#   sweeptool render sweep.yaml > driver.sh
#   sweeptool render --target=parallel sweep.yaml > sweep.parallel.sh
#   bash sweep.parallel.sh
#
# Running it again goes on with what is missing. Options of parallel may follow: --eta, --sshlogin, --jobs.
# Exits as the driver does. Ctrl-C asks the cells to clean up and gives them five minutes.

set -euo pipefail
DRIVER=${DRIVER:-driver.sh}
CELLS=25468508347f # what the driver has to hold
STOPPED=''

# stop NAME: pass a signal on; parallel interrupts its jobs, and the drivers their runners.
# shellcheck disable=SC2317 # a trap calls it
stop() {
  STOPPED=${STOPPED:-$1}
  kill -s INT "$JOBS" 2>/dev/null || true # it may have ended
}

# A shell that starts this with '&' makes it ignore Ctrl-C: start again with the default.
default_signals() {
  local again=${SWEEP_SIGNALS_RESET:-}
  unset SWEEP_SIGNALS_RESET
  [[ $(trap -p INT) == "trap -- '' "* && -z $again ]] || return 0
  env --default-signal=INT true 2>/dev/null || return 0
  SWEEP_SIGNALS_RESET=1 exec env --default-signal=INT,QUIT "$BASH" "$0" "$@"
}

main() {
  local status=0 name
  default_signals "$@"
  bash "$DRIVER" --cells "$CELLS" begin
  parallel --quote --jobs 2 --line-buffer --termseq INT,300000,KILL,25 "$@" \
    bash "$DRIVER" --cells "$CELLS" shard < <(seq 0 3) &
  JOBS=$!
  for name in INT TERM HUP; do
    # shellcheck disable=SC2064 # the name is this one's
    trap "stop $name" "$name"
  done
  while kill -0 "$JOBS" 2>/dev/null; do
    wait "$JOBS" || true # how the cells ended, 'end' knows
  done
  bash "$DRIVER" --cells "$CELLS" end || status=$?
  [[ -z $STOPPED ]] || status=$((128 + $(kill -l "$STOPPED")))
  exit "$status"
}

main "$@"
