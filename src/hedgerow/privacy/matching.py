"""How many released records a reader cannot tell from one another when a missing cell may stand for any value."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from hedgerow.microdata import Microdata
from hedgerow.microdata.ordering import order_by, pack, starts_of_runs
from hedgerow.recoding import Recoding

IntArray = npt.NDArray[np.int64]
MOST_PAIRS = 200_000_000


def matching_records(microdata: Microdata, recoding: Recoding) -> IntArray:
    """Count, for every group, the released records that agree with it wherever both show something."""
    labels, missing = _shown(microdata, recoding)
    masks, mask_of = np.unique(missing, axis=0, return_inverse=True)
    mask_of = mask_of.reshape(-1)
    sizes = recoding.sizes
    total = np.zeros(recoding.groups, np.int64)
    for one in range(len(masks)):
        mine = np.flatnonzero(mask_of == one)
        for other in range(len(masks)):
            theirs = np.flatnonzero(mask_of == other)
            both = np.flatnonzero(~(masks[one] | masks[other]))
            total[mine] += _agreeing(labels[:, both], mine, theirs, sizes)
    return total


def least_rows_for_a_known_person(microdata: Microdata, recoding: Recoding) -> int | None:
    """Least number of released rows that fit the true values of a released person; None if too much to count.

    Rows that cannot be told from one another may still differ for somebody who knows the person: where the person's own
    cell is hidden, the other rows of the group show a range that need not hold the person's value.
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
    least = int(matching_records(microdata, recoding).min(initial=recoding.released))
    sizes = recoding.sizes
    for profile in profiles.tolist():
        fits = np.ones(recoding.groups, bool)
        for position, column in enumerate(microdata.columns):
            code = int(microdata.codes(position)[profile])
            if code != column.missing:
                fits &= ~recoding.shows(position) | column.covers(code, recoding.shown(position))
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


def _agreeing(labels: IntArray, mine: IntArray, theirs: IntArray, sizes: IntArray) -> IntArray:
    """Sum, for every group of mine, the records of theirs with the same labels."""
    if not labels.shape[1]:
        return np.full(len(mine), int(sizes[theirs].sum()), np.int64)
    both = np.concatenate([mine, theirs])
    parts = [labels[both, column] for column in range(labels.shape[1])]
    words = pack(parts, [int(part.max(initial=0)) + 1 for part in parts])
    order = order_by(words)
    starts = starts_of_runs([word[order] for word in words])
    key = np.empty(len(both), np.int64)
    key[order] = np.repeat(np.arange(len(starts)), np.diff(np.append(starts, len(order))))
    records = np.bincount(key[len(mine) :], weights=sizes[theirs], minlength=len(starts))
    return records[key[: len(mine)]].astype(np.int64)
