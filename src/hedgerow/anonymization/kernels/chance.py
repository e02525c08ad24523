"""Drawing by chance: the same numbers everywhere, from a generator whose state is one word."""

from __future__ import annotations

import numpy as np

from hedgerow.anonymization.kernels.compiling import part


@part
def below(chance, n):
    """Draw a number from 0 to n − 1."""
    x = chance[0]
    x ^= x << np.uint64(13)
    x ^= x >> np.uint64(7)
    x ^= x << np.uint64(17)
    chance[0] = x
    return np.int64(((x >> np.uint64(32)) * np.uint64(n)) >> np.uint64(32))
