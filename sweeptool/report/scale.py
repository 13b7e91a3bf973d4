"""The least and the greatest of some values go in; an axis comes out: where each value stands, and its ticks."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median

_STEPS = (1.0, 2.0, 2.5, 5.0, 10.0)
_TICKS = 5  # about so many
_NOISE = 1e-9  # of a step: 0.7 / 0.05 is 13.999999999999998
_ALIKE = 1e-12  # of the greatest value: what lies closer together than this is drawn as one
_LEAST, _MOST = 1e-300, 5e307  # what is nearer to 0 is 0, what is farther off stands at the edge: floats end there
_WIDE = 1000.0  # times the least, and
_LOW = 20.0  # times the middle value, is the greatest where the axis is logarithmic


@dataclass(frozen=True, slots=True)
class Tick:
    """A mark on an axis: where it stands in pixels, and what is written there."""

    at: float
    label: str


@dataclass(frozen=True, slots=True)
class Scale:
    """A continuous axis from ``start`` to ``end`` pixels."""

    low: float
    high: float
    start: float
    end: float
    log: bool
    ticks: tuple[Tick, ...]

    def at(self, value: float) -> float:
        """Return where ``value`` stands, in pixels to a tenth."""
        value = min(max(_drawn(value), self.low), self.high)
        return round(_place(value, self.low, self.high, self.start, self.end, log=self.log), 1)


def continuous(values: Sequence[float], start: float, end: float, *, from_zero: bool = False) -> Scale:
    """Return the axis that holds ``values``, with round ticks.

    It is logarithmic where they span a thousandfold and most of them would lie at the foot of a linear one.
    """
    values = [_drawn(value) for value in values]
    low, high = min(values, default=0.0), max(values, default=1.0)
    if not from_zero and low > 0 and high / low >= _WIDE and high / median(values) >= _LOW:
        low, high = 10 ** math.floor(math.log10(low)), 10 ** math.ceil(math.log10(high))
        powers = range(round(math.log10(low)), round(math.log10(high)) + 1)
        marks = [10.0**power for power in powers][:: max(1, len(powers) // _TICKS)]
        return _scale(low, high, start, end, marks, log=True)
    if from_zero:
        low = min(low, 0.0)
    if high - low <= _ALIKE * max(abs(low), abs(high)):
        room = abs(low) * 0.05 or 1.0
        low, high = low - room, high + room
    step = _step(high - low)
    first, last = math.floor(low / step + _NOISE), math.ceil(high / step - _NOISE)
    marks = [number * step for number in range(first, last + 1)]
    return _scale(marks[0], marks[-1], start, end, marks, log=False)


def label(value: float) -> str:
    """Return a number short enough for a tick."""
    text = f"{value:.6g}"
    return "0" if text in ("-0", "0") else text


def _drawn(value: float) -> float:
    return 0.0 if abs(value) < _LEAST else min(max(value, -_MOST), _MOST)


def _step(span: float) -> float:
    raw = span / _TICKS
    power = 10.0 ** math.floor(math.log10(raw))
    return next(power * step for step in _STEPS if power * step >= raw * 0.999)


def _scale(low: float, high: float, start: float, end: float, marks: Sequence[float], *, log: bool) -> Scale:
    ticks = (Tick(round(_place(mark, low, high, start, end, log=log), 1), label(mark)) for mark in marks)
    return Scale(low, high, start, end, log, tuple(ticks))


def _place(value: float, low: float, high: float, start: float, end: float, *, log: bool) -> float:
    if log:
        value, low, high = math.log10(value), math.log10(low), math.log10(high)
    return start + (value - low) / (high - low) * (end - start)
