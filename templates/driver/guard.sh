if [ -z "${BASH_VERSION:-}" ] || [ "${BASH_VERSINFO[0]}${BASH_VERSINFO[1]}" -lt 44 ]; then
  echo "driver: needs bash 4.4 or newer, this is ${BASH_VERSION:-another shell}; on macOS: brew install bash" >&2
  exit 2
fi
set -euo pipefail
unset -f cd exec export kill printf read set shift trap type wait # functions that somebody exported would be called instead

# cut_short: what happens at the end of a file that is not whole.
cut_short() {
  echo "error: this driver was cut short; render it again" >&2
  exit 2
}
trap cut_short EXIT
