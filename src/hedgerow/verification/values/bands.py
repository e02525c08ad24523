"""Numbers in bands: of given widths, or between given cut points."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction

from hedgerow.plan import HierarchySpec, Limit
from hedgerow.verification.values.numbers import (
    FROM,
    TO,
    Exact,
    Span,
    exact,
    name_number,
    read_number,
    read_span,
    spans_of_band,
)
from hedgerow.verification.values.trees import ROOT, Ladder, Line, Marks, pieces


@dataclass(frozen=True)
class Bands(Ladder):
    """Numbers in bands of given widths, or between given points.

    Attributes
    ----------
    marks
        Marks by the names that bands have where numbers have fractions, such as [30, 40).
    whole_marks
        Marks by the names that bands of whole numbers have, such as 30-39.
    widths, points
        Widths of the bands of each level, or the cut points of each level.
    marked
        Start and end of every marked band.
    top, bottom
        Points from which on numbers are one value on every level.
    """

    marks: Marks
    whole_marks: Marks
    widths: tuple[Exact, ...]
    points: tuple[tuple[Exact, ...], ...]
    marked: tuple[tuple[Exact, Exact], ...]
    top: Exact | None = None
    bottom: Exact | None = None

    @classmethod
    def of(cls, spec: HierarchySpec, limit: Limit | None) -> Bands:
        """Read widths, points and marks; a marked band may be written in either way.

        Examples
        --------
        >>> bands = Bands.of(HierarchySpec(bands=(5, 20)), None)
        >>> [line.labels for line in bands.lines("37.0")]
        [('37', '35-39', '20-39', '*'), ('37', '[35, 40)', '[20, 40)', '*')]
        >>> bands = Bands.of(HierarchySpec(bands=(5, 20), top=38, bottom=21), None)
        >>> [bands.lines(value)[0].labels for value in ("37", "40", "38+", "7")]
        [('37', '35-37', '22-37', '*'), ('38+', '38+', '38+', '*'), ('38+', '38+', '38+', '*'),\
 ('21 or less', '21 or less', '21 or less', '*')]
        """
        marks = Marks.of(limit)
        names: set[str] = set()
        whole_names: set[str] = set()
        marked: list[tuple[Exact, Exact]] = []
        for text in marks.names:
            number = read_number(text)
            name = text.strip() if number is None else name_number(number)
            span = read_span(name)
            if span is None or span.style == "number":
                names.add(name)
                whole_names.add(name)
            else:
                ways = spans_of_band(span.low, span.end)
                whole_names.add(str(ways[0]))
                names.add(str(ways[-1]))
            if span is not None and (span.style != "number" or isinstance(span.low, int)):
                marked.append((span.low, span.end))
        return cls(
            Marks(marks.level, frozenset(names)),
            Marks(marks.level, frozenset(whole_names)),
            tuple(exact(width) for width in spec.bands or ()),
            tuple(tuple(exact(point) for point in points) for points in spec.cuts or ()),
            tuple(marked),
            None if spec.top is None else exact(spec.top),
            None if spec.bottom is None else exact(spec.bottom),
        )

    @property
    def whole(self) -> bool:
        """Tell whether all bands start and end at whole numbers."""
        ends = [point for point in (self.top, self.bottom) if point is not None]
        return all(isinstance(number, int) for number in itertools.chain(self.widths, *self.points, ends))

    @property
    def open_names(self) -> tuple[str, ...]:
        """The names of what is open at one end."""
        top = () if self.top is None else (name_number(self.top) + FROM,)
        return top if self.bottom is None else (*top, name_number(self.bottom) + TO)

    def open_name(self, value: str) -> str | None:
        """Return the name of the open end that a value lies in, or is; None if it does not."""
        number = read_number(value)
        if number is None:
            return value if value in self.open_names else None
        if self.top is not None and not number < self.top:
            return name_number(self.top) + FROM
        if self.bottom is not None and not number > self.bottom:
            return name_number(self.bottom) + TO
        return None

    def ways(self, band: tuple[Exact, Exact]) -> tuple[Span, ...]:
        """Return the ways to write a band, which ends where an open end begins; that of whole numbers first."""
        low, end = band
        if self.top is not None and end > self.top:
            end = self.top
        ways = spans_of_band(low, end)
        if isinstance(self.bottom, int) and len(ways) > 1 and low <= self.bottom:
            return spans_of_band(self.bottom + 1, end)[0], ways[-1]
        return ways

    def bands_of(self, number: Exact) -> list[tuple[Exact, Exact]] | None:
        """Return start and end of the bands of a number, level by level; None if a level has none for it."""
        bands: list[tuple[Exact, Exact]] = []
        for width in self.widths:
            start = exact(number // width * width)
            bands.append((start, exact(start + width)))
        for points in self.points:
            around = next(((a, b) for a, b in itertools.pairwise(points) if a <= number < b), None)
            if around is None:
                return None
            bands.append(around)
        return bands

    def lines(self, value: str) -> tuple[Line, ...]:
        """Return the number, its bands and the root; of a whole number in both ways to write bands."""
        number, beyond = read_number(value), self.open_name(value)
        if beyond is not None:
            labels = (*[beyond] * (1 + len(self.widths) + len(self.points)), ROOT)
            return (
                (self.whole_marks.line(labels), self.marks.line(labels)) if self.whole else (self.marks.line(labels),)
            )
        bands = None if number is None else self.bands_of(number)
        if number is None or bands is None:
            return ()
        spans = [self.ways(band) for band in bands]
        leaf = name_number(number)
        line = self.marks.line((leaf, *(str(ways[-1]) for ways in spans), ROOT))
        if not self.whole or not isinstance(number, int):
            return (line,)
        return self.whole_marks.line((leaf, *(str(ways[0]) for ways in spans), ROOT)), line

    def knows(self, label: str) -> bool:
        """Tell whether a label is a number that has a leaf, or a band of some level."""
        span = read_span(label)
        if label == ROOT or span is None:
            return label == ROOT or label in self.open_names
        if self.open_name(name_number(span.low)) is not None and span.style in ("number", "whole"):
            return False
        if span.style == "number":
            return self.bands_of(span.low) is not None
        if span.style == "closed" or (span.style == "whole" and not self.whole):
            return False
        return any(span in self.ways(band) for band in self.bands_of(span.low) or ())

    def witnesses(self, label: str) -> Iterator[Line]:
        """Return the lines of one number from each piece into which the marks cut a band."""
        span = None if label == ROOT else read_span(label)
        if (span is not None and span.style == "number") or label in self.open_names:
            yield from self.lines(label)
            return
        if label == ROOT:
            for name in self.open_names:
                yield from self.lines(name)
        if span is not None:
            low, end = span.low, span.end
        elif self.points:
            low, end = self.points[0][0], self.points[0][-1]
        else:
            bounds = [bound for mark in self.marked for bound in mark] or [exact(0)]
            low, end = min(bounds) - 1, max(bounds) + 1
        fractions = span is not None and span.style == "half-open"
        ends = [(point, point + 1) for point in (self.bottom, self.top) if point is not None]
        for start, stop in pieces(low, end, [*self.marked, *ends]):
            yield from self.lines(name_number(exact(Fraction(start + stop) / 2) if fractions else start))
        for name in self.marks.names:  # single numbers
            if span is None or (number := read_number(name)) is None or span.holds(number):
                yield from self.lines(name)
