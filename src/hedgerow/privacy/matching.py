"""How many released records a reader cannot tell from one another when a missing cell may stand for any value."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from hedgerow.microdata import Microdata
from hedgerow.microdata.ordering import number_rows
from hedgerow.microdata.recoding import Recoding
from hedgerow.types import IntArray

MOST_PAIRS = 200_000_000


def matching_records(microdata: Microdata, recoding: Recoding) -> IntArray:
    """Count, for every group, the released records that agree with it wherever both show something."""
    labels, missing = _shown(microdata, recoding)
    masks, mask_of = np.unique(missing, axis=0, return_inverse=True)
    mask_of = mask_of.reshape(-1)
    members = [np.flatnonzero(mask_of == mask) for mask in range(len(masks))]
    pairs: dict[bytes, list[tuple[int, int]]] = {}
    for one in range(len(masks)):
        for other in range(len(masks)):
            pairs.setdefault((masks[one] | masks[other]).tobytes(), []).append((one, other))
    sizes = recoding.sizes
    total = np.zeros(recoding.groups, np.int64)
    for hidden, together in pairs.items():  # groups are numbered once for all pairs that compare the same columns
        key, keys = _numbered(labels[:, ~np.frombuffer(hidden, bool)])
        for one, other in together:
            records = np.bincount(key[members[other]], weights=sizes[members[other]], minlength=keys)
            total[members[one]] += records[key[members[one]]].astype(np.int64)
    return total


def least_rows_for_a_known_person(microdata: Microdata, recoding: Recoding, least: int) -> int | None:
    """Least number of released rows that fit the true values of a released person; None if too much to count.

    Rows that cannot be told from one another may still differ for somebody who knows the person: where the person's own
    cell is hidden, the other rows of the group show a range that need not hold the person's value. ``least`` is the
    least number of rows that cannot be told from one another.
    """
    rows = np.unique(
        np.stack([microdata.profile_of_unit[recoding.group_of >= 0], recoding.group_of[recoding.group_of >= 0]]), axis=1
    )
    hides = np.zeros(recoding.groups, bool)
    for position in range(len(microdata.columns)):
        hides |= ~recoding.shows(position)
    profiles = np.unique(rows[0][hides[rows[1]]])  # whoever shows everything fits at least the rows of a whole cluster
    if len(profiles) * recoding.groups > MOST_PAIRS:
        return None
    sizes = recoding.sizes
    for profile in profiles.tolist():
        fits = np.ones(recoding.groups, bool)
        for position, column in enumerate(microdata.columns):
            code = int(microdata.codes(position)[profile])
            if code != column.missing:
                shown = recoding.shown(position)
                fits &= ~recoding.shows(position) | column.is_missing(shown) | column.covers(code, shown)
        least = min(least, int(sizes[fits].sum()))
    return least


def _shown(microdata: Microdata, recoding: Recoding) -> tuple[IntArray, npt.NDArray[np.bool_]]:
    """Number the published values of every column; tell which are missing."""
    columns, missing = [], []
    for names in recoding.labels(microdata):
        numbers: dict[str | None, int] = {}
        columns.append([numbers.setdefault(name, len(numbers)) for name in names])
        missing.append([name is None for name in names])
    return np.array(columns, np.int64).T, np.array(missing, bool).T


def _numbered(labels: IntArray) -> tuple[IntArray, int]:
    """Number the rows of labels, equal rows alike; returns the numbers and how many there are."""
    if not labels.shape[1]:
        return np.zeros(len(labels), np.int64), 1
    return number_rows(list(labels.T))
