"""What screens show of a table and its columns, as plain data that a reader sends and the server takes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any

import numpy as np
import numpy.typing as npt

from hedgerow.anonymization.explanation import Cause, Condition, Explanation, Lift, Outlook
from hedgerow.microdata import FreeColumn, Microdata, TreeColumn
from hedgerow.plan.hierarchy import Hierarchy
from hedgerow.plan.hierarchy.numbers import Number, number_label, parse_number
from hedgerow.types import IntArray

MOST_BINS = 60


@dataclass(frozen=True)
class ColumnView:
    """A column of a table, as far as a screen shows it.

    Attributes
    ----------
    readable, nearly_unique
        Whether its values can be told apart; whether nearly every record has its own.
    missing
        Share of the records that have no value.
    role, seen, notes, rule, unknown, level, leaves, delicate, treat
        What is proposed for it: see :class:`~hedgerow.evaluation.drafting.propose.Proposal`; the rule and the treatment
        as plain data.
    kind, bars
        How its values are spread: see :class:`~hedgerow.evaluation.drafting.distribution.Distribution`; no kind without
        values.
    """

    name: str
    readable: bool
    nearly_unique: bool
    role: str
    seen: str
    notes: tuple[str, ...]
    rule: Any
    unknown: str
    kind: str
    bars: tuple[tuple[str, int], ...] = field(repr=False)
    level: int | None = None
    leaves: str = ""
    delicate: bool = False
    missing: float = 0.0
    treat: Any = None

    @classmethod
    def of(cls, raw: Mapping[str, Any]) -> ColumnView:
        """Take what a reader sent."""
        bars = tuple((str(label), int(count)) for label, count in raw["bars"])
        return cls(**{**raw, "notes": tuple(raw["notes"]), "bars": bars})


@dataclass(frozen=True, eq=False)
class SuggestedWish:
    """A way to coarsen a column that its values suggest: its title, its kind, and what would be typed or given."""

    title: str
    kind: str
    typed: Mapping[str, Any]
    given: Hierarchy | None


@dataclass(frozen=True)
class HowRead:
    """How a table is read.

    Attributes
    ----------
    assumptions
        What is assumed: see :class:`~hedgerow.evaluation.drafting.assumptions.Assumption`.
    sheets
        The sheets of a workbook.
    labelled
        Whether its file says more of columns than their cells.
    """

    assumptions: tuple[Mapping[str, Any], ...] = ()
    sheets: tuple[str, ...] = ()
    labelled: bool = False

    @classmethod
    def of(cls, raw: Mapping[str, Any]) -> HowRead:
        """Take what a reader sent."""
        return cls(tuple(raw["assumptions"]), tuple(map(str, raw["sheets"])), bool(raw["labelled"]))

    @property
    def to_check(self) -> int:
        """How many of the assumptions a person should look at."""
        return sum(not one["sure"] for one in self.assumptions)


@dataclass(frozen=True)
class FirstWish:
    """How a column is coarsened now, and for every other way something to begin with.

    Attributes
    ----------
    unlisted
        Values of the column that are not looked at.
    suggestions
        Ways that its values suggest.
    """

    kind: str
    typed: Mapping[str, Any]
    unlisted: int
    suggestions: tuple[SuggestedWish, ...] = ()

    @classmethod
    def of(cls, raw: Mapping[str, Any]) -> FirstWish:
        """Take what a reader sent."""
        suggestions = tuple(
            SuggestedWish(one["title"], one["kind"], one["typed"], one["given"] and tree_of(one["given"]))
            for one in raw["suggestions"]
        )
        return cls(**{**raw, "suggestions": suggestions})


@dataclass(frozen=True, eq=False)
class HierarchyWish:
    """What a person wishes a hierarchy to be.

    Attributes
    ----------
    keys
        What would stand in the plan for the column.
    tree, counts
        The tree over the values that occur, and the records under every node; None for free intervals.
    unplaced, unplaced_records
        Different values that have no place in it, and how many records have them.
    """

    keys: dict[str, Any]
    tree: Hierarchy | None = None
    counts: tuple[int, ...] = ()
    unplaced: int = 0
    unplaced_records: int = 0

    @classmethod
    def of(cls, raw: Mapping[str, Any]) -> HierarchyWish:
        """Take what a reader sent."""
        if raw["tree"] is None:
            return cls(raw["keys"])
        counts = tuple(map(int, raw["counts"]))
        return cls(raw["keys"], tree_of(raw["tree"]), counts, int(raw["unplaced"]), int(raw["unplaced_records"]))


def tree_of(raw: Mapping[str, Any]) -> Hierarchy:
    """Take a tree that a reader sent."""
    return Hierarchy(tuple(map(str, raw["names"])), tuple(map(int, raw["parents"])))


def outlook_of(raw: Mapping[str, Any]) -> Outlook:
    """Take an outlook that a reader sent; it says nothing of single profiles."""
    return Outlook(
        **{
            **raw,
            "withheld_by_profile": np.zeros(0, np.int64),
            "conditions": _conditions(raw),
            "impossible": tuple(raw["impossible"]),
        }
    )


def explanation_of(raw: Mapping[str, Any]) -> Explanation:
    """Take an explanation that a reader sent."""
    causes = tuple(Cause(**cause) for cause in raw["causes"])
    lifts = tuple(Lift(**lift) for lift in raw["lifts"])
    return Explanation(**{**raw, "causes": causes, "lifts": lifts, "conditions": _conditions(raw)})


def _conditions(raw: Mapping[str, Any]) -> tuple[Condition, ...]:
    return tuple(Condition(**{**one, "columns": tuple(one["columns"])}) for one in raw["conditions"])


@dataclass(frozen=True, eq=False)
class TreeView:
    """The hierarchy of a column.

    Attributes
    ----------
    counts, withheld
        Records under every node, and those of them that must be withheld.
    marked
        Nodes that are limits.
    """

    hierarchy: Hierarchy
    counts: IntArray
    withheld: IntArray
    marked: tuple[int, ...]

    def to_dict(self) -> dict[str, Any]:
        """Return plain data."""
        return {
            "names": self.hierarchy.names,
            "parents": self.hierarchy.parents,
            "counts": self.counts.tolist(),
            "withheld": self.withheld.tolist(),
            "marked": [int(node) for node in self.marked],
        }

    @classmethod
    def of(cls, raw: Mapping[str, Any]) -> TreeView:
        """Take what a reader sent."""
        counts, withheld = (np.array(raw[name], np.int64) for name in ("counts", "withheld"))
        return cls(tree_of(raw), counts, withheld, tuple(map(int, raw["marked"])))


@dataclass(frozen=True, eq=False)
class NumbersView:
    """The numbers of a column with free intervals.

    Attributes
    ----------
    bins
        Start, end and records of every bin, in ascending order.
    cuts, width
        Its limits.
    """

    bins: tuple[tuple[float, float, int], ...]
    least: float
    greatest: float
    missing: int
    cuts: tuple[Number, ...]
    width: Number | None

    def to_dict(self) -> dict[str, Any]:
        """Return plain data; exact numbers as text."""
        exact = {"cuts": list(map(number_label, self.cuts)), "width": None if self.width is None else str(self.width)}
        return {"bins": self.bins, "least": self.least, "greatest": self.greatest, "missing": self.missing, **exact}

    @classmethod
    def of(cls, raw: Mapping[str, Any]) -> NumbersView:
        """Take what a reader sent."""
        bins = tuple((float(low), float(high), int(count)) for low, high, count in raw["bins"])
        cuts = tuple(number_of(cut) for cut in raw["cuts"])
        width = None if raw["width"] is None else number_of(raw["width"])
        return cls(bins, float(raw["least"]), float(raw["greatest"]), int(raw["missing"]), cuts, width)


@dataclass(frozen=True, eq=False)
class Look:
    """What is known of one column, and of all others in short.

    Attributes
    ----------
    step
        Grid that cuts of its numbers lie on.
    sizes
        A few words about every quasi-identifier.
    examples
        What a value of every quasi-identifier with a hierarchy is on each level.
    """

    tree: TreeView | None
    numbers: NumbersView | None
    step: Number
    sizes: Mapping[str, str]
    examples: Mapping[str, tuple[str, ...]]

    @classmethod
    def of(cls, raw: Mapping[str, Any]) -> Look:
        """Take what a reader sent."""
        return cls(
            None if raw["tree"] is None else TreeView.of(raw["tree"]),
            None if raw["numbers"] is None else NumbersView.of(raw["numbers"]),
            number_of(raw["step"]),
            {str(name): str(size) for name, size in raw["sizes"].items()},
            {str(name): tuple(map(str, labels)) for name, labels in raw["examples"].items()},
        )


def number_of(text: str) -> Number:
    """Take an exact number that a reader sent."""
    found = parse_number(text)
    if found is None:
        raise ValueError("not a number")
    return found


def tree_view(microdata: Microdata, outlook: Outlook, column: str) -> TreeView | None:
    """Count the records under every node of a column's tree."""
    position = _position(microdata, column)
    found = microdata.columns[position]
    if not isinstance(found, TreeColumn):
        return None
    codes = microdata.codes(position)
    return TreeView(
        found.hierarchy,
        _under_nodes(found.hierarchy, codes, microdata.counts),
        _under_nodes(found.hierarchy, codes, outlook.withheld_by_profile),
        found.marked,
    )


def numbers_view(microdata: Microdata, column: str) -> NumbersView | None:
    """Bin the numbers of a column with free intervals."""
    position = _position(microdata, column)
    found = microdata.columns[position]
    if not isinstance(found, FreeColumn):
        return None
    by_code = np.bincount(microdata.codes(position), weights=microdata.counts, minlength=found.domain_size)
    numbers = found.intervals.scaled.astype(float) / 10**found.intervals.decimals
    missing = int(by_code[found.missing_code]) if found.has_missing else 0
    if not len(numbers):
        return NumbersView((), 0.0, 0.0, missing, found.cuts, found.width)
    bins = min(MOST_BINS, len(numbers))
    heights, edges = np.histogram(numbers, bins, weights=by_code[: len(numbers)])
    rows = tuple(
        (float(low), float(high), round(height))
        for low, high, height in zip(edges[:-1], edges[1:], heights.tolist(), strict=True)
    )
    return NumbersView(rows, float(numbers[0]), float(numbers[-1]), missing, found.cuts, found.width)


def step_of(microdata: Microdata, column: str) -> Number:
    """Return the grid that cuts of a column lie on: that of ``snap``, or one unit of the last decimal place."""
    found = microdata.columns[_position(microdata, column)]
    if not isinstance(found, FreeColumn):
        return 1
    return found.intervals.snap or unit(found.intervals.decimals)


def unit(places: int) -> Number:
    """Return one unit of the last of some decimal places.

    Examples
    --------
    >>> unit(0), unit(2)
    (1, Decimal('0.01'))
    """
    return 1 if places == 0 else Decimal(1).scaleb(-places)


def _position(microdata: Microdata, column: str) -> int:
    return [found.name for found in microdata.columns].index(column)


def _under_nodes(hierarchy: Hierarchy, codes: npt.NDArray[np.uint32], counts: IntArray) -> IntArray:
    """Sum counts of profiles under every node: leaves are numbered so that a node's are neighbours."""
    by_leaf = np.bincount(codes, weights=counts, minlength=len(hierarchy.leaf_nodes))
    upto = np.concatenate([[0], np.cumsum(by_leaf)])
    summed: IntArray = np.rint(upto[hierarchy.last_leaf + 1] - upto[hierarchy.first_leaf]).astype(np.int64)
    return summed
