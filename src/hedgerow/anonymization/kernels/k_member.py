"""Greedy k-member clustering of cells on the search index (Byun et al. 2007)."""

from __future__ import annotations

import numpy as np

from hedgerow.anonymization.kernels.codes import FAR
from hedgerow.anonymization.kernels.compiling import inner, kernel
from hedgerow.anonymization.kernels.search_index import (
    box_cost,
    cheapest,
    cost,
    furthest,
    joined_cost,
    new_desk,
    newcomer,
    numbers,
    plant,
    take,
    unit_starts,
)
from hedgerow.anonymization.kernels.sorting import after
from hedgerow.anonymization.kernels.tuples.searching import People


@kernel
def cluster_cells(
    codes, unit_start, person, persons, cell_start, first_cell, last_cell, group_start, prices, k, seed,
    group_of, box_lo, box_hi, size, progress, stop,
):  # fmt: skip
    """Cluster the cells first_cell … last_cell − 1.

    Parameters
    ----------
    codes
        Code vectors of the profiles, sorted within each cell.
    unit_start
        Number of the first record (unit) of each profile, and the total.
    person, persons
        Person number of each unit and how many there are; an empty array if every unit is a person of its own.
    cell_start
        First profile of each cell, and the total. Every cell must hold at least k records (persons).
    group_start
        First group number of each cell; a cell gets at most (records // k) groups.
    prices
        What a box costs; see ``search_index``.
    group_of, box_lo, box_hi, size
        Results: group of every unit; box and number of records of every group.
    progress, stop
        Records done so far, added to; a flag that ends the work early when set.
    """
    q = codes.shape[1]
    desk = new_desk(q)
    lo, hi, base, point = np.empty(q, np.int64), np.empty(q, np.int64), np.empty(q, np.int64), np.empty(q, np.int64)
    stamp = np.full(persons, -1, np.int64)
    units_left = np.zeros(persons, np.int64)
    for cell in range(first_cell, last_cell):
        first, last = cell_start[cell], cell_start[cell + 1]
        starts, counts = unit_starts(unit_start, first, last)
        records = starts[last - first]
        here = codes[first:last]
        who = person[unit_start[first] : unit_start[last]] if persons > 0 else person
        out = group_of[unit_start[first] : unit_start[last]]
        forest, roots = plant(here, counts, np.zeros(last - first, np.int64), numbers(np.int64(0), last - first))
        units = (starts[:-1], starts[1:])
        live = np.full(records, np.int64(1))
        people = People(who, stamp, live, numbers(np.int64(1), records))
        remaining = records
        if persons > 0:
            remaining = 0
            for unit in range(records):
                units_left[who[unit]] += 1
                if units_left[who[unit]] == 1:
                    remaining += 1
        r = after(starts, seed % records) - 1
        for j in range(q):
            point[j] = here[r, j]
        group = group_start[cell] - 1
        while remaining >= k:
            group += 1
            for member in range(k):
                if member == 0:
                    r = furthest(forest, roots[0], roots[1], point, prices, desk)
                    for j in range(q):
                        lo[j] = hi[j] = point[j] = here[r, j]
                else:
                    _, r = cheapest(
                        forest, roots[0], roots[1], lo, hi, base, prices, units, people, group, desk,
                        np.int64(FAR), np.int64(FAR),
                    )  # fmt: skip
                    for j in range(q):
                        lo[j] = min(lo[j], here[r, j])
                        hi[j] = max(hi[j], here[r, j])
                for j in range(q):
                    base[j] = cost(j, lo[j], hi[j], prices)
                unit = newcomer(starts[r], starts[r + 1], people, group)
                live[unit] = 0
                out[unit] = group
                take(forest, r)
                if persons > 0:
                    stamp[who[unit]] = group
                    units_left[who[unit]] -= 1
                    if units_left[who[unit]] == 0:
                        remaining -= 1
                else:
                    remaining -= 1
            for j in range(q):
                box_lo[group, j] = lo[j]
                box_hi[group, j] = hi[j]
            size[group] = k
            progress[0] += k
            if stop[0] != 0:
                return
        for r in range(last - first):
            for unit in range(starts[r], starts[r + 1]):
                if live[unit] != 0:
                    _join_best(here[r], group_start[cell], group + 1, box_lo, box_hi, size, prices, out, unit)
                if persons > 0:
                    units_left[who[unit]] = 0
        progress[0] += records - k * (group + 1 - group_start[cell])


@inner
def _join_best(record, first_group, last_group, box_lo, box_hi, size, prices, out, unit):
    """Let a record left over join the group whose loss grows least; ties to the first group."""
    best, chosen = np.int64(FAR), first_group
    for group in range(first_group, last_group):
        before = size[group] * box_cost(box_lo[group], box_hi[group], prices)
        rise = (size[group] + 1) * joined_cost(box_lo[group], box_hi[group], record, prices) - before
        if rise < best:
            best, chosen = rise, group
    out[unit] = chosen
    size[chosen] += 1
    for j in range(record.size):
        box_lo[chosen, j] = min(box_lo[chosen, j], record[j])
        box_hi[chosen, j] = max(box_hi[chosen, j], record[j])
