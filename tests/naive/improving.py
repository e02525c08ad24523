"""What groups lose under any objective, whether they may stand, and the best there is, by trying everything.

An *objective* is what one record of a group loses in one attribute, as a share: heights, NCP or granularity.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction

from .attributes import Attribute, Box, FreeAttribute, Record, Shown, TreeAttribute, generalize
from .costs import UNIT, round_half_up

Share = Callable[[Attribute, Shown], Fraction]
Groups = Sequence[Sequence[int]]
May = Callable[[Sequence[int]], bool]
"""Whether some records, given by number, may form a group."""


def by_height(attribute: Attribute, shown: Shown) -> Fraction:
    """loss: height of the node over height of the tree, or interval over range."""
    return attribute.share_lost(shown)


def by_leaves(attribute: Attribute, shown: Shown) -> Fraction:
    """ncp: leaves under the node over all leaves, 0 for a single one; or interval over range."""
    return attribute.share_covered(shown) if isinstance(attribute, TreeAttribute) else attribute.share_lost(shown)


def by_further_leaves(attribute: Attribute, shown: Shown) -> Fraction:
    """granularity: leaves under the node but one, over all leaves but one; or interval over range."""
    if isinstance(attribute, FreeAttribute):
        return attribute.share_lost(shown)
    others = len(attribute.tree.leaves) - 1
    return Fraction(len(attribute.tree.leaves_under(shown)) - 1, others) if others else Fraction(0)


OBJECTIVES: dict[str, Share] = {"loss": by_height, "ncp": by_leaves, "granularity": by_further_leaves}


def cost(attributes: Sequence[Attribute], box: Box, share: Share) -> int:
    """What a record of a group costs, in whole numbers: every node, and every end of an interval, is rounded once."""
    heaviest = max(attribute.weight for attribute in attributes)
    total = 0
    for attribute, shown in zip(attributes, box, strict=True):
        unit = UNIT * attribute.weight / heaviest
        if isinstance(attribute, FreeAttribute):
            low, high = (round_half_up(unit * attribute.share_lost((0, end))) for end in shown)
            total += high - low
        else:
            total += round_half_up(unit * share(attribute, shown))
    return total


def total_cost(attributes: Sequence[Attribute], records: Sequence[Record], groups: Groups, share: Share) -> int:
    """Σ size × cost."""
    return sum(
        len(group) * cost(attributes, generalize(attributes, [records[i] for i in group]), share) for group in groups
    )


def partitions(items: Sequence[int]) -> Iterator[list[list[int]]]:
    """All ways to divide some numbers into groups."""
    if not items:
        yield []
        return
    first, rest = items[0], items[1:]
    for parts in partitions(rest):
        yield [[first], *parts]
        for i, part in enumerate(parts):
            yield [*parts[:i], [first, *part], *parts[i + 1 :]]


def least_cost(
    attributes: Sequence[Attribute], records: Sequence[Record], cell: Sequence[int], may: May, share: Share
) -> int | None:
    """Least total cost of any division of a cell into groups that may stand; None if there is none."""
    found = [
        total_cost(attributes, records, parts, share) for parts in partitions(cell) if all(may(part) for part in parts)
    ]
    return min(found, default=None)


def floors(distances: Sequence[Sequence[int]], counts: Sequence[int], k: int) -> list[int]:
    """What a record of each profile costs at least in a group of k: how far the k-th nearest record is."""
    found = []
    for u, row in enumerate(distances):
        order = sorted((v for v in range(len(row)) if v != u), key=row.__getitem__)
        least, within = row[u], counts[u]
        for v in order:
            if within < k:
                least, within = row[v], within + counts[v]
        found.append(least)
    return found


def least_beyond(distances: Sequence[Sequence[int]], floor: Sequence[int], many: int) -> list[list[int]]:
    """For each profile, the least values of *distance − floor of the other*, ascending."""
    others = [[row[v] - floor[v] for v in range(len(row)) if v != u] for u, row in enumerate(distances)]
    return [sorted(row)[:many] for row in others]
