"""What any grouping of a few records loses at least, by trying all of them; and a Lagrangian bound at given prices.

For any prices, no grouping loses less than Σ prices + Σ over boxes of min(0, least of Σ (cost − price) over k or more
records in the box): the groups of one box together lose as much as one group of it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cache
from itertools import combinations

from .attributes import Attribute, Box, Record, generalize, widen_box
from .improving import May, Share, cost

Blocks = Sequence[Sequence[int]]


def least_loss(
    attributes: Sequence[Attribute], records: Sequence[Record], block: Sequence[int], may: May, share: Share
) -> int | None:
    """Least total cost of any grouping of all records of a block into groups that may stand; None if there is none.

    Of what is left, the first record is put with any others; what is left then is the same question.
    """

    @cache
    def of_group(group: tuple[int, ...]) -> int | None:
        if not may(group):
            return None
        return len(group) * cost(attributes, generalize(attributes, [records[number] for number in group]), share)

    @cache
    def least(left: tuple[int, ...]) -> int | None:
        if not left:
            return 0
        found = []
        for size in range(len(left)):
            for others in combinations(left[1:], size):
                lost = of_group((left[0], *others))
                rest = None if lost is None else least(tuple(n for n in left[1:] if n not in others))
                if lost is not None and rest is not None:
                    found.append(lost + rest)
        return min(found, default=None)

    return least(tuple(block))


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
