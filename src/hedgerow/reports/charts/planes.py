"""Charts of points between two axes, joined by lines or not."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from hedgerow.reports.charts.axes import Axis, Plane
from hedgerow.reports.charts.parts import (
    FONT,
    SMALL,
    at,
    colour,
    frame,
    legend,
    mark,
    nothing,
    number,
    shortened,
    text,
    text_width,
)

DASHES = ("", "6 3", "2 3", "8 3 2 3")
MOST_MARKS = 60  # a line with more points is drawn without marks
Points = Sequence[tuple[float, float]]
Box = tuple[float, float, float, float]


def line_chart(series: Mapping[str, Points], *, title: str, x: str, y: str) -> str:
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
    named, high = legend(list(drawn) if len(drawn) > 1 else [], 0, 2)
    plane = Plane([point for points in drawn.values() for point in points], Axis(x), Axis(y), top=26 + high)
    parts = [*named, *plane.axes(), *curves(plane, drawn)]
    said = "; ".join(f"{name} from {number(points[0][1])} to {number(points[-1][1])}" for name, points in drawn.items())
    return frame(parts, plane.height, title, said)


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
    named, high = legend(names if len(names) > 1 or names[0] else [], 0, 2)
    plane = Plane([(point["x"], point["y"]) for point in points], Axis(x), Axis(y), top=26 + high)
    parts = [*named, *plane.axes()]
    placed = [plane.place(point["x"], point["y"]) for point in points]
    for point, (px, py) in zip(points, placed, strict=True):
        label, of = str(point.get("label", "")), str(point.get("series", ""))
        told = ", ".join(part for part in (of, label) if part)
        said = f"{number(point['x'])}, {number(point['y'])}"
        parts.append(mark(names.index(of), px, py, f"{told}: {said}" if told else said))
    parts += labels(plane, placed, [str(point.get("label", "")) for point in points])
    return frame(parts, plane.height, title, f"{len(points):,} points")


def curves(plane: Plane, series: Mapping[str, Points], names: Sequence[str] = ()) -> Iterator[str]:
    """Draw lines into a plane; how a line looks follows from where its name stands among all names."""
    known = list(names) or list(series)
    for name, points in series.items():
        number_of = known.index(name)
        placed = [plane.place(*point) for point in points]
        path = " ".join(f"{at(a)},{at(b)}" for a, b in placed)
        dashes = DASHES[number_of % len(DASHES)]
        dashed = f' stroke-dasharray="{dashes}"' if dashes else ""
        yield f'<polyline points="{path}" fill="none" stroke="{colour(number_of)}" stroke-width="2"{dashed}/>'
        if len(points) <= MOST_MARKS:
            for (a, b), (px, py) in zip(points, placed, strict=True):
                yield mark(number_of, px, py, f"{name}: {number(a)}, {number(b)}")


def labels(
    plane: Plane,
    placed: Points,
    shown: Sequence[str],
    *,
    lines: Sequence[Points] = (),
    colours: Sequence[str] = (),
    most: float = 150.0,
) -> Iterator[str]:
    """Write labels beside points, as far as they cover no mark, no line and no other label."""
    taken = [(px - 6, py - 6, px + 6, py + 6) for px, py in placed]
    taken += [(px - 1, py - 1, px + 1, py + 1) for points in lines for px, py in _along(points)]
    for place, ((px, py), label) in enumerate(zip(placed, shown, strict=True)):
        short = shortened(label, most, SMALL)
        spot = _spot(px, py, text_width(short, SMALL), taken, plane) if short else None
        if spot is not None:
            taken.append(spot)
            more = f'fill="{colours[place]}"' if colours else ""
            yield text(spot[0], spot[3] - 3, short, size=SMALL, more=more)


def _along(points: Points) -> Iterator[tuple[float, float]]:
    """Yield points along lines, near enough to each other that no label fits between them."""
    for (ax, ay), (bx, by) in itertools.pairwise(points):
        steps = max(1, math.ceil(math.hypot(bx - ax, by - ay) / 4))
        for step in range(steps + 1):
            yield ax + (bx - ax) * step / steps, ay + (by - ay) * step / steps


def _spot(x: float, y: float, wide: float, taken: Sequence[Box], plane: Plane) -> Box | None:
    """Return a free place for a label: right of its point, left, above, below, or between these; None if none is."""
    high = FONT
    for left, top in (
        (x + 8, y - high / 2),
        (x - 8 - wide, y - high / 2),
        (x - wide / 2, y - 8 - high),
        (x - wide / 2, y + 8),
        (x - 5 - wide, y - 7 - high),
        (x + 5, y - 7 - high),
        (x + 5, y + 7),
        (x - 5 - wide, y + 7),
    ):
        box = (left, top, left + wide, top + high)
        free = all(box[2] <= a or box[0] >= c or box[3] <= b or box[1] >= d for a, b, c, d in taken)
        if left >= plane.left and left + wide <= plane.wide and top >= 0 and free:
            return box
    return None
