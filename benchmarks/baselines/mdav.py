"""MDAV (Domingo-Ferrer and Torra 2005), the usual method of microaggregation: groups around the furthest rows."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

Rows = npt.NDArray[np.float64]


class MDAV:
    """Rows of numbers, to be of one scale; categories are given as columns of zeros and ones.

    Parameters
    ----------
    k
        Rows in a group, at least.
    """

    def __init__(self, k: int) -> None:
        self.k = k

    def fit_predict(self, X: Rows) -> npt.NDArray[np.int64]:
        """Group number of every row."""
        labels = np.full(len(X), -1, np.int64)
        squares = np.einsum("ij,ij->i", X, X)
        total = X.sum(axis=0)

        def distances(row: Rows, taken: float) -> Rows:
            """Squared distances, less the same for all; rows in a group are as far as is said."""
            return np.where(labels < 0, squares - 2 * (X @ row), taken)

        def furthest(row: Rows) -> int:
            return int(np.argmax(distances(row, -np.inf)))

        def gather(row: int, group: int) -> None:
            """Make a group of a row and those free that are nearest to it."""
            nonlocal total
            near = np.argpartition(distances(X[row], np.inf), self.k - 1)[: self.k]
            labels[near] = group
            total = total - X[near].sum(axis=0)

        group, free = 0, len(X)
        while free >= 2 * self.k:
            first = furthest(total / free)
            opposite = furthest(X[first])
            seeds = (first, opposite) if free >= 3 * self.k else (first,)
            for row in seeds:
                gather(row, group)
                group += 1
                free -= self.k
        labels[labels < 0] = group
        return labels
