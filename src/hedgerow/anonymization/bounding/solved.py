"""Blocks of which it is known what they lose at least: those of one group, and small ones that are solved exactly."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from hedgerow.anonymization.clustering.cells import Cells
from hedgerow.anonymization.clustering.costs import Costs, Objective
from hedgerow.anonymization.clustering.exact import QUICK, solve_blocks
from hedgerow.anonymization.kernels.codes import FAR
from hedgerow.microdata import Microdata
from hedgerow.privacy import Requirement
from hedgerow.types import IntArray

UNKNOWN = -1
MOST_LOOKS = 5 * QUICK  # at a block
LOOKS_A_SECOND = 10_000_000  # at all blocks together: about half of what one core makes


def least_losses(
    microdata: Microdata, block_of: IntArray, costs: Costs, objective: Objective, k: int, seconds: int, threads: int = 1
) -> IntArray:
    """Return the least loss of every block, in whole multiples of 1/UNIT, or UNKNOWN; ``block_of`` is by profile.

    A block of fewer than 2k records is one group. (Not so one of fewer than 2k persons: they may be in several.) Other
    small blocks are solved for k records a group, whatever else is asked: more demands only raise the least. Without
    ``seconds`` they are not, as where a width is limited: the solver does not know that, and prices do.
    """
    blocks = int(block_of.max(initial=-1)) + 1
    records = np.bincount(block_of, weights=microdata.counts, minlength=blocks).astype(np.int64)
    order = np.argsort(block_of, kind="stable")
    starts = np.searchsorted(block_of[order], np.arange(blocks))
    codes = microdata.profiles[order]
    lo, hi = np.minimum.reduceat(codes, starts), np.maximum.reduceat(codes, starts)
    least = np.where(records < 2 * k, records * costs.of_boxes(*costs.ends(lo, hi)), UNKNOWN)
    unknown = least == UNKNOWN
    looks = min(MOST_LOOKS, seconds * LOOKS_A_SECOND // max(int(unknown.sum()), 1))
    if looks and unknown.any():
        cells = Cells.none_failing(microdata, block_of[microdata.profile_of_unit])
        anybody = replace(microdata, person_of=None)
        found = solve_blocks(anybody, cells, Requirement(k), objective, looks, threads=threads)
        solved = unknown & found.proven & (found.after < FAR)
        least[solved] = found.after[solved]
    return least
