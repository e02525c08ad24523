"""Clustering within limits: greedy k-member, with models if the plan has any, and improved if it says so."""

from __future__ import annotations

from hedgerow.anonymization.clustering import ConstrainedKMember, DiverseClustering, Objective, Runs
from hedgerow.anonymization.clustering.improve import EFFORTS
from hedgerow.anonymization.clustering.steps import BY_STEPS
from hedgerow.microdata import Microdata
from hedgerow.plan import Plan
from hedgerow.plan.concepts import MethodDescriptor, Variant
from hedgerow.privacy import Requirement

FIRST = "Groups similar people"
RECOMMENDED = {"quick": "Balanced", "thorough": "Least loss"}


def make(
    microdata: Microdata, plan: Plan, requirement: Requirement, threads: int, objective: Objective
) -> DiverseClustering | Runs | ConstrainedKMember:
    """Return the clustering; where it is improved for k alone, large blocks need not be clustered first."""
    if requirement.models:
        return DiverseClustering(requirement, plan.seed, threads, plan.method.join, objective=objective)
    if plan.method.improve not in ("off", *BY_STEPS) and microdata.person_of is None:
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
            Variant(
                name,
                f"Groups similar people, then {effort.help}",
                {"improve": name},
                name == "quick",
                RECOMMENDED.get(name, ""),
            )
            for name, effort in EFFORTS.items()
        ),
        Variant(
            "il-optimization",
            "Groups similar people, then breaks groups that others cover",
            {"improve": "il-optimization"},
        ),
        Variant("steps", "The same, then moves and swaps people as long as less is lost", {"improve": "steps"}),
        Variant(
            "microaggregation",
            "Groups numbers as near to their mean as can be",
            {"objective": "variance", "improve": "quick"},
        ),
        Variant("even", "Groups as many and as even in size as can be, then alike", {"objective": "discernibility"}),
    ),
    make=make,
    options=frozenset({"objective", "improve", "join", "split"}),
    objectives=("loss", "ncp", "granularity", "entropy", "discernibility", "group-size", "research-value", "variance"),
)
