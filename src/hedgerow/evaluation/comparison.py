"""Methods side by side: what each release risks, what it loses, and whether the patterns of the data survive in it.

What is compared is measured on the original records too, and says something about them: it is for the owner's eyes.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from hedgerow.anonymization.lattice import Patience
from hedgerow.anonymization.resolving import resolve
from hedgerow.engines.base import Engine
from hedgerow.errors import DataError, HedgerowError, NoSolution, PlanError, Problem, did_you_mean
from hedgerow.evaluation.patterns import distances, grow, query_error, raw_features, released_features
from hedgerow.microdata import Microdata, Table
from hedgerow.microdata.households import alike_by_kind
from hedgerow.microdata.recoding import Recoding
from hedgerow.outside.notebook import html_table
from hedgerow.plan import Method, Plan, Privacy
from hedgerow.plan.check_unit import METHODS_OF_UNITS
from hedgerow.plan.concepts import MEASURES, METHODS, MeasureDescriptor
from hedgerow.privacy import risks
from hedgerow.privacy.matching import matching_records
from hedgerow.privacy.requirement import people_by_group
from hedgerow.release import Release, make, verify_privately
from hedgerow.types import IntArray, Progress, silent

PURE = 0.95


def variants(usual: bool = False) -> dict[str, dict[str, Any]]:
    """Return what can be compared, by name: the part ``method`` of a plan; ``usual``: only what is compared unasked.

    Examples
    --------
    >>> variants()["quick"]
    {'name': 'cluster', 'improve': 'quick'}
    >>> list(variants(usual=True))
    ['cluster', 'quick', 'exact', 'utility', 'bottom-up', 'euclidean']
    """
    return {
        variant.name: {"name": method.name, **variant.options}
        for method in METHODS
        for variant in method.variants
        if variant.usual or not usual
    }


def usual_for(plan: Plan) -> list[str]:
    """Return what is compared unasked: the usual methods, without those that do not go with what the plan links."""
    names = variants(usual=True)
    if plan.unit is None:
        return list(names)
    of_units = [method for method in METHODS if method.name in METHODS_OF_UNITS]
    return [variant.name for method in of_units for variant in method.variants if variant.usual or not variant.options]


def compared_measures() -> list[MeasureDescriptor]:
    """Return the measures that a comparison shows, in its order."""
    return sorted((measure for measure in MEASURES if measure.compared), key=lambda measure: measure.compared)


@dataclass(frozen=True)
class ComparedRun:
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
    analyses
        What regressions that were named come to before and after, and how well rows are told apart.
    """

    method: str
    k: int
    problem: str = ""
    facts: dict[str, Any] | None = None
    tree: dict[str, Any] | None = None
    queries: dict[str, Any] | None = None
    distances: dict[str, Any] | None = None
    risks: dict[str, Any] | None = None
    analyses: dict[str, Any] | None = None

    def to_dict(self) -> dict[str, Any]:
        """Return plain data."""
        if self.facts is None:
            return {"method": self.method, "k": self.k, "problem": self.problem}
        return {
            "method": self.method,
            "k": self.k,
            "measures": {measure.name: self.facts[measure.name] for measure in compared_measures()},
            "groups": self.facts["groups"],
            "smallest_group": self.facts["smallest_group"],
            "withheld": self.facts["withheld"],
            "suppressed_cells": sum(self.facts.get("suppressed_cells", {}).values()),
            "levels": self.facts.get("levels"),
            "worths_given": self.facts.get("worths_given", []),
            "search": {name: self.facts["search"][name] for name in ("name", "tested", "strings", "proven", "bound")}
            if "search" in self.facts
            else None,
            "rules": self.facts.get("rules", []),
            "risks": self.risks,
            "queries": self.queries,
            "distances": self.distances,
            "tree": self.tree,
            "analyses": self.analyses,
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
    runs: tuple[ComparedRun, ...]

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
                "method": f"{run.method}{'*' if run.facts.get('worths_given') else ''}",
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

    def _repr_html_(self) -> str:
        measures = [measure.name for measure in compared_measures()]
        counts = ["groups", "smallest_group", "withheld"]
        head = [name.replace("_", " ") for name in ("method", "k", *counts, *measures, "problem")]
        rows = (
            (run.method, run.k, *((run.facts or {}).get(name) for name in (*counts, *measures)), run.problem)
            for run in self.runs
        )
        return html_table(repr(self), head, rows)


_APART = ("limits", "certify")  # of a plan's method, but no part of how groups are made


def check_names(plan: Plan, methods: Sequence[str], target: str | None) -> None:
    """Refuse methods that are not known, and a target that is not released, before any work is done."""
    names = ("plan", *variants())
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
    asked = {"name": "cluster", **{name: value for name, value in method.items() if name not in _APART}}
    known = (name for name, parts in variants().items() if parts == asked)
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
        chosen = variants()[method]
        changes["method"] = {**chosen, "limits": "keep" if limits == "whole-levels" else limits}
        if chosen.get("suppress"):
            changes["missing"] = "matches-any"
    return plan.replace(**changes).settled()


def compare_methods(
    source: Engine,
    asked: Plan,
    k: Sequence[int] = (),
    methods: Sequence[str] = (),
    target: str | None = None,
    threads: int | None = None,
    tell: Progress = silent,
    patience: Patience | None = None,
    analysed: Callable[[Release], dict[str, Any]] | None = None,
) -> Comparison:
    """Make and measure releases of a table by several methods; it is read once, and encoded once for all that agree."""
    runs = [(method, one) for one in (k or (asked.privacy.k,)) for method in (methods or usual_for(asked))]
    others = asked.columns("other")
    tell("reading", 0, 0)
    table = source.read(asked, others if target in others else ())
    encoded: dict[str, tuple[Microdata, Plan]] = {}
    original, made = None, []
    failed: HedgerowError | None = None
    for number, (method, one) in enumerate(runs):
        tell(f"{method}, k = {one}", number, len(runs))
        try:
            chosen = plan_for(asked, method, one)
            run = make(source, table, chosen, threads, silent, patience, _resolved(table, chosen, encoded))
            verify_privately(run.release, source)
        except (PlanError, NoSolution, DataError) as error:
            failed = failed or error
            made.append(ComparedRun(method, one, problem=" ".join(problem.message for problem in error.problems)))
            continue
        found = ComparedRun(method, one, facts=dict(run.release.facts))
        whole, recoding = run.settled.whole, run.settled.over_whole()
        measured = measure(found, table, run.release.plan, whole, recoding, target, asked.seed)
        made.append(measured if analysed is None else replace(measured, analyses=analysed(run.release)))
        if target is not None and original is None:
            original = original_tree(table, run.release.plan, whole, target)
    if failed is not None and all(run.facts is None for run in made):
        raise failed
    return Comparison(table.records, target, original, tuple(made))


def _resolved(table: Table, plan: Plan, encoded: dict[str, tuple[Microdata, Plan]]) -> tuple[Microdata, Plan]:
    """Encode a table as a plan says, or take what was encoded for one that differs in method and k alone."""
    key = plan.model_copy(update={"method": Method(), "privacy": Privacy(k=2), "missing": "own-value"}).digest()
    if key not in encoded:
        encoded[key] = resolve(table, plan)
    microdata, known = encoded[key]
    asked = {name: getattr(plan, name) for name in ("method", "privacy", "missing")}
    return microdata, known.model_copy(update=asked)


def measure(
    run: ComparedRun, table: Table, plan: Plan, microdata: Microdata, recoding: Recoding, target: str | None, seed: int
) -> ComparedRun:
    """Add to a run what its release shows of the original records."""
    tree = None
    if target is not None:
        features, told = released_features(table, plan, microdata, recoding, target)
        tree = grow(features, told, pure=PURE).to_dict()
    alike: IntArray | None
    if microdata.households is not None:
        sizes, alike = alike_by_kind(microdata, recoding.group_of)
    else:
        sizes = people_by_group(microdata, recoding.group_of, recoding.groups)
        alike = matching_records(microdata, recoding) if plan.missing == "matches-any" else None
    found = risks(sizes, microdata.records - recoding.released, matching=alike)
    least = (run.facts or {}).get("least_rows_for_a_known_person")
    if least is not None:  # whoever knows a person's values may be left with fewer rows than cannot be told apart
        found["prosecutor"]["highest"] = max(found["prosecutor"]["highest"], 1 / max(least, 1))
    return ComparedRun(
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
