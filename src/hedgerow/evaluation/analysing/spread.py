"""A column as shares of categories, row by row: a coarse value counts in equal parts as all that it may stand for."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from hedgerow.evaluation.analysing.typed import TypedColumn
from hedgerow.microdata.instead import SEPARATOR
from hedgerow.plan import Attribute
from hedgerow.types import IntArray
from hedgerow.verification.values.columns import ladder_of

if TYPE_CHECKING:
    import pyarrow as pa

Floats = npt.NDArray[np.floating[Any]]
BANDS = 5
"""Into so many categories of about equal size numbers are put."""
SPOTS = 64
"""At so many places of an interval it is looked which band they are in."""


@dataclass(frozen=True, eq=False)
class Spread:
    """Rows of a column as shares of categories.

    Attributes
    ----------
    categories
        What the columns of ``shares`` stand for: values of the original, or bands of numbers; a missing one is None.
    shares
        What a row with each label counts as, one row for each label; every row adds up to 1.
    label
        The label of every row of the table.
    """

    categories: tuple[str | None, ...]
    shares: Floats
    label: IntArray

    @property
    def rows(self) -> Floats:
        """Shares of every row of the table."""
        return self.shares[self.label]

    def with_other(self, other: Spread, weights: Floats) -> Floats:
        """The table of both columns, as shares of all rows."""
        both = np.zeros((len(self.shares), len(other.shares)))
        np.add.at(both, (self.label, other.label), weights)
        table: Floats = self.shares.T @ both @ other.shares / weights.sum()
        return table


def spread_texts(attribute: Attribute, original: pa.Array, released: pa.Array) -> tuple[Spread, Spread]:
    """Return a column of texts before and after, as shares of the values of the original."""
    values, codes = _coded(original)
    labels, at = _coded(released)
    place = {value: number for number, value in enumerate(values)}
    stands_for: dict[str | None, set[int]] = {value: {number} for value, number in place.items()}
    if attribute.publish == "set":
        stands_for |= {
            label: {place[value] for value in label.split(SEPARATOR) if value in place}
            for label in labels
            if label is not None
        }
    elif attribute.role == "quasi-identifier":
        longest = max((len(value) for value in values if value is not None), default=1)
        ladder = ladder_of(attribute.hierarchy, None, [value for value in values if value is not None], longest)
        for value, number in place.items():
            lines = (ladder.stray(value),) if value is None else ladder.lines(value) or (ladder.stray(value),)
            for line in lines:
                for label in line.labels:
                    if label not in place or label == ladder.root:
                        stands_for.setdefault(label, set()).add(number)
    shares = np.zeros((len(labels), len(values)))
    for number, label in enumerate(labels):
        covered = sorted(stands_for.get(label, set(range(len(values)))))
        shares[number, covered] = 1 / len(covered)
    return Spread(values, np.eye(len(values)), codes), Spread(values, shares, at)


def spread_numbers(original: Floats, column: TypedColumn) -> tuple[Spread, Spread]:
    """Return a column of numbers before and after, as shares of bands between quantiles of the original."""
    known = original[~np.isnan(original)]
    cuts = np.unique(np.quantile(known, np.arange(1, BANDS) / BANDS, method="inverted_cdf")) if len(known) else known
    names = tuple(f"band {number}" for number in range(len(cuts) + 1))
    band = np.searchsorted(cuts, original, side="left")
    before = np.where(np.isnan(original), len(names), band)
    has_missing = bool(np.isnan(original).any())
    width = len(names) + has_missing
    low, high = column.low, column.high
    if column.figure is not None:
        low = high = column.figure.numbers
    assert low is not None
    assert high is not None
    pairs = np.nan_to_num(np.stack([low, high]), nan=np.inf)
    ends, label = np.unique(pairs, axis=1, return_inverse=True)
    shares = np.zeros((ends.shape[1], width))
    overall = np.bincount(before, minlength=width)[:width] / max(len(original), 1)
    for number, (a, b) in enumerate(ends.T):
        if np.isinf(a):
            shares[number] = overall  # it tells nothing
            continue
        bands = np.searchsorted(cuts, np.linspace(a, b, SPOTS), side="left")
        shares[number, : len(names)] = np.bincount(bands, minlength=len(names)) / SPOTS
    categories: tuple[str | None, ...] = (*names, None) if has_missing else names
    return Spread(categories, np.eye(width), before), Spread(categories, shares, label.reshape(-1))


def _coded(texts: pa.Array) -> tuple[tuple[str | None, ...], IntArray]:
    encoded = texts.dictionary_encode()
    order = sorted(range(len(encoded.dictionary)), key=lambda at: encoded.dictionary[at].as_py())
    labels: list[str | None] = [encoded.dictionary[at].as_py() for at in order]
    rank = np.empty(len(order) + 1, np.int64)
    rank[order] = np.arange(len(order))
    rank[-1] = len(order)
    codes: IntArray = rank[encoded.indices.fill_null(len(order)).to_numpy(zero_copy_only=False)]
    if texts.null_count:
        labels.append(None)
    return tuple(labels), codes
