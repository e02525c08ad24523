"""Sets of values that a column publishes in place of a node: ``Private|State-gov``."""

from __future__ import annotations

import itertools
from collections.abc import Collection
from dataclasses import dataclass, replace

from hedgerow.plan import Attribute
from hedgerow.verification.values.judge import Cell, Column, Risk

BETWEEN = "|"


@dataclass(frozen=True)
class SetJudge(Column):
    """A column without a hierarchy whose groups are published as the values that they have.

    Attributes
    ----------
    most
        How many values a set may have; None: any number.
    alone, none_together
        Values that may not be in a set with others, or whether none may.
    values
        Where the original is at hand: its values, None if some are missing.

    Examples
    --------
    >>> jobs = SetJudge(most=2)
    >>> [jobs.knows(label) for label in ("Army|Navy", "Navy|Army", "Army|Army", "Army|", "Army", None)]
    [True, False, False, False, True, True]
    >>> jobs.covers("Navy", "Army|Navy"), jobs.covers("Nav", "Army|Navy"), jobs.breaks("Navy", "Air|Army|Navy")
    (True, False, True)
    """

    most: int | None = None
    alone: frozenset[str] = frozenset()
    none_together: bool = False
    values: frozenset[Cell] | None = None

    @classmethod
    def of(cls, attribute: Attribute) -> SetJudge:
        """Read what a plan says of a column."""
        limit = attribute.limit
        if limit is None:
            return cls()
        return cls(limit.values, frozenset(limit.nodes or ()), limit.level == 0)

    def given(self, values: Collection[Cell]) -> SetJudge:
        """Return the judge that knows which values the original has."""
        return replace(self, values=frozenset(values))

    def members(self, label: str) -> tuple[str, ...]:
        """Return the values of a set."""
        return tuple(label.split(BETWEEN))

    def knows(self, label: Cell) -> bool:
        """Tell whether a cell is a set in order; with the original, one of its values."""
        if label is None:
            return self.values is None or None in self.values
        members = self.members(label)
        in_order = all(members) and all(one < other for one, other in itertools.pairwise(members))
        return in_order and (self.values is None or self.values.issuperset(members))

    def covers(self, value: Cell, label: Cell) -> bool:
        """Tell whether a value is in a set."""
        if value is None or label is None:
            return value is label
        return value in self.members(label)

    def holds(self, value: Cell, inner: Cell, outer: Cell) -> bool:
        """Tell whether a set has every value of another."""
        if inner is None or outer is None:
            return inner is outer
        return set(self.members(inner)) <= set(self.members(outer))

    def breaks(self, value: Cell, label: Cell) -> bool:
        """Tell whether a set has too many values, or should not have the value beside others."""
        many = 1 if label is None else len(self.members(label))
        return (self.most is not None and many > self.most) or (
            many > 1 and (self.none_together or value in self.alone)
        )

    def risk(self, label: Cell) -> Risk:
        """Tell whether a set breaks the limit of all, some or none of its values."""
        members = () if label is None else self.members(label)
        broken = sum(self.breaks(member, label) for member in members)
        return "none" if not broken else "sure" if broken == len(members) else "some"
