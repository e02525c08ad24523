"""Partitioning: cells are cut in two, and their parts again, as long as both sides meet what is asked.

After Mondrian (LeFevre, DeWitt, Ramakrishnan 2006), strict: all records of one value go to the same side. A part is cut
in the column that its box loses most in, at the boundary between two values nearest to the median of its records; if
that is not allowed, in the column that it loses next most in, and so on. No seed and no distances: much faster than
clustering, at the price of a greater loss.

What the paper leaves open, or we do otherwise:

- "Loses most" is the loss of the release, weighted. Ties go to the plan's order.
- A tree is cut between two children of the node that the part would be published as, so that the sides are published
  as lower nodes where they lie under one child each. Only if the nearest such boundary is not allowed, the nearest of
  the others is tried. Ties between boundaries go to the lower one.
- Cuts stay within cells, so limits are kept, and a cell that holds is released whole.
- A cell that fails a model which is not kept when a group grows (entropy, recursive l, t, alpha) cannot be released
  whole: all models are closed under union. It is cut where at least one side holds, or else where one side may have
  parts that hold; what fails to the end is withheld.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from hedgerow.anonymization.clustering.cells import Cells, find_cells
from hedgerow.anonymization.clustering.cuts import Parts, cut_cells
from hedgerow.anonymization.clustering.layout import Layout, lay_out
from hedgerow.microdata import Microdata
from hedgerow.microdata.recoding import WITHHELD, Recoding
from hedgerow.privacy import Requirement
from hedgerow.privacy.requirement import people_by_group
from hedgerow.types import IntArray, Steps


@dataclass(frozen=True)
class Partition:
    """Partition the cells that need not be withheld.

    Attributes
    ----------
    requirement
        What must hold of every group.
    ignore_limits
        Whether to partition as if there were no limits.

    Examples
    --------
    >>> from hedgerow.microdata import encode_table, read_table
    >>> from hedgerow.plan import Plan
    >>> import pyarrow as pa
    >>> plan = Plan.from_dict({"attributes": {"sex": "quasi-identifier"}, "privacy": {"k": 2}})
    >>> table = read_table(pa.table({"sex": ["F", "M", "F", "M", "M"]}), plan)
    >>> Partition(Requirement(k=2))(encode_table(table, plan))
    Recoding(5 records in 2 groups)
    """

    requirement: Requirement
    ignore_limits: bool = False

    def __call__(self, microdata: Microdata, progress: Steps | None = None, cells: Cells | None = None) -> Recoding:
        """Form groups that meet the requirement; ``cells`` may be given if they are known already."""
        cells = cells or find_cells(microdata, self.requirement, self.ignore_limits)
        layout = lay_out(microdata, cells, self.requirement.k)
        parts = cut_cells(microdata, layout, self.requirement, progress=progress)
        return _as_recoding(microdata, layout, parts)


@dataclass(frozen=True, eq=False)
class Split:
    """Cells of which the largest were split into parts.

    Attributes
    ----------
    cells
        The parts, and the cells that were left as they are.
    cells_split, parts
        Number of cells that were split, and of the parts that they were split into.
    siblings
        Cell of every unit of the two parts that are the sides of one cut and have fewest units together: 0 and 1, −1
        for all other units. None if nothing was split.
    """

    cells: Cells
    cells_split: int
    parts: int
    siblings: IntArray | None


def split_cells(microdata: Microdata, cells: Cells, requirement: Requirement, most: int) -> Split:
    """Split the cells of more than ``most`` profiles until no part has more, or none can be cut.

    Every part meets the requirement, so no more records are withheld than without. Cells that are withheld, and those
    that do not meet the requirement as a whole, are left as they are.
    """
    layout = lay_out(microdata, cells, requirement.k)
    parts = cut_cells(microdata, layout, requirement, most, keep_whole=True)
    counts = np.diff(layout.unit_start)
    part_of = np.full(len(microdata.record_of), -1, np.int64)
    part_of[layout.units] = np.repeat(parts.part_of, counts)
    was_cut = parts.made_by >= 0
    if not was_cut.any():
        return Split(cells, 0, 0, None)
    split = np.unique(cells.cell_of[layout.units[layout.unit_start[:-1]]][was_cut[parts.part_of]])
    refined = np.where(part_of >= 0, part_of, len(parts.holds) + cells.cell_of)
    kept, cell_of = np.unique(refined, return_inverse=True)
    cell_of = cell_of.reshape(-1)
    failing = kept >= len(parts.holds)
    people = people_by_group(microdata, cell_of, len(kept))
    records = np.bincount(cell_of, minlength=len(kept))
    units = np.bincount(parts.part_of, weights=counts).astype(np.int64)
    siblings = _fewest_siblings(parts, units)
    pair = np.where(part_of == siblings[0], 0, np.where(part_of == siblings[1], 1, -1))
    return Split(Cells(cell_of, people, records, failing, cells.proven), len(split), int(was_cut.sum()), pair)


def _fewest_siblings(parts: Parts, units: IntArray) -> tuple[int, int]:
    """Find the two sides of a cut, neither of which was cut again, that have fewest units; of equals the first."""
    order = np.argsort(parts.made_by, kind="stable")
    made_by = parts.made_by[order]
    first = np.flatnonzero((made_by[1:] == made_by[:-1]) & (made_by[1:] >= 0))
    together = units[order[first]] + units[order[first + 1]]
    best = first[np.lexsort((order[first], together))[0]]
    return int(order[best]), int(order[best + 1])


def _as_recoding(microdata: Microdata, layout: Layout, parts: Parts) -> Recoding:
    """Publish the parts that hold; the others are withheld."""
    number = np.where(parts.holds, np.cumsum(parts.holds) - 1, WITHHELD)
    group_of = np.full(len(microdata.record_of), WITHHELD, np.int64)
    group_of[layout.units] = np.repeat(number[parts.part_of], np.diff(layout.unit_start))
    order = np.argsort(parts.part_of, kind="stable")
    starts = np.searchsorted(parts.part_of[order], np.arange(len(parts.holds)))
    codes = layout.codes[order][:, np.argsort(microdata.index_order)].astype(np.int64)
    lo, hi = (
        (codes, codes) if not len(starts) else (reach.reduceat(codes, starts) for reach in (np.minimum, np.maximum))
    )
    return Recoding.of_boxes(microdata, group_of, lo[parts.holds], hi[parts.holds])
