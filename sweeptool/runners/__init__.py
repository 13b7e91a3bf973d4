"""A runner's name goes in, its module is imported and the Runner comes out. A new runner: one module, one line."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from importlib import import_module

TYPE_CHECKING = False  # not typing's: its import would cost every local run 3 ms
if TYPE_CHECKING:
    from sweeptool.runners.base import Runner

_MODULES = {"local": "local.runner", "command": "command", "runpod-deploy": "runpod.runner"}


class _Runners(Mapping[str, "Runner"]):
    """Each runner by name; its module's ``RUNNER``, imported when it is first looked up."""

    def __getitem__(self, name: str) -> Runner:
        runner: Runner = import_module(f"{__name__}.{_MODULES[name]}").RUNNER
        return runner

    def __contains__(self, name: object) -> bool:
        return name in _MODULES

    def __iter__(self) -> Iterator[str]:
        return iter(_MODULES)

    def __len__(self) -> int:
        return len(_MODULES)


RUNNERS: Mapping[str, Runner] = _Runners()
