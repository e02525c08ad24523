"""Drafting a plan for a table that has none."""

from hedgerow.drafting.column import Column
from hedgerow.drafting.distribution import Distribution, distribution
from hedgerow.drafting.examination import Examination
from hedgerow.drafting.propose import Proposal

__all__ = ["Column", "Distribution", "Examination", "Proposal", "distribution"]
