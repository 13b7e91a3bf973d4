#!/usr/bin/env bash
# The smallest runner: one job, one run directory, one manifest. Replace the work by your own.
set -euo pipefail
size=$1
run_dir=$PWD/artifacts/runs/$(date -u +%Y%m%dT%H%M%SZ)-$$
mkdir -p "$run_dir"
echo "RUN_DIR=$run_dir"

seq "$size" | tail -n 1 >"$run_dir/result.txt"

cat >"$run_dir/manifest.json" <<MANIFEST
{"schema_version": "v2", "failed": false, "job_name": "starter", "run_id": "$(basename "$run_dir")",
 "wall_time_sec": 1.0, "estimated_cost_usd": 0.01}
MANIFEST
