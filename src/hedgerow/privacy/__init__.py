"""What may be promised of every group: k, p-sensitivity, l-diversity, t-closeness, likeness; the risks that remain.

One model per file. :class:`Requirement` is all that a plan asks; ``risks`` are those of the three attackers.

May import: ``microdata`` and what is below. Start reading at ``model.py``.
"""

from hedgerow.privacy.conditions import cumulative_frequencies, max_groups, max_p
from hedgerow.privacy.disclosure import attribute_disclosures, largest_shares
from hedgerow.privacy.model import Model, holds_for
from hedgerow.privacy.models.alpha_k import AlphaShare
from hedgerow.privacy.models.beta_likeness import BetaLikeness
from hedgerow.privacy.models.delta_disclosure import DeltaDisclosure
from hedgerow.privacy.models.l_diversity import DistinctL, EntropyL, RecursiveCL
from hedgerow.privacy.models.p_sensitive import PSensitive
from hedgerow.privacy.models.t_closeness import TCloseness
from hedgerow.privacy.requirement import Requirement
from hedgerow.privacy.risks import journalist_among, risks, risks_of_sizes
from hedgerow.privacy.tally import Tally

__all__ = [
    "AlphaShare",
    "BetaLikeness",
    "DeltaDisclosure",
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
    "journalist_among",
    "largest_shares",
    "max_groups",
    "max_p",
    "risks",
    "risks_of_sizes",
]
