# say TEXT...: one line for people, on stderr. A terminal that is gone is no reason to stop.
say() {
  printf '%s\n' "$*" >&2 2>/dev/null || true
}

# die CODE TEXT...: say why and end, before anything was started.
die() {
  local code=$1
  shift
  say "error: $*"
  exit "$code"
}

# usage: print the header of this file.
usage() {
  local line
  while IFS= read -r line; do
    case $line in
      '#!'* | '# shellcheck '* | 'trap '*) ;;
      '#'*)
        line=${line#\#}
        printf '%s\n' "${line# }"
        ;;
      *) break ;;
    esac
  done <"$driver"
}
