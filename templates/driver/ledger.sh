# open_ledger [OPTION...]: start the ledger, which owns the money and the records, and wait until it is ready. Sets
# TO_LEDGER, FROM_LEDGER and NOWHERE (/dev/null, opened once), SWEEP_ID, HOST, BOOT (- where nothing tells boots
# apart), START_WORD, and PENDING, the number of cells that still have to run.
open_ledger() {
  local -a options=(--driver "$driver" --cells "$cells_digest" --pid "$$" "$@")
  local from to
  set -m # a process group of its own: a Ctrl-C for this driver must not end it
  coproc ledger { exec "$SWEEPTOOL" ledger "$SWEEP_DIR" "${options[@]}"; }
  set +m
  from=${ledger[0]} to=${ledger[1]} # bash forgets the array when the coprocess ends; we need to notice
  exec {from_ledger}<&"$from" {to_ledger}>&"$to" {from}<&- {to}>&- {nowhere}>/dev/null
  read -r -u "$from_ledger" reply SWEEP_ID host boot pending || die 70 "the ledger did not start"
  [[ $reply == ready ]] || exit "${SWEEP_ID:-70}" # it has said why; in the id's place is the exit code
  find_start
}

# leave_ledger: what we start has no part in the conversation, or the ledger would not notice our end.
leave_ledger() {
  exec {to_ledger}>&- {from_ledger}<&-
}

# note WORD...: report something to the ledger. There is no answer: where it died, the next question shows it.
note() {
  printf '%s\n' "$*" 1>&"$to_ledger" 2>&"$nowhere" || true
}

# ask WORD...: put a question to the ledger. Its answer: the verb in reply, the rest in word and rest.
ask() {
  note "$@"
  if read -r -u "$from_ledger" reply word rest; then return 0; fi # in a trap a bare return has the status from before it
  ((ledger_died)) || say "error: the ledger died; nothing more is launched, what runs is waited for. Run this again to go on."
  ledger_died=1 reply=end word=70 rest=''
}
