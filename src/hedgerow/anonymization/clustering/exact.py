"""Small blocks solved exactly: no other groups of their records lose less.

A block with a few dozen records has few enough groupings that a branch and bound can rule out all but the best. It is
tried before the search for less loss, within an effort that is counted; the search goes on where nothing was proven.

This is ours: no paper has it. Pseudocode stands in ``docs/explanation/clustering.md``.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import log
from typing import Any

import numpy as np
import numpy.typing as npt

from hedgerow.anonymization import kernels
from hedgerow.anonymization.clustering.asked import demands_of, with_scratch
from hedgerow.anonymization.clustering.cells import Cells
from hedgerow.anonymization.clustering.costs import LOSS, Costs, Objective, cost_tables
from hedgerow.anonymization.clustering.layout import lay_out
from hedgerow.anonymization.clustering.numbering import dense
from hedgerow.anonymization.clustering.parts import Part
from hedgerow.anonymization.clustering.threads import run_in_threads
from hedgerow.anonymization.kernels import desks
from hedgerow.anonymization.kernels.codes import FAR
from hedgerow.anonymization.kernels.tuples.asked import Demands
from hedgerow.anonymization.kernels.tuples.improving import Starts
from hedgerow.microdata import Microdata
from hedgerow.microdata.recoding import WITHHELD, Recoding
from hedgerow.privacy import Requirement
from hedgerow.types import BoolArray, IntArray, Steps

QUICK = 40_000  # looks: about two milliseconds


def most_records(k: int, looks: int) -> int:
    """Records up to which a block is tried: where records are hardly alike, the looks suffice for most such blocks.

    With two groups a block can be larger than with three. Five times the looks solve blocks of a record or two more.

    Examples
    --------
    >>> [most_records(k, QUICK) for k in (2, 3, 4, 5, 10)]
    [22, 13, 14, 16, 24]
    >>> [most_records(k, 5 * QUICK) for k in (2, 3, 4, 5, 10)]
    [24, 14, 15, 17, 26]
    """
    if looks < 1:
        return 0
    more = max(0, round(log(looks / QUICK, 5)))
    if k < 6:
        return {2: 22 + 2 * more, 3: 13 + more, 4: 14 + more, 5: 16 + more}[max(k, 2)]
    return min(3 * k - 1, max(24, min(2 * k, 32)) + 2 * more)


@dataclass(frozen=True, eq=False)
class SolvedPart:
    """Cells after their small blocks were solved.

    Attributes
    ----------
    place
        Group of every unit, −1 in none.
    lost
        What the groups of every cell lose, in whole multiples of 1/UNIT; FAR if none are known.
    proven
        Whether no groups of the same records lose less.
    """

    place: IntArray
    lost: IntArray
    proven: BoolArray


def solve_part(
    part: Part, place: IntArray, costs: Costs, asked: Demands, looks: int, done: IntArray, stop: IntArray
) -> SolvedPart:
    """Solve the small blocks of some cells, given groups by unit to begin with."""
    lost = part.losses(place, costs)
    if not looks or not costs.exact:
        return SolvedPart(place, lost, np.zeros(len(lost), np.bool_))
    few = _by_cell(part, place >= 0) < 2 * asked.k  # for one group at most
    proven = few | (lost == least_losses(part, place, costs))
    return _solved(part, place, lost, proven, costs, asked, looks, done, stop)


def least_losses(part: Part, place: IntArray, costs: Costs) -> IntArray:
    """What the records of every cell that are in a group lose even alone: many cells lose no more than that."""
    alone = costs.of_boxes(*costs.ends(part.codes, part.codes))[part.profile]
    return _by_cell(part, np.where(place < 0, 0, alone))


def _by_cell(part: Part, by_unit: npt.NDArray[Any]) -> IntArray:
    """Sum up over the units of every cell."""
    total = np.concatenate([[0], np.cumsum(by_unit)])
    return np.diff(total[part.unit_start[part.cell_start]])


def _solved(
    part: Part,
    place: IntArray,
    lost: IntArray,
    proven: BoolArray,
    costs: Costs,
    asked: Demands,
    looks: int,
    done: IntArray,
    stop: IntArray,
) -> SolvedPart:
    """Solve the small blocks of which nothing is proven yet."""
    most = most_records(max(asked.k, int(asked.wanted.max(initial=1))), looks)
    place = place.astype(np.int64)
    if not (~proven & (_by_cell(part, place >= 0) <= most)).any():  # nobody should wait for the kernel in vain
        done[0] += int(part.records[proven].sum())
        return SolvedPart(place, lost, proven)
    kernel = kernels.load("exact_blocks")
    cells = Starts(profile=part.cell_start, group=part.group_start, unit=part.unit_start)
    desk = desks.for_exact_blocks(part.codes.shape[1], most)
    kernel.solve_cells(
        cells, part.codes, part.profile, place, costs.prices, asked, desk, most, looks, lost, proven, done, stop
    )
    return SolvedPart(place, lost, proven)


@dataclass(frozen=True, eq=False)
class SolvedBlocks:
    """The blocks of microdata, of which small ones were solved.

    Attributes
    ----------
    cells
        Number of every cell that need not be withheld; what follows is in this order.
    before, after
        What its groups lost before and lose after, in whole multiples of 1/UNIT; FAR if none are known.
    proven
        Whether no groups of the same records lose less; if ``after`` is FAR, whether there are no groups at all that
        hold.
    group_of
        Group of every unit afterwards, −1 in none.
    """

    cells: IntArray
    before: IntArray
    after: IntArray
    proven: BoolArray
    group_of: IntArray


def solve_blocks(
    microdata: Microdata,
    cells: Cells,
    requirement: Requirement,
    objective: Objective = LOSS,
    looks: int = QUICK,
    groups: Recoding | None = None,
    threads: int = 1,
    progress: Steps | None = None,
) -> SolvedBlocks:
    """Solve the small blocks of microdata exactly, each with at most so many looks; larger ones stay as they are.

    Parameters
    ----------
    groups
        Groups to begin with, which hold and lie in one cell each: what they withhold stays withheld. Without them, no
        record may be withheld, and of a block that is not solved nothing is known.

    Examples
    --------
    >>> from hedgerow.anonymization.clustering import find_cells
    >>> from hedgerow.microdata import encode_table, read_table
    >>> from hedgerow.plan import Plan
    >>> import pyarrow as pa
    >>> ages = {"age": {"role": "quasi-identifier", "intervals": "free"}}
    >>> plan = Plan.from_dict({"attributes": ages, "privacy": {"k": 2}})
    >>> microdata = encode_table(read_table(pa.table({"age": [20, 30, 31, 40]}), plan), plan)
    >>> found = solve_blocks(microdata, find_cells(microdata, Requirement(2)), Requirement(2))
    >>> found.proven.tolist(), [microdata.record_of[found.group_of == group].tolist() for group in (0, 1)]
    ([True], [[0, 1], [2, 3]])
    """
    layout = lay_out(microdata, cells, requirement.k, sets=objective.counts_sets)
    costs, asked = cost_tables(microdata, objective, sets=True), demands_of(microdata, layout, requirement)
    before, after = np.full(len(layout.records), FAR), np.full(len(layout.records), FAR)
    proven = np.zeros(len(layout.records), np.bool_)

    def work(first: int, last: int, done: IntArray, stop: IntArray) -> None:
        part, cell = Part.of(layout, first, last), slice(first, last)
        mine = with_scratch(asked, part.units, layout.persons)
        if groups is None:
            together = np.repeat(part.group_start[:-1], part.records)
            found = _solved(part, together, after[cell], proven[cell], costs, mine, looks, done, stop)
            place = np.where(np.repeat(found.lost == FAR, part.records), -1, found.place)
        else:
            place = part.numbered(groups.group_of[layout.units[part.units]])
            before[cell] = part.losses(place, costs)
            found = solve_part(part, place, costs, mine, looks, done, stop)
            after[cell], proven[cell], place = found.lost, found.proven, part.numbered(found.place)
        layout.group_of[part.units] = np.where(place < 0, WITHHELD, place + layout.group_start[first])

    run_in_threads(work, layout.records, threads, progress)
    group_of = np.full(len(microdata.record_of), WITHHELD, np.int64)
    group_of[layout.units] = layout.group_of
    return SolvedBlocks(np.flatnonzero(~cells.failing), before, after, proven, dense(group_of)[1])


def count_small(blocks: IntArray, cells: Cells, k: int, looks: int) -> int:
    """Count the records in blocks that are tried, if every one of them can be released: so many may be solved."""
    sizes = np.bincount(blocks)
    kept = np.flatnonzero(~cells.failing)
    records = cells.records[kept]
    first = np.zeros(len(cells.failing), np.int64)
    first[cells.cell_of] = blocks
    tried = (records <= max(2 * k - 1, most_records(k, looks))) & (records == sizes[first[kept]])
    return int(records[tried].sum())


def count_solved(blocks: IntArray, cells: Cells, groups: Recoding) -> dict[str, int]:
    """Count the blocks whose groups are proven to be the best, and their records.

    ``blocks`` has the block of every unit. Where the records of a block were kept apart, as by a width, or one of them
    is withheld, nothing is known.
    """
    assert groups.proven is not None
    known = (groups.group_of >= 0) & groups.proven[groups.group_of]
    sizes = np.bincount(blocks)
    first = np.full(len(sizes), -1, np.int64)
    first[blocks] = cells.cell_of  # of any one unit
    known &= first[blocks] == cells.cell_of
    solved = (np.bincount(blocks, weights=known) == sizes) & (sizes > 0)
    return {"blocks": int(solved.sum()), "records": int(sizes[solved].sum())}
