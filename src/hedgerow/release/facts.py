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

import numpy as np

from hedgerow.anonymization.solving import Solution
from hedgerow.measures import exact_end_points, rules_kept
from hedgerow.measures.measured import Measured
from hedgerow.microdata import Microdata, Table
from hedgerow.microdata.households import alike_by_kind
from hedgerow.microdata.recoding import Recoding
from hedgerow.plan import Plan
from hedgerow.plan.concepts import MEASURES, METHODS, objectives
from hedgerow.privacy import attribute_disclosures, largest_shares
from hedgerow.privacy.matching import least_rows_for_a_known_person, matching_records
from hedgerow.privacy.requirement import people_by_group
from hedgerow.release.limit_facts import bound_of_loss, limits_by_attribute, withheld_by_limits
from hedgerow.release.population_facts import estimated_risk, population_facts
from hedgerow.release.unit_facts import unit_facts
from hedgerow.version import __version__

KEPT = "republish"
"""The fact by which a version is known whose groups keep what they were published as."""
EXACT = "exact_end_points"


def release_facts(plan: Plan, table: Table, microdata: Microdata, solution: Solution) -> dict[str, Any]:
    """Collect the facts of a release; its groups must be those that a reader can tell apart.

    The microdata must hold the released records only, and count the others.
    """
    recoding = solution.recoding
    sizes, k = recoding.sizes, plan.privacy.k
    withheld = microdata.records - recoding.released
    measured = Measured(microdata, recoding, plan, bound_of_loss(microdata, plan, recoding))
    breaks = recoding.breaks_by_column(microdata)
    matching = matching_records(microdata, recoding) if plan.missing == "matches-any" else None
    smallest = int((sizes if matching is None else matching).min(initial=microdata.records))
    facts: dict[str, Any] = {
        "version": __version__,
        "plan": plan.digest(),
        "seed": plan.seed,
        "method": plan.method.name,
        "privacy": plan.short()["privacy"],
        "k": k,
        "records": microdata.records,
        "released": recoding.released,
        "withheld": withheld,
        **solution.details,
        "groups": recoding.groups,
        "smallest_group": smallest,
        "largest_group": int(sizes.max(initial=0)),
        "group_sizes": _histogram(sizes),
        "group_risk_sizes": _risk_sizes(microdata, recoding, matching),
        "limits": "kept" if plan.keeps_limits else "ignored",
        "limits_broken": sum(breaks.values()),
        "limits_broken_by_attribute": breaks,
        "limits_by_attribute": limits_by_attribute(microdata, plan, recoding),
        **_measures(measured),
        EXACT: exact_end_points(microdata, recoding),
        "attribute_disclosures": attribute_disclosures(microdata, recoding.group_of, recoding.groups),
        "largest_share_of_one_value": largest_shares(microdata, recoding.group_of, recoding.groups),
        "columns_released": list(plan.published_columns),
        "columns_not_released": sorted(name for name in table.not_released if name in plan.named_columns),
        "columns_not_in_plan": sum(name not in plan.named_columns for name in table.not_released),
    }
    if METHODS[plan.method.name].needs_levels and plan.method.objective != "research-value":
        facts["score"] = facts[objectives()[plan.method.objective].name]
    if plan.rules:
        facts["rules"] = rules_kept(recoding, measured.worths, plan.rules)
    if plan.research_value.levels:
        facts["worths_given"] = [name for name in plan.quasi_identifiers if name in plan.research_value.levels]
    if plan.missing == "matches-any":
        facts["missing"] = plan.missing
    if microdata.weight_of is not None:
        facts["estimated_risk"] = estimated_risk(plan, table, microdata, recoding)
    if microdata.population is not None:
        facts |= population_facts(plan, microdata, recoding, solution.details.get("levels"))
    if plan.method.suppress:
        facts["suppressed_cells"] = recoding.cells_hidden(microdata)
        facts["least_rows_for_a_known_person"] = least_rows_for_a_known_person(microdata, recoding, smallest)
    if microdata.households is not None:
        facts["units"] = unit_facts(microdata, recoding, solution.details.get("units", {}))
    if microdata.person_of is not None:
        in_group = recoding.group_of >= 0
        pairs = np.unique(np.stack([recoding.group_of[in_group], microdata.person_of[in_group]]), axis=1)
        facts["persons"] = microdata.people()
        facts["smallest_group_persons"] = int(np.bincount(pairs[0]).min(initial=microdata.people()))
    return facts


def keeping_facts(plan: Plan, facts: Mapping[str, Any]) -> dict[str, Any]:
    """Turn facts into those of a version whose groups may be wider than their records, and say that they may be.

    How many records have an exact end for their value is not said: an end that nobody has any more would show.
    """
    return {name: fact for name, fact in facts.items() if name != EXACT} | {KEPT: plan.republish}


def private_facts(plan: Plan, whole: Microdata, solution: Solution) -> dict[str, Any]:
    """Collect what only the owner may be told: why records are withheld. ``whole`` are all records."""
    facts: dict[str, Any] = {
        "withheld_because": solution.withheld_because,
        "withheld_is_least": solution.withheld_is_least,
        **solution.search_of_all,
    }
    if solution.blocks_withheld is not None:
        facts["blocks_withheld"] = solution.blocks_withheld
    return {**facts, "limits_by_attribute": withheld_by_limits(whole, plan)}


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


def _histogram(sizes: np.ndarray[Any, np.dtype[np.int64]]) -> dict[str, int]:
    """Number of groups by size."""
    values, counts = np.unique(sizes, return_counts=True)
    return {str(size): int(count) for size, count in zip(values, counts, strict=True)}


def _risk_sizes(
    microdata: Microdata, recoding: Recoding, matching: np.ndarray[Any, np.dtype[np.int64]] | None
) -> dict[str, int]:
    """Count released records by how many people they cannot be told from; if they are linked, by households."""
    if microdata.households is not None:
        records, households = alike_by_kind(microdata, recoding.group_of)
        return _histogram(np.repeat(households, records))
    alike = people_by_group(microdata, recoding.group_of, recoding.groups) if matching is None else matching
    values, number = np.unique(alike, return_inverse=True)
    records = np.zeros(len(values), np.int64)
    np.add.at(records, number.reshape(-1), recoding.sizes)
    return {str(size): count for size, count in zip(values.tolist(), records.tolist(), strict=True)}
