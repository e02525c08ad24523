"""Is k within reach at all? Chances for made-up attributes, and what stands in the way in a real table."""

from hedgerow.evaluation.reach.chance import Chance, chance_of_reaching
from hedgerow.evaluation.reach.needed import records_needed
from hedgerow.evaluation.reach.profile import (
    ColumnChange,
    ReachOfK,
    ReachOutlook,
    TableReach,
    reach_of_table,
    tolerated_share,
)
from hedgerow.evaluation.reach.simulation import Simulated, simulate_chance, wilson
from hedgerow.evaluation.reach.uniform import Attempt, Needed, Reach, simulate

__all__ = [
    "Attempt",
    "Chance",
    "ColumnChange",
    "Needed",
    "Reach",
    "ReachOfK",
    "ReachOutlook",
    "Simulated",
    "TableReach",
    "chance_of_reaching",
    "reach_of_table",
    "records_needed",
    "simulate",
    "simulate_chance",
    "tolerated_share",
    "wilson",
]
