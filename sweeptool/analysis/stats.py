"""Numbers go in; their mean, spread and the confidence interval of the mean come out. Too few give None, never 0."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal, localcontext
from functools import lru_cache
from statistics import NormalDist

_DIGITS = 60  # of the sums; what is shown is rounded later
_MANY = 2000  # degrees of freedom beyond which an expansion about the normal is exact to ten digits


@dataclass(frozen=True, slots=True)
class Spread:
    """Mean, standard deviation (n - 1) and 95 % confidence interval of the mean (Student's t) of ``n`` values."""

    n: int
    mean: Decimal | None
    sd: Decimal | None
    ci95: tuple[Decimal, Decimal] | None


def spread(values: Sequence[Decimal]) -> Spread:
    """Return the spread of finite ``values``; one value has a mean and nothing else, none has nothing."""
    n = len(values)
    if n == 0:
        return Spread(0, None, None, None)
    with localcontext(prec=_DIGITS, Emax=999_999, Emin=-999_999):
        mean = sum(values, Decimal(0)) / n
        if n == 1:
            return Spread(1, mean, None, None)
        sd = (sum(((value - mean) ** 2 for value in values), Decimal(0)) / (n - 1)).sqrt()
        half = Decimal(student(n - 1)) * sd / Decimal(n).sqrt()
        return Spread(n, mean, sd, (mean - half, mean + half))


@lru_cache(maxsize=256)
def student(freedom: int, confidence: float = 0.95) -> float:
    """Return the t that holds ``confidence`` of Student's distribution between -t and t.

    ``freedom`` is a whole number of degrees, 1 or more.
    """
    if freedom > _MANY:
        return _expanded(freedom, confidence)
    low, high = 0.0, math.pi / 2
    for _ in range(80):
        angle = (low + high) / 2
        if _within(angle, freedom) < confidence:
            low = angle
        else:
            high = angle
    return math.tan((low + high) / 2) * math.sqrt(freedom)


def _within(angle: float, freedom: int) -> float:
    """Return P(|T| < t) for t = tan(angle) sqrt(freedom), by the finite series for whole degrees of freedom.

    Abramowitz and Stegun, Handbook of Mathematical Functions, 26.7.3 and 26.7.4.
    """
    sine, cosine = math.sin(angle), math.cos(angle)
    odd = freedom % 2
    term = cosine if odd else 1.0
    total = term if freedom > 1 else 0.0
    for step in range(2 + odd, freedom - 1 + odd, 2):
        term *= cosine * cosine * (step - 1) / step
        total += term
    return (angle + sine * total) * 2 / math.pi if odd else sine * total


def _expanded(freedom: int, confidence: float) -> float:
    """Abramowitz and Stegun, 26.7.5."""
    z = NormalDist().inv_cdf((1 + confidence) / 2)
    first = (z**3 + z) / 4
    second = (5 * z**5 + 16 * z**3 + 3 * z) / 96
    return z + first / freedom + second / freedom**2
