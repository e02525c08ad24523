"""Is k within reach? Chances in exact fractions, and group sizes by counting (Morton 2013, Table 12).

Cells have probabilities that sum to 1; records fall into them independently.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable, Sequence
from fractions import Fraction
from math import comb


def chance(cells: Sequence[Fraction], records: int, k: int, empty_allowed: bool = False) -> Fraction:
    """Chance that every cell has k records or more, or (if empty cells are allowed) none.

    ``left[r]`` is the chance that the cells so far are good and hold all but r records, cell after cell.
    """
    left = {records: Fraction(1)}
    rest = Fraction(1)  # probability of the cells still to come
    for cell in cells:
        share = cell / rest  # of a record that is in none of the cells so far
        after: dict[int, Fraction] = defaultdict(Fraction)
        for remaining, probability in left.items():
            for taken in range(remaining + 1):
                if taken >= k or (empty_allowed and taken == 0):
                    ways = comb(remaining, taken) * share**taken * (1 - share) ** (remaining - taken)
                    after[remaining - taken] += probability * ways
        left = after
        rest -= cell
    return left.get(0, Fraction(0))


def records_needed(cells: Sequence[Fraction], k: int, wanted: Fraction) -> int:
    """Least number of records for which every cell has k with at least the wanted chance."""
    records = k * len(cells)
    while chance(cells, records, k) < wanted:
        records += 1
    return records


def expected_share_below(shares: Sequence[Fraction], chances: Sequence[Fraction], people: int, k: int) -> Fraction:
    """Expected share of the records that are in cells of fewer than k: a person, and at most k - 2 of the others.

    ``shares`` is the share of the records that each cell has, ``chances`` the chance of another person to fall into it.
    """
    pairs = zip(shares, chances, strict=True)
    return sum((share * at_most(k - 2, people - 1, chance) for share, chance in pairs), Fraction(0))


def estimated_chances(sizes: Sequence[int]) -> list[Fraction]:
    """Chance of another person to fall into each group: all but one of a group; Good and Turing for groups of one."""
    people = sum(sizes)
    alone, pairs = sizes.count(1), sizes.count(2)
    once = min(Fraction(1), Fraction(2 * pairs, max(alone, 1))) / people
    return [once if size == 1 else Fraction(size - 1, people - 1) for size in sizes]


def at_most(most: int, trials: int, probability: Fraction) -> Fraction:
    """Chance of at most so many successes."""
    return sum(
        (comb(trials, j) * probability**j * (1 - probability) ** (trials - j) for j in range(min(most, trials) + 1)),
        Fraction(0),
    )


def groups_of(rows: Sequence[Sequence[Hashable]], dropped: Sequence[int] = ()) -> dict[tuple[Hashable, ...], list[int]]:
    """Row numbers by their values in the columns that are not dropped."""
    groups: dict[tuple[Hashable, ...], list[int]] = defaultdict(list)
    for number, row in enumerate(rows):
        groups[tuple(value for column, value in enumerate(row) if column not in dropped)].append(number)
    return dict(groups)


def share_below(
    rows: Sequence[Sequence[Hashable]], k: int, dropped: Sequence[int] = (), persons: Sequence[Hashable] | None = None
) -> Fraction:
    """Share of the rows in groups of fewer than k rows, or of fewer than k different persons."""
    below = 0
    for group in groups_of(rows, dropped).values():
        size = len(group) if persons is None else len({persons[number] for number in group})
        below += len(group) if size < k else 0
    return Fraction(below, len(rows))


def greedy_drops(
    rows: Sequence[Sequence[Hashable]], k: int, share: Fraction, persons: Sequence[Hashable] | None = None
) -> list[int]:
    """Columns to drop one after the other, always the one that leaves least below k, until that is tolerated.

    Then: that which leaves fewest groups, then: the one with most values, then: the first.
    """

    def order(column: int) -> tuple[Fraction, int, int, int]:
        after = [*dropped, column]
        values = len({row[column] for row in rows})
        return share_below(rows, k, after, persons), len(groups_of(rows, after)), -values, column

    dropped: list[int] = []
    while share_below(rows, k, dropped, persons) > share and len(dropped) < len(rows[0]):
        left = [column for column in range(len(rows[0])) if column not in dropped]
        dropped.append(min(left, key=order))
    return dropped
