"""Did the pattern survive? What readers can find in the original table, and still find in a release of it."""

from hedgerow.evaluation.patterns.distances import DistributionDistance, distances
from hedgerow.evaluation.patterns.features import raw_features, released_features
from hedgerow.evaluation.patterns.observations import Feature, LabelFeature, OrderedFeature, Target
from hedgerow.evaluation.patterns.queries import QueryError, draw_queries, query_error
from hedgerow.evaluation.patterns.tree import DecisionTree, Leaf, Node, TreeSplit, grow

__all__ = [
    "DecisionTree",
    "DistributionDistance",
    "Feature",
    "LabelFeature",
    "Leaf",
    "Node",
    "OrderedFeature",
    "QueryError",
    "Target",
    "TreeSplit",
    "distances",
    "draw_queries",
    "grow",
    "query_error",
    "raw_features",
    "released_features",
]
