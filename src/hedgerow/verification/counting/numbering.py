"""Numbers for the cells and rows of two tables, equal ones alike, so that the tables can be compared."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from hedgerow.types import IntArray
from hedgerow.verification.reading.cells import narrowest

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
    (array([0, 1], dtype=int8), array([ 1, -1], dtype=int8))
    """
    import pyarrow as pa

    numbers: dict[str, int] = {}
    found = []
    for column in (one, other):
        whole = column.unify_dictionaries().combine_chunks() if column.num_chunks else None
        labels = [] if whole is None else whole.dictionary.to_pylist()
        number = [-1 if label is None else numbers.setdefault(label, len(numbers)) for label in labels]
        found.append((np.array([*number, -1]), None if whole is None else whole.indices))
    kind = narrowest(len(numbers))
    none = np.zeros(0, kind)
    shown, told = (
        none if at is None else lookup.astype(kind)[at.cast(pa.int32()).fill_null(-1).to_numpy()]
        for lookup, at in found
    )
    return shown, told


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
    order = np.argsort(keys)
    keys = keys[order]  # those in the old order are not needed any more: there may be many
    changes = np.append(False, keys[1:] != keys[:-1]) if len(keys) else np.zeros(0, bool)
    del keys
    of_place = np.cumsum(changes)
    numbers = np.empty(len(order), np.int64)
    numbers[order] = of_place
    return numbers[:rows], numbers[rows:], int(of_place[-1]) + 1 if len(of_place) else 0
