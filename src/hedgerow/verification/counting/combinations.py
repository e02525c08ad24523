"""The combinations of quasi-identifier cells that a release shows: one for every group."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from hedgerow.types import IntArray
from hedgerow.verification.counting.arrays import sums
from hedgerow.verification.reading.cells import distinct_cells

if TYPE_CHECKING:
    import pyarrow as pa


@dataclass(frozen=True, eq=False)
class Combinations:
    """Every group once, as it was published.

    Attributes
    ----------
    labels
        The distinct labels of every quasi-identifier.
    codes
        Which of them each group has: a row for every group, a column for every quasi-identifier; −1 is missing.
    sizes
        Rows of each group.

    Examples
    --------
    >>> import pyarrow as pa
    >>> cells = {"sex": pa.chunked_array([["F", "M", "F"]]), "age": pa.chunked_array([["30", None, "30"]])}
    >>> found = Combinations.of(cells, np.array([0, 1, 0]))
    >>> found.sizes, found.groups_by_label("age")
    (array([2, 1]), [('30', 1)])
    """

    labels: Mapping[str, list[str]]
    codes: IntArray
    sizes: IntArray

    @classmethod
    def of(
        cls, cells: Mapping[str, pa.ChunkedArray], group_of: IntArray, counts: IntArray | None = None
    ) -> Combinations:
        """Take the cells of each group from the first row that belongs to it; each row counts as ``counts`` says."""
        _, first, sizes = np.unique(group_of, return_index=True, return_counts=True)
        if counts is not None:
            sizes = sums(group_of, counts, len(first))
        labels = {}
        codes = np.empty((len(first), len(cells)), np.int64)
        for at, (name, column) in enumerate(cells.items()):
            labels[name], indices = distinct_cells(column)
            codes[:, at] = indices[first]
        return cls(labels, codes, sizes.astype(np.int64))

    def groups_by_label(self, name: str) -> list[tuple[str, int]]:
        """Return every distinct label of a column and how many groups have it; missing cells are left out."""
        column = self.codes[:, list(self.labels).index(name)]
        counts = np.bincount(column[column >= 0], minlength=len(self.labels[name]))
        return list(zip(self.labels[name], counts.tolist(), strict=True))

    def labels_of_groups(self, name: str) -> list[str | None]:
        """Return what every group is published as in a column."""
        labels = [*self.labels[name], None]  # −1 is missing
        return [labels[code] for code in self.codes[:, list(self.labels).index(name)].tolist()]
