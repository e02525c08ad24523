"""Types that travel through all rooms: arrays, and how far long work has come."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    IntArray: TypeAlias = npt.NDArray[np.int64]
    BoolArray: TypeAlias = npt.NDArray[np.bool_]
    FloatArray: TypeAlias = npt.NDArray[np.float64]
else:  # the command line needs types, but no numpy to show its help
    IntArray = BoolArray = FloatArray = Any

Improve: TypeAlias = Literal["off", "quick", "thorough", "longest"]
"""How long to search for groups that lose less: see :data:`hedgerow.anonymization.clustering.improve.EFFORTS`."""

Steps: TypeAlias = Callable[[int, int], None]
"""Called with how much of one piece of work is done, and how much there is (0: unknown)."""

Progress: TypeAlias = Callable[[str, int, int], None]
"""Called with what is being done, how much of it is done, and how much there is (0: unknown)."""


def silent(doing: str, done: int, total: int) -> None:
    """Tell nobody."""
