"""Numbers for the cells and rows of two tables, equal ones alike, so that the tables can be compared."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from hedgerow.types import IntArray

if TYPE_CHECKING:
    import pyarrow as pa

Codes = npt.NDArray[Any]
"""Whole numbers of any width."""
LARGEST_KEY = 1 << 62


def number_cells(one: pa.ChunkedArray, other: pa.ChunkedArray) -> tuple[Codes, Codes]:
    """Number the cells of two dictionary-encoded columns, equal ones alike; −1 is missing.

    Examples
    --------
    >>> import pyarrow as pa
    >>> one, other = (pa.chunked_array([pa.array(cells).dictionary_encode()]) for cells in (["a", "b"], ["b", None]))
    >>> number_cells(one, other)
    (array([0, 1], dtype=int32), array([ 1, -1], dtype=int32))
    """
    import pyarrow as pa

    together = pa.chunked_array([*one.chunks, *other.chunks], pa.dictionary(pa.int32(), pa.string()))
    chunks = [
        chunk.indices.fill_null(-1).to_numpy(zero_copy_only=False) for chunk in together.unify_dictionaries().chunks
    ]
    none = np.zeros(0, np.int32)
    return np.concatenate([none, *chunks[: one.num_chunks]]), np.concatenate([none, *chunks[one.num_chunks :]])


def number_rows(columns: Iterable[tuple[Codes, Codes]], rows: int, others: int) -> tuple[IntArray, IntArray, int]:
    """Number the rows of two tables from 0, equal ones alike.

    Parameters
    ----------
    columns
        For every column its cells in the one table and in the other, as whole numbers from −1 on.
    rows, others
        Rows of the one table and of the other.

    Returns
    -------
    one, other
        The numbers of their rows.
    size
        How many numbers there are.

    Examples
    --------
    >>> number_rows([(np.array([4, 4, -1]), np.array([-1])), (np.array([0, 1, 0]), np.array([0]))], 3, 1)
    (array([1, 2, 0]), array([0]), 3)
    """
    keys = np.zeros(rows + others, np.int64)
    room = 1
    for one, other in columns:
        codes = np.concatenate([one, other])
        size = int(codes.max(initial=0)) + 2
        if room > LARGEST_KEY // size:
            known, keys = np.unique(keys, return_inverse=True)
            room = max(len(known), 1)
            del known
        keys *= size
        keys += codes
        keys += 1
        room *= size
    known, numbers = np.unique(keys, return_inverse=True)
    return numbers[:rows].astype(np.int64), numbers[rows:].astype(np.int64), len(known)
