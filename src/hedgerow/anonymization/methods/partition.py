"""Partitioning: cuts the table in halves as long as both hold."""

from __future__ import annotations

from hedgerow.anonymization.clustering import Objective, Partition
from hedgerow.microdata import Microdata
from hedgerow.plan import Plan
from hedgerow.plan.concepts import MethodDescriptor, Variant
from hedgerow.privacy import Requirement


def make(microdata: Microdata, plan: Plan, requirement: Requirement, threads: int, objective: Objective) -> Partition:
    """Return the partitioner."""
    return Partition(requirement)


DESCRIPTOR = MethodDescriptor(
    name="partition",
    title="partitioning",
    help="cuts the table in halves; very fast, usually loses more",
    order=20,
    variants=(Variant("partition", "Cuts the table in halves; very fast, usually loses more", recommended="Fast"),),
    make=make,
    options=frozenset({"objective", "improve"}),
    objectives=("loss", "ncp", "granularity", "entropy", "research-value"),
    objective_if_improved=True,
)
