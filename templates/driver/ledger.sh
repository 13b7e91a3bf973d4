# open_ledger [OPTION...]: start the ledger, which owns the money and the records, and wait until it is ready. Sets
# TO_LEDGER, FROM_LEDGER and NOWHERE (/dev/null, opened once), SWEEP_ID, HOST, BOOT (- where nothing tells boots
# apart), START_WORD, and PENDING, the number of cells that still have to run.
open_ledger() {
  local -a options=(--driver "$DRIVER" --pid "$$" "$@")
  local from to
  set -m # a process group of its own: a Ctrl-C for this driver must not end it
  coproc LEDGER { exec "$SWEEPTOOL" ledger "$SWEEP_DIR" "${options[@]}"; }
  set +m
  from=${LEDGER[0]} to=${LEDGER[1]} # bash forgets the array when the coprocess ends; we need to notice
  exec {FROM_LEDGER}<&"$from" {TO_LEDGER}>&"$to" {from}<&- {to}>&- {NOWHERE}>/dev/null
  read -r -u "$FROM_LEDGER" REPLY SWEEP_ID HOST BOOT PENDING || die 70 "the ledger did not start"
  [[ $REPLY == ready ]] || exit "${SWEEP_ID:-70}" # it has said why; in the id's place is the exit code
  find_start
}

# leave_ledger: what we start has no part in the conversation, or the ledger would not notice our end.
leave_ledger() {
  exec {TO_LEDGER}>&- {FROM_LEDGER}<&-
}

# note WORD...: report something to the ledger. There is no answer: where it died, the next question shows it.
note() {
  printf '%s\n' "$*" 1>&"$TO_LEDGER" 2>&"$NOWHERE" || true
}

# ask WORD...: put a question to the ledger. Its answer: the verb in REPLY, the rest in WORD and REST.
ask() {
  note "$@"
  if read -r -u "$FROM_LEDGER" REPLY WORD REST; then return; fi
  ((LEDGER_DIED)) || say "error: the ledger died; nothing more is launched, what runs is waited for. Run this again to go on."
  LEDGER_DIED=1 REPLY=end WORD=70 REST=''
}
