"""Facts about a release, as plain data: everything a report says comes from here.

Facts hold no times and no paths, so the same data, plan and seed give the same bytes; and no values of records. They
follow from the released records, the plan and the number of records withheld, which lose everything: no value of these
plays a part, and why they are withheld is not said. That is for the owner alone.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from fractions import Fraction
from typing import Any

from hedgerow.anonymization.counts import Counts
from hedgerow.anonymization.solving import Solution
from hedgerow.measures import rules_kept
from hedgerow.measures.measured import Measured
from hedgerow.microdata import Microdata, Table
from hedgerow.plan import Plan
from hedgerow.plan.concepts import MEASURES, METHODS, objectives
from hedgerow.release.limit_facts import limits_by_attribute, withheld_by_limits
from hedgerow.release.population_facts import estimated_risk, population_facts
from hedgerow.release.unit_facts import unit_facts
from hedgerow.version import __version__

KEPT = "republish"
"""The fact by which a version is known whose groups keep what they were published as."""
EXACT = "exact_end_points"


def release_facts(plan: Plan, table: Table, counts: Counts, solution: Solution) -> dict[str, Any]:
    """Collect the facts of a release; its groups must be those that a reader can tell apart.

    What was counted must be the released records only, and the number of the others.
    """
    measured = counts.measured
    records, released = measured.microdata.records, measured.recoding.released
    sizes = {str(size): int(groups) for size, groups in zip(*measured.sizes, strict=True)}
    facts: dict[str, Any] = {
        "version": __version__,
        "plan": plan.digest(),
        "seed": plan.seed,
        "method": plan.method.name,
        "privacy": plan.short()["privacy"],
        "k": plan.privacy.k,
        "records": records,
        "released": released,
        "withheld": records - released,
        **solution.details,
        "groups": measured.recoding.groups,
        "smallest_group": counts.smallest,
        "largest_group": int(measured.sizes[0].max(initial=0)),
        "group_sizes": sizes,
        "group_risk_sizes": dict(counts.risk_sizes),
        "limits": "kept" if plan.keeps_limits else "ignored",
        "limits_broken": sum(counts.breaks.values()),
        "limits_broken_by_attribute": dict(counts.breaks),
        "limits_by_attribute": limits_by_attribute(measured.microdata.columns, plan, counts.released, records),
        **_measures(measured),
        EXACT: dict(counts.exact),
        "attribute_disclosures": dict(counts.disclosures),
        "largest_share_of_one_value": dict(counts.shares),
        "columns_released": list(plan.published_columns),
        "columns_not_released": sorted(name for name in table.not_released if name in plan.named_columns),
        "columns_not_in_plan": sum(name not in plan.named_columns for name in table.not_released),
    }
    if METHODS[plan.method.name].needs_levels and plan.method.objective != "research-value":
        facts["score"] = facts[objectives()[plan.method.objective].name]
    treated = [name for name, part in plan.attributes.items() if part.treat is not None]
    if treated:
        facts["treated"] = {name: plan.short()["attributes"][name]["treat"] for name in treated}
    if plan.rules:
        facts["rules"] = rules_kept(measured.recoding, measured.worths, plan.rules)
    if plan.research_value.levels:
        facts["worths_given"] = [name for name in plan.quasi_identifiers if name in plan.research_value.levels]
    if plan.missing == "matches-any":
        facts["missing"] = plan.missing
    microdata = measured.microdata
    if microdata.weight_of is not None:
        facts["estimated_risk"] = estimated_risk(plan, table, microdata, measured.recoding)
    if microdata.population is not None:
        facts |= population_facts(plan, microdata, measured.recoding, solution.details.get("levels"))
    if microdata.households is not None:
        facts["units"] = unit_facts(microdata, measured.recoding, solution.details.get("units", {}))
    facts |= counts.suppressed
    if counts.persons is not None:
        facts["persons"], facts["smallest_group_persons"] = counts.persons
    return facts


def keeping_facts(plan: Plan, facts: Mapping[str, Any]) -> dict[str, Any]:
    """Turn facts into those of a version whose groups may be wider than their records, and say that they may be.

    How many records have an exact end for their value is not said: an end that nobody has any more would show.
    """
    return {name: fact for name, fact in facts.items() if name != EXACT} | {KEPT: plan.republish}


def private_facts(plan: Plan, whole: Microdata, solution: Solution) -> dict[str, Any]:
    """Collect what only the owner may be told: why records are withheld. ``whole`` are all records."""
    return {**reasons_facts(solution), "limits_by_attribute": withheld_by_limits(whole, plan)}


def reasons_facts(solution: Solution) -> dict[str, Any]:
    """Say why records are withheld."""
    facts: dict[str, Any] = {
        "withheld_because": solution.withheld_because,
        "withheld_is_least": solution.withheld_is_least,
        **solution.search_of_all,
    }
    if solution.blocks_withheld is not None:
        facts["blocks_withheld"] = solution.blocks_withheld
    return facts


def facts_to_json(facts: dict[str, Any]) -> str:
    """Write facts as JSON text that is the same for the same facts."""
    return json.dumps(facts, indent=2, ensure_ascii=False, allow_nan=False, default=float) + "\n"


def _measures(measured: Measured) -> dict[str, Any]:
    """All measures, each with what stands beside it; exact numbers are rounded once."""
    found: dict[str, Any] = {}
    for measure in MEASURES:
        if measure.squared and measured.plan.method.goes_by != measure.objective:
            continue
        found[measure.name] = _number(measure.of_release(measured))
        for name, part in measure.beside(measured).items():
            found[name] = {key: _number(one) for key, one in part.items()} if isinstance(part, dict) else part
    return found


def _number(exact: Fraction | float | int | None) -> float | int | None:
    return exact if exact is None or isinstance(exact, int) else round(float(exact), 12)
