"""Checking nodes: by the kernel where the models only count different values, else in general terms."""

from __future__ import annotations

import math
import threading
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from hedgerow.anonymization import kernels
from hedgerow.anonymization.kernels.tuples.lattice import Address, Demanded, Joints, Nodes, Seen, Slots, View
from hedgerow.anonymization.lattice.bits import sensitive_bits
from hedgerow.anonymization.lattice.checked import Checked
from hedgerow.anonymization.lattice.hash_checker import HashChecker
from hedgerow.anonymization.lattice.space import Node, Space, is_additive
from hedgerow.microdata.ordering import number_rows
from hedgerow.privacy import Requirement
from hedgerow.privacy.requirement import people_fitting
from hedgerow.types import IntArray

JOINTS = 4  # as the kernel wants
LARGEST_JOINT = 1 << 16
LARGEST_KEY = 1 << 62
SLOTS = 1 << 20
ROOM = 6  # times the profiles
ALL = 1 << 62  # records: none is left uncounted


class Checker(Protocol):
    """Checks nodes; a view is what a check can be made on, so that nodes above another are cheaper.

    Attributes
    ----------
    views_stand_alone
        Whether a view stays as it is when others are made; else those made before from the same one are gone.
    """

    views_stand_alone: bool

    def base(self) -> Any:
        """Return the view of all profiles."""
        ...

    def roll_up(self, view: Any, node: Node) -> Any:
        """Return the view of a node at or above the view's own."""
        ...

    def check(self, view: Any, node: Node) -> Checked:
        """Check a node at or above the view's own."""
        ...


def rises(requirement: Requirement, budget: int) -> bool:
    """Tell whether every node above a feasible one is feasible, so that an infeasible one rules out all below it."""
    return requirement.survives_growth or (budget == 0 and requirement.survives_union)


def make_checker(
    space: Space, requirement: Requirement, objective: str, budget: int | None = None, salt: int | None = None
) -> Checker:
    """Choose the fastest checker that is right; what withholding costs may be left out beyond the budget.

    With a salt, and where withholding has no cost of its own, wide lattices are checked by hash: nodes that hold must
    be confirmed then.
    """
    microdata = space.microdata
    bits = sum(column.values for column in microdata.sensitive) if requirement.models else 0
    simple = requirement.survives_growth and not requirement.of_population
    if simple and microdata.person_of is None and bits <= 64:
        joints = _join(space)
        if joints is not None:
            return KernelChecker(space, requirement, objective, joints, budget)
        if salt is not None and not is_additive(objective):
            return HashChecker(space, requirement, salt)
    return GeneralChecker(space, requirement, objective)


def gains_by_level(space: Space, objective: str) -> list[list[npt.NDArray[np.float64]]]:
    """What withholding a code costs beyond generalizing it, by column and level, weighted."""
    if not is_additive(objective):
        return [[np.zeros(len(nodes)) for nodes in levels] for levels in space.maps]
    numerators, denominators = space.shares(objective)
    return [
        [float(weight) * (1.0 - costs / whole) for costs in levels]
        for levels, whole, weight in zip(numerators, denominators, space.weights(), strict=True)
    ]


def _join(space: Space) -> list[list[int]] | None:
    """Deal the columns out into joint attributes whose tables stay small; None if the keys would not fit."""
    present = [int(np.count_nonzero(records)) for records in space.records_by_code]
    joints: list[list[int]] = [[] for _ in range(JOINTS)]

    def size(joint: list[int]) -> int:
        return math.prod(present[i] for i in joint)

    for j in sorted(range(len(present)), key=lambda j: -present[j]):
        min(joints, key=lambda joint: size(joint) * math.prod(len(space.maps[i]) for i in joint)).append(j)
    fits = all(size(joint) <= LARGEST_JOINT for joint in joints)
    return joints if fits and size(list(range(len(present)))) < LARGEST_KEY else None


@dataclass(frozen=True, eq=False)
class _View:
    """Part of the room for views: arrays as the kernel takes them, and where the part ends."""

    arrays: View
    start: int
    end: int

    def first(self, rows: int) -> _View:
        return _View(View._make(part[:rows] for part in self.arrays), self.start, self.start + rows)


@dataclass(frozen=True, eq=False)
class _Room:
    """Memory for a stack of views, taken once: fresh memory for every view costs more than filling it."""

    words: npt.NDArray[np.uint64]
    counts: npt.NDArray[np.int32]
    bits: npt.NDArray[np.uint64]

    def view(self, start: int, rows: int) -> _View:
        """Take room for so many rows, or fresh memory if there is no more."""
        if start + rows <= len(self.counts):
            rows_of = slice(start, start + rows)
            return _View(View(self.words[rows_of], self.counts[rows_of], self.bits[rows_of]), start, start + rows)
        fresh = View(
            words=np.empty(rows, np.uint64),
            counts=np.empty(rows, np.int32),
            bits=np.empty(rows if len(self.bits) else 0, np.uint64),
        )
        return _View(fresh, start, start + rows)


_own = threading.local()


def _slots(size: int, rows: int, counted: bool) -> Slots:
    """Scratch space of the kernel, which leaves it as it was: kept from search to search, by thread."""
    kept: Slots | None = getattr(_own, "slots", None)
    if kept is None or len(kept.counts) < size or len(kept.of_row) < rows or (counted and len(kept.bits) < size):
        kept = Slots(
            counts=np.zeros(size, np.int32),
            bits=np.zeros(size if counted else 1, np.uint64),
            key=np.zeros(size, np.uint64),
            of_row=np.zeros(rows, np.int32),
        )
        _own.slots = kept
    return kept


class KernelChecker:
    """Checks k and numbers of different values with the kernel."""

    views_stand_alone = False

    def __init__(
        self, space: Space, requirement: Requirement, objective: str, joints: list[list[int]], budget: int | None
    ) -> None:
        self._budget = len(space.microdata.record_of) if budget is None else budget
        self._kernel = kernels.load("lattice")
        self._k = requirement.k
        microdata = space.microdata
        self._wanted = requirement.distinct_wanted(len(microdata.sensitive))
        counted = bool(requirement.models)
        counts = microdata.counts.astype(np.int32)
        self._column_bits, bits = np.zeros(0, np.uint64), np.zeros(len(counts), np.uint64)
        if counted:
            self._column_bits, bits = sensitive_bits(space)
        else:
            self._wanted = self._wanted[:0]
        gains = gains_by_level(space, objective)
        columns, tables, joint_gains = [], [], []
        self._joints: list[tuple[list[tuple[int, int]], list[int], list[int]]] = []
        at = 0
        for joint in joints:
            codes, parts = _joint_codes([space.codes[:, j] for j in joint], len(counts))
            columns.append(codes)
            shape = [len(space.maps[j]) for j in joint]
            by_level = [[nodes[part] for nodes in space.maps[j]] for j, part in zip(joint, parts, strict=True)]
            gain_by_level = [[gain[part] for gain in gains[j]] for j, part in zip(joint, parts, strict=True)]
            offsets, cards = [], []
            for levels in np.ndindex(*shape):
                numbers = _dense([by_level[i][level] for i, level in enumerate(levels)], len(parts[0]) if parts else 1)
                tables.append(numbers)
                gain = np.zeros(len(numbers))
                for i, level in enumerate(levels):
                    gain += gain_by_level[i][level]
                joint_gains.append(gain)
                offsets.append(at)
                cards.append(int(numbers.max(initial=0)) + 1)
                at += len(numbers)
            multipliers = [int(np.prod(shape[i + 1 :], dtype=np.int64)) for i in range(len(shape))]
            self._joints.append((list(zip(joint, multipliers, strict=True)), offsets, cards))
        self._offset = np.zeros(len(joints), np.int64)
        self._stride = np.zeros(len(joints), np.int64)
        self._table = np.concatenate(tables).astype(np.uint32)
        self._gains = np.concatenate(joint_gains)
        self._counted = counted
        word = np.zeros(len(counts), np.uint64)
        for s, joint_codes in enumerate(columns):
            word |= joint_codes.astype(np.uint64) << np.uint64(16 * s)
        self._take_room(View(word, counts, bits if counted else bits[:0]))

    def _take_room(self, base: View) -> None:
        """Take memory of this process, and put the view of all profiles first."""
        rows = len(base.counts)
        self._room = _Room(
            np.empty(ROOM * rows, np.uint64),
            np.empty(ROOM * rows, np.int32),
            np.empty(ROOM * rows if self._counted else 0, np.uint64),
        )
        self._base = self._room.view(0, rows)
        room = self._base.arrays
        room.words[:], room.counts[:], room.bits[:] = base.words, base.counts, base.bits
        self._slots = _slots(max(SLOTS, 1 << (2 * rows).bit_length()), rows, self._counted)

    def __getstate__(self) -> dict[str, Any]:
        own = ("_kernel", "_room", "_slots")
        return {**{name: value for name, value in self.__dict__.items() if name not in own}, "_base": self._base.arrays}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._kernel = kernels.load("lattice")
        self._take_room(state["_base"])

    def base(self) -> Any:
        """Return the view of all profiles."""
        return self._base

    def _address(self, node: Node) -> Address:
        stride = 1
        for s, (levels, offsets, cards) in enumerate(self._joints):
            number = 0
            for j, multiplier in levels:
                number += node[j] * multiplier
            self._offset[s], self._stride[s] = offsets[number], stride
            stride *= cards[number]
        return Address(self._table, self._offset, self._stride, stride)

    def roll_up(self, view: Any, node: Node) -> Any:
        """Return the view of a node at or above the view's own.

        It stands behind the view it was made from, where others made from it stood before: only the last one holds.
        """
        new = self._room.view(view.end, len(view.arrays.words))
        groups = self._kernel.roll_up(view.arrays, self._address(node), self._slots, new.arrays, self._counted)
        return new.first(groups)

    def check(self, view: Any, node: Node) -> Checked:
        """Check a node at or above the view's own."""
        withheld, excess, groups, squares = self._kernel.check(
            view.arrays, self._address(node), self._slots, self._k, self._column_bits, self._wanted, self._gains,
            self._offset, self._budget, ALL,
        )  # fmt: skip
        return Checked(withheld, withheld, excess, groups, squares)

    def search(self, nodes: Nodes, seen: Seen, chain: IntArray, records: int, stop: IntArray) -> None:
        """Search all nodes for the best, see ``kernels/frontiers.py``."""
        columns = len(nodes.shape)
        of, times = np.zeros(columns, np.int64), np.zeros(columns, np.int64)
        for s, (levels, _, _) in enumerate(self._joints):
            for j, multiplier in levels:
                of[j], times[j] = s, multiplier
        offset, size = (np.concatenate([joint[part] for joint in self._joints]).astype(np.int64) for part in (1, 2))
        first = np.cumsum([0, *(len(offsets) for _, offsets, _ in self._joints[:-1])])
        room = self._room
        kernels.load("frontiers").search(
            View(room.words, room.counts, room.bits), len(self._base.arrays.words),
            Joints(self._table, of, times, first, offset, size), self._slots,
            Demanded(self._k, self._column_bits, self._wanted, self._gains, self._budget), nodes, seen, chain, records,
            stop,
        )  # fmt: skip


class GeneralChecker:
    """Checks any requirement, with person keys too; a view is the whole table."""

    views_stand_alone = True

    def __init__(self, space: Space, requirement: Requirement, objective: str) -> None:
        self._space = space
        self._requirement = requirement
        self._gains = gains_by_level(space, objective)

    def base(self) -> Any:
        """Return the view of all profiles."""
        return None

    def roll_up(self, view: Any, node: Node) -> Any:
        """Return the same view: nothing is saved."""
        return view

    def check(self, view: Any, node: Node) -> Checked:
        """Check a node."""
        microdata = self._space.microdata
        group_of_profile, groups = group_profiles(self._space, node)
        group_of = group_of_profile[microdata.profile_of_unit]
        fitting = people_at(self._space, self._requirement, node, group_of_profile, groups)
        failing = self._requirement.fails(microdata, group_of, groups, fitting=fitting)
        surely = self._requirement.fails(microdata, group_of, groups, only_if_it_stays_so=True, fitting=fitting)
        sizes = np.bincount(group_of, minlength=groups)
        lost = failing[group_of_profile]
        gain = np.zeros(len(self._space.codes))
        for j, level in enumerate(node):
            gain += self._gains[j][level][self._space.codes[:, j]]
        excess = float(np.dot(gain[lost], microdata.counts[lost])) if lost.any() else 0.0
        kept = sizes[~failing]
        squares = float(np.dot(kept.astype(float), kept))
        return Checked(int(sizes[failing].sum()), int(sizes[surely].sum()), excess, len(kept), squares)


def group_profiles(space: Space, node: Node) -> tuple[IntArray, int]:
    """Return the group of every profile at a node, groups numbered in order of their nodes, and their number."""
    return number_rows([space.maps[j][level][space.codes[:, j]] for j, level in enumerate(node)])


def people_at(
    space: Space, requirement: Requirement, node: Node, group_of_profile: IntArray, groups: int
) -> IntArray | None:
    """Count the people of the population who fit each group of a node; None if nothing is asked of them."""
    if not requirement.of_population:
        return None
    population = space.microdata.population
    if population is None:  # weights add up, whatever a group is published as
        return people_fitting(space.microdata, group_of_profile[space.microdata.profile_of_unit], groups)
    first = np.zeros(groups, np.int64)
    first[group_of_profile] = np.arange(len(group_of_profile))
    return population.at_levels(space.columns, space.codes[first], space.named(node), space.limits == "keep")


def _joint_codes(columns: list[IntArray], rows: int) -> tuple[IntArray, list[IntArray]]:
    """Number the combinations of codes that occur; returns the number of every row, and the codes of every number."""
    number = _dense(columns, rows)
    first = np.zeros(int(number.max(initial=0)) + 1, np.int64)
    first[number] = np.arange(len(number))
    return number, [column[first] for column in columns]


def _dense(columns: list[IntArray], rows: int) -> IntArray:
    """Number the combinations that occur in columns of so many rows, densely."""
    if not columns:
        return np.zeros(rows, np.int64)
    key = columns[0]
    for column in columns[1:]:
        key = key * (int(column.max(initial=0)) + 1) + column
    top = int(key.max(initial=0)) + 1
    if top > 1 << 20:
        return np.unique(key, return_inverse=True)[1].reshape(-1)
    seen = np.zeros(top, np.int64)
    seen[key] = 1
    return (np.cumsum(seen) - 1)[key]
