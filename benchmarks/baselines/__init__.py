"""Plain grouping methods, written as scikit-learn's estimators are: parameters first, then ``fit_predict(X)``.

They are what a data scientist would write in an afternoon with numpy: right, readable, and nothing clever. Each returns
a group number for every row of X; every group has at least k rows.
"""

from benchmarks.baselines.mdav import MDAV
from benchmarks.baselines.mondrian import Mondrian
from benchmarks.baselines.nearest import NearestNeighbours

__all__ = ["MDAV", "Mondrian", "NearestNeighbours"]
