"""An attacker who knows some columns of a person, in plain loops over all rows.

A row that is published is a list of cells; ``covers`` tells whether a value may be behind a cell.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Sequence
from fractions import Fraction

Covers = Callable[[int, Hashable, Hashable], bool]
"""Column, value, published cell."""


def candidates(known: Sequence[tuple[int, Hashable]], rows: Sequence[Sequence[Hashable]], covers: Covers) -> list[int]:
    """The rows that contradict fewest of the columns and values that are known: those that fit, if any do."""
    against = [sum(not covers(column, value, row[column]) for column, value in known) for row in rows]
    return [number for number, count in enumerate(against) if count == min(against)]


def chance(own: int, found: Sequence[int]) -> Fraction:
    """How likely the right row is picked among these."""
    return Fraction(1, len(found)) if own in found else Fraction(0)


def guess(found: Sequence[int], values: Sequence[Hashable]) -> set[Hashable]:
    """The values that most of these rows have; missing is none."""
    counts = Counter(values[number] for number in found if values[number] is not None)
    return {value for value, count in counts.items() if count == max(counts.values())}
