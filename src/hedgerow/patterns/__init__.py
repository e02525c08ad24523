"""Did the pattern survive? What readers can find in the original table, and still find in a release of it."""

from hedgerow.patterns.distances import Distance, distances
from hedgerow.patterns.features import raw_features, released_features
from hedgerow.patterns.observations import Feature, LabelFeature, OrderedFeature, Target
from hedgerow.patterns.queries import QueryError, draw_queries, query_error
from hedgerow.patterns.tree import Leaf, Node, Split, Tree, grow

__all__ = [
    "Distance",
    "Feature",
    "LabelFeature",
    "Leaf",
    "Node",
    "OrderedFeature",
    "QueryError",
    "Split",
    "Target",
    "Tree",
    "distances",
    "draw_queries",
    "grow",
    "query_error",
    "raw_features",
    "released_features",
]
