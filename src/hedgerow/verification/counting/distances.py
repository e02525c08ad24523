"""How far the values of a group are from those of all released records, the whole table: the earth mover's distance.

Li, Li and Venkatasubramanian, *t-closeness*, ICDE 2007, section 3. With c of a group's n values and q of the whole
table's N in some class, its *surplus* is c·N − q·n, a whole number. What it costs to even the surpluses out is whole
too, so nothing is rounded before the last division.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from hedgerow.types import FloatArray, IntArray
from hedgerow.verification.counting.histograms import Histograms
from hedgerow.verification.values.sensitive import Way

Numbers = npt.NDArray[Any]
"""Whole numbers, as integers or, where they might not fit, as floats."""


class Distance(ABC):
    """A distance between classes."""

    @property
    @abstractmethod
    def unit(self) -> int:
        """What a distance of 1 costs; 0 if nothing is apart."""

    @abstractmethod
    def cost(self, surplus: Numbers) -> Numbers:
        """Return the least cost of evening out the surpluses (groups × classes), where 1 costs ``unit``."""

    def between(self, histograms: Histograms, overall: IntArray) -> FloatArray:
        """Return how far every group is from the whole table; a group without values is not."""
        found = np.zeros(histograms.groups, np.float64)
        if self.unit <= 0:
            return found
        whole, largest = max(int(overall.sum()), 1), int(histograms.totals.max(initial=0))
        fits = whole * largest * (histograms.classes + self.unit + 1) < 1 << 62
        for part, table in histograms.dense():
            of_group = histograms.totals[part]
            counts: Numbers = table if fits else table.astype(np.float64)
            surplus = counts * whole - overall * of_group[:, None].astype(counts.dtype)
            found[part] = self.cost(surplus) / (np.maximum(of_group, 1) * float(whole) * self.unit)
        return found


@dataclass(frozen=True)
class Equal(Distance):
    """All classes are equally far apart: ½ Σ |p − q|."""

    @property
    def unit(self) -> int:
        """What is too much here is too little there, so all is counted twice."""
        return 2

    def cost(self, surplus: Numbers) -> Numbers:
        """Return the sum of all surpluses and lacks."""
        return _numbers(np.abs(surplus).sum(axis=1))


@dataclass(frozen=True)
class Ordered(Distance):
    """Classes stand in a row, as many steps apart as their ranks: 1/(m − 1) Σ |running sums of p − q|."""

    classes: int

    @property
    def unit(self) -> int:
        """Steps from the first class to the last."""
        return self.classes - 1

    def cost(self, surplus: Numbers) -> Numbers:
        """Return what is carried from every class to the next."""
        return _numbers(np.abs(np.cumsum(surplus, axis=1)).sum(axis=1))


@dataclass(frozen=True, eq=False)
class Hierarchical(Distance):
    """Classes are as far apart as the node above both is high: Σ height(N)/H · min(pos, neg) over inner nodes N.

    Where leaves lie at different depths, the node that a class stands for may have other classes under it. Then the
    class is a leaf of its own directly under that node.

    Attributes
    ----------
    ways
        The ways up from the classes that occur, by code.
    known
        The ways up from further classes of the tree; heights count them too.
    """

    ways: Sequence[Way]
    known: Iterable[Way] = ()

    @cached_property
    def heights(self) -> Mapping[Way, int]:
        """Height of every node, named by its way up, children before parents."""
        heights: dict[Way, int] = {}
        for way in {*self.ways, *self.known}:
            for start in range(len(way)):
                heights[way[start:]] = max(heights.get(way[start:], 0), start)
        return {way: heights[way] for way in sorted(heights, key=len, reverse=True)}

    @property
    def unit(self) -> int:
        """Height of the root."""
        return max(self.heights.values(), default=0)

    def cost(self, surplus: Numbers) -> Numbers:
        """Even out as low in the tree as can be; what is left over goes up."""
        code_of = {way: code for code, way in enumerate(self.ways)}
        parts: dict[Way, list[Numbers]] = {}
        cost = np.zeros(len(surplus), surplus.dtype)
        for node, height in self.heights.items():
            here = parts.pop(node, [])
            if node in code_of:
                here.append(surplus[:, code_of[node]])
            if not here:
                continue
            left = _numbers(np.sum(here, axis=0))
            spare = _numbers(np.sum([np.maximum(part, 0) for part in here], axis=0))
            cost += height * np.minimum(spare, spare - left)
            parts.setdefault(node[1:], []).append(left)
        return cost


def _numbers(found: Any) -> Numbers:
    return np.asarray(found)
