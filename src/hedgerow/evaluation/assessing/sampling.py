"""The risk of a table that is a sample, in view of the population that its weights stand for."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from hedgerow.errors import DataError, HedgerowError, Problem
from hedgerow.evaluation.assessing.choosing import KeyColumns
from hedgerow.microdata import Table
from hedgerow.microdata.columns import distinct_labels, in_records
from hedgerow.microdata.microdata import ranks
from hedgerow.plan.hierarchy.numbers import parse_number
from hedgerow.privacy.risks import accepted_risk
from hedgerow.privacy.sampled import household_risks, individual_risks
from hedgerow.types import IntArray

if TYPE_CHECKING:
    import pyarrow as pa

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True)
class HouseholdRisk:
    """The chance that at least one member of a household is found.

    Attributes
    ----------
    column
        The column that names households.
    households
        How many there are.
    highest, average
        The greatest chance, and the mean over households.
    records_expected
        Records that are expected to be in a household of which somebody is found.
    """

    column: str
    households: int
    highest: float
    average: float
    records_expected: float


@dataclass(frozen=True)
class SampleRisk:
    """The risk of being found in a sample. All of it is estimated from the weights.

    Attributes
    ----------
    weight
        The column that says how many people a record stands for.
    people
        People of the population, the sum of the weights.
    fraction
        Records by people.
    fewest
        The fewest people that any group stands for: the k of an estimated k-map.
    highest, average
        The greatest chance that a match with a record is right, and the mean of all records (the global risk).
    expected
        Records that are expected to be found if all are matched.
    above
        Records with a chance above the threshold.
    household
        The same of households, if a column names them.
    """

    weight: str
    people: float
    fraction: float
    fewest: float
    highest: float
    average: float
    expected: float
    above: int
    household: HouseholdRisk | None = None


def checked(choice: KeyColumns) -> None:
    """Refuse what cannot be estimated."""
    if choice.household is not None and choice.weight is None:
        message = "The risk of households is worked out from that of their members, which needs weights."
        raise HedgerowError(
            Problem("usage", message, hint="name the column of weights too: --weight (in Python weight=)")
        )
    if choice.weight is not None and choice.plan.person is not None:
        message = "Weights say how many people a record stands for, so every record must be a person of its own."
        raise HedgerowError(Problem("usage", message, hint="leave out the person, or the weight"))


def sample_risk(
    table: Table, choice: KeyColumns, group_of: IntArray, groups: int, counts: IntArray, threshold: float
) -> SampleRisk | None:
    """Estimate the risk of all records that are in a group (−1: in none), if a column of weights is named."""
    if choice.weight is None:
        return None
    kept = np.flatnonzero(group_of >= 0)
    group, times = group_of[kept], counts[kept]
    weight = _weights(choice.weight, table.columns[choice.weight], table.counts)[kept]
    order = np.lexsort((weight, group))  # so that sums do not depend on the order of rows
    people = np.bincount(group[order], weights=(weight * times)[order], minlength=groups).astype(np.float64)
    records = np.bincount(group, weights=times, minlength=groups).astype(np.int64)
    risk = individual_risks(records, people)
    number, whole = int(records.sum()), math.fsum(people)
    expected = math.fsum(risk * records)
    return SampleRisk(
        weight=choice.weight,
        people=round(whole, 6),
        fraction=round(min(1.0, number / whole), 12),
        fewest=round(float(people.min()), 6),
        highest=round(float(risk.max()), 12),
        average=round(expected / number, 12),
        expected=round(expected, 9),
        above=int(records[risk > float(accepted_risk(threshold))].sum()),
        household=_households(table, choice.household, kept, risk[group], times),
    )


def _households(
    table: Table, column: str | None, kept: IntArray, risk: Floats, times: IntArray
) -> HouseholdRisk | None:
    if column is None:
        return None
    number, size = ranks(table.columns[column])
    if (number == size - 1).any():
        message = f"Column {column!r}: {in_records(number == size - 1, table.counts, ' have no household')}."
        raise DataError(Problem("no-person", message, hint="fill it, or leave out the household"))
    household, of_record = np.unique(number[kept], return_inverse=True)
    members, risks = np.repeat(of_record, times), np.repeat(risk, times)
    order = np.lexsort((risks, members))
    found = household_risks(risks[order], members[order], len(household))
    return HouseholdRisk(
        column,
        len(household),
        round(float(found.max()), 12),
        round(math.fsum(found) / len(household), 12),
        round(math.fsum(found[members]), 9),
    )


def _weights(name: str, values: pa.ChunkedArray, counts: IntArray | None) -> Floats:
    """Return the weight of every row: a number above 0."""
    labels, indices = distinct_labels(values)
    numbers = [None if label is None else parse_number(label) for label in labels]
    found = np.array([0.0 if number is None else float(number) for number in numbers])[indices]
    wrong = ~((found > 0) & np.isfinite(found))
    if wrong.any():
        message = f"Column {name!r}: {in_records(wrong, counts, ' have no weight above 0')}."
        raise DataError(Problem("not-a-number", message, hint="give every record the number of people it stands for"))
    return found
