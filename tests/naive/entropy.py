"""Non-uniform entropy of a release, record by record; and what a box costs where there is to be least of it.

A record of value v, published as B, loses log₂(records with a value under B / records with v) bits: among the released
records that show something in the column. A withheld record and a suppressed cell lose the mean of what these would
lose if the whole column were one.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from math import floor, log2

from .attributes import Attribute, Box, Record, Shown, TreeAttribute, generalize, widen_box
from .costs import UNIT

BIT = 2**20


def covered(attribute: Attribute, shown: Shown, code: int) -> bool:
    """Whether a value lies in an interval, or under a node."""
    if isinstance(attribute, TreeAttribute):
        return attribute.tree.leaves[code] in attribute.tree.leaves_under(shown)
    low, high = shown
    return bool(low <= code <= high)


def behind(attribute: Attribute, shown: Shown, codes: Sequence[int]) -> int:
    """Records whose value a published value may stand for."""
    return sum(covered(attribute, shown, code) for code in codes)


def bits(attribute: Attribute, codes: Sequence[int], shown: Sequence[Shown | None], more: int) -> tuple[float, float]:
    """Bits per record that a column tells, and loses; None is a suppressed cell, ``more`` are withheld."""
    known = [code for code, value in zip(codes, shown, strict=True) if value is not None]
    if not known:
        return 0.0, 0.0
    told = sum(log2(len(known) / known.count(code)) for code in known) / len(known)
    lost = sum(
        log2(behind(attribute, value, known) / known.count(code))
        for code, value in zip(codes, shown, strict=True)
        if value is not None
    )
    records = len(codes) + more
    return told, (lost + (records - len(known)) * told) / records


def entropy(
    attributes: Sequence[Attribute], records: Sequence[Record], shown: Sequence[Box | None], more: int
) -> float:
    """Share of all bits that is lost, by weight; ``records`` are the released ones."""
    parts = [
        bits(attribute, [record[place] for record in records], [box and box[place] for box in shown], more)
        for place, attribute in enumerate(attributes)
    ]
    weights = [float(attribute.weight) for attribute in attributes]
    told = sum(weight * told for weight, (told, _) in zip(weights, parts, strict=True))
    lost = sum(weight * lost for weight, (_, lost) in zip(weights, parts, strict=True))
    return lost / told if told else more / (len(records) + more)


@dataclass(frozen=True, eq=False)
class Costs:
    """A box costs, by column, log₂ of the records behind it, as whole numbers: what greedy clustering takes."""

    attributes: Sequence[Attribute]
    records: Sequence[Record]

    @cached_property
    def _known(self) -> dict[tuple[int, Shown], int]:
        return {}

    def box(self, records: Sequence[Record]) -> Box:
        return generalize(self.attributes, records)

    def widen(self, box: Box, record: Record) -> Box:
        return widen_box(self.attributes, box, record)

    def cost(self, box: Box) -> int:
        return sum(self._cost(place, shown) for place, shown in enumerate(box))

    def distance(self, one: Record, other: Record) -> int:
        return self.cost(self.box([one, other]))

    def _cost(self, place: int, shown: Shown) -> int:
        if (place, shown) not in self._known:
            attribute = self.attributes[place]
            count = behind(attribute, shown, [record[place] for record in self.records])
            share = Fraction(round(BIT * log2(max(count, 1))), max(round(BIT * log2(len(self.records))), 1))
            weight = attribute.weight / max(each.weight for each in self.attributes)
            self._known[place, shown] = floor(UNIT * weight * share + Fraction(1, 2))
        return self._known[place, shown]
