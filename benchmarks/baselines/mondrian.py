"""Strict Mondrian (LeFevre et al. 2006): cut at the median of the widest column while both halves keep k rows."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt


class Mondrian:
    """Rows of numbers; categories are given as numbers in the order of their tree.

    Parameters
    ----------
    k
        Rows in a group, at least.
    """

    def __init__(self, k: int) -> None:
        self.k = k

    def fit_predict(self, X: npt.NDArray[np.float64]) -> npt.NDArray[np.int64]:
        """Group number of every row."""
        spans = np.maximum(np.ptp(X, axis=0), 1e-12)
        labels = np.empty(len(X), np.int64)
        groups, parts = 0, [np.arange(len(X))]
        while parts:
            part = parts.pop()
            halves = self._halves(X[part] / spans)
            if halves is None:
                labels[part] = groups
                groups += 1
            else:
                parts += [part[halves], part[~halves]]
        return labels

    def _halves(self, rows: npt.NDArray[np.float64]) -> npt.NDArray[np.bool_] | None:
        if len(rows) < 2 * self.k:
            return None
        widths = np.ptp(rows, axis=0)
        for column in np.argsort(-widths, kind="stable"):
            if widths[column] == 0:
                return None
            values = rows[:, column]
            for left in (values <= np.median(values), values < np.median(values)):
                if self.k <= left.sum() <= len(rows) - self.k:
                    return left
        return None
