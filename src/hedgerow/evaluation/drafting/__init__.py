"""Drafting a plan for a table that has none."""

from hedgerow.evaluation.drafting.column import SeenColumn
from hedgerow.evaluation.drafting.distribution import Distribution, distribution
from hedgerow.evaluation.drafting.examination import Examination
from hedgerow.evaluation.drafting.propose import Proposal

__all__ = ["Distribution", "Examination", "Proposal", "SeenColumn", "distribution"]
