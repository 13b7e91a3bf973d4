"""pytest fixtures: ``rig`` is an empty provider account and a project of its own on one sshd a session."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.conftest import require
from tests.rig.rig import MissingError, Rig, open_account, start, stop
from tests.rig.rig import require as stands


@pytest.fixture(scope="session")
def rig_base(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """The directory of the session's sshd, keys and HOME."""
    base = tmp_path_factory.mktemp("rig")
    try:
        stands()
        start(base)
    except MissingError as missing:
        require(False, str(missing))
    yield base
    stop(base)


@pytest.fixture
def rig(rig_base: Path, tmp_path: Path) -> Iterator[Rig]:
    """An account without pods and a project with ``configs/job.yaml``; no process of a pod outlives the test."""
    made = open_account(rig_base, tmp_path / "account", tmp_path / "project")
    yield made
    for name in ("delete-fails", "unauthorized"):
        made.mend(name)
    for pod in made.pods():
        if pod["deleted"] is None:
            made.run("runpodctl", "pod", "delete", str(pod["id"]))
