"""Merging where what is published in a column must be disjoint or equal: every value then lies in one of them only.

Ours; Morton 2013 leaves it open. Each column is cut into *blocks*: runs of codes, each code alone at first. A cluster is
published, in each column, as the block that its records lie in. Merging two clusters unites, in each column, all blocks
from that of the one to that of the other; in a tree all that lie under their common ancestor. So whatever else
lies in these blocks is published wider, too, in all cells, and clusters of a cell that lie in the same block of every
column become one, which keeps the lowest number.

A merge costs what all released records lose more by it. The first cluster that is under is merged with the cluster of
its cell with which it costs least, ties to the lowest number, until none is under. Other models, rounds and suppressed
cells are as in ``utility``: cells of one of the two are suppressed in the columns where that costs less than uniting.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from .research_value import Column, FreeNumbers
from .utility import Cluster, Clusters, Range, Task, clusters_of, task_of


@dataclass
class Blocks:
    """Runs of codes by column, and the clusters, by number, which lie in one block of every column.

    ``where`` is a code in the block of each cluster in each column; ``hidden`` are suppressed (position, column);
    ``grown`` are clusters that others became one with.
    """

    task: Task
    members: dict[int, tuple[int, ...]] = field(default_factory=dict)
    part: dict[int, int] = field(default_factory=dict)
    where: dict[int, list[int]] = field(default_factory=dict)
    cut: list[list[Range]] = field(default_factory=list)
    hidden: set[tuple[int, int]] = field(default_factory=set)
    grown: set[int] = field(default_factory=set)

    def __post_init__(self) -> None:
        for number, found in self.task.start().items():
            self.members[number], self.part[number] = found.members, found.part
            self.where[number] = [low for low, _ in found.box]
        for place, column in enumerate(self.task.columns):
            codes = 1 + max(record[place] for record in self.task.records)
            if not isinstance(column, FreeNumbers):
                codes = len(column.attribute.tree.leaves)
            self.cut.append([(code, code) for code in range(codes)])

    def block(self, place: int, code: int) -> Range:
        return next((low, high) for low, high in self.cut[place] if low <= code <= high)

    def united(self, place: int, one: int, other: int) -> Range:
        """The block that two codes would lie in together."""
        a, b = self.block(place, one), self.block(place, other)
        hull = min(a[0], b[0]), max(a[1], b[1])
        return hull if a == b else around(self.task.columns[place], hull)

    def showing(self, place: int, range_: Range) -> int:
        """Records of clusters that show something in a column, and lie in a range there."""
        return sum(
            range_[0] <= self.task.records[member][place] <= range_[1] and (member, place) not in self.hidden
            for found in self.members.values()
            for member in found
        )

    def shown_by(self, number: int, place: int) -> int:
        return sum((member, place) not in self.hidden for member in self.members[number])

    def uniting(self, place: int, one: int, other: int) -> int:
        """What all records lose more if two codes come into one block."""
        whole = self.united(place, one, other)
        inside = [block for block in self.cut[place] if whole[0] <= block[0] and block[1] <= whole[1]]
        now = sum(int(self.task.cost_in(place, block)) * self.showing(place, block) for block in inside)
        return int(self.task.cost_in(place, whole)) * self.showing(place, whole) - now

    def hiding(self, place: int, gone: int) -> int:
        """What the records of a cluster lose more if they show nothing in a column."""
        now = int(self.task.cost_in(place, self.block(place, self.where[gone][place])))
        return self.shown_by(gone, place) * (self.task.units[place] - now)

    def ways(self, small: int, into: int) -> list[tuple[int, list[int | None]]]:
        """Three ways to merge: what each costs, and whose cells it suppresses, by column."""
        places = range(len(self.task.columns))
        join = [self.uniting(place, self.where[small][place], self.where[into][place]) for place in places]
        found: list[tuple[int, list[int | None]]] = [(sum(join), [None for _ in places])]
        for gone in (small, into) if self.task.suppress else ():
            cost, hides = 0, list[int | None]()
            for place in places:
                less = not self.task.columns[place].is_limited and self.hiding(place, gone) < join[place]
                cost += self.hiding(place, gone) if less else join[place]
                hides.append(gone if less else None)
            found.append((cost, hides))
        return found

    def merge(self, small: int) -> bool:
        """Merge a cluster with the one with which it costs least; tell whether there is one."""
        others = [n for n in sorted(self.members) if n != small and self.part[n] == self.part[small]]
        if not others:
            return False
        into = min(others, key=lambda other: min(cost for cost, _ in self.ways(small, other)))
        _, hides = min(self.ways(small, into), key=lambda way: way[0])
        for place, gone in enumerate(hides):
            if gone is not None:
                kept = into if gone == small else small
                self.hidden |= {(member, place) for member in self.members[gone]}
                self.where[gone][place] = self.where[kept][place]
            else:
                low, high = self.united(place, self.where[small][place], self.where[into][place])
                outside = [block for block in self.cut[place] if block[1] < low or high < block[0]]
                self.cut[place] = sorted([*outside, (low, high)])
        self.gather()
        return True

    def gather(self) -> None:
        """Make one cluster of all in a cell that lie in the same blocks."""
        first: dict[tuple[object, ...], int] = {}
        for one in sorted(self.members):
            key = (self.part[one], *(self.block(place, code) for place, code in enumerate(self.where[one])))
            stays = first.setdefault(key, one)
            if stays != one:
                self.members[stays] += self.members.pop(one)
                self.grown.add(stays)


def around(column: Column, hull: Range) -> Range:
    """The codes of a range, or all under the common ancestor."""
    if isinstance(column, FreeNumbers):
        return hull
    tree = column.attribute.tree
    codes = [tree.numbers[leaf] for leaf in tree.leaves_under(column.show(*hull))]
    return min(codes), max(codes)


def cluster(*asked: object, **more: object) -> Clusters:
    """Cluster records, given as ``utility.task_of`` takes them; no width may be limited."""
    task = task_of(*asked, **more)  # type: ignore[arg-type]
    if any(isinstance(column, FreeNumbers) and column.attribute.width is not None for column in task.columns):
        raise ValueError("a greatest width does not go with ranges that are apart.")
    blocks = Blocks(task)
    for number in sorted(blocks.members):
        while number in blocks.members and task.is_under(blocks.members[number]):
            if not blocks.merge(number):
                break
    while True:
        blocks.grown = set()
        failing = [number for number in sorted(blocks.members) if not task.holds(blocks.members[number])]
        for number in failing:
            if number in blocks.members and number not in blocks.grown:
                blocks.merge(number)
        if not blocks.grown:
            break
    alive = {number: as_cluster(blocks, number) for number in blocks.members if number not in failing}
    return clusters_of(task, alive)


def as_cluster(blocks: Blocks, number: int) -> Cluster:
    members: Sequence[int] = sorted(blocks.members[number])
    box = tuple(blocks.block(place, code) for place, code in enumerate(blocks.where[number]))
    hidden = frozenset((member, place) for member, place in blocks.hidden if member in members)
    return Cluster(tuple(members), box, hidden, blocks.part[number])
