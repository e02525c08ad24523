"""Partitioning by recursion, and splitting large cells the same way (after Mondrian, LeFevre et al. 2006; strict).

A part is cut in the attribute that its box costs most in; ties go to the first attribute. Where: at the boundary
between two codes that occur, nearest to the median of the part's records; ties go to the lower boundary. In a tree the
boundaries between children of the part's own node are tried first, then the others. If the nearest boundary of a kind
is not allowed, the next kind is tried, then the next attribute.

A part that holds (k records or persons, and all models) is cut only where both sides hold. A part that does not hold,
but may have parts that do, is cut where one side holds; failing that, where one side may have parts that hold. What
does not hold in the end is withheld.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from .attributes import Attribute, Record, TreeAttribute
from .cells import cells
from .constrained import Clustering, parts_within_width
from .costs import Costs
from .privacy import Demands, Sensitive

Part = list[int]
Allowed = Callable[[Part, Part], bool]


@dataclass(frozen=True, eq=False)
class Partitioner:
    """Records with what is asked of their groups; parts are lists of record numbers."""

    attributes: Sequence[Attribute]
    records: Sequence[Record]
    k: int
    persons: Sequence[int] | None = None
    sensitive: Sequence[Sensitive] = ()
    demands: Demands | None = None

    def holds(self, part: Part) -> bool:
        """Whether a part can be published as a group."""
        return self.is_large_enough(part) and self.meets(part, self.demands)

    def may_hold(self, part: Part) -> bool:
        """Whether a part fails nothing that all its parts would fail too."""
        return self.is_large_enough(part) and self.meets(part, self.demands and self.demands.only_counting())

    def is_large_enough(self, part: Part) -> bool:
        return len(part if self.persons is None else {self.persons[i] for i in part}) >= self.k

    def meets(self, part: Part, demands: Demands | None) -> bool:
        return demands is None or demands.hold([self.sensitive[i] for i in part])

    # ---- cuts --------------------------------------------------------------------------------------------

    def attributes_to_cut(self, part: Part) -> list[int]:
        """Attributes with more than one code, dearest first."""
        costs = Costs(self.attributes)
        least = [min(self.records[i][place] for i in part) for place in range(len(self.attributes))]

        def cost(place: int) -> int:
            """Cost of a box that is a single point but for this attribute."""
            rows = [(*least[:place], self.records[i][place], *least[place + 1 :]) for i in part]
            return costs.cost(costs.box(rows))

        several = [p for p in range(len(self.attributes)) if len({self.records[i][p] for i in part}) > 1]
        return sorted(several, key=cost, reverse=True)  # equals keep their order

    def boundaries(self, part: Part, place: int) -> list[list[int]]:
        """Codes after which the part may be cut, by kind: along the hierarchy, and others."""
        attribute = self.attributes[place]
        codes = sorted({self.records[i][place] for i in part})
        if not isinstance(attribute, TreeAttribute):
            return [codes[:-1]]
        tree = attribute.tree
        top = tree.lca(tree.leaves[code] for code in codes)
        along = [a for a, b in pairwise(codes) if tree.lca((tree.leaves[a], tree.leaves[b])) == top]
        return [along, [code for code in codes[:-1] if code not in along]]

    def candidates(self, part: Part) -> Iterator[tuple[Part, Part]]:
        """The two sides of every cut that is tried, in order."""
        for place in self.attributes_to_cut(part):
            for kind in self.boundaries(part, place):
                if kind:
                    sides = [self.sides(part, place, code) for code in kind]
                    yield min(sides, key=lambda both: abs(len(both[0]) - len(both[1])))

    def sides(self, part: Part, place: int, code: int) -> tuple[Part, Part]:
        left = [i for i in part if self.records[i][place] <= code]
        return left, [i for i in part if self.records[i][place] > code]

    def cut(self, part: Part, give_up: bool = False) -> tuple[Part, Part] | None:
        """The first cut that is allowed; with ``give_up`` there is none for a part that does not hold."""
        wanted: list[Allowed] = [
            lambda left, right: self.holds(left) or self.holds(right),
            lambda left, right: self.may_hold(left) or self.may_hold(right),
        ]
        if self.holds(part):
            wanted = [lambda left, right: self.holds(left) and self.holds(right)]
        elif give_up or not self.may_hold(part):
            return None
        for allowed in wanted:
            for left, right in self.candidates(part):
                if allowed(left, right):
                    return left, right
        return None

    # ---- whole tables --------------------------------------------------------------------------------------

    def cells(self) -> list[Part]:
        """The cells, or their runs within a greatest width, of which something may be released."""
        whole = cells(self.attributes, self.records)
        parts = [
            part
            for cell in whole
            for part in parts_within_width(self.attributes, self.records, cell, self.k, self.persons)
        ]
        return [part for part in parts if self.may_hold(part)]

    def groups(self, part: Part) -> list[Part]:
        """Parts of a part that are published."""
        cut = self.cut(part)
        if cut is None:
            return [part] if self.holds(part) else []
        return [*self.groups(cut[0]), *self.groups(cut[1])]

    def split(self, part: Part, most: int) -> list[Part]:
        """Parts of at most so many different records, as far as it can be cut."""
        few = len({self.records[i] for i in part}) <= most
        cut = None if few else self.cut(part, give_up=True)
        return [part] if cut is None else [*self.split(cut[0], most), *self.split(cut[1], most)]


def partition(partitioner: Partitioner) -> Clustering:
    """Partition every cell. Records must be in canonical order if an attribute has a greatest width."""
    groups = [tuple(group) for cell in partitioner.cells() for group in partitioner.groups(cell)]
    released = {i for group in groups for i in group}
    return Clustering(tuple(groups), tuple(i for i in range(len(partitioner.records)) if i not in released))
