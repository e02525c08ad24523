"""Full-domain generalization: the lattice of levels, and searches on it."""

from hedgerow.lattice.conflicts import Patience
from hedgerow.lattice.minimal import MinimalNodes, find_minimal
from hedgerow.lattice.optimal import Optimum, find_optimum
from hedgerow.lattice.recode import recode
from hedgerow.lattice.research import Research, search_research
from hedgerow.lattice.samarati import Found, samarati
from hedgerow.lattice.space import Node, Space, make_space

__all__ = [
    "Found",
    "MinimalNodes",
    "Node",
    "Optimum",
    "Patience",
    "Research",
    "Space",
    "find_minimal",
    "find_optimum",
    "make_space",
    "recode",
    "samarati",
    "search_research",
]
