"""Axes of a chart, even or logarithmic, and where points between them come to lie."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from hedgerow.reports.charts.parts import SMALL, WIDTH, line, number, spaced, text, text_width, ticks

PLOT_HEIGHT = 210.0
LINE = 13.0  # from one line of small text to the next


@dataclass(frozen=True)
class Axis:
    """What an axis shows.

    Attributes
    ----------
    name
        What its numbers are, with their unit.
    logarithmic
        Whether every factor takes as much room, not every difference; all numbers must be above 0.
    marks
        Where there are marks and what stands beside them, in lines; by default round numbers.
    least, most
        Numbers that the axis reaches whatever the points are.
    """

    name: str
    logarithmic: bool = False
    marks: Sequence[tuple[float, str]] = ()
    least: float | None = None
    most: float | None = None

    def reach(self, values: Sequence[float]) -> tuple[float, float]:
        """Return the first and the last number."""
        among = [*values, *(end for end in (self.least, self.most) if end is not None)]
        return min(among), max(among)

    def round_numbers(self, low: float, high: float, most: int, whole: bool = False) -> list[float]:
        """Return round numbers that span a range."""
        return log_ticks(low, high) if self.logarithmic else ticks(low, high, most, whole)

    def scale(self, value: float) -> float:
        """Return a number that grows as the axis does."""
        return math.log10(value) if self.logarithmic else value


def log_ticks(low: float, high: float) -> list[float]:
    """Return powers of ten that span a range of positive numbers; 2 and 5 times them too where these are few.

    Examples
    --------
    >>> log_ticks(3, 40), log_ticks(0.02, 700)
    ([2, 5, 10, 20, 50], [0.01, 0.1, 1, 10, 100, 1000])
    """
    times = (1, 2, 5) if high < 40 * low else (1,)
    powers = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 2)
    found = [float(f"{factor}e{power}") for power in powers for factor in times]
    first = max(place for place, value in enumerate(found) if place == 0 or value <= low * (1 + 1e-9))
    last = next(place for place, value in enumerate(found) if value >= high * (1 - 1e-9) and place > first)
    return [int(value) if value >= 1 else value for value in found[first : last + 1]]


class Plane:
    """Where points between two axes come to lie: a part of a picture, ``wide`` and ``height`` high."""

    def __init__(
        self,
        points: Sequence[tuple[float, float]],
        x: Axis,
        y: Axis,
        *,
        top: float = 26.0,
        wide: float = WIDTH,
        high: float = PLOT_HEIGHT,
    ) -> None:
        self.x, self.y, self.wide, self.high, self.top = x, y, wide, high, top
        xs = [float(a) for a, _ in points]
        self.first, self.last = x.reach(xs)
        whole = all(value == int(value) for value in xs)
        self.across = list(x.marks) or [
            (value, number(value))
            for value in x.round_numbers(self.first, self.last, 6, whole)
            if self.first <= value <= self.last
        ]
        self.up = y.round_numbers(*y.reach([float(b) for _, b in points]), 5)
        self.left = max(text_width(number(value), SMALL) for value in self.up) + 10
        self.bottom = top + high
        self.lines = max((label.count("\n") for _, label in self.across), default=0) * LINE
        self.height = self.bottom + 40 + self.lines

    def place(self, a: float, b: float) -> tuple[float, float]:
        """Return the coordinates of a point; a little room is left at either side."""
        first, last, here = self.x.scale(self.first), self.x.scale(self.last), self.x.scale(a)
        share = (here - first) / (last - first) if last > first else 0.5
        low, most = self.y.scale(self.up[0]), self.y.scale(self.up[-1])
        height = (self.y.scale(b) - low) / (most - low)
        return self.left + 8 + share * (self.wide - self.left - 24), self.bottom - height * self.high

    def axes(self) -> list[str]:
        """Draw grid, marks and the names of the axes."""
        upright_marks = [(self.place(self.first, value)[1], number(value)) for value in self.up]
        parts = upright(upright_marks, self.left, self.top, self.y.name, self.wide)
        places = [self.place(value, self.up[0])[0] for value, _ in self.across]
        labels = [label.split("\n") for _, label in self.across]
        for place in spaced(places, [max(text_width(one, SMALL) for one in lines) for lines in labels]):
            parts.append(line(places[place], self.top, places[place], self.bottom, 0.08))
            for row, shown in enumerate(labels[place]):
                parts.append(text(places[place], self.bottom + 15 + row * LINE, shown, anchor="middle", size=SMALL))
        floor = line(self.left, self.bottom, self.wide, self.bottom, 0.5)
        return [*parts, floor, below(self.x.name, self.left, self.bottom + self.lines, self.wide)]


def upright(marks: Sequence[tuple[float, str]], left: float, top: float, name: str, wide: float = WIDTH) -> list[str]:
    """Draw the upright axis: lines across, numbers beside them, its name on top."""
    parts = [text(0, top - 12, name, size=SMALL, faint=True)]
    for place, shown in marks:
        parts += [line(left, place, wide, place), text(left - 6, place + 4, shown, anchor="end", size=SMALL)]
    return parts


def below(name: str, left: float, bottom: float, wide: float = WIDTH) -> str:
    """Name the axis that lies below."""
    return text((left + wide) / 2, bottom + 34, name, anchor="middle", size=SMALL, faint=True)
