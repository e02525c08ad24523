"""Groups made better step by step: IL_Optimization (Truta and Campan 2007), exact steps, and steps to better sizes.

IL_Optimization breaks groups all of whose records are covered by others. Exact steps go over the groups, pass by pass,
and take every step that lowers the total loss: splitting a group of 2k or more, moving a record, swapping two records,
dissolving a group. Costs are whole numbers, so the loss never rises and the search ends. Limits and models hold after
every step.

Where groups are to be *many* (least average size) or *even* (least discernibility) before anything else, groups of 2k
or more are split, and records moved from large groups to small ones, whatever that loses. The steps after it then take
nothing that would undo it. Pseudocode, and what is proven: ``docs/explanation/clustering.md``.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from hedgerow.anonymization import kernels
from hedgerow.anonymization.clustering.cells import Cells
from hedgerow.anonymization.clustering.costs import LOSS, Objective
from hedgerow.anonymization.clustering.numbering import recoding_of
from hedgerow.anonymization.clustering.standing import Clusters, take_steps
from hedgerow.anonymization.kernels.codes import ANY_SIZES, BROKEN_UP, EVEN, MANY, MOVED, SPLIT, SWAPPED
from hedgerow.microdata import Microdata
from hedgerow.microdata.recoding import Recoding
from hedgerow.plan import Plan
from hedgerow.plan.concepts import objectives
from hedgerow.privacy import Requirement
from hedgerow.types import Steps

PASSES = 5
BY_STEPS = {"il-optimization": 0, "steps": PASSES}
"""Passes of exact steps after IL_Optimization, by the word of a plan."""
SIZES = {"": ANY_SIZES, "many": MANY, "even": EVEN}


@dataclass(frozen=True)
class Stepped:
    """A clustering whose groups are made better step by step.

    Attributes
    ----------
    clustering
        What makes the groups.
    requirement
        What must hold of every group.
    improve
        Whether loss is lowered afterwards: by IL_Optimization, or by exact steps too.
    sizes
        Whether there are to be many groups, or even ones, before loss is looked at.
    objective
        What is to be least.

    Examples
    --------
    >>> from hedgerow.anonymization.clustering import ConstrainedKMember, find_cells
    >>> from hedgerow.microdata import encode_table, read_table
    >>> import pyarrow as pa
    >>> plan = Plan.from_dict({"attributes": {"sex": "quasi-identifier"}, "privacy": {"k": 2}})
    >>> microdata = encode_table(read_table(pa.table({"sex": ["F", "M", "F", "M", "M"]}), plan), plan)
    >>> Stepped(ConstrainedKMember(k=2), Requirement(k=2))(microdata, find_cells(microdata, Requirement(k=2)))
    Recoding(5 records in 2 groups)
    """

    clustering: Any
    requirement: Requirement
    improve: Literal["off", "il-optimization", "steps"] = "steps"
    sizes: Literal["", "many", "even"] = ""
    objective: Objective = LOSS

    def __call__(self, microdata: Microdata, cells: Cells, progress: Steps | None = None) -> Recoding:
        """Form groups within the cells that need not be withheld."""
        groups = self.clustering(microdata, cells=cells, progress=progress)
        clusters = Clusters(
            microdata,
            self.requirement,
            groups.group_of,
            groups.groups,
            room_for_splits(len(groups.group_of), self.requirement.k),
            keep_limits=False,  # cells do
            objective=self.objective,
            cell=cells.cell_of,
        )
        if self.sizes:
            to_better_sizes(clusters, self.sizes, progress)
        if self.improve != "off":
            lower(clusters, BY_STEPS[self.improve], self.sizes, progress)
        return recoding_of(microdata, clusters.place)


def room_for_splits(records: int, k: int) -> int:
    """Clusters for which there is to be room beside those there are."""
    return 8 * (records // k + 1)


def sizes_of(plan: Plan) -> Literal["", "many", "even"]:
    """Whether a plan wants many groups or even ones before anything else."""
    return objectives()[plan.method.objective].sizes


def lower(
    clusters: Clusters, passes: int, sizes: Literal["", "many", "even"] = "", progress: Steps | None = None
) -> dict[str, int]:
    """Lower the loss of clusters by IL_Optimization, then by exact steps; return how many steps of each kind it took.

    Where sizes matter, no cluster is dissolved, and no record moved to a cluster that is as large.
    """
    kernel = kernels.load("lowering")
    broken, found = np.zeros(1, np.int64), np.zeros(4, np.int64)
    if not sizes:
        kernel.break_covered(*clusters.arrays, clusters.covers(), clusters.by_loss(), broken)
    for _ in range(passes):
        before = int(found.sum())
        clusters.plant()
        take_steps(clusters, kernel.improve, lambda: clusters.used, (SIZES[sizes], found), progress)
        if int(found.sum()) == before:
            break
    named = {"split": SPLIT, "moved": MOVED, "swapped": SWAPPED, "dissolved": BROKEN_UP}
    return {"broken": int(broken[0]), **{name: int(found[code]) for name, code in named.items()}}


def to_better_sizes(clusters: Clusters, sizes: Literal["many", "even"], progress: Steps | None = None) -> None:
    """Split what can be split; for even sizes, then move records from large clusters to small ones of their cell."""
    kernel = kernels.load("sizes")
    tally = np.zeros(1, np.int64)
    take_steps(clusters, kernel.split_all, lambda: clusters.used, (tally,), progress)
    if sizes == "even":
        clusters.plant()
        listed, begin = clusters.by_cell()
        take_steps(clusters, kernel.level, lambda: len(begin) - 1, (listed, begin, tally), progress)
