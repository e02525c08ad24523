"""What a release says of the population: how many people fit what is published, and what share of them is in it."""

from __future__ import annotations

import math
from collections.abc import Mapping
from fractions import Fraction
from typing import Any

import numpy as np

from hedgerow.microdata import Microdata, Table
from hedgerow.microdata.microdata import MILLION, mean_weights, ranks, weights_as_read
from hedgerow.microdata.ordering import number_rows
from hedgerow.microdata.recoding import Recoding
from hedgerow.plan import Plan
from hedgerow.privacy.requirement import weight_by_group
from hedgerow.privacy.sampled import individual_risks
from hedgerow.types import IntArray


def population_facts(
    plan: Plan, microdata: Microdata, recoding: Recoding, levels: Mapping[str, int] | None
) -> dict[str, Any]:
    """Count the people who fit each group; ``levels`` are those of a release of whole levels."""
    population = microdata.population
    assert population is not None
    fitting = fitting_groups(plan, microdata, recoding, levels)
    sizes = recoding.sizes
    shares = [Fraction(size, people) for size, people in zip(sizes.tolist(), fitting.tolist(), strict=True) if people]
    return {
        "population": population.people,
        "population_columns": [microdata.columns[position].name for position in population.positions],
        "fewest_people": int(fitting.min(initial=population.people)),
        "population_risk_sizes": _records_by_people(sizes, fitting),
        "presence": [_rounded(min(shares, default=Fraction(0))), _rounded(max(shares, default=Fraction(0)))],
    }


def estimated_risk(plan: Plan, table: Table, microdata: Microdata, recoding: Recoding) -> dict[str, Any]:
    """Estimate from sampling weights how likely a match with a released record is right, before and after.

    Before are the values as they were read: where ends of intervals are moved to a grid, profiles are coarser. Where
    weights are rounded, all that is estimated goes by what is published, and how many people the records stood for as
    they were is told beside it.
    """
    assert microdata.weight_of is not None
    inside = recoding.group_of >= 0
    as_read, different = number_rows([ranks(table.columns[name])[0] for name in plan.quasi_identifiers])
    before = np.where(inside, as_read[microdata.record_of], -1)
    after, unchanged = (
        _estimated(microdata, group_of, groups)
        for group_of, groups in ((recoding.group_of, recoding.groups), (before, different))
    )
    assert plan.weight is not None
    released = microdata.weight_of[inside]
    if plan.means_of_weights is not None:
        released = mean_weights(microdata, recoding.group_of, recoding.groups)[recoding.group_of[inside]]
    as_read_weights = weights_as_read(plan.weight.column, table)[microdata.record_of[inside]]
    facts: dict[str, Any] = {
        "people": round(int(released.sum()) / MILLION, 6),
        **after,
        "before": {"people": round(int(as_read_weights.sum()) / MILLION, 6), **unchanged},
    }
    if plan.publishes_weights:
        _, number, shared = np.unique(released, return_inverse=True, return_counts=True)
        facts["weights_of_few"] = int((shared[number.reshape(-1)] < plan.privacy.k).sum())
    return facts


def _estimated(microdata: Microdata, group_of: IntArray, groups: int) -> dict[str, float]:
    weight = weight_by_group(microdata, group_of, groups)
    records = np.bincount(group_of[group_of >= 0], minlength=groups).astype(np.int64)
    there = records > 0
    records, people = records[there], weight[there] / MILLION
    risk = individual_risks(records, people)
    expected = math.fsum((risk * records).tolist())
    return {
        "fewest_people": round(float(people.min(initial=np.inf)), 6) if len(people) else 0.0,
        "highest": round(float(risk.max(initial=0.0)), 12),
        "average": round(expected / max(int(records.sum()), 1), 12),
        "expected": round(expected, 9),
    }


def fitting_groups(plan: Plan, microdata: Microdata, recoding: Recoding, levels: Mapping[str, int] | None) -> IntArray:
    """Count the people of the population who fit each published group."""
    population = microdata.population
    assert population is not None
    if levels is not None:
        return population.at_levels(microdata.columns, recoding.lo, levels, plan.method.limits == "keep")
    shown = [recoding.shown(position) for position in range(len(microdata.columns))]
    return population.fitting(microdata.columns, shown, plan.keeps_limits)


def _records_by_people(sizes: IntArray, people: IntArray) -> dict[str, int]:
    values, number = np.unique(people, return_inverse=True)
    records = np.zeros(len(values), np.int64)
    np.add.at(records, number.reshape(-1), sizes)
    return {str(one): count for one, count in zip(values.tolist(), records.tolist(), strict=True)}


def _rounded(share: Fraction) -> float:
    return round(float(share), 12)
