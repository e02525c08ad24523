"""Hierarchies made from a rule and the values present: bands, cuts, prefixes, dates.

Each builder takes the distinct labels of a column and returns a :class:`Built`: the tree over the labels that the rule
can place, and the labels that it cannot (the plan's ``unknown`` says what happens to those).
"""

from __future__ import annotations

import datetime as dt
import itertools
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction

from hedgerow.errors import PlanError, Problem
from hedgerow.plan.hierarchy.numbers import (
    ABOVE,
    BELOW,
    Number,
    bottom_label,
    half_open_label,
    is_whole,
    number_label,
    parse_number,
    parse_open,
    simplest,
    top_label,
)
from hedgerow.plan.hierarchy.tree import Hierarchy

ROOT = "*"
DATE_LEVELS = ("month", "quarter", "year", "decade", "20-years", "40-years")


@dataclass(frozen=True)
class Built:
    """A tree over a column's labels.

    Attributes
    ----------
    hierarchy
        The tree.
    leaf_of
        Leaf label of every placed column label (39.0 and 39 share the leaf 39).
    unplaced
        Labels that have no leaf.
    """

    hierarchy: Hierarchy
    leaf_of: dict[str, str]
    unplaced: tuple[str, ...]


def place_in(hierarchy: Hierarchy, labels: Iterable[str]) -> Built:
    """Place labels in a tree that the owner gave leaf by leaf."""
    known = hierarchy.code_of
    placed, unplaced = {}, []
    for label in labels:
        if label in known:
            placed[label] = label
        else:
            unplaced.append(label)
    return Built(hierarchy, placed, tuple(unplaced))


def flat(labels: Iterable[str]) -> Built:
    """Value → ``*``.

    Examples
    --------
    >>> flat(["F", "M"]).hierarchy.paths()
    (('F', '*'), ('M', '*'))
    """
    return _grow(labels, lambda label: (label, (ROOT,)))


@dataclass(frozen=True)
class OpenEnds:
    """Where bands end: numbers at or above the top are one value on every level, and so are those down to the bottom.

    Examples
    --------
    >>> ends = OpenEnds(90, 17)
    >>> ends.label("97"), ends.label("90+"), ends.label("3"), ends.label("18")
    ('90+', '90+', '17 or less', None)
    >>> ends.within(80, 100, whole=True), ends.within(0, 20, whole=True)
    ((80, 90), (18, 20))
    """

    top: Number | None = None
    bottom: Number | None = None

    @property
    def points(self) -> tuple[Number, ...]:
        """The points that there are."""
        return tuple(point for point in (self.top, self.bottom) if point is not None)

    def label(self, text: str) -> str | None:
        """Name the open end that a number lies in, or that a text is the name of; None if it is in neither."""
        number, named = parse_number(text), parse_open(text)
        if self.top is not None and (named == (self.top, ABOVE) or (number is not None and number >= self.top)):
            return top_label(self.top)
        if self.bottom is not None and (
            named == (self.bottom, BELOW) or (number is not None and number <= self.bottom)
        ):
            return bottom_label(self.bottom)
        return None

    def within(self, low: Number, end: Number, whole: bool) -> tuple[Number, Number]:
        """Cut off a band where an end begins; below, only bands of whole numbers can say so."""
        if self.top is not None and end > self.top:
            end = self.top
        if whole and self.bottom is not None and low <= self.bottom:
            low = self.bottom + 1
        return low, end

    def have(self, name: str) -> bool:
        """Tell whether a text names one of the ends."""
        return parse_open(name) in ((self.top, ABOVE), (self.bottom, BELOW))

    def path(self, text: str, levels: int) -> tuple[str, tuple[str, ...]] | None:
        """Return the way up from a number in one of the ends: the same name on every level."""
        name = self.label(text)
        return None if name is None else (name, (*[name] * levels, ROOT))


NO_ENDS = OpenEnds()


def bands(labels: Iterable[str], widths: Sequence[Number], ends: OpenEnds = NO_ENDS) -> Built:
    """Numbers in bands of growing width, each band starting at a multiple of its width.

    Examples
    --------
    >>> bands(["37", "39", "41"], [5, 20]).hierarchy.paths()[0]
    ('37', '35-39', '20-39', '*')
    >>> bands(["88", "91", "97"], [5, 20], OpenEnds(top=90)).hierarchy.paths()
    (('88', '85-89', '80-89', '*'), ('90+', '90+', '90+', '*'))
    """
    check_bands(widths, ends)
    texts = list(labels)
    whole = _all_whole(texts, [*widths, *ends.points])

    def path(label: str) -> tuple[str, tuple[str, ...]] | None:
        number = parse_number(label)
        if (beyond := ends.path(label, len(widths))) is not None:
            return beyond
        if number is None:
            return None
        line = [half_open_label(*ends.within(*band_of(number, width), whole), whole) for width in widths]
        return number_label(number), (*line, ROOT)

    return _grow(_numeric_order(texts), path)


def band_of(number: Number, width: Number) -> tuple[Number, Number]:
    """Return where the band of a number starts, and where the next one does."""
    start = simplest(Decimal(Fraction(number) // Fraction(width)) * Decimal(width))
    return start, start + width


def cuts(labels: Iterable[str], levels: Sequence[Sequence[Number]], ends: OpenEnds = NO_ENDS) -> Built:
    """Numbers between cut points, finer list first; a number outside the cuts has no leaf, unless an end holds it.

    Examples
    --------
    >>> cuts(["7", "25", "40"], [[0, 20, 30, 40], [0, 20, 40]]).hierarchy.paths()[1]
    ('25', '20-29', '20-39', '*')
    >>> cuts(["7", "25", "40"], [[0, 20, 30, 40], [0, 20, 40]]).unplaced
    ('40',)
    """
    check_cuts(levels, ends)
    texts = list(labels)
    whole = _all_whole(texts, [*(point for level in levels for point in level), *ends.points])

    def path(label: str) -> tuple[str, tuple[str, ...]] | None:
        number = parse_number(label)
        if (beyond := ends.path(label, len(levels))) is not None:
            return beyond
        if number is None or not levels[0][0] <= number < levels[0][-1]:
            return None
        line = []
        for points in levels:
            above = next(i for i, point in enumerate(points) if number < point)
            line.append(half_open_label(*ends.within(points[above - 1], points[above], whole), whole))
        return number_label(number), (*line, ROOT)

    return _grow(_numeric_order(texts), path)


def prefixes(labels: Iterable[str], kept: Sequence[int], length: int | None = None) -> Built:
    """Text cut after its first characters, the rest shown as ``*``: zip codes.

    ``length`` is the number of characters of a full value; by default that of the longest one present. A level that
    would keep all of them is the value itself and is left out.

    Examples
    --------
    >>> prefixes(["43102", "43103"], [5, 3, 0]).hierarchy.paths()[0]
    ('43102', '431**', '*')
    """
    check_prefixes(kept)
    texts = sorted(labels)
    full = max(map(len, texts), default=0) if length is None else length
    steps = [count for count in kept if 0 < count < full]

    def path(label: str) -> tuple[str, tuple[str, ...]] | None:
        if not 0 < len(label) <= full:
            return None
        line = [label[:count] + "*" * (full - len(label[:count])) for count in steps]
        return label, (*dict.fromkeys(line), ROOT)  # a short value meets some names twice: each is one node

    return _grow(texts, path)


def dates(labels: Iterable[str], levels: Sequence[str], form: str | Sequence[str] | None = None) -> Built:
    """Days in months, quarters, years, decades, and twenty or forty years.

    Examples
    --------
    >>> dates(["2024-02-29"], ["month", "quarter", "year", "decade"]).hierarchy.paths()[0]
    ('2024-02-29', '2024-02', '2024-Q1', '2024', '2020s', '*')
    >>> dates(["1959-02-01"], ["decade", "20-years", "40-years"]).hierarchy.paths()[0]
    ('1959-02-01', '1950s', '1940-1959', '1920-1959', '*')
    """
    check_dates(levels)
    order = {text: parse_day(text, form) for text in labels}
    texts = sorted(order, key=lambda text: (order[text] is None, order[text] or dt.date.min, text))

    def path(label: str) -> tuple[str, tuple[str, ...]] | None:
        day = order[label]
        if day is None:
            return None
        return day.isoformat(), (*(date_label(day, level) for level in levels), ROOT)

    return _grow(texts, path)


def parse_day(text: str, form: str | Sequence[str] | None = None) -> dt.date | None:
    """Read a calendar day: ISO (a time of day after it is cut off), or by the first of some ``strptime`` forms.

    Examples
    --------
    >>> parse_day("2/5/1984", ["%d.%m.%Y", "%d/%m/%Y"]), parse_day("31.02.1980", "%d.%m.%Y")
    (datetime.date(1984, 5, 2), None)
    """
    if form is not None and not isinstance(form, str):
        return next((day for one in form if (day := parse_day(text, one)) is not None), None)
    try:
        if form is not None:
            return dt.datetime.strptime(text, form).date()
        return dt.datetime.fromisoformat(text).date()
    except ValueError:
        return None


def date_label(day: dt.date, level: str) -> str:
    """Name the month, quarter, year, decade, or twenty or forty years of a day."""
    return {
        "month": f"{day.year:04d}-{day.month:02d}",
        "quarter": f"{day.year:04d}-Q{(day.month + 2) // 3}",
        "year": f"{day.year:04d}",
        "decade": f"{day.year // 10 * 10:04d}s",
        "20-years": _years(day.year, 20),
        "40-years": _years(day.year, 40),
    }[level]


def _years(year: int, many: int) -> str:
    first = year // many * many
    return f"{first:04d}-{first + many - 1:04d}"


# -- what a rule itself can get wrong ------------------------------------------------------------------------------


def check_bands(widths: Sequence[Number], ends: OpenEnds = NO_ENDS) -> None:
    """Refuse widths that are not positive or of which one is no multiple of the one before, and ends that cross."""
    _check_ends(ends)
    if not widths or widths[0] <= 0:
        raise _rule("Band widths must be numbers above 0.", "for example bands: [5, 10, 20]")
    for narrow, wide in itertools.pairwise(widths):
        if wide <= narrow or Fraction(wide) % Fraction(narrow) != 0:
            raise _rule(
                f"Bands must nest, but {number_label(wide)} is not a multiple of {number_label(narrow)}.",
                "let each width be a multiple of the one before, or use cuts",
            )


def _check_ends(ends: OpenEnds) -> None:
    if len(ends.points) == 2 and ends.points[0] <= ends.points[1]:
        raise _rule("The top of a hierarchy must lie above its bottom.", "for example top: 90, bottom: 17")


def check_cuts(levels: Sequence[Sequence[Number]], ends: OpenEnds = NO_ENDS) -> None:
    """Refuse cut lists that do not ascend, coarser ones with points that finer ones lack, and ends beside the cuts."""
    _check_ends(ends)
    if not levels:
        raise _rule("Cuts must have at least one list of points.", "for example cuts: [[0, 20, 30, 40], [0, 20, 40]]")
    for points in levels:
        if len(points) < 2 or any(a >= b for a, b in itertools.pairwise(points)):
            raise _rule("A list of cuts must have two or more points, each above the one before.", "sort the points")
    first, last = levels[0][0], levels[0][-1]
    if ends.top is not None and not first < ends.top <= last:
        raise _rule("The top of cuts must lie between the first and the last point.", "the last point is usual")
    if ends.bottom is not None and not first - 1 <= ends.bottom < last:
        raise _rule("The bottom of cuts must lie at the first point.", "or at the whole number before it")
    for fine, coarse in itertools.pairwise(levels):
        if (coarse[0], coarse[-1]) != (fine[0], fine[-1]):
            raise _rule(
                "Every list of cuts must start and end at the same points.",
                f"start each at {number_label(fine[0])} and end it at {number_label(fine[-1])}",
            )
        extra = [point for point in coarse if point not in fine]
        if extra:
            raise _rule(
                f"Cuts must nest, but {number_label(extra[0])} is not a cut of the finer list before.",
                "each list must be a part of the one before it: finest first",
            )


def check_prefixes(kept: Sequence[int]) -> None:
    """Refuse prefix lengths that do not descend."""
    if not kept or any(a <= b for a, b in itertools.pairwise(kept)) or kept[-1] < 0:
        raise _rule(
            "Prefix lengths must fall from level to level, to 0 at the lowest.", "for example prefix: [5, 3, 0]"
        )


def check_dates(levels: Sequence[str]) -> None:
    """Refuse date levels that are unknown or do not go from fine to coarse."""
    ranks = [DATE_LEVELS.index(level) if level in DATE_LEVELS else -1 for level in levels]
    if not ranks or -1 in ranks or any(a >= b for a, b in itertools.pairwise(ranks)):
        raise _rule(
            f"Date levels must be some of {', '.join(DATE_LEVELS)}, in this order.",
            "for example dates: [month, year]",
        )


def _rule(message: str, hint: str) -> PlanError:
    return PlanError(Problem("bands", message, hint=hint))


# -- growing a tree ------------------------------------------------------------------------------------------------


def _grow(labels: Iterable[str], path: Callable[[str], tuple[str, tuple[str, ...]] | None]) -> Built:
    """Build the tree of the labels' paths.

    A label that is at the same time the name of a group (a zip code written ``431**``) is left unplaced, because a
    released ``431**`` must mean one thing.
    """
    leaf_of: dict[str, str] = {}
    above: dict[str, tuple[str, ...]] = {}
    unplaced: list[str] = []
    for label in labels:
        found = path(label)
        if found is None:
            unplaced.append(label)
        else:
            leaf_of[label], above[found[0]] = found[0], found[1]
    others = {name for leaf, line in above.items() for name in line if name != leaf}
    clashing = {leaf for leaf in above if leaf in others}
    if clashing:
        unplaced.extend(label for label, leaf in leaf_of.items() if leaf in clashing)
        leaf_of = {label: leaf for label, leaf in leaf_of.items() if leaf not in clashing}
        above = {leaf: line for leaf, line in above.items() if leaf not in clashing}
    if not above:
        return Built(Hierarchy((ROOT,), (-1,)), {}, tuple(unplaced))
    return Built(Hierarchy.from_paths([(leaf, *line) for leaf, line in above.items()]), leaf_of, tuple(unplaced))


def _all_whole(labels: Iterable[str], points: Iterable[Number]) -> bool:
    numbers = (parse_number(label) for label in labels)
    return all(is_whole(n) for n in numbers if n is not None) and all(is_whole(point) for point in points)


def _numeric_order(labels: Iterable[str]) -> list[str]:
    def key(label: str) -> tuple[bool, Number, str]:
        number, named = parse_number(label), parse_open(label)
        if named is not None:  # of what is open at the bottom nothing comes before, of what is open at the top, after
            return (False, named[0], "" if named[1] == BELOW else label)
        return (number is None, 0 if number is None else number, label)

    return sorted(labels, key=key)
