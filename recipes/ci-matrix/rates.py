"""What is tested: a throughput that is unknown where nothing was done."""


def per_second(units, seconds):
    """Return units a second, None where there is none.

    >>> per_second(10, 4)
    2.5
    >>> per_second(0, 4) is None
    True
    """
    return units / seconds if units and seconds > 0 else None
