"""The conditions on the way to a leaf, in words: one phrase for all that is said about a number or a label."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

from hedgerow.plan.hierarchy.numbers import Number, number_label

MOST_LABELS = 4


@dataclass(frozen=True)
class SplitCondition:
    """One side of a split.

    Attributes
    ----------
    end
        Which end of the ranges is looked at; None for numbers that are known, and for labels.
    threshold
        The number; None for labels.
    labels
        The labels of the side of yes.
    yes
        Which side this is.

    Examples
    --------
    >>> for end in (None, "from", "to"):
    ...     yes, no = (SplitCondition("age", end, 28, (), side) for side in (True, False))
    ...     print(yes.text, "|", no.text)
    age ≥ 28 | age < 28
    age surely ≥ 28 | age maybe < 28
    age surely < 28 | age maybe ≥ 28
    """

    column: str
    end: Literal["from", "to"] | None
    threshold: Number | None
    labels: tuple[str, ...]
    yes: bool

    @property
    def relation(self) -> str:
        """What is said of a number."""
        sure = "" if self.end is None else "surely " if self.yes else "maybe "
        at_least = self.yes is not (self.end == "to")
        return sure + ("≥" if at_least else "<")

    @property
    def text(self) -> str:
        """The condition in words."""
        if self.threshold is not None:
            return f"{self.column} {self.relation} {number_label(self.threshold)}"
        return _labels_in_words(self.column, self.labels, self.yes)


def in_words(path: Iterable[SplitCondition]) -> tuple[str, ...]:
    """Say the conditions of a path, each column once where it can be.

    A later condition on the same side of a column is the stricter one, so it stands for the earlier.

    Examples
    --------
    >>> path = [SplitCondition("age", None, 28, (), True), SplitCondition("age", None, 50, (), False)]
    >>> in_words(path)
    ('28 ≤ age < 50',)
    >>> in_words([SplitCondition("sex", None, None, ("F",), False), *path, SplitCondition("age", None, 30, (), True)])
    ('sex not F', '30 ≤ age < 50')
    """
    bounds: dict[str, dict[str, Number]] = {}
    inside: dict[str, tuple[str, ...]] = {}
    outside: dict[str, tuple[str, ...]] = {}
    columns: dict[str, None] = {}
    for condition in path:
        columns.setdefault(condition.column)
        if condition.threshold is not None:
            bounds.setdefault(condition.column, {})[condition.relation] = condition.threshold
        elif condition.yes:
            inside[condition.column] = condition.labels
        else:
            outside[condition.column] = outside.get(condition.column, ()) + condition.labels
    phrases: list[str] = []
    for column in columns:
        if column in inside:
            kept = tuple(label for label in inside[column] if label not in outside.get(column, ()))
            phrases.append(_labels_in_words(column, kept, yes=True))
        elif column in outside:
            phrases.append(_labels_in_words(column, outside[column], yes=False))
        phrases += _bounds_in_words(column, bounds.get(column, {}))
    return tuple(phrases)


def _bounds_in_words(column: str, bounds: dict[str, Number]) -> list[str]:
    if "≥" in bounds and "<" in bounds:
        return [f"{number_label(bounds['≥'])} ≤ {column} < {number_label(bounds['<'])}"]
    return [f"{column} {relation} {number_label(number)}" for relation, number in bounds.items()]


def _labels_in_words(column: str, labels: tuple[str, ...], yes: bool) -> str:
    shown = list(labels)
    if len(labels) > MOST_LABELS:
        shown = [*labels[: MOST_LABELS - 1], f"{len(labels) - MOST_LABELS + 1:,} more"]
    listed = " or ".join([", ".join(shown[:-1]), shown[-1]] if len(shown) > 1 else shown)
    return f"{column}: {listed}" if yes else f"{column} not {listed}"
