"""The plan: one readable file that says what every column is, how far it may be coarsened, and what must hold."""

from hedgerow.plan.model import (
    Attribute,
    DataFormat,
    HierarchySpec,
    Limit,
    Method,
    Privacy,
    ResearchValue,
    Rule,
    Withhold,
)
from hedgerow.plan.plan import Plan

__all__ = [
    "Attribute",
    "DataFormat",
    "HierarchySpec",
    "Limit",
    "Method",
    "Plan",
    "Privacy",
    "ResearchValue",
    "Rule",
    "Withhold",
]
