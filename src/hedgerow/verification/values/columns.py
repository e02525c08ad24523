"""What may be published in a column, what it is true of, and when it breaks a limit."""

from __future__ import annotations

import bisect
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from hedgerow.plan import Attribute, HierarchySpec, Limit, Plan
from hedgerow.verification.values.bands import Bands
from hedgerow.verification.values.dates import Dates
from hedgerow.verification.values.figures import FigureJudge
from hedgerow.verification.values.judge import Cell as Cell
from hedgerow.verification.values.judge import Column as Column
from hedgerow.verification.values.judge import Risk
from hedgerow.verification.values.numbers import Exact, Span, exact, read_number, read_span
from hedgerow.verification.values.sets import SetJudge
from hedgerow.verification.values.trees import Flat, Ladder, Line, Marks, NamedTree, OneLevel, Prefixes


@dataclass(frozen=True)
class TreeJudge(Column):
    """A column with a hierarchy.

    Attributes
    ----------
    ladder
        Its hierarchy.
    own_leaf
        Whether an unknown value is a leaf of its own under the root.
    root_of_missing
        Whether the root may be what was made of missing values alone.
    seen
        Where the original is at hand: of every label that one of its values may be published as, whether that breaks
        the limit of none, some or all of these values.
    """

    ladder: Ladder
    own_leaf: bool
    root_of_missing: bool
    seen: Mapping[Cell, Risk] | None = None

    def lines(self, value: Cell) -> tuple[Line, ...]:
        """Return the ways up from a value, one for each way to write them; empty if it may not be released."""
        if value is None:
            return (self.ladder.stray(None),)
        return self.ladder.lines(value) or ((self.ladder.stray(value),) if self.own_leaf else ())

    def at_level(self, value: Cell, level: int, within_limits: bool) -> set[Cell]:
        """Return what a value may be published as at a level; within limits it stops at its own.

        A missing or unknown value is a leaf directly under the root.
        """
        return {
            line.labels[min(level, len(line.labels) - 1, line.limit if within_limits else level)]
            for line in self.lines(value)
        }

    def given(self, values: Collection[Cell]) -> TreeJudge:
        """Return the judge that knows which values the original has."""
        seen: dict[Cell, Risk] = {}
        for value in values:
            for line in self.lines(value):
                for label in dict.fromkeys(line.published):
                    risk: Risk = "sure" if line.breaks(label) else "none"
                    seen[label] = risk if seen.get(label, risk) == risk else "some"
        return TreeJudge(self.ladder, self.own_leaf, self.root_of_missing, seen)

    def knows(self, label: Cell) -> bool:
        """Tell whether a cell is a node; with the original at hand, one that some value of it lies under."""
        if self.seen is not None:
            return label in self.seen
        return label is None or self.own_leaf or self.ladder.knows(label)

    def covers(self, value: Cell, label: Cell) -> bool:
        """Tell whether a published cell stands on the way up from the original one."""
        return any(label in line.published for line in self.lines(value))

    def holds(self, value: Cell, inner: Cell, outer: Cell) -> bool:
        """Tell whether one published cell stands on the way up from another."""
        return any(
            inner in line.labels and outer in line.labels[line.labels.index(inner) :] for line in self.lines(value)
        )

    def breaks(self, value: Cell, label: Cell) -> bool:
        """Tell whether a published cell stands above the limit of the original one."""
        return any(line.breaks(label) for line in self.lines(value) if label in line.published)

    def risk(self, label: Cell) -> Risk:
        """Tell whether a cell stands above the limit of all, some or none of the values under it."""
        if self.seen is not None:
            return self.seen.get(label, "none")
        if label is None or not self.ladder.knows(label):
            return "none"
        lines = [line for line in self.ladder.witnesses(label) if label in line.published]
        if label == self.ladder.root and (self.own_leaf or self.root_of_missing):
            lines.append(self.ladder.stray(None))
        broken = sum(line.breaks(label) for line in lines)
        return "none" if not broken else "sure" if broken == len(lines) else "some"


@dataclass(frozen=True)
class FreeJudge(Column):
    """A column of free intervals.

    Attributes
    ----------
    cuts, width
        Points that no interval may cross, and the greatest difference of its ends.
    snap
        Grid of the ends.
    numbers, has_missing
        Where the original is at hand: its numbers, ascending, and whether it has missing values.
    """

    cuts: tuple[Exact, ...] = ()
    width: Exact | None = None
    snap: Exact | None = None
    numbers: tuple[Exact, ...] | None = None
    has_missing: bool = True

    def given(self, values: Collection[Cell]) -> FreeJudge:
        """Return the judge that knows which numbers the original has."""
        read = {read_number(value) for value in values if value is not None}
        numbers = tuple(sorted(number for number in read if number is not None))
        return FreeJudge(self.cuts, self.width, self.snap, numbers, None in values)

    def knows(self, label: Cell) -> bool:
        """Tell whether a cell is an interval of this column's kind; with the original, one that is not empty."""
        if label is None:
            return self.has_missing
        span = read_span(label)
        if span is None or not self.on_grid(span):
            return False
        if self.numbers is None:
            return True
        first = bisect.bisect_left(self.numbers, span.low)
        return first < len(self.numbers) and span.holds(self.numbers[first])

    def on_grid(self, span: Span) -> bool:
        """Tell whether an interval is of this column's kind."""
        if self.snap is None:
            return span.style != "half-open"
        if span.style == "closed" or (span.style != "half-open" and not isinstance(self.snap, int)):
            return False
        if span.style == "number" and self.snap != 1:
            return False
        return span.low % self.snap == 0 and span.end % self.snap == 0

    def covers(self, value: Cell, label: Cell) -> bool:
        """Tell whether the original number lies within the published interval, which must be of this column's kind."""
        if value is None or label is None:
            return value is label
        number, span = read_number(value), read_span(label)
        return number is not None and span is not None and self.on_grid(span) and span.holds(number)

    def holds(self, value: Cell, inner: Cell, outer: Cell) -> bool:
        """Tell whether a published interval holds every number that another does.

        Examples
        --------
        >>> ages = FreeJudge()
        >>> [ages.holds("2", "1-9", label) for label in ("1-9", "1-2", "0-9", "[1, 9]", None)]
        [True, False, True, True, False]
        >>> ages.holds("2", "[1, 9]", "1-9")
        False
        """
        if inner is None or outer is None:
            return inner is outer
        within, around = read_span(inner), read_span(outer)
        return within is not None and around is not None and around.covers(within)

    def breaks(self, value: Cell, label: Cell) -> bool:
        """Tell whether a published interval crosses a cut or is too wide, whatever lies behind it.

        Examples
        --------
        >>> ages = FreeJudge(cuts=(18, 65), width=20)
        >>> [ages.breaks(None, label) for label in ("18-38", "17-18", "18-39", "64")]
        [False, True, True, False]
        """
        span = None if label is None else read_span(label)
        if span is None:
            return False
        inside = span.high if span.style != "half-open" else None
        crosses = any(
            span.low < cut and (cut <= inside if inside is not None else cut < span.high) for cut in self.cuts
        )
        return crosses or (self.width is not None and span.high - span.low > self.width)

    def risk(self, label: Cell) -> Risk:
        """Tell whether a published interval breaks a limit: the interval alone decides."""
        return "sure" if self.breaks(None, label) else "none"


@dataclass(frozen=True)
class SuppressibleJudge(Column):
    """A column of which single cells may be published as missing, whatever they were."""

    column: Column

    def knows(self, label: Cell) -> bool:
        """Tell whether a cell is missing, or may be published."""
        return label is None or self.column.knows(label)

    def covers(self, value: Cell, label: Cell) -> bool:
        """Tell whether a published cell is missing, or true of the original one."""
        return label is None or self.column.covers(value, label)

    def holds(self, value: Cell, inner: Cell, outer: Cell) -> bool:
        """Tell whether one published cell is missing, which holds all, or holds another."""
        return outer is None or (inner is not None and self.column.holds(value, inner, outer))

    def breaks(self, value: Cell, label: Cell) -> bool:
        """Tell whether a published cell that is not missing breaks the limit of the original one."""
        return label is not None and self.column.breaks(value, label)

    def risk(self, label: Cell) -> Risk:
        """Tell whether a published cell that is not missing breaks a limit."""
        return "none" if label is None else self.column.risk(label)


def may_suppress(plan: Plan, name: str) -> bool:
    """Tell whether single cells of a column may be made missing: if the plan says so and sets it no limit."""
    return plan.method.suppress and plan.attributes[name].limit is None


def one_level(plan: Plan, levels: Any, name: str) -> OneLevel | None:
    """Return the level at which a column is published, where the method publishes one; ``levels`` is as stated."""
    number = levels.get(name) if isinstance(levels, Mapping) else None
    if plan.method.name != "lattice" or type(number) is not int or number < 0:
        return None
    return OneLevel(number, plan.method.limits == "keep")


def column_of(
    plan: Plan,
    name: str,
    published: Collection[Cell],
    original: Collection[Cell] | None,
    level: OneLevel | None = None,
) -> Column:
    """Build the judge of a column.

    It knows the plan, the level at which the whole column is published, if it is, and the distinct values of the
    original, where that is at hand.
    """
    column = _column_as_is(plan, name, published, original, level)
    return SuppressibleJudge(column) if may_suppress(plan, name) else column


def _column_as_is(
    plan: Plan, name: str, published: Collection[Cell], original: Collection[Cell] | None, level: OneLevel | None
) -> Column:
    """Build the judge of a column of which no cell may be suppressed.

    Notes
    -----
    The limit of a missing value is the root, so a published root may be right wherever values are missing. But
    clustering publishes a group as the lowest node above its members, which for missing values alone is not the root,
    and where it keeps limits it does not mix values of different limits. So if every leaf has its limit below the root
    and no unknown values hang there, a root that clustering within limits published breaks a limit for certain. With
    the original at hand nothing is assumed.
    """
    attribute = plan.attributes[name]
    if attribute.publish == "set":
        sets = SetJudge.of(attribute)
        return sets if original is None else sets.given(original)
    if attribute.publish in ("mean", "median"):
        figures = FigureJudge.of(attribute)
        return figures if original is None else figures.given(original)
    if attribute.free:
        free = _free_column(attribute)
        return free if original is None else free.given(original)
    texts = [value for value in (published if original is None else original) if value is not None]
    longest = max(map(len, texts), default=1)
    ladder = ladder_of(attribute.hierarchy, attribute.limit, () if original is None else texts, longest, level)
    clustered_within_limits = plan.keeps_limits and plan.method.name != "lattice"
    tree = TreeJudge(ladder, attribute.unknown == "own-leaf-under-root", not clustered_within_limits)
    return tree if original is None else tree.given(original)


def _free_column(attribute: Attribute) -> FreeJudge:
    limit = attribute.limit
    cuts: tuple[int | Decimal, ...] = (limit.cuts or ()) if limit is not None else ()
    width = limit.width if limit is not None else None
    return FreeJudge(
        tuple(exact(cut) for cut in cuts),
        None if width is None else exact(width),
        None if attribute.snap is None else exact(attribute.snap),
    )


def ladder_of(
    spec: HierarchySpec | None,
    limit: Limit | None,
    values: Collection[str],
    longest: int,
    level: OneLevel | None = None,
) -> Ladder:
    """Build the ladder of a column.

    Parameters
    ----------
    spec
        What the plan says of its hierarchy; none: flat.
    limit
        What it says of its limit.
    values
        The values of the original, where it is at hand.
    longest
        Characters of a full value, in case the plan does not say.
    level
        The level at which the whole column is published, if it is.
    """
    marks = Marks.of(limit)
    if spec is None:
        return Flat(marks)
    if spec.tree is not None:
        return NamedTree.of(spec.tree, marks, level)
    if spec.prefix is not None:
        return Prefixes.of(spec.prefix, spec.length or longest, marks, values)
    if spec.dates is not None:
        return Dates(marks, spec.dates, spec.form)
    return Bands.of(spec, limit)
