"""Small charts as SVG text, to be put into a page: no script, no font, nothing from elsewhere.

Every chart is as wide as what it is put into. The same input gives the same bytes. Labels are shown as they are given;
whatever they hold cannot become markup.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from html import escape
from typing import Any

from hedgerow.reports.svg_parts import (
    FONT,
    SMALL,
    WIDTH,
    at,
    colour,
    frame,
    legend,
    line,
    mark,
    nothing,
    number,
    shortened,
    spaced,
    text,
    text_width,
    ticks,
    warning,
)

ROW = 27.0
PLOT_HEIGHT = 210.0
DASHES = ("", "6 3", "2 3", "8 3 2 3")


def bar_chart(
    rows: Sequence[tuple[str, float]],
    *,
    title: str,
    unit: str = "",
    most: float | None = None,
    highlight: Collection[str] = (),
) -> str:
    """Draw horizontal bars, each with its name before and its value behind it.

    Parameters
    ----------
    rows
        Name and value of every bar, from the top.
    title
        What the chart shows; read out, and shown when a pointer rests on it.
    unit
        Written behind every value, which is shown as it is given: 25 with ``%`` is 25%.
    most
        Value of a full bar, which is then drawn faintly behind each; by default the greatest value.
    highlight
        Names of bars that deserve a look.

    Examples
    --------
    >>> chart = bar_chart([("age", 25.0), ("<city>", 50.0)], title="loss", unit="%", most=100)
    >>> "&lt;city&gt;" in chart and "25%" in chart
    True
    """
    rows = [(name, value) for name, value in rows if math.isfinite(value)]
    if not rows:
        return nothing(title)
    values = [number(value, unit) for _, value in rows]
    left = min(170.0, max(text_width(name) for name, _ in rows)) + 8
    room = WIDTH - left - max(text_width(value) for value in values) - 9
    full = most if most is not None and most > 0 else max(value for _, value in rows) or 1.0
    parts = []
    for place, ((name, value), shown) in enumerate(zip(rows, values, strict=True)):
        y, wide = 4 + place * ROW, room * min(1.0, max(0.0, value / full))
        painted = warning() if name in highlight else colour(0)
        drawn = max(wide, 1.5) if value else 0.0  # a little can still be seen
        bars = f'<rect x="{at(left)}" y="{at(y)}" width="{at(drawn)}" height="18" rx="3" fill="{painted}"/>'
        if most is not None:
            bars = (
                f'<rect x="{at(left)}" y="{at(y)}" width="{at(room)}" height="18" rx="3" fill="currentColor" '
                f'fill-opacity="0.08"/>{bars}'
            )
        behind = room if most is not None else wide
        label = text(left - 8, y + 13.5, shortened(name, left - 8), anchor="end")
        after = text(left + behind + 7, y + 13.5, shown)
        parts.append(f"<g><title>{escape(name)}: {escape(shown)}</title>{label}{bars}{after}</g>")
    said = "; ".join(f"{name} {shown}" for (name, _), shown in zip(rows[:12], values, strict=False))
    return frame(parts, 4 + len(rows) * ROW, title, said)


def histogram(bins: Sequence[tuple[str, int]], *, title: str, x: str, y: str) -> str:
    """Draw vertical bars beside each other.

    Parameters
    ----------
    bins
        Name and count of every bar, from the left.
    title
        What the chart shows.
    x, y
        What the bins and the counts are.

    Examples
    --------
    >>> histogram([("5", 120), ("6", 80)], title="group sizes", x="records in a group", y="groups").count("<rect")
    2
    """
    if not bins:
        return nothing(title)
    top, bottom = 26.0, 26.0 + PLOT_HEIGHT
    marks = ticks(0, max(count for _, count in bins) or 1, 4, whole=True)
    left = max(text_width(number(value), SMALL) for value in marks) + 8
    parts = _up(marks, left, top, y)
    step = (WIDTH - left - 2) / len(bins)
    wide = min(step * 0.86, 64.0)
    middles = [left + (place + 0.5) * step for place in range(len(bins))]
    counts = [number(count) for _, count in bins]
    all_fit = all(text_width(count, SMALL) <= step for count in counts)
    for middle, (name, count), shown in zip(middles, bins, counts, strict=True):
        high = PLOT_HEIGHT * count / marks[-1]
        high = max(high, 1.5) if count else 0.0  # a single group among thousands can still be seen
        bar = (
            f'<rect x="{at(middle - wide / 2)}" y="{at(bottom - high)}" width="{at(wide)}" height="{at(high)}" '
            f'fill="{colour(0)}"/>'
        )
        above = text(middle, bottom - high - 4, shown, anchor="middle", size=SMALL) if all_fit and count else ""
        parts.append(f"<g><title>{escape(name)}: {shown}</title>{bar}{above}</g>")
    names = [shortened(name, max(60.0, step), SMALL) for name, _ in bins]
    for place in spaced(middles, [text_width(name, SMALL) for name in names]):
        parts.append(text(middles[place], bottom + 15, names[place], anchor="middle", size=SMALL))
    parts += [line(left, bottom, WIDTH, bottom, 0.5), _below(x, left, bottom)]
    said = "; ".join(f"{name}: {shown}" for (name, _), shown in zip(bins[:12], counts, strict=False))
    return frame(parts, bottom + 40, title, said)


def line_chart(series: Mapping[str, Sequence[tuple[float, float]]], *, title: str, x: str, y: str) -> str:
    """Draw lines; each differs in colour, dashes and the shape of its points.

    Parameters
    ----------
    series
        Points of every line by its name.
    title
        What the chart shows.
    x, y
        What the axes are.

    Examples
    --------
    >>> line_chart({"loss": [(1, 0.2), (2, 0.25), (3, 0.24)]}, title="drift", x="version", y="NTIL").count("<circle")
    3
    """
    drawn = {name: [(a, b) for a, b in points if math.isfinite(a + b)] for name, points in series.items()}
    drawn = {name: points for name, points in drawn.items() if points}
    if not drawn:
        return nothing(title)
    plot = _Plot([point for points in drawn.values() for point in points], list(drawn) if len(drawn) > 1 else [], x, y)
    parts = plot.axes()
    for place, (name, points) in enumerate(drawn.items()):
        placed = [plot.place(*point) for point in points]
        path = " ".join(f"{at(a)},{at(b)}" for a, b in placed)
        dashes = f' stroke-dasharray="{DASHES[place % 4]}"' if DASHES[place % 4] else ""
        parts.append(f'<polyline points="{path}" fill="none" stroke="{colour(place)}" stroke-width="2"{dashes}/>')
        if len(points) <= 60:
            for (a, b), (px, py) in zip(points, placed, strict=True):
                parts.append(mark(place, px, py, f"{name}: {number(a)}, {number(b)}"))
    said = "; ".join(f"{name} from {number(points[0][1])} to {number(points[-1][1])}" for name, points in drawn.items())
    return frame(parts, plot.height, title, said)


def scatter(points: Sequence[Mapping[str, Any]], *, title: str, x: str, y: str) -> str:
    """Draw points with their labels, as far as these do not cover each other; series differ in colour and shape.

    Parameters
    ----------
    points
        Each with ``x`` and ``y``, and, if wanted, ``label`` and ``series``.
    title
        What the chart shows.
    x, y
        What the axes are.

    Examples
    --------
    >>> points = [{"x": 0.2, "y": 0.9, "label": "k = 5"}, {"x": 0.1, "y": 0.8, "label": "k = 10"}]
    >>> scatter(points, title="risk and utility", x="risk", y="utility").count("<circle")
    2
    """
    points = [point for point in points if math.isfinite(point["x"] + point["y"])]
    if not points:
        return nothing(title)
    names = list(dict.fromkeys(str(point.get("series", "")) for point in points))
    shown_names = names if len(names) > 1 or names[0] else []
    plot = _Plot([(point["x"], point["y"]) for point in points], shown_names, x, y)
    parts = plot.axes()
    placed = [plot.place(point["x"], point["y"]) for point in points]
    taken = [(px - 6, py - 6, px + 6, py + 6) for px, py in placed]
    for point, (px, py) in zip(points, placed, strict=True):
        label, of = str(point.get("label", "")), str(point.get("series", ""))
        told = ", ".join(part for part in (of, label) if part)
        said = f"{number(point['x'])}, {number(point['y'])}"
        parts.append(mark(names.index(of), px, py, f"{told}: {said}" if told else said))
        shown = shortened(label, 150, SMALL)
        spot = _spot(px, py, text_width(shown, SMALL), taken) if shown else None
        if spot is not None:
            taken.append(spot)
            parts.append(text(spot[0], spot[3] - 3, shown, size=SMALL))
    return frame(parts, plot.height, title, f"{len(points):,} points")


# -- axes --------------------------------------------------------------------------------------------------------------


class _Plot:
    """Where points of a plane come to lie."""

    def __init__(self, points: Sequence[tuple[float, float]], names: Sequence[str], x: str, y: str) -> None:
        xs, ys = [float(a) for a, _ in points], [float(b) for _, b in points]
        self.x, self.y = x, y
        self.first, self.last = min(xs), max(xs)
        whole = all(value == int(value) for value in xs)
        self.across = [tick for tick in ticks(self.first, self.last, 6, whole) if self.first <= tick <= self.last]
        self.up = ticks(min(ys), max(ys), 5)
        self.left = max(text_width(number(value), SMALL) for value in self.up) + 10
        self.named, high = legend(names, 0, 2)
        self.top = 26 + high
        self.bottom = self.top + PLOT_HEIGHT
        self.height = self.bottom + 40

    def place(self, a: float, b: float) -> tuple[float, float]:
        """Return the coordinates of a point; a little room is left at either side."""
        share = (a - self.first) / (self.last - self.first) if self.last > self.first else 0.5
        height = (b - self.up[0]) / (self.up[-1] - self.up[0])
        return self.left + 8 + share * (WIDTH - self.left - 24), self.bottom - height * PLOT_HEIGHT

    def axes(self) -> list[str]:
        """Draw grid, ticks, names of the axes, and the legend."""
        parts = [*self.named, *_up(self.up, self.left, self.top, self.y)]
        places = [self.place(value, self.up[0])[0] for value in self.across]
        shown = [number(value) for value in self.across]
        for place in spaced(places, [text_width(label, SMALL) for label in shown]):
            parts.append(line(places[place], self.top, places[place], self.bottom, 0.08))
            parts.append(text(places[place], self.bottom + 15, shown[place], anchor="middle", size=SMALL))
        return [*parts, line(self.left, self.bottom, WIDTH, self.bottom, 0.5), _below(self.x, self.left, self.bottom)]


def _up(marks: Sequence[float], left: float, top: float, name: str) -> list[str]:
    """Draw the upright axis: lines across, numbers beside them, its name on top."""
    parts = [text(0, top - 12, name, size=SMALL, faint=True)]
    for value in marks:
        place = top + PLOT_HEIGHT * (1 - (value - marks[0]) / (marks[-1] - marks[0]))
        parts += [line(left, place, WIDTH, place), text(left - 6, place + 4, number(value), anchor="end", size=SMALL)]
    return parts


def _below(name: str, left: float, bottom: float) -> str:
    return text((left + WIDTH) / 2, bottom + 34, name, anchor="middle", size=SMALL, faint=True)


def _spot(
    x: float, y: float, wide: float, taken: Sequence[tuple[float, float, float, float]]
) -> tuple[float, float, float, float] | None:
    """Return a free place for a label: right of its point, left, above or below; None if there is none."""
    high = FONT
    for left, top in (
        (x + 8, y - high / 2),
        (x - 8 - wide, y - high / 2),
        (x - wide / 2, y - 8 - high),
        (x - wide / 2, y + 8),
    ):
        box = (left, top, left + wide, top + high)
        free = all(box[2] <= a or box[0] >= c or box[3] <= b or box[1] >= d for a, b, c, d in taken)
        if left >= 0 and left + wide <= WIDTH and top >= 0 and free:
            return box
    return None
