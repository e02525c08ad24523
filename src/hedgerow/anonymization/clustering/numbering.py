"""Numbering clusters without gaps, and publishing clusters that are given by unit."""

from __future__ import annotations

import numpy as np

from hedgerow.microdata import Microdata
from hedgerow.microdata.recoding import Recoding
from hedgerow.types import IntArray


def dense(cluster_of: IntArray) -> tuple[IntArray, IntArray]:
    """Return the numbers that occur, ascending, and the position of every unit's among them; −1 stays."""
    occurs = np.zeros(int(cluster_of.max(initial=-1)) + 2, bool)
    occurs[cluster_of] = True
    occurs[-1] = False  # where −1 points
    numbers, rank = np.flatnonzero(occurs), np.cumsum(occurs) - 1
    return numbers, np.where(cluster_of < 0, -1, rank[cluster_of])


def recoding_of(microdata: Microdata, cluster_of: IntArray) -> Recoding:
    """Publish clusters, numbered in the order of their numbers, as the lowest common ancestors of their records."""
    inside = np.flatnonzero(cluster_of >= 0)
    numbers, group_of = dense(cluster_of)
    order = inside[np.argsort(group_of[inside], kind="stable")]
    starts = np.searchsorted(group_of[order], np.arange(len(numbers)))
    codes = microdata.profiles[microdata.profile_of_unit[order]]
    to_plan_order = np.argsort(microdata.index_order)
    lo = np.minimum.reduceat(codes, starts) if len(numbers) else codes
    hi = np.maximum.reduceat(codes, starts) if len(numbers) else codes
    lo, hi = lo[:, to_plan_order].astype(np.int64), hi[:, to_plan_order].astype(np.int64)
    return Recoding.of_boxes(microdata, group_of, lo, hi)
