"""Cells: the records that share every limit (QI-clusters of MAM in the papers).

A group breaks no limit exactly when all its records are in one cell. So the records of cells with fewer than k people
must be withheld, and no others need be: they are the smallest such set (Miller, Campan and Truta 2008, Properties 4
to 6).

With models of attribute disclosure the same holds of cells that fail a model which every larger group would meet too
(p-sensitivity, distinct l-diversity). The other models are not kept when a group grows: a cell that fails them may
still hold groups that do not, so its records are tried, and what is withheld is not proven least.

A greatest width of a free interval is no such equivalence. Each cell is therefore cut further into runs of values, no
wider than allowed and large enough, by a programme that covers most records. For one width in the plan, without a
person key or models, what is withheld is still the provably smallest set; otherwise it is small, and not proven least.

Nor is a greatest number of values of a set. Each cell that has more is dealt into bundles of no more, so that few
records are in bundles that are too small: small, and not proven least.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from hedgerow.anonymization import kernels
from hedgerow.microdata import FreeColumn, Microdata, TreeColumn
from hedgerow.microdata.households import Wide, widen
from hedgerow.microdata.ordering import number_rows, starts_of_runs
from hedgerow.privacy import Requirement
from hedgerow.privacy.requirement import people_by_group
from hedgerow.types import IntArray


@dataclass(frozen=True, eq=False)
class Cells:
    """A partition of the units into cells.

    Attributes
    ----------
    cell_of
        Cell of every unit.
    people, records
        Number of persons (records without a person key) and of records of every cell.
    failing
        Whether a cell must be withheld: no part of it can be released.
    proven
        Whether withholding the failing cells is provably the least that can be done.
    """

    cell_of: IntArray
    people: IntArray
    records: IntArray
    failing: npt.NDArray[np.bool_]
    proven: bool

    @classmethod
    def none_failing(cls, microdata: Microdata, cell_of: IntArray) -> Cells:
        """Take cells as they are given, of which none need be withheld."""
        cells = int(cell_of.max(initial=-1)) + 1
        people, records = people_by_group(microdata, cell_of, cells), np.bincount(cell_of, minlength=cells)
        return cls(cell_of, people, records, np.zeros(cells, bool), proven=True)

    @property
    def withheld(self) -> int:
        """Number of records in failing cells."""
        return int(self.records[self.failing].sum())


def find_cells(microdata: Microdata, requirement: Requirement, ignore_limits: bool = False) -> Cells:
    """Split microdata into cells; with ``ignore_limits`` only what cannot be mixed at all is kept apart.

    Where households are linked, a cell is one of whole households of one size, and people are households.
    """
    if microdata.households is not None:
        return _cells_of_households(microdata, requirement, ignore_limits)
    cell_of = number_cells(microdata, ignore_limits)
    widths = [] if ignore_limits else [column for column in microdata.columns if has_width(column)]
    uncovered = np.zeros(len(cell_of), bool)
    for column in widths:
        cell_of, uncovered = _cut_to_width(microdata, column, cell_of, uncovered, requirement)
    bundled = [] if ignore_limits else [at for at, column in enumerate(microdata.columns) if has_most_values(column)]
    for position in bundled:
        cell_of, uncovered = _deal_values(microdata, position, cell_of, uncovered, requirement.k)
    cells = int(cell_of.max(initial=-1)) + 1
    failing = requirement.fails(microdata, cell_of, cells, only_if_it_stays_so=True)
    failing[cell_of[uncovered]] = True
    simple = len(widths) == 1 and microdata.person_of is None and not requirement.models
    return Cells(
        cell_of,
        people_by_group(microdata, cell_of, cells),
        np.bincount(cell_of, minlength=cells),
        failing,
        proven=requirement.survives_growth and (not widths or simple) and not bundled,
    )


def _cells_of_households(microdata: Microdata, requirement: Requirement, ignore_limits: bool) -> Cells:
    """Split households, each laid out as one unit.

    Members are matched by their limits first, so households of one size share a cell exactly if their members can be
    paired within limits: what is withheld by k alone is the least. Models depend on who is matched with whom.
    """
    cell_of = np.zeros(len(microdata.record_of), np.int64)
    found = list[Cells]()
    for wide in widen(microdata, ignore_limits):
        cells = find_cells(wide.microdata, of_members(requirement, wide), ignore_limits)
        before = sum(len(one.people) for one in found)
        cell_of[wide.members] = before + cells.cell_of[:, None]
        found.append(cells)
    people = np.concatenate([np.zeros(0, np.int64), *(cells.people for cells in found)])
    return Cells(
        cell_of,
        people,
        np.bincount(cell_of, minlength=len(people)),
        np.concatenate([np.zeros(0, bool), *(cells.failing for cells in found)]),
        proven=all([not requirement.models, *(cells.proven for cells in found)]),
    )


def of_members(requirement: Requirement, wide: Wide) -> Requirement:
    """Ask of the members of households what is asked of records."""
    models = [
        (position, model)
        for position, of_records in enumerate(wide.sensitive_of)
        for asked, model in requirement.models
        if asked == of_records
    ]
    return Requirement(requirement.k, tuple(models))


def number_cells(microdata: Microdata, ignore_limits: bool = False) -> IntArray:
    """Number the cells and return that of every unit, without regard to greatest widths."""
    keys = []
    for position, column in enumerate(microdata.columns):
        by_code = column.free_keys if ignore_limits else column.limit_keys
        if by_code.min(initial=0) != by_code.max(initial=0):
            keys.append(by_code[microdata.codes(position)])
    if not keys:  # nothing is kept apart
        return np.zeros(len(microdata.record_of), np.int64)
    return number_rows(keys)[0][microdata.profile_of_unit]


def find_blocks(microdata: Microdata, cells: Cells, ignore_limits: bool = False) -> IntArray:
    """Return the block of every unit: the records that share its limits, even if a width keeps them apart in cells."""
    if ignore_limits or not any(has_width(column) or has_most_values(column) for column in microdata.columns):
        return cells.cell_of
    return number_cells(microdata)


def has_width(column: Any) -> bool:
    """Tell whether groups of a column of free intervals are limited in width."""
    return isinstance(column, FreeColumn) and column.width is not None


def has_most_values(column: Any) -> bool:
    """Tell whether sets of a column are limited in how many values they have."""
    return isinstance(column, TreeColumn) and column.most is not None


def _deal_values(
    microdata: Microdata, position: int, cell_of: IntArray, uncovered: npt.NDArray[np.bool_], k: int
) -> tuple[IntArray, npt.NDArray[np.bool_]]:
    """Deal the values of every cell into bundles of no more than a set may have; what none holds is withheld."""
    column = microdata.columns[position]
    assert isinstance(column, TreeColumn)
    assert column.most is not None
    codes = microdata.codes(position)[microdata.profile_of_unit].astype(np.int64)
    size = column.domain_size
    pairs, pair_of = np.unique(cell_of * size + codes, return_inverse=True)
    pair_of = pair_of.reshape(-1)
    people = people_by_group(microdata, np.where(uncovered, -1, pair_of), len(pairs))
    cell = pairs // size
    bundle = np.zeros(len(pairs), np.int64)
    starts = np.append(starts_of_runs([cell.astype(np.uint64)]), len(pairs))
    for first, last in zip(starts[:-1].tolist(), starts[1:].tolist(), strict=True):
        bundle[first:last] = deal(people[first:last].tolist(), column.most, k)
    uncovered = uncovered | (bundle[pair_of] < 0)
    _, cell_of = np.unique((cell * (size + 1) + bundle + 1)[pair_of], return_inverse=True)
    return cell_of.reshape(-1), uncovered


def deal(people: list[int], most: int, k: int) -> list[int]:
    """Deal values into bundles of at most so many, each with k people; −1 for those that find no room in any.

    Values of k people or more can carry others. Where there are more others than they have room for, the largest make
    bundles of their own as long as these have k, and the smallest that are left find no room.

    Examples
    --------
    >>> deal([9, 1, 8, 1], most=2, k=5)
    [0, 0, 1, 1]
    >>> deal([9, 1, 2, 3, 3], most=2, k=5)
    [1, -1, 1, 0, 0]
    >>> deal([9, 8, 7], most=3, k=5)
    [0, 0, 0]
    """
    bundle = [-1] * len(people)
    if len(people) <= most:
        return [0] * len(people)
    order = sorted(range(len(people)), key=lambda value: (-people[value], value))
    hosts = [value for value in order if people[value] >= k]
    guests = [value for value in order if people[value] < k]
    used = 0
    while len(guests) > len(hosts) * (most - 1) and sum(people[value] for value in guests[:most]) >= k:
        for value in guests[:most]:
            bundle[value] = used
        guests, used = guests[most:], used + 1
    if hosts:
        bundles = min(len(hosts), -(-(len(hosts) + len(guests)) // most))
        dealt = [*hosts, *guests][: bundles * most]
        for place, value in enumerate(dealt):
            bundle[value] = used + place % bundles
    return bundle


def _cut_to_width(
    microdata: Microdata,
    column: Any,
    cell_of: IntArray,
    uncovered: npt.NDArray[np.bool_],
    requirement: Requirement,
) -> tuple[IntArray, npt.NDArray[np.bool_]]:
    """Cut every cell into runs of values within the width; what no run covers forms a cell that is withheld."""
    position = [c.name for c in microdata.columns].index(column.name)
    codes = microdata.codes(position)[microdata.profile_of_unit].astype(np.int64)
    order = np.lexsort((codes, cell_of, uncovered))
    order = order[: len(order) - int(uncovered.sum())]
    starts = np.append(starts_of_runs([cell_of[order].astype(np.uint64)]), len(order)).astype(np.int64)
    person = np.arange(len(cell_of)) if microdata.person_of is None else microdata.person_of
    tags = np.column_stack([person, microdata.sensitive_of])[order]
    wanted = np.append(requirement.k, requirement.distinct_wanted(len(microdata.sensitive)))
    run_of = np.empty(len(order), np.int64)
    runs = kernels.load("width_runs").cut_cells(
        column.low_ends()[codes[order]],
        column.high_ends()[codes[order]],
        starts,
        np.ascontiguousarray(tags),
        np.append(int(person.max(initial=-1)) + 1, [sensitive.values for sensitive in microdata.sensitive]).astype(
            np.int64
        ),
        wanted.astype(np.int64),
        column.scaled_width,
        run_of,
    )
    uncovered = uncovered.copy()
    uncovered[order[run_of < 0]] = True
    new = runs + cell_of  # the rest of each cell, until covered records get their run
    new[order[run_of >= 0]] = run_of[run_of >= 0]
    return np.unique(new, return_inverse=True)[1].reshape(-1), uncovered
