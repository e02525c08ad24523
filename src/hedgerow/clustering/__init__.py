"""Clustering: one algorithm per file; each is a frozen dataclass that turns microdata into a recoding."""

from hedgerow.clustering.cells import Cells, find_cells
from hedgerow.clustering.costs import Objective
from hedgerow.clustering.diverse import DiverseClustering
from hedgerow.clustering.improve import Improved
from hedgerow.clustering.k_member import ConstrainedKMember, KMember
from hedgerow.clustering.merging import MergeSmall
from hedgerow.clustering.partition import Partition, Split, split_cells
from hedgerow.clustering.runs import Runs

__all__ = [
    "Cells",
    "ConstrainedKMember",
    "DiverseClustering",
    "Improved",
    "KMember",
    "MergeSmall",
    "Objective",
    "Partition",
    "Runs",
    "Split",
    "find_cells",
    "split_cells",
]
