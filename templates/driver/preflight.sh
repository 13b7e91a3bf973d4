# stand_in: open what is closed of stdin, stdout and stderr: the next pipe would take its place, and our words
# would land in it.
stand_in() {
  { true <&0; } 2>/dev/null || exec </dev/null
  { true >&1; } 2>/dev/null || exec >/dev/null
  true >&2 || exec 2>/dev/null
}

# given NAME: whether it is set, and not empty, in the environment that we were started in.
given() {
  local pair
  if [[ $1 != [[:lower:]]* ]]; then
    [[ -n ${!1:-} ]]
    return
  fi
  for pair in "${KEPT[@]}"; do
    if [[ $pair == "$1="?* ]]; then return 0; fi
  done
  return 1
}

# preflight: name everything that is missing, at once, before anything is started.
preflight() {
  local program file variable thing
  local -a missing=()
  CDPATH='' cd -- "$project_dir" 2>/dev/null || die 2 "no project directory $project_dir"
  if [[ $project_dir == . && $SWEEP_DIR != /* && ! -e $SWEEP_DIR && -e ${driver%/*}/$SWEEP_DIR ]]; then
    die 2 "this sweep has begun in ${driver%/*}: run it there, or say where with --project-dir"
  fi
  for program in "$SWEEPTOOL" "${programs[@]}"; do
    type -P -- "$program" >/dev/null || missing+=("program $program is not on PATH")
  done
  for file in "${files[@]}"; do
    [[ -e $file ]] || missing+=("$file is not in $PWD (run this in the project directory, or use --project-dir)")
  done
  for variable in "${variables[@]}"; do
    given "$variable" || missing+=("the environment variable $variable is not set")
  done
  if ((${#missing[@]} > 0)); then
    for thing in "${missing[@]}"; do say "error: $thing"; done
    exit 2
  fi
  [[ $SWEEP_DIR == /* ]] || SWEEP_DIR=$PWD/$SWEEP_DIR
  export SWEEP_DIR
}

# blocked: whether whoever started us holds HUP, INT or TERM back, from us and from every runner.
blocked() {
  local key mask
  [[ -r /proc/$$/status ]] || return 1
  while read -r key mask; do
    [[ $key != SigBlk: ]] || break
  done <"/proc/$$/status"
  ((16#${mask:-0} & 0x4003))
}

# default_signals ARG...: a shell that starts a job with '&' makes it ignore Ctrl-C for ever, and every
# runner under it; then nothing could make a runner release its pod. Start again with the default.
default_signals() {
  local again=${SWEEP_SIGNALS_RESET:-}
  unset SWEEP_SIGNALS_RESET
  [[ -z $again ]] || return 0
  [[ $(trap -p INT) == "trap -- '' "* ]] || blocked || return 0
  export SWEEP_SIGNALS_RESET=1
  if ! blocked && env --default-signal=INT true 2>/dev/null; then
    exec env --default-signal=INT,QUIT "$BASH" "$driver" "$@"
  fi
  type -P python3 >/dev/null || die 2 "SIGINT is ignored here, so no pod could be released: start this in the foreground"
  exec python3 -c 'import os, signal, sys
signal.signal(signal.SIGINT, signal.SIG_DFL)
signal.signal(signal.SIGQUIT, signal.SIG_DFL)
signal.pthread_sigmask(signal.SIG_UNBLOCK, (signal.SIGHUP, signal.SIGINT, signal.SIGTERM))
os.execvp(sys.argv[1], sys.argv[1:])' "$BASH" "$driver" "$@"
}
