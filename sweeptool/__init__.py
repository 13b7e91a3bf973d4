"""A sweep spec goes in; a bash driver, its accounts and the best cell come out."""

__version__ = "0.1.0"

_API = frozenset({"Sweep"})


def __getattr__(name: str) -> object:
    """Return a name of the Python API, imported on first use so that the command line starts fast."""
    if name not in _API:
        raise AttributeError(f"module 'sweeptool' has no attribute '{name}'")
    from sweeptool import api  # noqa: PLC0415 - the whole point

    return getattr(api, name)
