"""Greedy clustering under models of attribute disclosure: GreedyCPKA (Campan, Truta and Cooper 2010).

A group starts with a record most diverse from the last start. While it lacks something, it takes the cheapest record
among those that help most: of greatest diversity if the models only count different values (as the paper has it), or
else those that leave the group lacking least. Then it takes the cheapest records until it has k. The records of the
last group, if it cannot be completed, each join the group whose loss grows least.

Deviations from the paper: ties go to the first record in canonical order, where it says "one of them"; the increase of
the loss decides which group a record left over joins (``join="loss"`` is the printed form); the models other than
p-sensitivity are ours. For those, a record that fits no group is withheld.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from hedgerow.anonymization import kernels
from hedgerow.anonymization.clustering.cells import Cells, find_cells
from hedgerow.anonymization.clustering.costs import LOSS, Objective, cost_tables
from hedgerow.anonymization.clustering.layout import as_recoding, lay_out, without_records
from hedgerow.anonymization.clustering.threads import run_in_threads
from hedgerow.anonymization.kernels.tuples.asked import Models, Trees
from hedgerow.microdata import Microdata
from hedgerow.microdata.recoding import Recoding
from hedgerow.privacy import Requirement
from hedgerow.types import IntArray, Steps

WEIGHT_UNIT = 1 << 20


@dataclass(frozen=True)
class DiverseClustering:
    """GreedyCPKA within limits, or GreedyPKClustering without.

    Attributes
    ----------
    requirement
        k and the models.
    join
        Whether a record left over joins the group whose loss grows least, or is least (as printed).
    ignore_limits
        Whether to cluster as if there were no limits.
    objective
        What is to be least.
    """

    requirement: Requirement
    seed: int = 0
    threads: int = 1
    join: Literal["increase", "loss"] = "increase"
    ignore_limits: bool = False
    objective: Objective = LOSS

    def __call__(self, microdata: Microdata, progress: Steps | None = None, cells: Cells | None = None) -> Recoding:
        """Form groups that meet the requirement; ``cells`` may be given if they are known already."""
        cells = cells or find_cells(microdata, self.requirement, self.ignore_limits)
        class_of, class_values = _classes(microdata)
        layout = lay_out(microdata, cells, self.requirement.k, within=class_of, sets=self.objective.counts_sets)
        wanted = self.requirement.distinct_wanted(len(microdata.sensitive))
        value_start, overall = value_tables(microdata)
        models, trees = model_tables(self.requirement, microdata)
        weights = diversity_weights(microdata)
        prices = cost_tables(microdata, self.objective, sets=True).prices
        kernel = kernels.load("diverse").cluster_cells

        def work(first: int, last: int, done: IntArray, stop: IntArray) -> None:
            kernel(
                layout.codes, layout.unit_start, class_of[layout.units], class_values, layout.person, layout.persons,
                layout.cell_start, first, last, layout.group_start, prices, self.requirement.k, self.seed, weights,
                value_start, overall, models, trees, wanted, self.requirement.survives_growth, self.join == "increase",
                layout.group_of, layout.lo, layout.hi, layout.size, done, stop,
            )  # fmt: skip

        run_in_threads(work, layout.records, self.threads, progress)
        layout = without_records(layout)
        return as_recoding(microdata, layout)


def diversity_weights(microdata: Microdata) -> IntArray:
    """Integer weight of each sensitive column's diversity; by default the less the more values it has."""
    raw = [
        (Fraction(1, column.values) if column.weight is None else Fraction(column.weight))
        if column.values
        else Fraction(0)
        for column in microdata.sensitive
    ]
    total = sum(raw, Fraction(0)) or Fraction(1)
    return np.array([(2 * WEIGHT_UNIT * weight + total) // (2 * total) for weight in raw], np.int64)


def _classes(microdata: Microdata) -> tuple[IntArray, IntArray]:
    """Number the combinations of sensitive values in order, missing last; returns them by unit, and their values."""
    sizes = np.array([column.values for column in microdata.sensitive], np.int64)
    ranks = np.where(microdata.sensitive_of < 0, sizes, microdata.sensitive_of)
    found, class_of = np.unique(ranks, axis=0, return_inverse=True)
    return class_of.reshape(-1), np.ascontiguousarray(np.where(found == sizes, -1, found))


def value_tables(microdata: Microdata) -> tuple[IntArray, IntArray]:
    """Where each sensitive column's values begin among all, and the whole table's counts of all values."""
    sizes = [column.values for column in microdata.sensitive]
    value_start = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
    counts = [np.zeros(0, np.int64), *(column.counts for column in microdata.sensitive)]
    return value_start, np.concatenate(counts).astype(np.int64)


def model_tables(requirement: Requirement, microdata: Microdata) -> tuple[Models, Trees]:
    """Lay out models and trees as the kernel takes them."""
    columns = [position for position, _ in requirement.models]
    codes = [model.kernel_code() for _, model in requirement.models]
    models = Models(
        np.array(columns, np.int64),
        np.array([code[0] for code in codes], np.int64),
        *(np.array([code[i] for code in codes], np.float64) for i in (1, 2, 3)),
    )
    parents: list[npt.NDArray[Any]] = []
    heights: list[npt.NDArray[Any]] = []
    leaves: list[npt.NDArray[Any]] = []
    for position in columns:
        column = microdata.sensitive[position]
        tree = column.tree
        parents.append(np.zeros(0, np.int64) if tree is None else tree.parent)
        heights.append(np.zeros(0) if tree is None else tree.heights / max(tree.height, 1))
        leaves.append(column.leaf_node)
    node_start = np.concatenate([[0], np.cumsum([len(part) for part in parents])]).astype(np.int64)
    leaf_start = np.concatenate([[0], np.cumsum([len(part) for part in leaves])]).astype(np.int64)
    trees = Trees(
        parent=np.concatenate([np.zeros(0, np.int64), *parents]).astype(np.int64),
        height=np.concatenate([np.zeros(0), *heights]),
        leaf_node=np.concatenate([np.zeros(0, np.int64), *leaves]).astype(np.int64),
        node_start=node_start,
        leaf_start=leaf_start,
    )
    return models, trees
