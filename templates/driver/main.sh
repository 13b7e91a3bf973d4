# list_cells: one line a cell: index, id, name, parameters.
list_cells() {
  local index id
  local -a params own
  for ((index = 0; index < SWEEP_SIZE; index++)); do
    params=() own=()
    find_cell "$index"
    printf '%s\t%s\t%s-%s' "$index" "$id" "$SWEEP_NAME" "$index"
    ((${#params[@]} == 0)) || printf '\t%q' "${params[@]}"
    printf '\n'
  done
}

# count TEXT NAME: a whole number, or the end.
count() {
  [[ $1 =~ ^[0-9]{1,9}$ ]] || die 2 "$2: '$1' is not a whole number"
}

# run_sweep [OPTION...]: the whole sweep, or with --only N one cell of it.
run_sweep() {
  trap ':' PIPE # the ledger is gone: the next question shows it
  # The ledger has news. TRAP, since of two signals that are due at once bash's wait forgets the one whose handler would
  # run second; and Linux lets INT, TERM and HUP run before TRAP, so that this is never your Ctrl-C.
  trap ':' TRAP
  trap 'on_signal INT' INT
  trap 'on_signal TERM' TERM
  trap 'on_signal HUP' HUP
  trap give_up EXIT
  open_ledger "$@"
  if [[ -z $only ]] && ((pending > 0)); then around before; fi
  if [[ $part != begin ]]; then
    schedule
    if [[ -z $only ]] && ((pending > 0)); then around after; fi
  fi
  if [[ -n $signal ]] && ((told == 0)); then
    code=$((128 + $(kill -l "$signal"))) # it came when all was over
  fi
  [[ -n $only$part ]] || "$SWEEPTOOL" status "$SWEEP_DIR" --final || true # the table is for people; the code is ours
  exit "$code"
}

# end_sweep: what follows the cells where make, Slurm or parallel ran them. Exits as a driver would have.
end_sweep() {
  "$SWEEPTOOL" status "$SWEEP_DIR" --final || code=$?
  if after; then exit "$code"; fi
  say "error: a command of 'after:' failed"
  exit "$((code == 0 ? 1 : code))"
}

# around before|after: the spec's commands around the sweep, unless a signal stops us. One that fails before it
# starts nothing.
around() {
  [[ -z $signal ]] || return 0
  if (leave_ledger && "$1") || [[ -n $signal ]]; then return; fi
  say "error: a command of '$1:' failed"
  if [[ $1 == before ]]; then exit 2; fi
  if ((code == 0)); then code=1; fi
}

main() {
  local -a given=("$@") options=()
  while (($# > 0)); do
    case $1 in
      -h | --help)
        usage
        exit 0
        ;;
      list)
        (($# == 1)) || die 2 "unexpected '$2' after list"
        list_cells
        exit 0
        ;;
      shard)
        count "${2:-}" shard
        only=$((10#$2))
        ((only < SWEEP_SIZE)) || die 2 "shard $only: the cells are 0 to $((SWEEP_SIZE - 1))"
        options+=(--only "$only")
        shift
        ;;
      begin | end) part=$1 ;;
      -j*)
        if [[ $1 == -j ]]; then
          set -- "-j${2:-}" "${@:3}"
        fi
        count "${1#-j}" -j
        max_parallel=$((10#${1#-j}))
        ;;
      --max-cost-usd)
        (($# > 1)) || die 2 "--max-cost-usd needs an amount"
        options+=(--max-cost-usd "$2")
        shift
        ;;
      --cells)
        (($# > 1)) || die 2 "--cells needs a digest"
        [[ $2 == "$cells_digest" ]] || die 2 "$0 holds other cells than the file that calls it: render both again"
        shift
        ;;
      --project-dir)
        (($# > 1)) || die 2 "--project-dir needs a directory"
        project_dir=$2
        shift
        ;;
      *) die 2 "unknown option or command '$1'; see $0 --help" ;;
    esac
    shift
  done
  options+=(--max-parallel "$max_parallel")
  ((max_parallel > 0)) || max_parallel=$SWEEP_SIZE
  stand_in
  default_signals "${given[@]}"
  preflight
  if [[ $part == end ]]; then end_sweep; fi
  run_sweep "${options[@]}"
}
