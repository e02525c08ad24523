"""Groups that fit enough people of the population: those that do not are joined with others of their block.

Clustering looks at records alone, and makes groups as small as k allows. What such a group is published as may fit too
few people, or records may be too great a share of those who do. Joining groups keeps k, the limits and every model of
attribute disclosure, and what it is published as fits more people. So each group that fails is joined with the group
that adds the least loss, of those with which it holds if there are any; and again, until it holds. One that no joining
helps is withheld.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from hedgerow.anonymization.clustering.costs import Costs, Objective, cost_tables
from hedgerow.anonymization.clustering.numbering import dense
from hedgerow.microdata import Microdata, TreeColumn
from hedgerow.microdata.columns import Shown
from hedgerow.microdata.microdata import MILLION
from hedgerow.microdata.recoding import WITHHELD, Recoding
from hedgerow.privacy import Requirement
from hedgerow.privacy.requirement import weight_by_group
from hedgerow.types import BoolArray, IntArray

TRIED = 16
"""Groups, of least loss, that are tried at a time."""


def with_people(
    microdata: Microdata, requirement: Requirement, cell_of: IntArray, clusters: Recoding, objective: Objective
) -> Recoding:
    """Join groups until every one fits the people that are asked; those that cannot are withheld."""
    if not requirement.of_population or not clusters.groups:
        return clusters
    costs = cost_tables(microdata, objective)
    while True:
        published = clusters.in_published_order(microdata)  # what is published alike is one group to every reader
        joining = _Joining(microdata, requirement, cell_of, published, costs)
        failing = np.flatnonzero(~joining.holds(published.lo, published.hi, published.sizes, joining.weight))
        if not len(failing):
            return clusters
        for group in failing.tolist():
            joining.mend(group)
        clusters = joining.result()
        if not clusters.groups:
            return clusters


@dataclass(eq=False)
class _Joining:
    """Groups as they are joined: boxes, sizes, and which group each has become part of."""

    microdata: Microdata
    requirement: Requirement
    cell_of: IntArray
    clusters: Recoding
    costs: Costs

    def __post_init__(self) -> None:
        self.lo, self.hi = self.clusters.lo.copy(), self.clusters.hi.copy()
        self.size = self.clusters.sizes.copy()
        self.weight = np.zeros(self.clusters.groups, np.int64)
        if self.microdata.weight_of is not None:
            self.weight = weight_by_group(self.microdata, self.clusters.group_of, self.clusters.groups)
        self.part_of = np.arange(self.clusters.groups)
        self.alive = np.ones(self.clusters.groups, bool)
        self.cell = np.zeros(self.clusters.groups, np.int64)
        inside = self.clusters.group_of >= 0
        self.cell[self.clusters.group_of[inside]] = self.cell_of[inside]
        self.index = list(self.microdata.index_order)

    def holds(self, lo: IntArray, hi: IntArray, size: IntArray, weight: IntArray) -> BoolArray:
        """Tell which boxes, of so many records that stand for so many people, fit the people that are asked."""
        population = self.microdata.population
        if population is None:
            return self.requirement.holds_for_people(size, weight // MILLION)
        shown = [
            Shown(
                lo[:, at],
                hi[:, at],
                column.hierarchy.lca_of_ranges(lo[:, at], hi[:, at]) if isinstance(column, TreeColumn) else lo[:, at],
            )
            for at, column in enumerate(self.microdata.columns)
        ]
        fitting = population.fitting(self.microdata.columns, shown, self.requirement.within_limits)
        return self.requirement.holds_for_people(size, fitting)

    def mend(self, group: int) -> None:
        """Join a group with others until it holds; withhold it, and it alone, if it never does."""
        if not self.alive[group]:
            return  # it has become part of another
        lo, hi, size, weight = self.lo[group], self.hi[group], int(self.size[group]), int(self.weight[group])
        partners = np.flatnonzero(self.alive & (self.cell == self.cell[group]))
        partners = partners[partners != group]
        joined: list[int] = []
        while not self.holds(lo[None], hi[None], np.array([size]), np.array([weight]))[0]:
            if not len(partners):
                self.alive[group] = False
                self.part_of[self.part_of == group] = WITHHELD
                return
            chosen = self._best(lo, hi, size, weight, partners)
            lo, hi = np.minimum(lo, self.lo[chosen]), np.maximum(hi, self.hi[chosen])
            size, weight = size + int(self.size[chosen]), weight + int(self.weight[chosen])
            joined.append(chosen)
            partners = partners[partners != chosen]
        self.lo[group], self.hi[group], self.size[group], self.weight[group] = lo, hi, size, weight
        self.alive[joined] = False
        self.part_of[np.isin(self.part_of, joined)] = group

    def _best(self, lo: IntArray, hi: IntArray, size: int, weight: int, partners: IntArray) -> int:
        """Return the partner that adds the least loss, of those of least with which the group holds, if any does."""
        low, high = np.minimum(self.lo[partners], lo), np.maximum(self.hi[partners], hi)
        together = size + self.size[partners]
        added = together * self._cost(low, high) - self.size[partners] * self._cost(
            self.lo[partners], self.hi[partners]
        )
        order = np.lexsort((partners, added))[:TRIED]
        held = np.flatnonzero(
            self.holds(low[order], high[order], together[order], weight + self.weight[partners[order]])
        )
        return int(partners[order[held[0] if len(held) else 0]])

    def _cost(self, lo: IntArray, hi: IntArray) -> IntArray:
        lower, upper = self.costs.ends(lo[:, self.index], hi[:, self.index])
        return self.costs.of_boxes(lower, upper)

    def result(self) -> Recoding:
        """Return the groups as they are now."""
        group_of = np.where(self.clusters.group_of < 0, WITHHELD, self.part_of[self.clusters.group_of])
        numbers, group_of = dense(group_of)
        return Recoding.of_boxes(self.microdata, group_of, self.lo[numbers], self.hi[numbers])
