"""What the owner asks, in one immutable object: read, checked, resolved and written here, with its hierarchies.

``hierarchy/`` has trees, free intervals and limits; ``model`` the keys of a plan; ``check`` what they may not say
together; ``plan`` the :class:`Plan` itself.

May import: ``outside``, ``errors``. Start reading at ``model.py``.
"""

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
from hedgerow.plan.plan import Plan, settled_plan

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
    "settled_plan",
]
