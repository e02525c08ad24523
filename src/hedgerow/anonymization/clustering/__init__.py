"""Clustering: one algorithm per file; each is a frozen dataclass that turns microdata into a recoding."""

from hedgerow.anonymization.clustering.apart import MergeApart
from hedgerow.anonymization.clustering.cells import Cells, find_cells
from hedgerow.anonymization.clustering.costs import Objective
from hedgerow.anonymization.clustering.diverse import DiverseClustering
from hedgerow.anonymization.clustering.improve import Improved
from hedgerow.anonymization.clustering.k_member import ConstrainedKMember, KMember
from hedgerow.anonymization.clustering.linked import Linked
from hedgerow.anonymization.clustering.merging import MergeSmall
from hedgerow.anonymization.clustering.microaggregation import Microaggregation
from hedgerow.anonymization.clustering.partition import Partition, Split, split_cells
from hedgerow.anonymization.clustering.runs import Runs
from hedgerow.anonymization.clustering.steps import Stepped

__all__ = [
    "Cells",
    "ConstrainedKMember",
    "DiverseClustering",
    "Improved",
    "KMember",
    "Linked",
    "MergeApart",
    "MergeSmall",
    "Microaggregation",
    "Objective",
    "Partition",
    "Runs",
    "Split",
    "Stepped",
    "find_cells",
    "split_cells",
]
