"""Losses and scores of a partition, as exact fractions.

``groups`` hold record numbers; ``withheld`` is a count; n is all records, released or withheld. Weights
multiply each attribute's term as they are (not relative to the greatest), in what a withheld record costs
and in NTIL's denominator too; with all ones these are the papers' measures.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from .attributes import Attribute, Box, Record, generalize

Attributes = Sequence[Attribute]
Records = Sequence[Record]
Groups = Sequence[Sequence[int]]


def loss(attributes: Attributes, members: Records) -> Fraction:
    """loss(cl): size times the weighted shares lost."""
    box = generalize(attributes, members)
    shares = (a.weight * a.share_lost(shown) for a, shown in zip(attributes, box, strict=True))
    return len(members) * sum(shares, Fraction(0))


def loss_by_attribute(
    attributes: Attributes,
    records: Records,
    groups: Groups,
    withheld: int,
) -> list[Fraction]:
    """What each attribute adds to the total loss, withheld records included; sums to it."""
    boxes = [generalize(attributes, [records[i] for i in group]) for group in groups]
    return [
        attribute.weight
        * sum(
            (len(group) * attribute.share_lost(box[place]) for group, box in zip(groups, boxes, strict=True)),
            Fraction(withheld),
        )
        for place, attribute in enumerate(attributes)
    ]


def total_loss(attributes: Attributes, records: Records, groups: Groups, withheld: int) -> Fraction:
    """Sum of the groups' losses, plus the most it could be for every withheld record."""
    most = sum((attribute.weight for attribute in attributes), Fraction(0))
    losses = (loss(attributes, [records[i] for i in group]) for group in groups)
    return withheld * most + sum(losses, Fraction(0))


def ntil(attributes: Attributes, records: Records, groups: Groups, withheld: int) -> Fraction:
    """Total loss over the most it could be, in [0, 1]."""
    most = sum((attribute.weight for attribute in attributes), Fraction(0))
    return total_loss(attributes, records, groups, withheld) / (_records_in(groups, withheld) * most)


def discernibility(groups: Groups, withheld: int) -> int:
    """Σ|cl|² + n · withheld."""
    return sum(len(group) ** 2 for group in groups) + _records_in(groups, withheld) * withheld


def normalized_average_group_size(groups: Groups, withheld: int, k: int) -> Fraction:
    """n / (groups · k)."""
    return Fraction(_records_in(groups, withheld), len(groups) * k)


def box_ncp(attributes: Attributes, box: Box) -> Fraction:
    """NCP of one record that shows this box."""
    shares = (a.weight * a.share_covered(shown) for a, shown in zip(attributes, box, strict=True))
    return sum(shares, Fraction(0))


def ncp(attributes: Attributes, records: Records, groups: Groups, withheld: int) -> Fraction:
    """NCP of the whole: every record pays for its group's box, a withheld one the sum of weights."""
    most = sum((attribute.weight for attribute in attributes), Fraction(0))
    boxes = [generalize(attributes, [records[i] for i in group]) for group in groups]
    released = (len(group) * box_ncp(attributes, box) for group, box in zip(groups, boxes, strict=True))
    return withheld * most + sum(released, Fraction(0))


def publish(attributes: Attributes, records: Records, groups: Groups) -> list[Box | None]:
    """What every record shows: its group's box, or None if withheld."""
    shown: list[Box | None] = [None] * len(records)
    for group in groups:
        box = generalize(attributes, [records[i] for i in group])
        for i in group:
            shown[i] = box
    return shown


def limit_breaks(
    attributes: Attributes,
    records: Records,
    published: Sequence[Box | None],
) -> list[tuple[int, int]]:
    """The (record, attribute) pairs whose published value breaks the record's limit; withheld ones cannot."""
    return [
        (number, place)
        for number, (record, box) in enumerate(zip(records, published, strict=True))
        if box is not None
        for place, attribute in enumerate(attributes)
        if attribute.breaks_limit(record[place], box[place])
    ]


def _records_in(groups: Groups, withheld: int) -> int:
    return sum(len(group) for group in groups) + withheld
