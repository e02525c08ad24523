"""Microaggregation within limits: groups of least squared error (Domingo-Ferrer and Mateo-Sanz 2002).

The start is MDAV (Domingo-Ferrer and Torra 2005), or, where more than k is asked of groups, the clustering that
forms such groups. With ``improve`` the groups are annealed: units of groups that are near each other change places,
move, groups dissolve and split, at first also where the error grows; each effort goes on from the one before, and the
best is kept, so more effort never has a greater error. Blocks of few records, and blocks whose records differ in one
number only, are solved exactly (Hansen and Mukherjee 2003 for the latter). Blocks of more than 4,096 records are first
cut in halves where they spread most, until their parts are smaller. Pseudocode: ``docs/explanation/clustering.md``.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from hedgerow.anonymization import kernels
from hedgerow.anonymization.clustering.asked import demands_of, with_scratch
from hedgerow.anonymization.clustering.cells import Cells
from hedgerow.anonymization.clustering.costs import Objective
from hedgerow.anonymization.clustering.improve import with_proof
from hedgerow.anonymization.clustering.layout import lay_out
from hedgerow.anonymization.clustering.numbering import dense, recoding_of
from hedgerow.anonymization.clustering.parts import Part
from hedgerow.anonymization.clustering.threads import run_in_threads
from hedgerow.anonymization.kernels.tuples.asked import Demands
from hedgerow.measures.squared_error import Points
from hedgerow.microdata import Microdata
from hedgerow.microdata.recoding import WITHHELD, Recoding
from hedgerow.privacy import Requirement
from hedgerow.types import BoolArray, Improve, IntArray, Steps

LARGEST = 4096
"""Records of a part, at most, of which all distances are looked at."""
SOLVED = 11
"""Records of a block of which all groupings are tried: the effort trebles with each."""
NEAREST = 32
TRIES = {"quick": 150, "thorough": 1_500, "longest": 15_000}
"""By effort, how often something is tried for every record."""
HEAT = 1.5
LADDER = np.rint(-np.log((np.arange(1 << 12) + 0.5) / (1 << 12)) * (1 << 20)) / (1 << 20)


@dataclass(frozen=True)
class Microaggregation:
    """Groups of least squared error.

    Attributes
    ----------
    clustering
        What makes the groups to start from where more than k is asked; None: MDAV does.
    requirement
        What must hold of every group.
    effort
        How long to search.
    objective
        Where records lie.

    Examples
    --------
    >>> from hedgerow.anonymization.clustering import find_cells
    >>> from hedgerow.microdata import encode_table, read_table
    >>> from hedgerow.plan import Plan
    >>> import pyarrow as pa
    >>> age = {"role": "quasi-identifier", "intervals": "free"}
    >>> plan = Plan.from_dict({"attributes": {"age": age}, "privacy": {"k": 2}, "method": {"objective": "variance"}})
    >>> microdata = encode_table(read_table(pa.table({"age": [30, 70, 31, 69, 71]}), plan), plan)
    >>> objective = Objective.of_plan(microdata, plan)
    >>> groups = Microaggregation(None, Requirement(k=2), objective)(microdata, find_cells(microdata, Requirement(k=2)))
    >>> groups.group_of.tolist()
    [0, 0, 1, 1, 1]
    """

    clustering: Any
    requirement: Requirement
    objective: Objective
    effort: Improve = "off"
    seed: int = 0
    threads: int = 1

    def __call__(self, microdata: Microdata, cells: Cells, progress: Steps | None = None) -> Recoding:
        """Form groups within the cells that need not be withheld."""
        start = None
        if self.clustering is not None:
            start = self.clustering(microdata, cells=cells, progress=progress).group_of
        layout = lay_out(microdata, cells, self.requirement.k)
        asked = demands_of(microdata, layout, self.requirement)
        points = _points(microdata, self.objective)
        solved = np.zeros(len(layout.units), np.bool_)

        def work(first: int, last: int, done: IntArray, stop: IntArray) -> None:
            part = Part.of(layout, first, last)
            units = layout.units[part.units]
            before = None if start is None else start[units]
            kept = np.arange(len(units)) if before is None else np.flatnonzero(before >= 0)
            mine = with_scratch(asked, part.units, layout.persons)
            block = np.repeat(np.arange(last - first), part.records)[kept]
            pieces = _Pieces.of(
                points[microdata.profile_of_unit[units[kept]]], block, last - first, part.seeds(self.seed),
                None if before is None else before[kept], _of_some(mine, kept),
            )  # fmt: skip
            place = np.full(len(units), WITHHELD, np.int64)
            found, proven = self._group(pieces, stop)
            place[kept] = found + layout.group_start[first]
            layout.group_of[part.units] = place
            solved[part.units] = np.repeat(proven, part.records)
            done[0] += len(units)

        run_in_threads(work, layout.records, self.threads, progress)
        group_of = np.full(len(microdata.record_of), WITHHELD, np.int64)
        group_of[layout.units] = layout.group_of
        groups = recoding_of(microdata, group_of)
        return groups if self.effort == "off" else with_proof(groups, layout.units[solved])

    def _group(self, pieces: _Pieces, stop: IntArray) -> tuple[IntArray, BoolArray]:
        """Group the units of blocks; returns the group of each, and for each block whether no groups are better."""
        kernel, k = kernels.load("squared"), pieces.asked.k
        laid = (pieces.points, pieces.start, pieces.first_group)
        place = pieces.place
        if pieces.before is None:
            kernel.maximum_distance(*laid, k, place, stop)
        solved = np.diff(pieces.start) < 2 * k
        if self.effort != "off":
            kernel.solve_small(*laid, pieces.asked, SOLVED, place, solved, stop)
            rest = np.flatnonzero(~solved)
            if len(rest):
                self._anneal(pieces.some(rest), place, stop)
        found = np.empty(len(place), np.int64)
        found[pieces.order] = place
        return found, pieces.by_block(solved)

    def _anneal(self, pieces: _Pieces, place: IntArray, stop: IntArray) -> None:
        """Improve the groups of some pieces in place, by one effort after the other."""
        kernel, k, units = kernels.load("squared"), pieces.asked.k, pieces.order
        laid = (pieces.points, pieces.start, pieces.first_group)
        here = place[units] - pieces.offset
        near = np.empty((len(units), NEAREST), np.int64)
        kernel.nearest_units(pieces.points, pieces.start, near, stop)
        largest = np.maximum.reduceat(np.bincount(here, minlength=int(pieces.first_group[-1])), pieces.first_group[:-1])
        rooms = np.maximum(3 * k, largest + k)
        error, lower = np.empty(len(rooms)), np.empty(len(rooms))
        kernel.errors(*laid, here, error)
        names = list(TRIES)
        for name in names[: names.index(self.effort) + 1]:
            tried = here.copy()
            kernel.anneal(*laid, near, tried, pieces.asked, rooms, TRIES[name], HEAT, LADDER, pieces.seeds, stop)
            kernel.errors(*laid, tried, lower)
            better = np.repeat(lower < error, np.diff(pieces.start))
            here[better] = tried[better]
            error = np.minimum(error, lower)
        place[units] = here + pieces.offset


@dataclass(frozen=True, eq=False)
class _Pieces:
    """The units of some blocks, laid out piece by piece: a block is one piece, or several if it is large.

    Attributes
    ----------
    points
        Where the units lie, in the order of the pieces.
    order
        Which unit of the blocks each of them is.
    start, first_group, seeds
        By piece: where its units start, the number of its first group, where its generator starts.
    block
        By piece: the block it belongs to, of so many ``blocks``.
    before
        Group of every unit, in the order of the blocks, if they have groups.
    offset
        What is taken off numbers of groups, by unit, where pieces were left out.
    """

    points: Points
    order: IntArray
    start: IntArray
    first_group: IntArray
    seeds: npt.NDArray[np.uint64]
    block: IntArray
    blocks: int
    before: IntArray | None
    asked: Demands
    offset: IntArray

    @classmethod
    def of(
        cls, points: Points, block: IntArray, blocks: int, seeds: npt.NDArray[np.uint64], before: IntArray | None,
        asked: Demands,
    ) -> _Pieces:  # fmt: skip
        """Cut the large ones of some blocks; units come block by block, in canonical order."""
        most = max(LARGEST, 8 * asked.k)
        ends = np.searchsorted(block, np.arange(blocks + 1))
        orders, sizes, owner = [], [], []
        for number, (begin, end) in enumerate(zip(ends[:-1].tolist(), ends[1:].tolist(), strict=True)):
            if end - begin <= most:
                orders.append(np.arange(begin, end))
                sizes.append(end - begin)
                owner.append(number)
                continue
            for piece in _cut(points[begin:end], None if before is None else before[begin:end], most):
                orders.append(piece + begin)
                sizes.append(len(piece))
                owner.append(number)
        order = np.concatenate([np.zeros(0, np.int64), *orders])
        start = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
        first_group = np.concatenate([[0], np.cumsum(np.array(sizes, np.int64) // asked.k)]).astype(np.int64)
        of_piece = np.array(owner, np.int64)
        within = np.arange(len(of_piece)) - np.searchsorted(of_piece, of_piece)
        return cls(
            np.ascontiguousarray(points[order]), order, start, first_group,
            seeds[of_piece] + 2 * within.astype(np.uint64), of_piece, blocks, before, _of_some(asked, order),
            np.zeros(len(order), np.int64),
        )  # fmt: skip

    @property
    def place(self) -> IntArray:
        """Groups that units have to begin with, numbered by piece; −1 if they have none."""
        place = np.full(len(self.order), WITHHELD, np.int64)
        if self.before is not None:
            for number, (begin, end) in enumerate(zip(self.start[:-1], self.start[1:], strict=True)):
                place[begin:end] = dense(self.before[self.order[begin:end]])[1] + self.first_group[number]
        return place

    def some(self, pieces: IntArray) -> _Pieces:
        """Some of the pieces; the order says where their units are among those of all."""
        sizes = np.diff(self.start)[pieces]
        units = np.repeat(self.start[pieces] - np.cumsum(sizes) + sizes, sizes) + np.arange(int(sizes.sum()))
        groups = np.diff(self.first_group)[pieces]
        first_group = np.concatenate([[0], np.cumsum(groups)]).astype(np.int64)
        return _Pieces(
            self.points[units], units, np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64), first_group,
            self.seeds[pieces], self.block[pieces], self.blocks, None, _of_some(self.asked, units),
            np.repeat(self.first_group[pieces] - first_group[:-1], sizes),
        )  # fmt: skip

    def by_block(self, flags: BoolArray) -> BoolArray:
        """Whether the one piece of every block has a flag; a block of several has none."""
        several = np.bincount(self.block, minlength=self.blocks) > 1
        found = np.zeros(self.blocks, np.bool_)
        found[self.block] = flags
        return found & ~several


def _points(microdata: Microdata, objective: Objective) -> Points:
    """Where every profile lies, in all columns together."""
    codes = [microdata.codes(position) for position in range(len(microdata.columns))]
    laid = [points[codes[position]] for position, points in enumerate(objective.points)]
    whole = np.hstack(laid) if laid else np.zeros((len(microdata.profiles), 0))
    varies = (whole != whole[:1]).any(axis=0)
    return np.ascontiguousarray(whole[:, varies]) if varies.any() else np.zeros((len(whole), 1))


def _of_some(asked: Demands, units: IntArray) -> Demands:
    """What is asked of some of the units, in the order given."""
    return asked._replace(
        person=asked.person[units] if len(asked.person) else asked.person,
        sensitive=np.ascontiguousarray(asked.sensitive[units]),
    )


def _cut(points: Points, before: IntArray | None, most: int) -> list[IntArray]:
    """Cut units in halves where they spread most, until no part has more than ``most``; groups stay whole."""
    group = np.arange(len(points)) if before is None else dense(before)[1]
    sizes = np.bincount(group)
    centres = np.stack([np.bincount(group, weights=axis) / sizes for axis in points.T], axis=1)
    parts, uncut = [], [np.arange(len(sizes))]
    while uncut:
        groups = uncut.pop()
        if sizes[groups].sum() <= most or len(groups) < 2:
            parts.append(groups)
            continue
        inside = centres[groups]
        widest = int(np.argmax(inside.max(axis=0) - inside.min(axis=0)))
        by_place = groups[np.argsort(inside[:, widest], kind="stable")]
        half = int(np.searchsorted(np.cumsum(sizes[by_place]), sizes[groups].sum() // 2))
        half = min(max(half, 1), len(by_place) - 1)
        uncut += [np.sort(by_place[half:]), np.sort(by_place[:half])]
    part_of = np.empty(len(sizes), np.int64)
    for number, groups in enumerate(parts):
        part_of[groups] = number
    return [np.flatnonzero(part_of[group] == number) for number in range(len(parts))]
