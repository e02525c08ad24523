"""Is k within reach at all? Chances for made-up attributes, and what stands in the way in a real table (SPEC §7)."""

from hedgerow.reach.chance import Chance, chance_of_reaching
from hedgerow.reach.needed import records_needed
from hedgerow.reach.profile import Change, Outlook, ReachOfK, TableReach, reach_of_table, tolerated_share
from hedgerow.reach.simulation import Simulated, simulate_chance, wilson
from hedgerow.reach.uniform import Attempt, Needed, Reach, simulate

__all__ = [
    "Attempt",
    "Chance",
    "Change",
    "Needed",
    "Outlook",
    "Reach",
    "ReachOfK",
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
