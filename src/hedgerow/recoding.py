"""Recoding: which records form which group, and what each group is published as."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from hedgerow.microdata import Microdata, TreeColumn
from hedgerow.microdata.columns import Shown

IntArray = npt.NDArray[np.int64]
WITHHELD = -1


@dataclass(frozen=True, eq=False)
class Recoding:
    """The result of an algorithm: groups of records, and what each is published as.

    Attributes
    ----------
    group_of
        Group of every unit of the microdata; −1 for a withheld record.
    lo, hi
        Least and greatest code of every group (rows) in every quasi-identifier (columns, in the plan's order).
    node
        Node that every group is published as; −1 in a column of free intervals, whose published value is [lo, hi].
    """

    group_of: IntArray
    lo: IntArray
    hi: IntArray
    node: IntArray

    @classmethod
    def of_boxes(cls, microdata: Microdata, group_of: IntArray, lo: IntArray, hi: IntArray) -> Recoding:
        """Publish every group as the lowest common ancestors of its members' values."""
        node = np.full(lo.shape, -1, np.int64)
        for position, column in enumerate(microdata.columns):
            if isinstance(column, TreeColumn):
                node[:, position] = column.hierarchy.lca_of_ranges(lo[:, position], hi[:, position])
        return cls(group_of, lo, hi, node)

    @property
    def groups(self) -> int:
        """Number of groups."""
        return len(self.lo)

    @property
    def sizes(self) -> IntArray:
        """Number of records of every group."""
        return np.bincount(self.group_of[self.group_of >= 0], minlength=self.groups)

    @property
    def released(self) -> int:
        """Number of records that are in a group."""
        return int((self.group_of >= 0).sum())

    def shown(self, position: int) -> Shown:
        """What every group is published as in one quasi-identifier."""
        return Shown(self.lo[:, position], self.hi[:, position], self.node[:, position])

    def labels(self, microdata: Microdata) -> list[list[str | None]]:
        """Published value of every group, by quasi-identifier."""
        return [column.labels(self.shown(position)) for position, column in enumerate(microdata.columns)]

    def breaks_by_column(self, microdata: Microdata) -> dict[str, int]:
        """Count, by quasi-identifier, the records published beyond their limit."""
        in_group = self.group_of >= 0
        group = self.group_of[in_group]
        profile = microdata.profile_of_unit[in_group]
        counts = {}
        for position, column in enumerate(microdata.columns):
            codes = microdata.codes(position)[profile].astype(np.int64)
            counts[column.name] = int(column.breaks(codes, self.shown(position)[group]).sum())
        return counts

    def in_published_order(self, microdata: Microdata) -> Recoding:
        """Return the same release with its groups numbered in the order of their published values.

        Groups that are published alike are one group to every reader, so they become one.
        """
        if not self.groups:
            return self
        keys: list[IntArray] = []
        for position, column in enumerate(microdata.columns):
            keys += column.order_keys(self.shown(position))
        order = np.lexsort(keys[::-1])
        changed = np.zeros(len(order), bool)
        for key in keys:
            changed[1:] |= key[order][1:] != key[order][:-1]
        number = np.empty(len(order), np.int64)
        number[order] = np.cumsum(changed)
        starts = np.flatnonzero(np.concatenate([[True], changed[1:]]))
        lo = np.minimum.reduceat(self.lo[order], starts)
        hi = np.maximum.reduceat(self.hi[order], starts)
        group_of = np.where(self.group_of < 0, WITHHELD, number[self.group_of])
        return Recoding(group_of, lo, hi, self.node[order[starts]])

    def __repr__(self) -> str:
        return f"Recoding({self.released:,} records in {self.groups:,} groups)"
