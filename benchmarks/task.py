"""A table and what is asked of it, in files that any tool can read: ``data.csv`` and ``task.json``.

``task.json`` has k, and for every column either its bands (numbers) or the paths of its tree from leaf to root
(categories). A tool writes ``release.csv``: the same columns, one row for every record that it does not withhold.
"""

from __future__ import annotations

import csv
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.penalty import Categories, Column, Numbers, mean_penalty, read_cells


@dataclass(frozen=True)
class Task:
    """What every tool is given.

    Attributes
    ----------
    k
        Records in a group, at least.
    cells
        The table, by its columns.
    bands
        Widths of the levels of columns of numbers, for tools that need levels.
    paths
        Paths from leaf to root of all other columns.
    """

    k: int
    cells: Mapping[str, Sequence[str]]
    bands: Mapping[str, Sequence[int]]
    paths: Mapping[str, Sequence[Sequence[str]]]

    @property
    def records(self) -> int:
        """Number of records."""
        return len(next(iter(self.cells.values())))

    def columns(self) -> dict[str, Column]:
        """What the penalty is counted by."""
        found: dict[str, Column] = {}
        for name, cells in self.cells.items():
            if name in self.bands:
                numbers = {float(cell) for cell in set(cells)}
                found[name] = Numbers(min(numbers), max(numbers))
            else:
                found[name] = Categories(self.paths[name])
        return found

    def write(self, folder: Path) -> None:
        """Write both files."""
        with (folder / "data.csv").open("w", encoding="utf-8", newline="") as file:
            writer = csv.writer(file, lineterminator="\n")
            writer.writerow(self.cells)
            writer.writerows(zip(*self.cells.values(), strict=True))
        told: dict[str, Any] = {"k": self.k, "bands": dict(self.bands), "paths": dict(self.paths)}
        (folder / "task.json").write_text(json.dumps(told), encoding="utf-8")

    @classmethod
    def read(cls, folder: Path) -> Task:
        """Read them."""
        told = json.loads((folder / "task.json").read_text(encoding="utf-8"))
        return cls(told["k"], read_cells(folder / "data.csv"), told["bands"], told["paths"])

    @staticmethod
    def read_k(folder: Path) -> int:
        """Only its k."""
        return int(json.loads((folder / "task.json").read_text(encoding="utf-8"))["k"])

    def penalty_of(self, release: Path) -> tuple[float, int]:
        """NCP of a release, and how many records it withholds."""
        cells = read_cells(release)
        released = len(next(iter(cells.values())))
        return mean_penalty(self.records, cells, self.columns()), self.records - released
