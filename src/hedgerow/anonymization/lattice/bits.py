"""Sensitive values as bits: which of them occur in a profile."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from hedgerow.anonymization.lattice.space import Space


def sensitive_bits(space: Space) -> tuple[npt.NDArray[np.uint64], npt.NDArray[np.uint64]]:
    """Return a mask for every sensitive column, and the bits of the values that occur in every profile."""
    microdata = space.microdata
    masks, start = [], 0
    word = np.zeros(len(microdata.record_of), np.uint64)
    for position, column in enumerate(microdata.sensitive):
        masks.append(((1 << column.values) - 1) << start)
        codes = microdata.sensitive_of[:, position]
        bit = np.left_shift(np.uint64(1), (np.maximum(codes, 0) + start).astype(np.uint64))
        word |= np.where(codes >= 0, bit, np.uint64(0))
        start += column.values
    return np.array(masks, np.uint64), np.bitwise_or.reduceat(word, microdata.unit_start[:-1])
