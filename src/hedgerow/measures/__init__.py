"""What a release costs its readers: one measure per file."""

from hedgerow.measures.end_points import exact_end_points
from hedgerow.measures.granularity import granularity
from hedgerow.measures.group_size import discernibility, normalized_average_group_size
from hedgerow.measures.loss import loss_by_attribute, ntil, total_loss
from hedgerow.measures.ncp import mean_ncp, ncp

__all__ = [
    "discernibility",
    "exact_end_points",
    "granularity",
    "loss_by_attribute",
    "mean_ncp",
    "ncp",
    "normalized_average_group_size",
    "ntil",
    "total_loss",
]
