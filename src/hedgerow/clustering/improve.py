"""Lower loss for groups that a clustering has made: regrouping pools of groups, then exchanging records.

Greedy clustering looks at one group at a time, and leaves loss on the table. The search goes on from its groups, inside
the same cells: it takes groups that lose much apart together with groups near them, and groups them anew. At first it
also accepts a somewhat greater loss, later it does not (annealing). In the end records are moved and swapped as long as
that lowers the loss. After every step k and all models hold, and no group crosses a cell, so limits hold too. Records
that the clustering withheld stay withheld. The loss of a cell is never greater than before.

This is ours: no paper of the specification has it. Pseudocode stands in ``docs/explanation/clustering.md``.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from hedgerow import kernels
from hedgerow.clustering.cells import Cells
from hedgerow.clustering.costs import LOSS, Objective, cost_tables
from hedgerow.clustering.diverse import model_tables, value_tables
from hedgerow.clustering.layout import as_recoding, lay_out, without_records
from hedgerow.clustering.threads import IntArray, Progress, run_in_threads
from hedgerow.microdata import Microdata
from hedgerow.privacy import Requirement
from hedgerow.recoding import Recoding

NOTHING, VALUES, EVERYTHING = 0, 1, 2  # as in kernels/regrouping.py


@dataclass(frozen=True)
class Effort:
    """How long to search.

    Attributes
    ----------
    tries
        Pools that are regrouped for every k records.
    neighbours
        Profiles near a record whose groups it may join.
    patience
        Nodes of the index that a search for neighbours looks at, at most.
    heat
        By how much a try may raise the loss at first, in thousandths of what a group loses on average.
    passes
        Rounds of exchanges, at most.
    """

    tries: int
    neighbours: int
    patience: int
    heat: int
    passes: int


EFFORTS = {
    "quick": Effort(tries=9, neighbours=24, patience=1_000, heat=300, passes=2),
    "thorough": Effort(tries=150, neighbours=60, patience=10_000, heat=400, passes=4),
}


@dataclass(frozen=True)
class Improved:
    """A clustering whose groups are improved.

    Attributes
    ----------
    clustering
        What makes the groups.
    requirement
        What must hold of every group.
    effort
        How long to search.
    objective
        What is to be least.

    Examples
    --------
    >>> from hedgerow.clustering import ConstrainedKMember, find_cells
    >>> from hedgerow.microdata import encode_table, read_table
    >>> from hedgerow.plan import Plan
    >>> import pyarrow as pa
    >>> plan = Plan.from_dict({"attributes": {"sex": "quasi-identifier"}, "privacy": {"k": 2}})
    >>> microdata = encode_table(read_table(pa.table({"sex": ["F", "M", "F", "M", "M"]}), plan), plan)
    >>> Improved(ConstrainedKMember(k=2), Requirement(k=2))(microdata, find_cells(microdata, Requirement(k=2)))
    Recoding(5 records in 2 groups)
    """

    clustering: Any
    requirement: Requirement
    effort: Literal["quick", "thorough"] = "quick"
    objective: Objective = LOSS
    seed: int = 0
    threads: int = 1

    def __call__(self, microdata: Microdata, cells: Cells, progress: Progress | None = None) -> Recoding:
        """Form groups within the cells that need not be withheld."""
        groups = self.clustering(microdata, cells=cells, progress=progress)
        effort = EFFORTS[self.effort]
        return improve(
            microdata, cells, groups, self.requirement, effort, self.objective, self.seed, self.threads, progress
        ).groups


@dataclass(frozen=True, eq=False)
class Improvement:
    """Groups that lose less, and what the cells lost before and after, in whole multiples of 1/UNIT.

    Cells too small for two groups, which are as they were, count as losing nothing.
    """

    groups: Recoding
    before: int
    after: int


def improve(
    microdata: Microdata,
    cells: Cells,
    groups: Recoding,
    requirement: Requirement,
    effort: Effort,
    objective: Objective = LOSS,
    seed: int = 0,
    threads: int = 1,
    progress: Progress | None = None,
) -> Improvement:
    """Lower the loss of groups inside cells.

    Every group must hold, and lie in one cell that need not be withheld. A group that the clustering left in two cells
    would be torn apart.
    """
    layout = lay_out(microdata, cells, requirement.k)
    layout.group_of[:] = groups.group_of[layout.units]
    prices = cost_tables(microdata, objective).prices
    kernel = kernels.load("improve").improve_cells
    numbers = (effort.tries, effort.neighbours, effort.patience, effort.heat, effort.passes)
    losses = np.zeros((len(layout.records), 2), np.int64)
    common = _asked(microdata, layout.units, requirement)

    def work(first: int, last: int, done: IntArray, stop: IntArray) -> None:
        kernel(
            layout.codes, layout.unit_start, layout.cell_start, first, last, layout.group_start, prices,
            _with_scratch(common, layout.persons), numbers, seed, layout.group_of, layout.lo, layout.hi, layout.size,
            losses, done, stop,
        )  # fmt: skip

    run_in_threads(work, layout.records, threads, progress)
    layout = without_records(layout)
    before, after = losses.sum(axis=0).tolist()
    return Improvement(as_recoding(microdata, layout), before, after)


def _asked(microdata: Microdata, units: IntArray, requirement: Requirement) -> tuple[Any, ...]:
    """What is asked of every group, as the kernel takes it, for units in the order of a layout."""
    persons = microdata.person_of is not None
    lasts = requirement.survives_growth
    what = NOTHING if not persons and not requirement.models else VALUES if lasts else EVERYTHING
    person = np.zeros(0, np.int64) if microdata.person_of is None else microdata.person_of[units]
    sensitive = microdata.sensitive_of[units] if requirement.models else np.zeros((len(units), 0), np.int64)
    wanted = requirement.distinct_wanted(sensitive.shape[1])
    value_start, overall = value_tables(microdata)
    models, trees = model_tables(requirement, microdata)
    sensitive = np.ascontiguousarray(sensitive)
    return requirement.k, what, person, sensitive, value_start, overall, models, trees, wanted, lasts


def _with_scratch(common: tuple[Any, ...], persons: int) -> tuple[Any, ...]:
    """Add the scratch space of one thread."""
    k, what, person, sensitive, value_start, overall, models, trees, wanted, lasts = common
    stamp, histogram, tally = (
        np.zeros(persons + 1, np.int64),
        np.zeros_like(overall),
        np.zeros(len(wanted) + 1, np.int64),
    )
    return (
        k, what, person, stamp, sensitive, value_start, overall, models, trees, wanted, histogram, tally, lasts
    )  # fmt: skip
