"""What any grouping of a few records loses at least, by trying all of them; and a Lagrangian bound at given prices.

For any prices, no grouping loses less than Σ prices + Σ over boxes of min(0, least of Σ (cost − price) over k or more
records in the box): the groups of one box together lose as much as one group of it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations

from .attributes import Attribute, Box, Record, generalize, widen_box
from .improving import May, Share, cost, least_cost

Blocks = Sequence[Sequence[int]]


def least_loss(
    attributes: Sequence[Attribute], records: Sequence[Record], blocks: Blocks, may: May, share: Share
) -> int | None:
    """Least total cost of any grouping of all records of all blocks; None if there is none."""
    total = 0
    for block in blocks:
        least = least_cost(attributes, records, block, may, share)
        if least is None:
            return None
        total += least
    return total


def bound_at(
    attributes: Sequence[Attribute],
    records: Sequence[Record],
    blocks: Blocks,
    k: int,
    prices: Sequence[int],
    share: Share,
    once: bool = False,
) -> int:
    """The bound at some prices; ``once``: a box does not count if a larger one costs the same, which has its groups."""
    total = sum(prices[number] for block in blocks for number in block)
    for block in blocks:
        found = list(boxes(attributes, records, block, share))
        for members, dear in found:
            if once and any(members < others and dear == costs for others, costs in found):
                continue
            total += min(0, cheapest([dear - prices[number] for number in members], k))
    return total


def boxes(
    attributes: Sequence[Attribute], records: Sequence[Record], block: Sequence[int], share: Share
) -> Iterator[tuple[frozenset[int], int]]:
    """The records of every box that a group of a block could have within the limits, and what it costs."""
    seen: set[Box] = set()
    for size in range(1, len(block) + 1):
        for group in combinations(block, size):
            box = generalize(attributes, [records[number] for number in group])
            if box in seen or breaks(attributes, records[group[0]], box):
                continue
            seen.add(box)
            members = frozenset(n for n in block if widen_box(attributes, box, records[n]) == box)
            yield members, cost(attributes, box, share)


def breaks(attributes: Sequence[Attribute], record: Record, box: Box) -> bool:
    """Whether a record shown as a box is shown beyond a limit."""
    return any(a.breaks_limit(code, shown) for a, code, shown in zip(attributes, record, box, strict=True))


def cheapest(worth: Sequence[int], k: int) -> int:
    """Least sum of k or more of some numbers; 0 if there are fewer."""
    ascending = sorted(worth)
    return min((sum(ascending[:size]) for size in range(k, len(worth) + 1)), default=0)
