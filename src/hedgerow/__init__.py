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
    from hedgerow.anonymization.bounding import Certificate
    from hedgerow.anonymization.explanation import Explanation
    from hedgerow.anonymization.lattice import Patience
    from hedgerow.anonymization.preparing import Prepared, prepare
    from hedgerow.api import (
        anonymize,
        apply,
        bound,
        compare,
        explain,
        lattice,
        leave_out,
        propose_limits,
        save,
        sign,
        verify,
        weights,
    )
    from hedgerow.errors import BrokenPromise, DataError, DoneBut, HedgerowError, NoSolution, PlanError, Problem
    from hedgerow.evaluation.analysing import Estimate, TypedRelease, Utility, read_release, utility
    from hedgerow.evaluation.assessing import Assessment, assess
    from hedgerow.evaluation.attacking import Attack, attack
    from hedgerow.evaluation.comparison import Comparison
    from hedgerow.evaluation.drafting.examining import draft_plan
    from hedgerow.evaluation.exploration import LatticeView
    from hedgerow.evaluation.inspecting import Inspection, inspect
    from hedgerow.evaluation.leaving_out import LeavingOut
    from hedgerow.evaluation.people import repeated_people
    from hedgerow.evaluation.reach import simulate
    from hedgerow.evaluation.tightening import ProposedLimits
    from hedgerow.maintenance import MaintainedRelease, create_release, open_release
    from hedgerow.measures.association import Association
    from hedgerow.plan import Plan
    from hedgerow.plan.hierarchy import Hierarchy, read_hierarchy, write_hierarchy
    from hedgerow.plan.upgrading import Upgrade, upgrade_plan
    from hedgerow.release import Release
    from hedgerow.reports.reporting import Report, report
    from hedgerow.reports.sign_off import SignOff
    from hedgerow.verification import Verification

_HOME = {
    "BrokenPromise": "errors",
    "Certificate": "anonymization.bounding",
    "DataError": "errors",
    "DoneBut": "errors",
    "Estimate": "evaluation.analysing",
    "Explanation": "anonymization.explanation",
    "LatticeView": "evaluation.exploration",
    "LeavingOut": "evaluation.leaving_out",
    "HedgerowError": "errors",
    "Hierarchy": "plan.hierarchy",
    "NoSolution": "errors",
    "Plan": "plan",
    "PlanError": "errors",
    "Prepared": "anonymization.preparing",
    "Problem": "errors",
    "Release": "release",
    "Report": "reports.reporting",
    "SignOff": "reports.sign_off",
    "Verification": "verification",
    "Patience": "anonymization.lattice",
    "MaintainedRelease": "maintenance",
    "create_release": "maintenance",
    "open_release": "maintenance",
    "ProposedLimits": "evaluation.tightening",
    "prepare": "anonymization.preparing",
    "propose_limits": "api",
    "Association": "measures.association",
    "Comparison": "evaluation.comparison",
    "Assessment": "evaluation.assessing",
    "Inspection": "evaluation.inspecting",
    "anonymize": "api",
    "assess": "evaluation.assessing",
    "inspect": "evaluation.inspecting",
    "Attack": "evaluation.attacking",
    "attack": "evaluation.attacking",
    "apply": "api",
    "bound": "api",
    "compare": "api",
    "draft_plan": "evaluation.drafting.examining",
    "repeated_people": "evaluation.people",
    "explain": "api",
    "lattice": "api",
    "leave_out": "api",
    "read_hierarchy": "plan.hierarchy",
    "read_release": "evaluation.analysing",
    "TypedRelease": "evaluation.analysing",
    "Upgrade": "plan.upgrading",
    "Utility": "evaluation.analysing",
    "upgrade_plan": "plan.upgrading",
    "utility": "evaluation.analysing",
    "report": "reports.reporting",
    "save": "api",
    "sign": "api",
    "simulate": "evaluation.reach",
    "verify": "api",
    "weights": "api",
    "write_hierarchy": "plan.hierarchy",
}

__all__ = [
    "Assessment",
    "Association",
    "Attack",
    "BrokenPromise",
    "Certificate",
    "Comparison",
    "DataError",
    "DoneBut",
    "Estimate",
    "Explanation",
    "HedgerowError",
    "Hierarchy",
    "Inspection",
    "LatticeView",
    "LeavingOut",
    "MaintainedRelease",
    "NoSolution",
    "Patience",
    "Plan",
    "PlanError",
    "Prepared",
    "Problem",
    "ProposedLimits",
    "Release",
    "Report",
    "SignOff",
    "TypedRelease",
    "Upgrade",
    "Utility",
    "Verification",
    "__version__",
    "anonymize",
    "apply",
    "assess",
    "attack",
    "bound",
    "compare",
    "create_release",
    "draft_plan",
    "explain",
    "inspect",
    "lattice",
    "leave_out",
    "open_release",
    "prepare",
    "privacy",
    "propose_limits",
    "read_hierarchy",
    "read_release",
    "repeated_people",
    "report",
    "save",
    "sign",
    "simulate",
    "upgrade_plan",
    "utility",
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
