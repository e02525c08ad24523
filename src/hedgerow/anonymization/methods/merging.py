"""Merging what is too small, by one of three aims: research value, loss, or the distance of numbers."""

from __future__ import annotations

from typing import Any

from hedgerow.anonymization.clustering import MergeApart, MergeSmall, Objective
from hedgerow.measures.research_value import column_values
from hedgerow.microdata import Microdata
from hedgerow.plan import Plan
from hedgerow.plan.concepts import MethodDescriptor, Variant
from hedgerow.privacy import Requirement


def make(
    microdata: Microdata, plan: Plan, requirement: Requirement, threads: int, objective: Objective
) -> MergeSmall | MergeApart:
    """Return the merging; single cells may be hidden in columns without a limit, if the plan says so."""
    method = plan.method
    aim: Any = method.name
    unlimited = (name for name in plan.quasi_identifiers if plan.attributes[name].limit is None)
    hideable = frozenset(unlimited if method.suppress else ())
    values = column_values(microdata, plan)
    if method.overlap == "forbidden":
        return MergeApart(requirement, values, aim, hideable)
    return MergeSmall(requirement, values, aim, hideable, threads)


DESCRIPTORS = (
    MethodDescriptor(
        name="utility",
        title="merging by research value",
        help="merges groups that are too small, by research value",
        order=40,
        variants=(
            Variant("utility", "Merges groups by research value", usual=True),
            Variant("utility-suppress", "Merges groups by research value, hides single cells", {"suppress": True}),
            Variant(
                "utility-apart", "Merges groups; every value lies in one range or node only", {"overlap": "forbidden"}
            ),
        ),
        make=make,
        options=frozenset({"improve", "overlap", "suppress"}),
        objectives=("research-value",),
        merges=True,
    ),
    MethodDescriptor(
        name="bottom-up",
        title="merging by loss",
        help="merges groups that are too small, by loss",
        order=50,
        variants=(Variant("bottom-up", "Merges groups by loss", usual=True),),
        make=make,
        options=frozenset({"improve", "overlap"}),
        objectives=("ncp",),
        merges=True,
    ),
    MethodDescriptor(
        name="euclidean",
        title="merging by distance",
        help="merges groups that are too small, by the distance of their numbers",
        order=60,
        variants=(Variant("euclidean", "Merges groups by distance of numbers", usual=True),),
        make=make,
        options=frozenset({"overlap"}),
        objectives=("loss",),
        merges=True,
    ),
)
