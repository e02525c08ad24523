"""Methods side by side: what each release risks, what it loses, and whether the patterns of the data survive in it.

What is compared is measured on the original records too, and says something about them: it is for the owner's eyes.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from hedgerow.errors import HedgerowError, Problem, did_you_mean
from hedgerow.microdata import Microdata, Table
from hedgerow.patterns import distances, grow, query_error, raw_features, released_features
from hedgerow.plan import Plan
from hedgerow.privacy import risks
from hedgerow.privacy.matching import matching_records
from hedgerow.privacy.requirement import people_by_group
from hedgerow.recoding import Recoding

METHODS: dict[str, dict[str, Any]] = {
    "cluster": {"name": "cluster"},
    "quick": {"name": "cluster", "improve": "quick"},
    "thorough": {"name": "cluster", "improve": "thorough"},
    "partition": {"name": "partition"},
    "lattice": {"name": "lattice"},
    "exact": {"name": "lattice", "objective": "research-value", "search": "exact"},
    "global": {"name": "lattice", "objective": "research-value", "search": "global"},
    "local": {"name": "lattice", "objective": "research-value", "search": "local"},
    "hybrid": {"name": "lattice", "objective": "research-value", "search": "hybrid"},
    "divided": {"name": "lattice", "objective": "research-value", "search": "divided"},
    "utility": {"name": "utility"},
    "utility-suppress": {"name": "utility", "suppress": True},
    "utility-apart": {"name": "utility", "overlap": "forbidden"},
    "bottom-up": {"name": "bottom-up"},
    "euclidean": {"name": "euclidean"},
}
"""Methods by the names that a comparison knows them by; ``plan`` is the plan's own."""
USUAL = ("cluster", "quick", "exact", "utility", "bottom-up", "euclidean")
PURE = 0.95
MEASURES = ("research_value", "mean_group_value", "ntil", "ncp", "granularity", "discernibility")


@dataclass(frozen=True)
class Run:
    """One method at one k.

    Attributes
    ----------
    method, k
        What was run.
    problem
        Why there is no release, if there is none; everything else is empty then.
    facts
        The facts of the release.
    tree
        Decision tree of the release, if a target was named.
    queries, distances, risks
        Error of range queries, distance of each column's distribution, risks of being found.
    """

    method: str
    k: int
    problem: str = ""
    facts: dict[str, Any] | None = None
    tree: dict[str, Any] | None = None
    queries: dict[str, Any] | None = None
    distances: dict[str, Any] | None = None
    risks: dict[str, Any] | None = None

    def to_dict(self) -> dict[str, Any]:
        """Return plain data."""
        if self.facts is None:
            return {"method": self.method, "k": self.k, "problem": self.problem}
        return {
            "method": self.method,
            "k": self.k,
            "measures": {name: self.facts[name] for name in MEASURES},
            "groups": self.facts["groups"],
            "smallest_group": self.facts["smallest_group"],
            "withheld": self.facts["withheld"],
            "suppressed_cells": sum(self.facts.get("suppressed_cells", {}).values()),
            "levels": self.facts.get("levels"),
            "search": {name: self.facts["search"][name] for name in ("name", "tested", "strings", "proven", "bound")}
            if "search" in self.facts
            else None,
            "rules": self.facts.get("rules", []),
            "risks": self.risks,
            "queries": self.queries,
            "distances": self.distances,
            "tree": self.tree,
        }


@dataclass(frozen=True)
class Comparison:
    """Several methods at several k.

    Attributes
    ----------
    target
        Column that the decision trees tell from the others, or None.
    original
        Decision tree of the original records.
    runs
        The releases, in the order of k and methods asked for.
    """

    records: int
    target: str | None
    original: dict[str, Any] | None
    runs: tuple[Run, ...]

    def to_dict(self) -> dict[str, Any]:
        """Return plain data."""
        return {
            "records": self.records,
            "target": self.target,
            "original": self.original,
            "runs": [run.to_dict() for run in self.runs],
        }

    def points(self) -> list[dict[str, Any]]:
        """Risk and utility of every release, for a plot."""
        return [
            {
                "method": run.method,
                "k": run.k,
                "risk": run.risks["prosecutor"]["average"],
                "utility": run.facts["mean_group_value"],
            }
            for run in self.runs
            if run.facts is not None and run.risks is not None
        ]

    def __repr__(self) -> str:
        made = [run for run in self.runs if run.facts is not None]
        return f"Comparison({len(made)} of {len(self.runs)} releases made of {self.records:,} records)"


def check_names(plan: Plan, methods: Sequence[str], target: str | None) -> None:
    """Refuse methods that are not known, and a target that is not released, before any work is done."""
    names = ("plan", *METHODS)
    for method in methods:
        if method not in names:
            message = f"There is no method {method!r} to compare."
            raise HedgerowError(Problem("usage", message, hint=did_you_mean(method, names) or ", ".join(names)))
    if target is not None and target not in plan.released_columns:
        message = f"The target {target!r} is not a column that is released."
        raise HedgerowError(Problem("usage", message, hint=did_you_mean(target, plan.released_columns)))


def name_of_method(plan: Plan) -> str:
    """Return the name that a plan's method has in comparisons, or its own name where it has other options.

    Examples
    --------
    >>> plan = Plan.from_dict({"attributes": {"sex": "quasi-identifier"}, "privacy": {"k": 2}})
    >>> name_of_method(plan), name_of_method(plan.replace(method={"name": "cluster", "split": 5000}))
    ('cluster', 'cluster with options')
    """
    method = plan.to_dict().get("method") or {"name": "cluster"}
    asked = {"name": "cluster", **{name: value for name, value in method.items() if name != "limits"}}
    known = (name for name, parts in METHODS.items() if parts == asked)
    return next(known, f"{plan.method.name} with options")


def plan_for(plan: Plan, method: str, k: int) -> Plan:
    """Return the plan with another method and k.

    Raises
    ------
    PlanError
        For a method that the plan's columns or demands do not allow.
    """
    asked = plan.to_dict()
    changes: dict[str, Any] = {"privacy": {**asked["privacy"], "k": k}}
    if method != "plan":
        limits = plan.method.limits
        chosen = METHODS[method]
        changes["method"] = {**chosen, "limits": "keep" if limits == "whole-levels" else limits}
        if chosen.get("suppress"):
            changes["missing"] = "matches-any"
    return plan.replace(**changes).settled()


def measure(
    run: Run, table: Table, plan: Plan, microdata: Microdata, recoding: Recoding, target: str | None, seed: int
) -> Run:
    """Add to a run what its release shows of the original records."""
    tree = None
    if target is not None:
        features, told = released_features(table, plan, microdata, recoding, target)
        tree = grow(features, told, pure=PURE).to_dict()
    found = risks(
        people_by_group(microdata, recoding.group_of, recoding.groups),
        microdata.records - recoding.released,
        matching=matching_records(microdata, recoding) if plan.missing == "matches-any" else None,
    )
    least = (run.facts or {}).get("least_rows_for_a_known_person")
    if least is not None:  # whoever knows a person's values may be left with fewer rows than cannot be told apart
        found["prosecutor"]["highest"] = max(found["prosecutor"]["highest"], 1 / max(least, 1))
    return Run(
        run.method,
        run.k,
        facts=run.facts,
        tree=tree,
        queries=query_error(microdata, recoding, seed=seed).to_dict(),
        distances={
            name: {"total_variation": apart.total_variation, "earth_movers": apart.earth_movers}
            for name, apart in distances(microdata, recoding).items()
        },
        risks=found,
    )


def original_tree(table: Table, plan: Plan, microdata: Microdata, target: str) -> dict[str, Any]:
    """Return the decision tree of the original records."""
    return grow(*raw_features(table, plan, microdata, target), pure=PURE).to_dict()
