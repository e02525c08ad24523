"""Who of a population fits what is published, in plain loops: k-map, δ-presence, and the best levels under them.

A value is written with its way up, from itself to the root; a limit is a place on that way. Somebody fits a published
combination if it stands, in every column, on the way up from their value and not above their limit.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import product

Row = tuple[str, ...]
Ways = Mapping[str, tuple[str, ...]]


@dataclass(frozen=True)
class Task:
    """Ways up and limits (a place on them) by column, records, population, and what is asked."""

    ways: Sequence[Ways]
    limits: Sequence[Mapping[str, int]]
    records: Sequence[Row]
    population: Sequence[Row]
    k: int
    k_map: int = 0
    presence: tuple[Fraction, Fraction] | None = None

    def fits(self, person: Row, labels: Row) -> bool:
        """Whether published labels are true of somebody, and within their limits."""
        for column, (value, label) in enumerate(zip(person, labels, strict=True)):
            way = self.ways[column].get(value, ())
            if label not in way[: self.limits[column][value] + 1]:
                return False
        return True

    def people(self, labels: Row) -> int:
        """How many people of the population fit."""
        return sum(self.fits(person, labels) for person in self.population)

    def is_met(self, size: int, people: int) -> bool:
        """Whether a group of so many records that so many people fit has all that is asked."""
        if size < self.k or people < self.k_map:
            return False
        if self.presence is None:
            return True
        return people > 0 and self.presence[0] <= Fraction(size, people) <= self.presence[1]

    # -- whole levels ----------------------------------------------------------------------------------------------

    def at(self, row: Row, levels: Sequence[int]) -> Row:
        """What a row is published as at levels, each value stopping at its own limit."""
        shown = []
        for column, (value, level) in enumerate(zip(row, levels, strict=True)):
            way = self.ways[column][value]
            shown.append(way[min(level, len(way) - 1, self.limits[column][value])])
        return tuple(shown)

    def withheld_at(self, levels: Sequence[int]) -> list[int]:
        """Records in groups that fail at these levels."""
        groups: dict[Row, list[int]] = {}
        for number, record in enumerate(self.records):
            groups.setdefault(self.at(record, levels), []).append(number)
        gone: list[int] = []
        for labels, members in groups.items():
            people = sum(self.at(person, levels) == labels for person in self.population)
            if not self.is_met(len(members), people):
                gone += members
        return gone

    def loss_at(self, levels: Sequence[int], gone: Sequence[int]) -> Fraction:
        """Mean share of the height that is lost; a withheld record loses all."""
        total = Fraction(0)
        for number, record in enumerate(self.records):
            if number in gone:
                total += 1
                continue
            shown = self.at(record, levels)
            for column, (value, label) in enumerate(zip(record, shown, strict=True)):
                way = self.ways[column][value]
                total += Fraction(way.index(label), len(way) - 1) / len(record)
        return total / len(self.records)

    def best(self, budget: int) -> Fraction | None:
        """The least loss of all levels that withhold no more than the budget."""
        heights = [max(len(way) for way in ways.values()) for ways in self.ways]
        found = []
        for levels in product(*(range(height) for height in heights)):
            gone = self.withheld_at(levels)
            if len(gone) <= budget:
                found.append(self.loss_at(levels, gone))
        return min(found, default=None)


def groups_of(rows: Sequence[Row]) -> Iterator[tuple[Row, int]]:
    """Every published combination and how many rows have it."""
    counts: dict[Row, int] = {}
    for row in rows:
        counts[row] = counts.get(row, 0) + 1
    yield from counts.items()


def judge(task: Task, rows: Sequence[Row], people: Callable[[Row], int] | None = None) -> bool:
    """Whether every published combination has what is asked."""
    return all(task.is_met(size, (people or task.people)(labels)) for labels, size in groups_of(rows))
