"""A cell that has no config but an image and a command goes in (``kind: Job``); a job config template comes out."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sweeptool.runners.runpod.gpus import Table
from sweeptool.runners.runpod.jobconfig import Job, quoted, suffix


def from_command(job: Job, table: Table, words: str | Sequence[str]) -> dict[str, Any]:
    """Return a template for a cell that has no config but an image and a command (``kind: Job``).

    The command gets $RUN_DIR, a directory on the pod that is pulled into the run directory.
    """
    defaults = table.job
    done, failed = (f"SWEEPTOOL_{word}_{suffix(job).replace('-', '_')}" for word in ("DONE", "FAILED"))
    argv = ["bash", "-c", words] if isinstance(words, str) else words
    body = [
        "export RUN_DIR='{work}/out' SWEEPTOOL_RUN_DIR='{work}/out'",
        " ".join(map(quoted, argv)),
        "status=$?",
        f'if [ "$status" -eq 0 ]; then echo {done}; else echo "{failed} exit $status"; fi',
    ]
    return {
        "name": job["name"],
        "pod": {
            "image": "",
            "datacenters": list(dict.fromkeys(each for ids in table.region.values() for each in ids)),
            "gpu_order": [],
            "cloud_type": defaults["cloud_type"],
            "container_disk_gb": defaults["container_disk_gb"],
        },
        "storage": {
            "mode": "ephemeral",
            "volume_gb": defaults["volume_gb"],
            "volume_mount": defaults["volume_mount"],
        },
        "ssh": {"key_path": defaults["ssh_key"]},
        "budget": {
            "poll_interval_sec": defaults["poll_interval_sec"],
            "ssh_ready_timeout_sec": defaults["ssh_ready_timeout_sec"],
        },
        "variables": {"work": "{volume_mount}/{run_id}"},
        "setup": [{"command": "mkdir -p '{work}/out'"}],
        "run": {
            "script_path": "{work}/job.sh",
            "log_path": "{work}/run.log",
            "success_marker": done,
            "failure_markers": [failed],
            "body": "\n".join(body) + "\n",
        },
        "artifacts": [
            {"label": "run_dir", "remote_path": "{work}/out/", "local_path": "{run_dir}", "delete": False},
        ],
        "lifecycle": {"on_success": "delete", "on_failure": "delete"},
    }
