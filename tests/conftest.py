"""What every test may ask for: a component of the machine, or the reason why the test is skipped."""

from __future__ import annotations

import os

import pytest


def require(present: object, reason: str) -> None:
    """Skip the test where a component is not there; fail it where SWEEPTOOL_REQUIRE_ALL=1 says that all must be."""
    if present:
        return
    if os.environ.get("SWEEPTOOL_REQUIRE_ALL") == "1":
        pytest.fail(f"SWEEPTOOL_REQUIRE_ALL=1, but {reason}")
    pytest.skip(reason)


from tests.rig.fixtures import rig, rig_base  # noqa: E402, F401 - fixtures, found by name
