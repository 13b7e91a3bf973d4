#!/usr/bin/env bash
# rates: 4 cells through the runner local, at most 2 at a time, at most $1.00.
# The cells as jobs of GNU parallel, each one call of the driver; made by sweeptool 0.1.0.
#
#   sweeptool render sweep.yaml > driver.sh
#   sweeptool render --target=parallel sweep.yaml > sweep.parallel.sh
#   bash sweep.parallel.sh
#
# Running it again goes on with what is missing. Options of parallel may follow: --eta, --sshlogin, --jobs.

set -euo pipefail
DRIVER=${DRIVER:-driver.sh}
seq 0 3 | parallel --jobs 2 --line-buffer "$@" bash "$DRIVER" shard
