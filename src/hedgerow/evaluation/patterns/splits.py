"""The best split of a node: entropy (natural logarithm) of the node less that of its two sides.

Every feature is ranked once; the class counts below every cut then come from one pass over the rows, without sorting.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
import numpy.typing as npt

from hedgerow.evaluation.patterns.observations import Feature, LabelFeature, OrderedFeature, Target
from hedgerow.types import IntArray

Floats = npt.NDArray[np.float64]
End = Literal["from", "to"] | None

EQUAL_GAINS = 1e-9
"""Gains per record that are closer than this are equal: the last bits of a logarithm differ between machines."""


@dataclass(frozen=True)
class BestSplit:
    """The best split of a node.

    Attributes
    ----------
    place
        Position of the feature.
    end
        Which end of the ranges was cut; None for numbers that are known, and for labels.
    cut
        The scaled number at which an ordered feature was cut.
    labels
        Positions of the labels on the side of yes.
    gain
        Entropy taken away, per record.
    """

    place: int
    end: End
    cut: int | None
    labels: tuple[int, ...]
    gain: float


@dataclass(frozen=True, eq=False)
class Ranked:
    """One end of an ordered feature: its different values, ascending, and the rank of every row's."""

    place: int
    end: End
    values: IntArray
    ranks: IntArray


@dataclass(frozen=True, eq=False)
class Offer:
    """The splits that one feature offers at a node: the gain of each, in the order in which ties are broken."""

    gains: Floats
    place: int
    end: End = None
    cuts: IntArray | None = None
    yes_labels: tuple[IntArray, ...] = ()


class SplitSearch:
    """Finds the best split of any set of rows."""

    def __init__(self, features: Sequence[Feature], target: Target, smallest: int) -> None:
        self._target = target
        self._smallest = smallest
        self._looked_at = [part for place, feature in enumerate(features) for part in _parts(place, feature)]

    def best(self, rows: IntArray) -> BestSplit | None:
        """Return the split of greatest gain; among equals that of the first feature, lower end and cut."""
        node = _Rows.of(self._target, rows, self._smallest)
        offers = [node.cuts(part) if isinstance(part, Ranked) else node.label_sets(*part) for part in self._looked_at]
        most = max((float(offer.gains.max(initial=0.0)) for offer in offers), default=0.0)
        if most <= EQUAL_GAINS:
            return None
        for offer in offers:
            near = np.flatnonzero(offer.gains >= most - EQUAL_GAINS)
            if len(near):
                first = int(near[0])
                cut = None if offer.cuts is None else int(offer.cuts[first])
                labels = tuple(sorted(offer.yes_labels[first].tolist())) if offer.yes_labels else ()
                return BestSplit(offer.place, offer.end, cut, labels, float(offer.gains[first]))
        raise AssertionError("some offer has the greatest gain")  # pragma: no cover


def _parts(place: int, feature: Feature) -> Iterator[Ranked | tuple[int, LabelFeature]]:
    if isinstance(feature, LabelFeature):
        yield place, feature
    elif feature.exact:
        yield _ranked(place, None, feature.lower)
    else:
        yield _ranked(place, "from", feature.lower)
        yield _ranked(place, "to", feature.upper)


def _ranked(place: int, end: End, numbers: IntArray) -> Ranked:
    values, ranks = np.unique(numbers, return_inverse=True)
    return Ranked(place, end, values, ranks.astype(np.int64))


def side_of_yes(feature: Feature, found: BestSplit) -> npt.NDArray[np.bool_]:
    """Tell which rows lie on the side of yes: at least the cut for a lower end, below it for an upper end."""
    if isinstance(feature, OrderedFeature):
        assert found.cut is not None
        below = (feature.upper if found.end == "to" else feature.lower) < found.cut
        return below if found.end == "to" else ~below
    wanted = np.zeros(len(feature.labels), bool)
    wanted[list(found.labels)] = True
    side: npt.NDArray[np.bool_] = wanted[feature.codes]
    return side


@dataclass(frozen=True, eq=False)
class _Rows:
    """The rows of one node."""

    rows: IntArray
    counts: Floats
    by_class: list[tuple[IntArray, Floats]]
    classes: int
    size: float
    impurity: float
    smallest: int

    @classmethod
    def of(cls, target: Target, rows: IntArray, smallest: int) -> _Rows:
        counts = target.counts[rows].astype(np.float64)
        codes = target.codes[rows]
        by_class = []
        for code in range(len(target.classes)):
            here = codes == code
            by_class.append((rows[here], counts[here]))
        totals = np.array([part.sum() for _, part in by_class])
        size = float(counts.sum())
        impurity = float(_n_log_n(np.array([size]))[0] - _n_log_n(totals).sum())
        return cls(rows, counts, by_class, len(target.classes), size, impurity, smallest)

    def cuts(self, part: Ranked) -> Offer:
        """Score every cut of an ordered feature: below a value that occurs here against the rest."""
        most = len(part.values)
        here: Floats = np.bincount(part.ranks[self.rows], self.counts, most).astype(np.float64)
        below = np.cumsum(here) - here
        fits = (here > 0) & (below >= self.smallest) & (self.size - below >= self.smallest)
        at = np.flatnonzero(fits)
        left = []
        for rows, counts in self.by_class if len(at) else ():
            of_class: Floats = np.bincount(part.ranks[rows], counts, most).astype(np.float64)
            left.append((np.cumsum(of_class) - of_class)[at])
        return Offer(self._gains(below[at], left), part.place, part.end, part.values[at])

    def label_sets(self, place: int, feature: LabelFeature) -> Offer:
        """Score sets of labels: of two classes, those richest in the positive one; of more, each label alone."""
        table = np.zeros((len(feature.labels), self.classes))
        for code, (rows, counts) in enumerate(self.by_class):
            table[:, code] = np.bincount(feature.codes[rows], counts, len(feature.labels))
        sizes = table.sum(axis=1)
        order = np.flatnonzero(sizes)
        if self.classes == 2:
            order = order[np.argsort(-table[order, 1] / sizes[order], kind="stable")]
            inside = np.cumsum(table[order], axis=0)
        else:
            inside = table[order]
        total = inside.sum(axis=1)
        at = np.flatnonzero((total >= self.smallest) & (self.size - total >= self.smallest))
        gains = self._gains(total[at], [inside[at, code] for code in range(self.classes)])
        yes = tuple(order[: i + 1] if self.classes == 2 else order[i : i + 1] for i in at.tolist())
        return Offer(gains, place, yes_labels=yes)

    def _gains(self, sizes: Floats, by_class: list[Floats]) -> Floats:
        """Entropy per record that is gone when some records, with these class counts, are taken apart."""
        left = _n_log_n(sizes) + _n_log_n(self.size - sizes)
        for (_, counts), inside in zip(self.by_class, by_class, strict=False):
            left -= _n_log_n(inside) + _n_log_n(counts.sum() - inside)
        return (self.impurity - left) / self.size


def _n_log_n(counts: Floats) -> Floats:
    return counts * np.log(np.maximum(counts, 1.0))
