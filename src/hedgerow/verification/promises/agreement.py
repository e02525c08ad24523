"""Whether facts.json and plan.yaml speak of one and the same release."""

from __future__ import annotations

import json
from typing import Any

from hedgerow.plan import Plan
from hedgerow.verification.reading.published import Published
from hedgerow.verification.result import Promise

CLOSE = 1e-6
"""How far a sum of worths may be from the one stated, which is rounded."""


def said_by_plan(plan: Plan) -> dict[str, Any]:
    """Return the facts that follow from the plan alone, as JSON has them.

    Examples
    --------
    >>> plan = Plan.from_dict({"attributes": {"sex": "quasi-identifier"}, "privacy": {"k": 2}})
    >>> said = said_by_plan(plan)
    >>> said["k"], said["privacy"], said["limits"], said["columns_released"]
    (2, {'k': 2}, 'kept', ['sex'])
    """
    said = {
        "plan": plan.digest(),
        "seed": plan.seed,
        "method": plan.method.name,
        "privacy": plan.short()["privacy"],
        "k": plan.privacy.k,
        "limits": "kept" if plan.keeps_limits else "ignored",
        "columns_released": list(plan.published_columns),
    }
    if plan.method.name == "lattice":
        said["objective"] = plan.method.objective
    if plan.research_value.levels:
        said["worths_given"] = [name for name in plan.quasi_identifiers if name in plan.research_value.levels]
    if plan.republish == "only-coarser":
        said["republish"] = plan.republish
    treated = {name: part.treat for name, part in plan.attributes.items() if part.treat is not None}
    if treated:
        said["treated"] = {name: plan.short()["attributes"][name]["treat"] for name in treated}
    if plan.population is not None:
        said["population_columns"] = list(plan.population.columns or ())
    if plan.missing == "matches-any":
        said["missing"] = plan.missing
    found: dict[str, Any] = json.loads(json.dumps(said, default=float))
    return found


def check_plan(published: Published) -> Promise:
    """Check that facts.json holds the fingerprint of this plan, and says what it says."""
    said = said_by_plan(published.plan)
    facts = published.facts
    differing = [name for name, part in said.items() if name in facts and not _same(facts[name], part)]
    faults = []
    if "plan" in differing or "plan" not in facts:
        faults.append("facts.json does not name this plan by its fingerprint")
    others = [name for name in differing if name != "plan"] + _wrong_levels(published)
    if others:
        faults.append(f"facts.json says otherwise on {', '.join(others)}")
    asked = "the plan that facts.json names"
    return Promise("plan", asked, "; ".join(faults) or "this plan, and the same in both", kept=not faults)


def _wrong_levels(published: Published) -> list[str]:
    """Return what facts.json says otherwise of levels that the plan chooses, and of worths that it gives."""
    plan, facts = published.plan, published.facts
    levels = facts.get("levels", {})
    wrong = []
    if any(name in levels and levels[name] != level for name, level in (plan.method.levels or {}).items()):
        wrong.append("levels")
    worths = plan.research_value.levels or {}
    by_value = plan.method.name == "lattice" and plan.method.objective == "research-value"
    if by_value and set(worths) == set(levels) == set(plan.quasi_identifiers) and "score" in facts:
        total = sum(float(worths[name][min(level, len(worths[name]) - 1)]) for name, level in levels.items())
        if abs(total - facts["score"]) > CLOSE:
            wrong.append("score")
    return wrong


def _same(one: Any, other: Any) -> bool:
    """Tell whether two pieces of JSON are the same; true is not 1."""
    return json.dumps(one, sort_keys=True) == json.dumps(other, sort_keys=True)


def check_facts(published: Published) -> Promise:
    """Check that facts.json states what a release with this plan states, of its kind and of the right columns."""
    faults = [*published.fact_faults, *_of_other_columns(published)]
    asked = "every fact of its kind, and no other"
    return Promise("facts", asked, "; ".join(faults) or f"{len(published.facts)} facts", kept=not faults)


def _kept_back(plan: Plan) -> str | None:
    """Return the column of weights, where they are not published."""
    return None if plan.weight is None or plan.publishes_weights else plan.weight.column


def _of_other_columns(published: Published) -> list[str]:
    plan, facts = published.plan, published.facts
    free = [
        name for name in plan.quasi_identifiers if plan.attributes[name].free and name not in plan.publishes_instead
    ]
    limited = {
        name: limit.describe()
        for name in plan.quasi_identifiers
        if (limit := plan.attributes[name].limit) is not None and plan.keeps_limits
    }
    columns = {
        "levels": plan.quasi_identifiers,
        "levels_before": plan.quasi_identifiers,
        "limits_broken_by_attribute": plan.quasi_identifiers,
        "loss_by_attribute": plan.quasi_identifiers,
        "share_lost_by_attribute": plan.quasi_identifiers,
        "bits_by_attribute": plan.quasi_identifiers,
        "bits_lost_by_attribute": plan.quasi_identifiers,
        "research_value_by_attribute": plan.quasi_identifiers,
        "exact_end_points": free,
        "largest_share_of_one_value": plan.columns("sensitive"),
    }
    faults = [
        f"{name} is not of the columns that it should be of"
        for name, expected in columns.items()
        if name in facts and set(facts[name]) != set(expected)
    ]
    told = facts.get("limits_by_attribute", {})
    if any(name not in limited or not isinstance(part, dict) or part.get("limit") != limited[name]
           for name, part in told.items()):  # fmt: skip
        faults.append("limits_by_attribute tells of other limits than the plan has")
    left = facts.get("columns_not_released")
    if left is not None:
        private = {
            *plan.columns("identifier"),
            *(name for name in (plan.key, plan.person, _kept_back(plan)) if name is not None),
        }
        private -= {*plan.published_columns}
        if set(left) & set(plan.published_columns) or not private <= set(left) or len(set(left)) < len(left):
            faults.append("columns_not_released has columns that are released, lacks private ones, or names one twice")
    return faults
