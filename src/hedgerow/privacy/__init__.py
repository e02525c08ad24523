"""Models of attribute disclosure, one per file: what the values of a sensitive column must be like in every group."""

from hedgerow.privacy.alpha_k import AlphaShare
from hedgerow.privacy.conditions import cumulative_frequencies, max_groups, max_p
from hedgerow.privacy.disclosure import attribute_disclosures, largest_shares
from hedgerow.privacy.l_diversity import DistinctL, EntropyL, RecursiveCL
from hedgerow.privacy.model import Model, holds_for
from hedgerow.privacy.p_sensitive import PSensitive
from hedgerow.privacy.requirement import Requirement
from hedgerow.privacy.risks import risks, risks_of_sizes
from hedgerow.privacy.t_closeness import TCloseness
from hedgerow.privacy.tally import Tally

__all__ = [
    "AlphaShare",
    "DistinctL",
    "EntropyL",
    "Model",
    "PSensitive",
    "RecursiveCL",
    "Requirement",
    "TCloseness",
    "Tally",
    "attribute_disclosures",
    "cumulative_frequencies",
    "holds_for",
    "largest_shares",
    "max_groups",
    "max_p",
    "risks",
    "risks_of_sizes",
]
