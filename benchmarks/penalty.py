"""The normalized certainty penalty of anybody's release, from its cells alone: one definition for all.

Every published cell stands for a set of values: a number for itself, ``20-39`` for an interval, a name in a tree for
the leaves under it, ``a,b`` for a and b, ``*`` for everything. Its penalty is 0 if that is one value, else

- of numbers, the width of the interval over the range of the column in the original;
- of categories, the number of leaves over that of all leaves of the tree.

A withheld record has a penalty of 1 in every cell. The NCP of a release is the mean over all records and columns
(Xu et al. 2006; as a share of all cells, Ghinita et al. 2007). Nothing of Hedgerow is used here.
"""

from __future__ import annotations

import csv
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

INTERVAL = re.compile(r"^\[?(-?[\d.]+)\s*(?:-|,|\.\.)\s*(-?[\d.]+)[\])]?$")


@dataclass(frozen=True)
class Numbers:
    """A column of numbers, from least to greatest."""

    least: float
    greatest: float

    def penalty(self, cell: str) -> float:
        """Share of the range that a cell covers."""
        if cell == "*":
            return 1.0
        found = INTERVAL.match(cell)
        if found is None:
            float(cell)  # one number, or an error
            return 0.0
        low, high = max(float(found[1]), self.least), min(float(found[2]), self.greatest)
        return (high - low) / (self.greatest - self.least)


@dataclass(frozen=True)
class Categories:
    """A column of categories, by the paths of its tree from leaf to root."""

    paths: Sequence[Sequence[str]]

    @cached_property
    def under(self) -> Mapping[str, frozenset[str]]:
        """Leaves under every name."""
        found: dict[str, set[str]] = {}
        for path in self.paths:
            for name in path:
                found.setdefault(name, set()).add(path[0])
        return {name: frozenset(leaves) for name, leaves in found.items()}

    def penalty(self, cell: str) -> float:
        """Share of the leaves that a cell covers; 0 for a single one."""
        names = [cell] if cell in self.under else cell.split(",")
        covered = len(frozenset.union(*(self.under[name] for name in names)))
        return covered / len(self.paths) if covered > 1 else 0.0


Column = Numbers | Categories


def mean_penalty(records: int, release: Mapping[str, Sequence[str]], columns: Mapping[str, Column]) -> float:
    """NCP of a release of so many records, between 0 and 1."""
    total = 0.0
    for name, column in columns.items():
        cells = Counter(release[name])
        total += sum(many * column.penalty(cell) for cell, many in cells.items())
        total += records - len(release[name])
    return total / (records * len(columns))


def read_cells(path: Path) -> dict[str, list[str]]:
    """A CSV file by its columns, every cell as it is written."""
    with path.open(encoding="utf-8", newline="") as file:
        head, *rows = csv.reader(file)
    return {name: [row[position] for row in rows] for position, name in enumerate(head)}
