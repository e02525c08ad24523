"""``python -m benchmarks.baselines METHOD FOLDER``: read a task from a folder and write its release there.

Prints the CPU seconds that grouping took, without reading and writing."""

from __future__ import annotations

import csv
import sys
import time
from itertools import pairwise
from pathlib import Path

import numpy as np
import numpy.typing as npt

from benchmarks.baselines import MDAV, Mondrian, NearestNeighbours
from benchmarks.penalty import Categories, Numbers
from benchmarks.task import Task


class Encoded:
    """A task's table in numbers: codes by rank or in the order of the tree, with the penalty of every span of codes."""

    def __init__(self, task: Task) -> None:
        self.names: list[list[str]] = []
        self.penalties: list[npt.NDArray[np.float64]] = []
        self.scale: list[npt.NDArray[np.float64]] = []
        self.is_number: list[bool] = []
        codes = []
        for name, column in task.columns().items():
            if isinstance(column, Numbers):
                values = sorted(set(task.cells[name]), key=float)
                numbers = np.array([float(value) for value in values])
                spans = np.maximum(numbers[None, :] - numbers[:, None], 0) / (column.greatest - column.least)
                self.scale.append((numbers - column.least) / (column.greatest - column.least))
            else:
                ordered = sorted(column.paths, key=lambda path: tuple(reversed(path)))
                values = [path[0] for path in ordered]
                spans = _tree_penalties(ordered, column)
                self.scale.append(np.arange(len(values)) / max(1, len(values) - 1))
            at = {value: code for code, value in enumerate(values)}
            codes.append([at[cell] for cell in task.cells[name]])
            self.names.append(values)
            self.penalties.append(spans)
            self.is_number.append(isinstance(column, Numbers))
        self.codes = np.array(codes, np.int64).T.copy()
        self.columns = list(task.columns().values())

    def scaled(self) -> npt.NDArray[np.float64]:
        """Every column between 0 and 1, categories by their place in the tree."""
        return np.stack([scale[self.codes[:, j]] for j, scale in enumerate(self.scale)], axis=1)

    def one_hot(self) -> npt.NDArray[np.float64]:
        """Numbers between 0 and 1; a category as zeros and a one, so that two different ones are 1 apart."""
        parts = []
        for j, scale in enumerate(self.scale):
            codes = self.codes[:, j]
            parts.append(scale[codes][:, None] if self.is_number[j] else np.eye(len(scale))[codes] / np.sqrt(2))
        return np.concatenate(parts, axis=1, dtype=np.float32)

    def release(self, labels: npt.NDArray[np.int64]) -> list[list[str]]:
        """Columns of the release: every group as its smallest box."""
        groups = int(labels.max()) + 1
        shown = []
        for j, column in enumerate(self.columns):
            low = np.full(groups, len(self.names[j]))
            high = np.full(groups, -1)
            np.minimum.at(low, labels, self.codes[:, j])
            np.maximum.at(high, labels, self.codes[:, j])
            names = [self._name(j, column, int(a), int(b)) for a, b in zip(low, high, strict=True)]
            shown.append([names[label] for label in labels])
        return shown

    def _name(self, j: int, column: Numbers | Categories, low: int, high: int) -> str:
        first, last = self.names[j][low], self.names[j][high]
        if low == high:
            return first
        if isinstance(column, Numbers):
            return f"{first}-{last}"
        return next(name for name in _path(column, first) if last in column.under[name])


def _path(column: Categories, leaf: str) -> tuple[str, ...]:
    return next(tuple(path) for path in column.paths if path[0] == leaf)


def _tree_penalties(ordered: list, column: Categories) -> npt.NDArray[np.float64]:  # type: ignore[type-arg]
    """Penalty of the lowest common ancestor of every two leaves."""
    penalties = np.zeros((len(ordered), len(ordered)))
    for a, path in enumerate(ordered):
        for b in range(a + 1, len(ordered)):
            name = next(name for name in path if ordered[b][0] in column.under[name])
            penalties[a, b] = column.penalty(name)
    return penalties


def _naive(task: Task, table: Encoded) -> npt.NDArray[np.int64]:
    """Groups of the tests' plain reference of k-member clustering, which uses neither numpy nor Hedgerow."""
    from fractions import Fraction

    from tests.naive.attributes import FreeAttribute, TreeAttribute
    from tests.naive.costs import Costs
    from tests.naive.k_member import canonical_order, greedy_k_member
    from tests.naive.trees import Tree

    attributes: list[FreeAttribute | TreeAttribute] = []
    for name, column in zip(task.cells, table.columns, strict=True):
        if isinstance(column, Numbers):
            attributes.append(FreeAttribute.over([Fraction(cell) for cell in task.cells[name]]))
        else:
            parents = {lower: upper for path in column.paths for lower, upper in pairwise(path)}
            attributes.append(TreeAttribute(Tree.from_parents(parents, [path[0] for path in column.paths])))
    cells = zip(*task.cells.values(), strict=True)
    records = [
        tuple(
            attribute.code(Fraction(cell) if isinstance(attribute, FreeAttribute) else cell)
            for attribute, cell in zip(attributes, row, strict=True)
        )
        for row in cells
    ]
    order = canonical_order(records)
    labels = np.empty(len(records), np.int64)
    for number, members in enumerate(greedy_k_member(records, Costs(attributes), task.k, seed=0)):
        labels[[order[member] for member in members]] = number
    return labels


def main() -> None:
    """Group, and write."""
    method, folder = sys.argv[1], Path(sys.argv[2])
    task = Task.read(folder)
    table = Encoded(task)
    busy = time.process_time()
    if method == "mondrian":
        labels = Mondrian(task.k).fit_predict(table.scaled())
    elif method == "mdav":
        labels = MDAV(task.k).fit_predict(table.one_hot())
    elif method == "nearest":
        labels = NearestNeighbours(task.k, table.penalties).fit_predict(table.codes)
    else:
        labels = _naive(task, table)
    busy = time.process_time() - busy
    with (folder / "release.csv").open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(task.cells)
        writer.writerows(zip(*table.release(labels), strict=True))
    print(busy)


if __name__ == "__main__":
    main()
