"""Whole households of the made-up census, with a number that links their members."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from hedgerow.evaluation.synthetic import census_values as values
from hedgerow.evaluation.synthetic.attributes import attribute_lines, hierarchy_files
from hedgerow.evaluation.synthetic.census import ATTRIBUTES, census
from hedgerow.evaluation.synthetic.draw import Draw
from hedgerow.evaluation.synthetic.table import Synthetic

SIZES = (30, 32, 17, 13, 5, 2, 0.6, 0.3, 0.1)
"""Households of 100, about, by their members."""
KEPT = ("location", "relationship", "age", "sex", "marital_status", "benefits")
"""Columns of the census, as the plan has them: what households share first, then what members are matched by."""
NUMBER = "household"

_PLAN = """\
# This plan goes with census.csv, persons in households: neither they nor their country exist.
#
#   hedgerow explain   census.csv plan.yaml
#   hedgerow anonymize census.csv plan.yaml -o release
#
# The number of a household is published, drawn anew: so the whole household is one of k, with all its members.
unit: {{column: household, publish: linked, same: [location]}}

{attributes}
# Every household looks like at least k - 1 others of its size in all quasi-identifiers of all its members.
privacy: {{k: 5}}

method: cluster
"""


def household_census(households: int = 10_000, seed: int = 0) -> Synthetic:
    """Make up an extract from a census in which households are linked by a number.

    Every household has one who filled in the form, as far as there are such, and lives in one place.

    Parameters
    ----------
    households
        Number of households.
    seed
        Same seed, same households.

    Examples
    --------
    >>> made = household_census(households=400)
    >>> made, len(set(made.columns["household"]))
    (Synthetic(census: 1,032 records × 7 columns), 400)
    """
    draw = Draw(households, seed)
    sizes = draw.choice(SIZES) + 1
    numbers = draw.order() + 1
    persons = census(int(sizes.sum()), seed)
    filled_in = (
        np.array(persons.columns["relationship"]) == values.RELATIONSHIPS.leaves[values.RELATIONSHIPS.code("head")]
    )
    heads, others = np.flatnonzero(filled_in), np.flatnonzero(~filled_in)
    first = np.cumsum(sizes) - sizes
    order = np.full(len(filled_in), -1, np.int64)
    those = min(len(heads), households)
    order[first[:those]] = heads[:those]
    order[order < 0] = np.append(others, heads[those:])
    home = np.repeat(order[first], sizes)
    columns = {NUMBER: [str(number) for number in np.repeat(numbers, sizes).tolist()]}
    for name in KEPT:
        cells = persons.columns[name]
        columns[name] = [cells[at] for at in (home if name == "location" else order).tolist()]
    attributes = {attribute.name: attribute for attribute in ATTRIBUTES}
    kept = [attributes[name] for name in KEPT]
    return replace(
        persons, columns=columns, plan=_PLAN.format(attributes=attribute_lines(kept)), hierarchies=hierarchy_files(kept)
    )
