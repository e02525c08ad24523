"""Pictures of figures, drawn as the report's charts are: the same bytes for the same figures, words as words."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from hedgerow.reports.charts.axes import Axis, Plane
from hedgerow.reports.charts.parts import at, colour, legend, mark, text
from hedgerow.reports.charts.planes import Points, curves, labels
from hedgerow.reports.charts.plots import write_picture

WIDE, GAP = 860.0, 30.0
HIGH = 230.0


@dataclass(frozen=True)
class Panel:
    """One chart of a picture: points of every curve, by its name."""

    title: str
    x: Axis
    y: Axis
    curves: dict[str, Points]


def draw(path: Path, title: str, panels: Sequence[Panel], columns: int) -> None:
    """Draw the panels in rows of so many columns; one legend tells the curves of all apart."""
    names = list(dict.fromkeys(name for panel in panels for name in panel.curves))
    parts, top = legend(names, 0, 0, WIDE)
    wide = (WIDE - GAP * (columns - 1)) / columns
    for first in range(0, len(panels), columns):
        row = panels[first : first + columns]
        planes = [_plane(panel, wide) for panel in row]
        for place, (panel, plane) in enumerate(zip(row, planes, strict=True)):
            heading = text(0, 14, panel.title, more='font-weight="600"')
            drawn = "".join([heading, *plane.axes(), *curves(plane, panel.curves, names)])
            parts.append(f'<g transform="translate({at(place * (wide + GAP))} {at(top)})">{drawn}</g>')
        top += max(plane.height for plane in planes) + 16
    write_picture(path, title, parts, top - 16, WIDE)


def _plane(panel: Panel, wide: float) -> Plane:
    return Plane(
        [point for points in panel.curves.values() for point in points], panel.x, panel.y, top=50, wide=wide, high=HIGH
    )


def draw_points(path: Path, title: str, points: Sequence[tuple[str, float, float]], x: Axis, y: Axis) -> None:
    """Draw named points; a legend names them all, as not every name may find room beside its point."""
    named, high = legend([name for name, _, _ in points], 0, 0, WIDE)
    plane = Plane([(a, b) for _, a, b in points], x, y, top=30 + high, wide=WIDE, high=300)
    placed = [plane.place(a, b) for _, a, b in points]
    marks = [mark(number, *spot, points[number][0]) for number, spot in enumerate(placed)]
    colours = [colour(number) for number in range(len(points))]
    beside = labels(plane, placed, [name for name, _, _ in points], colours=colours, most=280)
    write_picture(path, title, [*named, *plane.axes(), *marks, *beside], plane.height, WIDE)
