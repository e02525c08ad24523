"""How much a child may take, by the size of what it reads, and what a table may hold."""

from __future__ import annotations

import math
import os
from dataclasses import dataclass

ROOM = "HEDGEROW_READING_ROOM"
"""Variable of the environment: a number that all limits are multiplied by."""
MEMORY, MEMORY_PER_BYTE = 1 << 30, 16
SECONDS, BYTES_PER_SECOND = 4, 2 << 20
OUTPUT, OUTPUT_PER_BYTE = 512 << 20, 32
PATIENCE = 120
MOST_COLUMNS = 10_000
MOST_HEADER = 16 << 20
"""Characters of a CSV file's first line."""
LONGEST_NAME = 10_000
"""Characters of a column's name."""
LONGEST_CELL = 1 << 20
"""Bytes of a cell of text."""
MOST_CELLS, CELLS_PER_BYTE = 20_000_000, 20
"""Cells that a file may unpack to, whatever its size, and for each of its bytes."""
MOST_UNPACKED, UNPACKED_PER_BYTE = 64 << 20, 60
"""Bytes that a compressed file may unpack to, whatever its size, and for each of its bytes."""
MOST_FOOTER = 64 << 20
"""Bytes of a text, and parts of a list, in the footer of a Parquet file."""
MOST_BATCHES = 1_000_000
"""Batches of an Arrow file."""


@dataclass(frozen=True)
class Limits:
    """What a child may take.

    Attributes
    ----------
    memory
        Bytes, beyond what a child takes that reads nothing.
    seconds
        Of processor time.
    output
        Bytes of its answer.
    patience
        Seconds that the caller waits while nothing comes.
    """

    memory: int
    seconds: int
    output: int
    patience: int

    @classmethod
    def of_size(cls, size: int) -> Limits:
        """Return the limits for files of so many bytes together.

        Examples
        --------
        >>> Limits.of_size(31_000).memory >> 20, Limits.of_size(100 << 20).memory >> 20
        (1024, 2624)
        """
        wider = room()
        seconds = SECONDS + size // BYTES_PER_SECOND
        return cls(
            int(wider * (MEMORY + MEMORY_PER_BYTE * size)),
            math.ceil(wider * seconds),
            int(wider * (OUTPUT + OUTPUT_PER_BYTE * size)),
            math.ceil(wider * (PATIENCE + 4 * seconds)),
        )


def room() -> float:
    """Return what all limits are multiplied by: 1, unless the environment asks for more."""
    try:
        asked = float(os.environ.get(ROOM, "1"))
    except ValueError:
        return 1.0
    return min(max(asked, 1.0), 1000.0) if math.isfinite(asked) else 1.0


def most_cells(size: int, wider: float) -> int:
    """Return how many cells a file of so many bytes may unpack to."""
    return int(wider * (MOST_CELLS + CELLS_PER_BYTE * size))


def most_unpacked(size: int, wider: float) -> int:
    """Return how many bytes a compressed file of so many bytes may unpack to.

    Examples
    --------
    >>> most_unpacked(1 << 20, 1.0) >> 20
    124
    """
    return int(wider * (MOST_UNPACKED + UNPACKED_PER_BYTE * size))
