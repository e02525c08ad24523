"""Limits proposed from the data: as tight as a rule makes them while few enough records must be withheld.

``columns`` says how the limit of one column can be tightened by a step; ``search`` takes the steps that pay most;
``proposal`` is what the owner sees of it.
"""

from hedgerow.evaluation.tightening.proposal import ProposedLimit, ProposedLimits, propose_for

__all__ = ["ProposedLimit", "ProposedLimits", "propose_for"]
