"""What a release loses and what it is worth: loss, NCP, granularity, group sizes, research value, association.

May import: ``microdata`` and what is below. Start reading at ``loss.py``.
"""

from hedgerow.measures.end_points import exact_end_points
from hedgerow.measures.group_size import discernibility, normalized_average_group_size
from hedgerow.measures.leaf_shares import granularity, mean_ncp, ncp
from hedgerow.measures.loss import loss_by_attribute, ntil, share_lost_by_attribute, total_loss
from hedgerow.measures.research_value import column_values, mean_group_value, rules_kept, value_by_attribute

__all__ = [
    "column_values",
    "discernibility",
    "exact_end_points",
    "granularity",
    "loss_by_attribute",
    "mean_group_value",
    "mean_ncp",
    "ncp",
    "normalized_average_group_size",
    "ntil",
    "rules_kept",
    "share_lost_by_attribute",
    "total_loss",
    "value_by_attribute",
]
