if [ -z "${BASH_VERSION:-}" ] || [ "${BASH_VERSINFO[0]}${BASH_VERSINFO[1]}" -lt 44 ]; then
  echo "driver: needs bash 4.4 or newer, this is ${BASH_VERSION:-another shell}; on macOS: brew install bash" >&2
  exit 2
fi
if [ -z "${BASH_SOURCE[0]:-}" ]; then
  echo "driver: the ledger reads this file too, so it cannot come through a pipe: bash driver.sh" >&2
  exit 2
fi
# Functions that somebody exported would be called instead; set and unset among them, so this comes first.
builtin unset -f cd command compgen disown echo env eval exec exit export kill local mapfile mkdir printf read return rm set \
  shift sleep trap true type unset wait
set -euo pipefail
export -n SHELLOPTS # what we set is not for the shells that your jobs start

# What you export in lower case, as our own variables are written: your jobs get it as it came.
KEPT=()
for REPLY in $(compgen -e); do
  [[ $REPLY != [[:lower:]]* ]] || KEPT+=("$REPLY=${!REPLY}")
done

# cut_short: what happens at the end of a file that is not whole.
cut_short() {
  echo "error: this driver was cut short; render it again" >&2
  exit 2
}
trap cut_short EXIT
