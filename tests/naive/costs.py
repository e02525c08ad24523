"""Integer costs: the loss of a group per record, in fixed point.

Clustering compares costs, so they are integers and ties are exact. Weights count relative to the
greatest, and every term is rounded half up once:

- tree: ``cost(node) = floor(UNIT * w/w_max * height(node)/height(root) + 1/2)``;
- free: ``pos(v) = floor(UNIT * w/w_max * (v - min)/(max - min) + 1/2)``, and an interval costs
  ``pos(hi) - pos(lo)``; min and max are those of the whole microdata.

An attribute of height or range 0 costs 0.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from math import floor

from .attributes import Attribute, Box, FreeAttribute, Record, TreeAttribute, generalize, widen_box
from .trees import Node

UNIT = 720720 * 1024


def round_half_up(number: Fraction) -> int:
    """floor(x + 1/2)."""
    return floor(number + Fraction(1, 2))


def node_costs(attribute: TreeAttribute, relative_weight: Fraction) -> dict[Node, int]:
    """Cost of every node of a tree attribute."""
    unit = UNIT * relative_weight
    return {node: round_half_up(unit * attribute.share_lost(node)) for node in attribute.tree.paths}


def rank_positions(attribute: FreeAttribute, relative_weight: Fraction) -> list[int]:
    """pos(v) of every value of a free attribute, by rank."""
    unit = UNIT * relative_weight
    ranks = range(len(attribute.values))
    return [round_half_up(unit * attribute.share_lost((0, rank))) for rank in ranks]


@dataclass(frozen=True, eq=False)
class Costs:
    """Costs of boxes over a list of attributes."""

    attributes: Sequence[Attribute]

    @cached_property
    def _tables(self) -> list[dict[Node, int] | list[int]]:
        heaviest = max(attribute.weight for attribute in self.attributes)
        tables: list[dict[Node, int] | list[int]] = []
        for attribute in self.attributes:
            relative = attribute.weight / heaviest
            if isinstance(attribute, TreeAttribute):
                tables.append(node_costs(attribute, relative))
            else:
                tables.append(rank_positions(attribute, relative))
        return tables

    def box(self, records: Sequence[Record]) -> Box:
        """The box of a group."""
        return generalize(self.attributes, records)

    def widen(self, box: Box, record: Record) -> Box:
        """The box with one more record in it."""
        return widen_box(self.attributes, box, record)

    def cost(self, box: Box) -> int:
        """Cost of a box: the sum over its attributes."""
        return sum(
            table[shown] if isinstance(table, dict) else table[shown[1]] - table[shown[0]]
            for table, shown in zip(self._tables, box, strict=True)
        )

    def distance(self, one: Record, other: Record) -> int:
        """Distance of two records: the cost of the pair's generalization."""
        return self.cost(self.box([one, other]))
