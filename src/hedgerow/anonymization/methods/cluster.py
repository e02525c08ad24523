"""Clustering within limits: greedy k-member, with models if the plan has any, and improved if it says so."""

from __future__ import annotations

from hedgerow.anonymization.clustering import ConstrainedKMember, DiverseClustering, Objective, Runs
from hedgerow.anonymization.clustering.improve import EFFORTS
from hedgerow.microdata import Microdata
from hedgerow.plan import Plan
from hedgerow.plan.concepts import MethodDescriptor, Variant
from hedgerow.privacy import Requirement


def make(
    microdata: Microdata, plan: Plan, requirement: Requirement, threads: int, objective: Objective
) -> DiverseClustering | Runs | ConstrainedKMember:
    """Return the clustering; where it is improved for k alone, large blocks need not be clustered first."""
    if requirement.models:
        return DiverseClustering(requirement, plan.seed, threads, plan.method.join, objective=objective)
    if plan.method.improve != "off" and microdata.person_of is None:
        return Runs(requirement.k, plan.seed, threads, objective)
    return ConstrainedKMember(requirement.k, plan.seed, threads, objective)


DESCRIPTOR = MethodDescriptor(
    name="cluster",
    title="clustering",
    help="groups similar people within the limits; usually loses least",
    order=10,
    variants=(
        Variant("cluster", "Groups similar people within the limits; usually loses least", usual=True),
        *(
            Variant(name, f"Groups similar people, then {effort.help}", {"improve": name}, usual=name == "quick")
            for name, effort in EFFORTS.items()
        ),
    ),
    make=make,
    options=frozenset({"objective", "improve", "join", "split"}),
    objectives=("loss", "ncp", "granularity", "research-value"),
)
