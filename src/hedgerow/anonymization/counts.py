"""What the facts of a release are made of: counts of what was released, wherever they were made."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from hedgerow.anonymization.explanation import most_loss_by_code
from hedgerow.measures import exact_end_points
from hedgerow.measures.measured import Measured
from hedgerow.microdata import Microdata
from hedgerow.microdata.columns import without_limit
from hedgerow.microdata.households import alike_by_kind
from hedgerow.microdata.recoding import Recoding
from hedgerow.plan import Plan
from hedgerow.privacy import attribute_disclosures, largest_shares
from hedgerow.privacy.matching import least_rows_for_a_known_person, matching_records
from hedgerow.privacy.requirement import people_by_group
from hedgerow.types import IntArray


@dataclass(frozen=True, eq=False)
class Counts:
    """Counts of a release.

    Attributes
    ----------
    measured
        What measures are given: columns, and what groups are published as.
    released
        Released records by code, by quasi-identifier.
    smallest
        Records of the smallest group; or the least number that a record matches.
    risk_sizes
        Released records by how many people they cannot be told from.
    breaks
        Records published beyond their limit, by quasi-identifier.
    exact
        Records whose value is a published end, by column of free intervals.
    disclosures, shares
        Groups that share one sensitive value; the greatest share that one value has in any group.
    persons
        Persons, and those of the group that has fewest; None if every record is a person of its own.
    suppressed
        Facts of a release in which single cells are hidden.
    """

    measured: Measured
    released: tuple[IntArray, ...]
    smallest: int
    risk_sizes: Mapping[str, int]
    breaks: Mapping[str, int]
    exact: Mapping[str, int]
    disclosures: Mapping[str, Any]
    shares: Mapping[str, float]
    persons: tuple[int, int] | None
    suppressed: Mapping[str, Any] = field(default_factory=dict)

    @classmethod
    def of(cls, plan: Plan, microdata: Microdata, recoding: Recoding) -> Counts:
        """Count the groups of microdata, which must be those that a reader can tell apart."""
        matching = matching_records(microdata, recoding) if plan.missing == "matches-any" else None
        smallest = int((recoding.sizes if matching is None else matching).min(initial=microdata.records))
        released = released_by_code(microdata, recoding)
        persons, suppressed = None, dict[str, Any]()
        if plan.method.suppress:
            suppressed["suppressed_cells"] = recoding.cells_hidden(microdata)
            least = least_rows_for_a_known_person(microdata, recoding, smallest)
            suppressed["least_rows_for_a_known_person"] = least
        if microdata.person_of is not None:
            in_group = recoding.group_of >= 0
            pairs = np.unique(np.stack([recoding.group_of[in_group], microdata.person_of[in_group]]), axis=1)
            persons = microdata.people(), int(np.bincount(pairs[0]).min(initial=microdata.people()))
        return cls(
            Measured(microdata, recoding, plan, bound_of_loss(microdata, plan, released)),
            released,
            smallest,
            _risk_sizes(microdata, recoding, matching),
            recoding.breaks_by_column(microdata),
            exact_end_points(microdata, recoding),
            attribute_disclosures(microdata, recoding.group_of, recoding.groups),
            largest_shares(microdata, recoding.group_of, recoding.groups),
            persons,
            suppressed,
        )


def released_by_code(microdata: Microdata, recoding: Recoding) -> tuple[IntArray, ...]:
    """Count the records in groups by code, by quasi-identifier."""
    in_group = recoding.group_of >= 0
    by_profile = np.bincount(microdata.profile_of_unit[in_group], minlength=len(microdata.profiles))
    return tuple(
        np.bincount(microdata.codes(position), weights=by_profile, minlength=column.domain_size).astype(np.int64)
        for position, column in enumerate(microdata.columns)
    )


def bound_of_loss(microdata: Microdata, plan: Plan, released: tuple[IntArray, ...]) -> float | None:
    """Return the greatest loss (NTIL) of a release that keeps the limits and withholds the same records.

    None where single cells may be suppressed: a limit does not bound what such a cell loses.
    """
    if plan.method.suppress:
        return None
    columns = microdata.columns if plan.keeps_limits else tuple(map(without_limit, microdata.columns))
    return most_loss_by_code(columns, released, microdata.records)


def _risk_sizes(microdata: Microdata, recoding: Recoding, matching: IntArray | None) -> dict[str, int]:
    """Count released records by how many people they cannot be told from; if they are linked, by households."""
    if microdata.households is not None:
        records, households = alike_by_kind(microdata, recoding.group_of)
        values, times = np.unique(np.repeat(households, records), return_counts=True)
        return {str(size): int(count) for size, count in zip(values, times, strict=True)}
    alike = people_by_group(microdata, recoding.group_of, recoding.groups) if matching is None else matching
    values, number = np.unique(alike, return_inverse=True)
    records = np.zeros(len(values), np.int64)
    np.add.at(records, number.reshape(-1), recoding.sizes)
    return {str(size): count for size, count in zip(values.tolist(), records.tolist(), strict=True)}
