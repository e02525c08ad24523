"""Clustering within limits: greedy k-member, with models if the plan has any, and improved if it says so."""

from __future__ import annotations

from hedgerow.anonymization.clustering import ConstrainedKMember, DiverseClustering, Objective, Runs
from hedgerow.anonymization.clustering.steps import BY_STEPS
from hedgerow.microdata import Microdata
from hedgerow.plan import Plan
from hedgerow.plan.concepts import MethodDescriptor, Variant
from hedgerow.privacy import Requirement


def make(
    microdata: Microdata, plan: Plan, requirement: Requirement, threads: int, objective: Objective
) -> DiverseClustering | Runs | ConstrainedKMember:
    """Return the clustering; where it is improved for k alone, the improvement starts from runs in canonical order."""
    if requirement.models:
        return DiverseClustering(requirement, plan.seed, threads, plan.method.join, objective=objective)
    if plan.method.improve not in ("off", *BY_STEPS) and microdata.person_of is None:
        return Runs(requirement.k)
    return ConstrainedKMember(requirement.k, plan.seed, threads, objective)


DESCRIPTOR = MethodDescriptor(
    name="cluster",
    title="clustering",
    help="groups similar people within the limits; usually loses least",
    order=10,
    variants=(
        Variant("cluster", "Groups similar people within the limits; usually loses least", usual=True),
        Variant(
            "quick", "Groups people who are alike, then searches for groups that lose less", {"improve": "quick"}, True
        ),
        Variant("thorough", "The same, ten times as long", {"improve": "thorough"}),
        Variant(
            "il-optimization",
            "Groups similar people, then breaks groups that others cover",
            {"improve": "il-optimization"},
        ),
        Variant("steps", "The same, then moves and swaps people as long as less is lost", {"improve": "steps"}),
        Variant("even", "Groups as many and as even in size as can be, then alike", {"objective": "discernibility"}),
    ),
    make=make,
    options=frozenset({"objective", "improve", "join", "split"}),
    objectives=("loss", "ncp", "granularity", "entropy", "discernibility", "group-size", "research-value"),
)
