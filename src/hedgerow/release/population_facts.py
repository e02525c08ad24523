"""What a release says of the population: how many people fit what is published, and what share of them is in it."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import Any

import numpy as np

from hedgerow.microdata import Microdata
from hedgerow.microdata.recoding import Recoding
from hedgerow.plan import Plan
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
