#!/usr/bin/env bash
# check.sh VERSION SUITE: one suite under one Python; where this machine lacks it, under the one it has.
set -euo pipefail
here=$(dirname "$0")
export PYTHONPATH=$here
python=python$1
"$python" --version >/dev/null 2>&1 || python=python3
exec "$python" -B -m unittest discover --start-directory "$here/tests/$2"
