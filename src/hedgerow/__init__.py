"""Hedgerow turns a table about people into a release others may use.

>>> import hedgerow as hr
>>> plan = hr.Plan.from_dict({"attributes": {"sex": "quasi-identifier"}, "privacy": {"k": 2}})
>>> plan
Plan(k=2, quasi-identifiers: sex)

Everything public is here; it is loaded when it is first used, so that ``import hedgerow`` costs next to nothing.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from hedgerow.version import __version__

if TYPE_CHECKING:
    from hedgerow import privacy
    from hedgerow.comparison import Comparison
    from hedgerow.errors import BrokenPromise, DataError, DoneBut, HedgerowError, NoSolution, PlanError, Problem
    from hedgerow.examining import draft_plan
    from hedgerow.explanation import Explanation
    from hedgerow.exploration import LatticeView
    from hedgerow.hierarchy import Hierarchy, read_hierarchy, write_hierarchy
    from hedgerow.lattice import Patience
    from hedgerow.maintained import MaintainedRelease, create_release, open_release
    from hedgerow.measures.association import Association
    from hedgerow.plan import Plan
    from hedgerow.preparing import Prepared, prepare
    from hedgerow.reach import simulate
    from hedgerow.release import Release
    from hedgerow.reporting import Report, report
    from hedgerow.reports.material import SignOff
    from hedgerow.verification import Verification
    from hedgerow.workflow import anonymize, compare, explain, explore_lattice, save, sign, verify, weights

_HOME = {
    "BrokenPromise": "errors",
    "DataError": "errors",
    "DoneBut": "errors",
    "Explanation": "explanation",
    "LatticeView": "exploration",
    "HedgerowError": "errors",
    "Hierarchy": "hierarchy",
    "NoSolution": "errors",
    "Plan": "plan",
    "PlanError": "errors",
    "Prepared": "preparing",
    "Problem": "errors",
    "Release": "release",
    "Report": "reporting",
    "SignOff": "reports.material",
    "Verification": "verification",
    "Patience": "lattice",
    "MaintainedRelease": "maintained",
    "create_release": "maintained",
    "open_release": "maintained",
    "prepare": "preparing",
    "Association": "measures.association",
    "Comparison": "comparison",
    "anonymize": "workflow",
    "compare": "workflow",
    "draft_plan": "examining",
    "explain": "workflow",
    "explore_lattice": "workflow",
    "read_hierarchy": "hierarchy",
    "report": "reporting",
    "save": "workflow",
    "sign": "workflow",
    "simulate": "reach",
    "verify": "workflow",
    "weights": "workflow",
    "write_hierarchy": "hierarchy",
}

__all__ = [
    "Association",
    "BrokenPromise",
    "Comparison",
    "DataError",
    "DoneBut",
    "Explanation",
    "HedgerowError",
    "Hierarchy",
    "LatticeView",
    "MaintainedRelease",
    "NoSolution",
    "Patience",
    "Plan",
    "PlanError",
    "Prepared",
    "Problem",
    "Release",
    "Report",
    "SignOff",
    "Verification",
    "__version__",
    "anonymize",
    "compare",
    "create_release",
    "draft_plan",
    "explain",
    "explore_lattice",
    "open_release",
    "prepare",
    "privacy",
    "read_hierarchy",
    "report",
    "save",
    "sign",
    "simulate",
    "verify",
    "weights",
    "write_hierarchy",
]


def __getattr__(name: str) -> Any:
    if name == "privacy":
        return importlib.import_module("hedgerow.privacy")
    if name not in _HOME:
        raise AttributeError(f"module 'hedgerow' has no attribute {name!r}")
    value = getattr(importlib.import_module(f"hedgerow.{_HOME[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
