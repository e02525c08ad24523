"""Trees and free intervals over one attribute, how far they may be coarsened, and how they are built."""

from hedgerow.plan.hierarchy.files import read_hierarchy, write_hierarchy
from hedgerow.plan.hierarchy.intervals import Intervals
from hedgerow.plan.hierarchy.tree import Hierarchy

__all__ = ["Hierarchy", "Intervals", "read_hierarchy", "write_hierarchy"]
