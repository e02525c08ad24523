"""Recoding: which records form which group, and what each group is published as."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np
import numpy.typing as npt

from hedgerow.microdata import Microdata, TreeColumn
from hedgerow.microdata.columns import Shown
from hedgerow.microdata.ordering import Words, order_by, pack, starts_of_runs
from hedgerow.types import IntArray

WITHHELD = -1
BLOCK = 1 << 20


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
    hidden
        Which groups (rows) show a missing cell instead in which quasi-identifiers (columns); None: nowhere.
    proven
        Which groups lie in a block of which no groups of the same records would lose less; None if nobody asked.
    told
        What every group is published as in place of its node, by position of the quasi-identifiers that publish
        something else.
    """

    group_of: IntArray
    lo: IntArray
    hi: IntArray
    node: IntArray
    hidden: npt.NDArray[np.bool_] | None = None
    proven: npt.NDArray[np.bool_] | None = None
    told: Mapping[int, IntArray] = field(default_factory=dict)

    @classmethod
    def of_boxes(cls, microdata: Microdata, group_of: IntArray, lo: IntArray, hi: IntArray) -> Recoding:
        """Publish every group as the lowest common ancestors of its members' values, or what a column has instead."""
        node = np.full(lo.shape, -1, np.int64)
        told = {}
        for position, column in enumerate(microdata.columns):
            if isinstance(column, TreeColumn):
                node[:, position] = column.hierarchy.lca_of_ranges(lo[:, position], hi[:, position])
            if column.instead is not None:
                inside = np.flatnonzero(group_of >= 0)
                codes = microdata.codes(position)[microdata.profile_of_unit[inside]].astype(np.int64)
                told[position] = column.instead.of_groups(codes, group_of[inside], len(lo))
        return cls(group_of, lo, hi, node, told=told)

    @property
    def groups(self) -> int:
        """Number of groups."""
        return len(self.lo)

    @cached_property
    def sizes(self) -> IntArray:
        """Number of records of every group."""
        return np.bincount(self.group_of[self.group_of >= 0], minlength=self.groups)

    def shows(self, position: int) -> npt.NDArray[np.bool_]:
        """Tell which groups show something in one quasi-identifier."""
        return np.ones(self.groups, bool) if self.hidden is None else ~self.hidden[:, position]

    def showing(self, position: int) -> IntArray:
        """Number of records of every group that show something in one quasi-identifier: all, or none if hidden."""
        return np.where(self.shows(position), self.sizes, 0)

    def times(self, position: int) -> IntArray:
        """Number of groups that are shown as each of :meth:`shown`: one each."""
        return np.ones(self.groups, np.int64)

    @property
    def released(self) -> int:
        """Number of records that are in a group."""
        return int((self.group_of >= 0).sum())

    def shown(self, position: int) -> Shown:
        """What every group is published as in one quasi-identifier."""
        return Shown(self.lo[:, position], self.hi[:, position], self.node[:, position], self.told.get(position))

    def labels(self, microdata: Microdata) -> list[list[str | None]]:
        """Published value of every group, by quasi-identifier."""
        labels = [column.labels(self.shown(position)) for position, column in enumerate(microdata.columns)]
        for position, column_labels in enumerate(labels):
            for group in np.flatnonzero(~self.shows(position)).tolist():
                column_labels[group] = None
        return labels

    def breaks_by_column(self, microdata: Microdata) -> dict[str, int]:
        """Count, by quasi-identifier, the records published beyond their limit."""
        units = np.flatnonzero(self.group_of >= 0)
        blocks = [units[start : start + BLOCK] for start in range(0, len(units), BLOCK)]  # bounds the memory
        counts = {}
        for position, column in enumerate(microdata.columns):
            shown, shows, codes = self.shown(position), self.shows(position), microdata.codes(position)
            broken = 0
            for block in blocks:
                group = self.group_of[block]
                of_block = codes[microdata.profile_of_unit[block]].astype(np.int64)
                broken += int((column.breaks(of_block, shown[group]) & shows[group]).sum())
            counts[column.name] = broken
        return counts

    def cells_hidden(self, microdata: Microdata) -> dict[str, int]:
        """Count, by quasi-identifier, the released cells that are hidden although the record has a value."""
        in_group = self.group_of >= 0
        group, profile = self.group_of[in_group], microdata.profile_of_unit[in_group]
        return {
            column.name: int(
                (~self.shows(position)[group] & (microdata.codes(position)[profile] != column.missing)).sum()
            )
            for position, column in enumerate(microdata.columns)
        }

    def in_published_order(self, microdata: Microdata) -> Recoding:
        """Return the same release with its groups numbered in the order of their published values.

        Groups that are published alike are one group to every reader, so they become one.
        """
        if not self.groups:
            return self
        words: Words = []
        for position, column in enumerate(microdata.columns):
            absent = ~self.shows(position) | column.is_missing(self.shown(position))  # both are published alike
            keys = [np.where(absent, -1, key - key.min()) + 1 for key in column.order_keys(self.shown(position))]
            keys.append(absent.astype(np.int64))
            words += pack(keys, [int(key.max()) + 1 for key in keys])
        order = order_by(words)
        starts = starts_of_runs([word[order] for word in words])
        number = np.empty(len(order), np.int64)
        number[order] = np.repeat(np.arange(len(starts)), np.diff(np.append(starts, len(order))))
        lo = np.minimum.reduceat(self.lo[order], starts)
        hi = np.maximum.reduceat(self.hi[order], starts)
        group_of = np.where(self.group_of < 0, WITHHELD, number[self.group_of])
        hidden = None if self.hidden is None else np.logical_or.reduceat(self.hidden[order], starts)
        told = {position: rows[order[starts]] for position, rows in self.told.items()}
        return Recoding(group_of, lo, hi, self.node[order[starts]], hidden, told=told)

    def of_groups(self, groups: IntArray) -> Recoding:
        """Return some of the groups alone, numbered in the order given; the others are withheld."""
        number = np.full(self.groups + 1, WITHHELD, np.int64)
        number[groups] = np.arange(len(groups))
        hidden, proven = (None if part is None else part[groups] for part in (self.hidden, self.proven))
        lo, hi, node = self.lo[groups], self.hi[groups], self.node[groups]
        told = {position: rows[groups] for position, rows in self.told.items()}
        return Recoding(number[self.group_of], lo, hi, node, hidden, proven, told)

    def hiding(self, cells: npt.NDArray[np.bool_]) -> Recoding:
        """Return the same release with cells of units (rows) hidden in some quasi-identifiers (columns)."""
        kept = self.group_of >= 0
        masks, mask_of = np.unique(cells[kept], axis=0, return_inverse=True)
        pair = self.group_of[kept] * len(masks) + mask_of.reshape(-1)
        used, number = np.unique(pair, return_inverse=True)
        group_of = np.full(len(self.group_of), WITHHELD, np.int64)
        group_of[kept] = number.reshape(-1)
        group, mask = used // len(masks), used % len(masks)
        told = {position: rows[group] for position, rows in self.told.items()}
        lo, hi, node = self.lo[group], self.hi[group], self.node[group]
        return replace(self, group_of=group_of, lo=lo, hi=hi, node=node, hidden=masks[mask], told=told)

    def __repr__(self) -> str:
        return f"Recoding({self.released:,} records in {self.groups:,} groups)"
