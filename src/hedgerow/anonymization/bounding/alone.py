"""Blocks of which it is known what they lose at least, and cannot lose less, without any search."""

from __future__ import annotations

import numpy as np

from hedgerow.anonymization.clustering.costs import Costs
from hedgerow.microdata import Microdata
from hedgerow.types import IntArray

UNKNOWN = -1


def least_losses(microdata: Microdata, block_of: IntArray, costs: Costs, k: int) -> IntArray:
    """Return the least loss of every block, in whole multiples of 1/UNIT, or UNKNOWN; ``block_of`` is by profile.

    A block of fewer than 2k records is one group. (Not so one of fewer than 2k persons: they may be in several.)
    """
    blocks = int(block_of.max(initial=-1)) + 1
    records = np.bincount(block_of, weights=microdata.counts, minlength=blocks).astype(np.int64)
    order = np.argsort(block_of, kind="stable")
    starts = np.searchsorted(block_of[order], np.arange(blocks))
    codes = microdata.profiles[order]
    lo, hi = np.minimum.reduceat(codes, starts), np.maximum.reduceat(codes, starts)
    return np.where(records < 2 * k, records * costs.of_boxes(*costs.ends(lo, hi)), UNKNOWN)
