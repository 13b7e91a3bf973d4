"""Values go in, the geometry of a plot comes out: where its dots, lines, bars and ticks stand. The template draws it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import fsum

from sweeptool.report.scale import Scale, Tick, continuous

LEFT, RIGHT, TOP, BOTTOM = 76.0, 30.0, 14.0, 46.0
_ROW = 14.0  # pixels of one bar of a timeline, less where there are many
_TALLEST = 900.0


@dataclass(frozen=True, slots=True)
class Dot:
    """A point; ``kind`` is its style, ``note`` what the reader sees on it."""

    x: float
    y: float
    kind: str
    note: str


@dataclass(frozen=True, slots=True)
class Line:
    """A polyline; ``points`` is as SVG writes it."""

    points: str
    kind: str


@dataclass(frozen=True, slots=True)
class Bar:
    """A rectangle."""

    x: float
    y: float
    width: float
    height: float
    kind: str
    note: str


@dataclass(frozen=True, slots=True)
class Plot:
    """One picture of ``width`` by ``height`` pixels, its frame from ``left`` to ``right`` and ``top`` to ``bottom``."""

    title: str
    width: float
    height: float
    x_title: str
    y_title: str
    x_ticks: tuple[Tick, ...] = ()
    y_ticks: tuple[Tick, ...] = ()
    dots: tuple[Dot, ...] = ()
    lines: tuple[Line, ...] = ()
    bars: tuple[Bar, ...] = ()
    left: float = LEFT

    @property
    def right(self) -> float:
        return self.width - RIGHT

    @property
    def crowded(self) -> bool:
        return len(self.dots) > 400

    @property
    def top(self) -> float:
        return TOP

    @property
    def bottom(self) -> float:
        return self.height - BOTTOM


@dataclass(frozen=True, slots=True)
class Point:
    """A pair of values to be plotted, with its style and its note."""

    x: float
    y: float
    kind: str
    note: str


def scatter(title: str, names: tuple[str, str], points: Sequence[Point], front: Sequence[Point] = ()) -> Plot:
    """Return a scatter plot; ``front`` is joined by a line of steps."""
    width, height = 520.0, 340.0
    x = continuous([point.x for point in points], LEFT, width - RIGHT)
    y = continuous([point.y for point in points], height - BOTTOM, TOP)
    dots = _best_on_top([Dot(x.at(point.x), y.at(point.y), point.kind, point.note) for point in points])
    lines = (_polyline([(point.x, point.y) for point in front], x, y, "front"),) if len(front) > 1 else ()
    return Plot(title, width, height, *names, x.ticks, y.ticks, dots, lines)


def strips(title: str, names: tuple[str, str], groups: Mapping[str, Sequence[Point]]) -> Plot:
    """Return a column of dots for each value of a parameter, with a line through their means."""
    width, height = 520.0, 300.0
    y = continuous([point.y for points in groups.values() for point in points], height - BOTTOM, TOP)
    step = (width - RIGHT - LEFT) / max(len(groups), 1)
    middles = [LEFT + step * (place + 0.5) for place in range(len(groups))]
    ticks, dots, bars, means = [], [], [], []
    for middle, (name, points) in zip(middles, groups.items(), strict=True):
        ticks.append(Tick(round(middle, 1), _short(name, int(step / 7))))
        spread = min(step * 0.5, 36.0)
        for place, point in enumerate(points):
            shift = spread * ((place + 0.5) / len(points) - 0.5)
            dots.append(Dot(round(middle + shift, 1), y.at(point.y), point.kind, point.note))
        if points:
            mean = y.at(fsum(point.y / len(points) for point in points))
            half = min(step * 0.3, 22.0)
            note = f"mean of {name}"
            bars.append(Bar(round(middle - half, 1), round(mean - 1, 1), round(half * 2, 1), 2.0, "mean", note))
            means.append(f"{middle:.1f},{mean:.1f}")
    lines = (Line(" ".join(means), "means"),) if len(means) > 1 else ()
    return Plot(title, width, height, *names, tuple(ticks), y.ticks, _best_on_top(dots), lines, tuple(bars))


def intervals(title: str, name: str, rows: Sequence[tuple[str, float, tuple[float, float] | None, str]]) -> Plot:
    """Return a row for each combination: its mean as a dot, its confidence interval as a bar; ``name`` is the axis."""
    left = 14.0 + 7.2 * max((len(_short(row[0], 34)) for row in rows), default=0)
    width, height = 1060.0, TOP + BOTTOM + 24.0 * max(len(rows), 1)
    ends = [end for _, mean, interval, _ in rows for end in (mean, *(interval or ()))]
    x = continuous(ends, left, width - RIGHT)
    ticks, dots, bars = [], [], []
    for place, (text, mean, interval, note) in enumerate(rows):
        middle = TOP + 24.0 * (place + 0.5)
        ticks.append(Tick(middle, _short(text, 34)))
        kind = "best" if place == 0 else "cell"
        dots.append(Dot(x.at(mean), middle, kind, note))
        if interval:
            low, high = x.at(interval[0]), x.at(interval[1])
            bars.append(Bar(low, middle - 2, round(max(high - low, 1.0), 1), 4.0, "interval", note))
    return Plot(title, width, height, name, "", x.ticks, tuple(ticks), tuple(dots), (), tuple(bars), left)


def timeline(title: str, rows: Sequence[tuple[str, float, float, str, str]]) -> Plot:
    """Return a bar an attempt: its label, start and end in seconds, style and note."""
    step = min(_ROW, _TALLEST / max(len(rows), 1))
    width, height = 1060.0, TOP + BOTTOM + step * max(len(rows), 1)
    left = 64.0
    longest = max((end for _, _, end, _, _ in rows), default=1.0)
    unit, name = next(((size, word) for size, word in _UNITS if longest >= 2 * size), _UNITS[-1])
    x = continuous([end / unit for _, _, end, _, _ in rows], left, width - RIGHT, from_zero=True)
    every = max(1, -(-len(rows) * 11 // max(int(step * len(rows)), 1)))
    ticks, bars = [], []
    for place, (text, start, end, kind, note) in enumerate(rows):
        top = TOP + step * place
        if place % every == 0:
            ticks.append(Tick(round(top + step / 2, 1), text))
        begin = x.at(start / unit)
        wide = round(max(x.at(end / unit) - begin, 1.0), 1)
        bars.append(Bar(begin, round(top + step * 0.1, 2), wide, round(step * 0.8, 2), kind, note))
    return Plot(
        title, width, height, f"{name} since the start", "cell", x.ticks, tuple(ticks), (), (), tuple(bars), left
    )


def steps(title: str, names: tuple[str, str], points: Sequence[tuple[float, float]], limit: float | None) -> Plot:
    """Return a line that rises in steps, and the limit that it must stay under; x is in seconds."""
    width, height = 520.0, 300.0
    unit, name = next(((size, word) for size, word in _UNITS if points[-1][0] >= 2 * size), _UNITS[-1])
    shown = [(0.0, 0.0)]
    for moment, value in points:
        shown += [(moment / unit, shown[-1][1]), (moment / unit, value)]
    near = limit if limit is not None and limit <= 3 * shown[-1][1] else None
    x = continuous([moment for moment, _ in shown], LEFT, width - RIGHT, from_zero=True)
    y = continuous([*(value for _, value in shown), *([near] if near else [])], height - BOTTOM, TOP, from_zero=True)
    lines = [_polyline(shown, x, y, "spent")]
    if near:
        lines.append(_polyline([(x.low, near), (x.high, near)], x, y, "limit"))
    return Plot(title, width, height, f"{name} {names[0]}", names[1], x.ticks, y.ticks, (), tuple(lines))


_UNITS = ((86400.0, "days"), (3600.0, "hours"), (60.0, "minutes"), (1.0, "seconds"))


def _best_on_top(dots: Sequence[Dot]) -> tuple[Dot, ...]:
    return tuple(sorted(dots, key=lambda dot: dot.kind == "best"))


def _polyline(points: Sequence[tuple[float, float]], x: Scale, y: Scale, kind: str) -> Line:
    return Line(" ".join(f"{x.at(one)},{y.at(two)}" for one, two in points), kind)


def _short(text: str, most: int) -> str:
    most = max(most, 3)
    return text if len(text) <= most else text[: most - 1] + "…"
