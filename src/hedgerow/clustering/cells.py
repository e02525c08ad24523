"""Cells: the records that share every limit (SPEC §4; QI-clusters of MAM in the papers).

A group breaks no limit exactly when all its records are in one cell. So the records of cells with fewer than k people
must be withheld, and no others need be: they are the smallest such set (CKA, Properties 4–6).

A greatest width of a free interval is no such equivalence. Each cell is therefore cut further into runs of values, no
wider than allowed and of k people each, by a programme that covers most records. For one width in the plan, without
a person key, what is withheld is still the provably smallest set; for more it is small, and not proven smallest.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from hedgerow import kernels
from hedgerow.microdata import FreeColumn, Microdata
from hedgerow.microdata.ordering import order_by, pack, starts_of_runs

IntArray = npt.NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Cells:
    """A partition of the units into cells.

    Attributes
    ----------
    cell_of
        Cell of every unit.
    keys
        Limit keys of every cell (rows) in every quasi-identifier (columns, in the plan's order).
    people
        Number of persons (records without a person key) of every cell; 0 if they cannot form a group.
    records
        Number of records of every cell.
    proven
        Whether withholding the cells that are too small is provably the least that can be done.
    """

    cell_of: IntArray
    keys: IntArray
    people: IntArray
    records: IntArray
    proven: bool

    def withheld(self, k: int) -> npt.NDArray[np.bool_]:
        """Tell which cells have fewer than k people."""
        small: npt.NDArray[np.bool_] = self.people < k
        return small

    def records_withheld(self, k: int) -> int:
        """Return the number of records in cells of fewer than k people."""
        return int(self.records[self.withheld(k)].sum())


def find_cells(microdata: Microdata, k: int, ignore_limits: bool = False) -> Cells:
    """Split microdata into cells; with ``ignore_limits`` only what cannot be mixed at all is kept apart."""
    at = {position: index for index, position in enumerate(microdata.index_order)}
    keys = []
    for position, column in enumerate(microdata.columns):
        by_code = column.free_keys if ignore_limits else column.limit_keys
        keys.append(by_code[microdata.profiles[:, at[position]]])
    sizes = [int(key.max()) + 1 if len(key) else 1 for key in keys]
    words = pack(keys, sizes)
    order = order_by(words)
    starts = starts_of_runs([word[order] for word in words])
    cell_of_profile = np.empty(len(order), np.int64)
    cell_of_profile[order] = np.repeat(np.arange(len(starts)), np.diff(np.append(starts, len(order))))
    cell_of = cell_of_profile[microdata.profile_of_unit]
    cell_keys = np.stack([key[order[starts]] for key in keys], axis=1)
    widths = [] if ignore_limits else [column for column in microdata.columns if _has_width(column)]
    uncovered = np.zeros(len(cell_of), bool)
    for column in widths:
        cell_of, cell_keys, uncovered = _cut_to_width(microdata, column, cell_of, cell_keys, uncovered, k)
    cells = len(cell_keys)
    people = _people(microdata, cell_of, cells)
    people[cell_of[uncovered]] = 0
    return Cells(
        cell_of,
        cell_keys,
        people,
        np.bincount(cell_of, minlength=cells),
        proven=not widths or (len(widths) == 1 and microdata.person_of is None),
    )


def _has_width(column: Any) -> bool:
    return isinstance(column, FreeColumn) and column.width is not None


def _people(microdata: Microdata, cell_of: IntArray, cells: int) -> IntArray:
    if microdata.person_of is None:
        return np.bincount(cell_of, minlength=cells)
    pairs = np.unique(cell_of * (int(microdata.person_of.max(initial=0)) + 1) + microdata.person_of)
    return np.bincount(pairs // (int(microdata.person_of.max(initial=0)) + 1), minlength=cells)


def _cut_to_width(
    microdata: Microdata, column: Any, cell_of: IntArray, keys: IntArray, uncovered: npt.NDArray[np.bool_], k: int
) -> tuple[IntArray, IntArray, npt.NDArray[np.bool_]]:
    """Cut every cell into runs of values within the width; what no run covers forms a cell that is withheld."""
    at = microdata.index_order.index([c.name for c in microdata.columns].index(column.name))
    codes = microdata.profiles[microdata.profile_of_unit, at].astype(np.int64)
    order = np.lexsort((codes, cell_of, uncovered))
    order = order[: len(order) - int(uncovered.sum())]
    starts = np.append(starts_of_runs([cell_of[order].astype(np.uint64)]), len(order)).astype(np.int64)
    person = np.zeros(0, np.int64) if microdata.person_of is None else microdata.person_of[order]
    run_of, runs = kernels.load("width_runs").cut_cells(
        column.low_ends()[codes[order]],
        column.high_ends()[codes[order]],
        starts,
        person,
        int(person.max(initial=-1)) + 1,
        k,
        column.scaled_width,
    )
    uncovered = uncovered.copy()
    uncovered[order[run_of < 0]] = True
    new = runs + cell_of  # the rest of each cell, until covered records get their run
    new[order[run_of >= 0]] = run_of[run_of >= 0]
    kept, new = np.unique(new, return_inverse=True)
    old = np.empty(len(kept), np.int64)
    old[new] = cell_of
    return new, keys[old], uncovered
