"""Full-domain generalization: the lattice of levels, and searches on it."""

from hedgerow.anonymization.lattice.conflicts import Patience
from hedgerow.anonymization.lattice.failing import Failing, failing_at
from hedgerow.anonymization.lattice.minimal import MinimalNodes, find_minimal
from hedgerow.anonymization.lattice.optimal import Optimum, find_optimum
from hedgerow.anonymization.lattice.recode import recode
from hedgerow.anonymization.lattice.research import Research, search_research
from hedgerow.anonymization.lattice.samarati import LowestNodes, samarati
from hedgerow.anonymization.lattice.space import Node, Space, make_space

__all__ = [
    "Failing",
    "LowestNodes",
    "MinimalNodes",
    "Node",
    "Optimum",
    "Patience",
    "Research",
    "Space",
    "failing_at",
    "find_minimal",
    "find_optimum",
    "make_space",
    "recode",
    "samarati",
    "search_research",
]
