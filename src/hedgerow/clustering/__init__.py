"""Clustering algorithms, one per file: microdata in, recoding out."""

from hedgerow.clustering.cells import Cells, find_cells
from hedgerow.clustering.diverse import DiverseClustering
from hedgerow.clustering.k_member import ConstrainedKMember, KMember

__all__ = ["Cells", "ConstrainedKMember", "DiverseClustering", "KMember", "find_cells"]
