"""Short names for the kinds of arrays."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

Numbers = npt.NDArray[np.int64]
NumberTable = npt.NDArray[np.int64]  # rows and columns
Small = npt.NDArray[np.int32]  # where there are many of them
Codes = npt.NDArray[np.uint32]
Levels = npt.NDArray[np.uint16]
Kinds = npt.NDArray[np.uint8]
Words = npt.NDArray[np.uint64]  # bits, keys, the state of a generator
Shares = npt.NDArray[np.float64]
Rough = npt.NDArray[np.float32]  # shares of which only the order matters, more or less
Flags = npt.NDArray[np.bool_]
