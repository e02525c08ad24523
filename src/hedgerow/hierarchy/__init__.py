"""Trees and free intervals over one attribute, how far they may be coarsened, and how they are built."""

from hedgerow.hierarchy.files import read_hierarchy, write_hierarchy
from hedgerow.hierarchy.intervals import Intervals
from hedgerow.hierarchy.tree import Hierarchy

__all__ = ["Hierarchy", "Intervals", "read_hierarchy", "write_hierarchy"]
