"""The peer of the search index: greedy k-member clustering by scanning all remaining records, also compiled."""

from __future__ import annotations

import numba as nb
import numpy as np


@nb.njit(cache=True)
def cluster_by_scan(codes, offset, width, costs, k):  # type: ignore[no-untyped-def]
    """Group number of every record, or −1 for one left over; records in canonical order, costs as tables."""
    n, q = codes.shape
    live = np.arange(n)
    remaining = n
    group_of = np.full(n, -1, np.int64)
    lo = np.empty(q, np.int64)
    hi = np.empty(q, np.int64)
    for j in range(q):
        lo[j] = hi[j] = codes[0, j]
    group, seed = 0, 0
    while remaining >= k:
        for member in range(k):
            best, at = np.int64(-1), np.int64(0)
            for i in range(remaining):
                r = live[i]
                total = np.int64(0)
                for j in range(q):
                    v = np.int64(codes[r, j])
                    total += costs[offset[j] + min(lo[j], v) * width[j] + max(hi[j], v)]
                if member == 0:
                    if total > best:
                        best, at = total, i
                elif best < 0 or total < best:
                    best, at = total, i
            r = live[at]
            for i in range(at, remaining - 1):
                live[i] = live[i + 1]
            remaining -= 1
            group_of[r] = group
            if member == 0:
                seed = r
            for j in range(q):
                v = np.int64(codes[r, j])
                lo[j] = v if member == 0 else min(lo[j], v)
                hi[j] = v if member == 0 else max(hi[j], v)
        for j in range(q):  # the next furthest is sought from this group's first member
            lo[j] = hi[j] = codes[seed, j]
        group += 1
    return group_of
