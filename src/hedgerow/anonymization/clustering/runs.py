"""Where a search for less loss starts: greedy groups in small cells, k consecutive records in others."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from hedgerow.anonymization.clustering.cells import Cells
from hedgerow.anonymization.clustering.costs import LOSS, Objective
from hedgerow.anonymization.clustering.k_member import ConstrainedKMember
from hedgerow.anonymization.clustering.layout import lay_out
from hedgerow.anonymization.clustering.numbering import recoding_of
from hedgerow.microdata import Microdata
from hedgerow.microdata.recoding import WITHHELD, Recoding
from hedgerow.types import Steps


@dataclass(frozen=True)
class Runs:
    """Cut the records of every cell, in the order of their codes, every k; but cluster small cells greedily.

    How a search starts hardly matters to how it ends, and nothing is quicker than runs. In small cells greedy
    clustering is cheap, and chance weighs more: there the search starts from what it is to surpass, and so never ends
    with more. For k records a group, without models and without a person key.

    Examples
    --------
    >>> from hedgerow.anonymization.clustering import find_cells
    >>> from hedgerow.microdata import encode_table, read_table
    >>> from hedgerow.plan import Plan
    >>> from hedgerow.privacy import Requirement
    >>> import pyarrow as pa
    >>> plan = Plan.from_dict({"attributes": {"sex": "quasi-identifier"}, "privacy": {"k": 2}})
    >>> microdata = encode_table(read_table(pa.table({"sex": ["F", "M", "F", "M", "M"]}), plan), plan)
    >>> Runs(k=2)(microdata, find_cells(microdata, Requirement(k=2))).group_of.tolist()
    [1, 1, 0, 0, 0]
    """

    k: int
    seed: int = 0
    threads: int = 1
    objective: Objective = LOSS

    def __call__(self, microdata: Microdata, cells: Cells, progress: Steps | None = None) -> Recoding:
        """Form groups within the cells that need not be withheld."""
        layout = lay_out(microdata, cells, self.k)
        group_of = np.full(len(microdata.record_of), WITHHELD, np.int64)
        if layout.small.any():
            failing = cells.failing.copy()
            failing[np.flatnonzero(~failing)[~layout.small]] = True
            greedy = ConstrainedKMember(self.k, self.seed, self.threads, self.objective)
            group_of = greedy(microdata, progress, replace(cells, failing=failing)).group_of.copy()
        cut = np.repeat(~layout.small, layout.records)
        rank = np.arange(len(layout.units)) - np.repeat(layout.unit_start[layout.cell_start[:-1]], layout.records)
        most = np.repeat(layout.records // self.k - 1, layout.records)
        number = np.repeat(layout.group_start[:-1], layout.records) + np.minimum(rank // self.k, most)
        group_of[layout.units[cut]] = number[cut] + group_of.max(initial=-1) + 1
        return recoding_of(microdata, group_of)
