"""Checking nodes of lattices too wide to number every combination of values: by hash, confirmed at the end."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from hedgerow.anonymization import kernels
from hedgerow.anonymization.kernels.tuples.lattice import HashedSlots, HashedView
from hedgerow.anonymization.lattice.bits import sensitive_bits
from hedgerow.anonymization.lattice.checked import Checked
from hedgerow.anonymization.lattice.space import Node, Space
from hedgerow.privacy import Requirement


@dataclass(frozen=True, eq=False)
class _View:
    """Groups at a node, as the kernel takes them."""

    node: Node
    arrays: HashedView


class HashChecker:
    """Checks k and numbers of different values.

    It errs only by luck, and then only in that a node seems to hold: whoever reports one must confirm it.
    """

    views_stand_alone = True

    def __init__(self, space: Space, requirement: Requirement, salt: int = 0) -> None:
        self._kernel = kernels.load("hashed_lattice")
        self._k = requirement.k
        counts = space.microdata.counts.astype(np.int32)
        self._counted = bool(requirement.models)
        self._wanted = requirement.distinct_wanted(len(space.microdata.sensitive))
        self._column_bits, bits = np.zeros(0, np.uint64), np.zeros(0, np.uint64)
        if self._counted:
            self._column_bits, bits = sensitive_bits(space)
        else:
            self._wanted = self._wanted[:0]
        self._codes = np.ascontiguousarray(space.codes.T.astype(np.uint32))
        self._offsets, randoms, start = [], [], 0
        for j, levels in enumerate(space.maps):
            by_level = []
            for nodes in levels:
                by_level.append(start)
                randoms.append(_random_words(nodes, j, salt))
                start += len(nodes)
            self._offsets.append(by_level)
        self._randoms = np.concatenate(randoms)
        rows = len(counts)
        keys = np.zeros(rows, np.uint64)
        for j, by_level in enumerate(self._offsets):
            keys += self._randoms[by_level[0] + space.codes[:, j]]
        bottom = (0,) * len(space.maps)
        self._base = _View(bottom, HashedView(keys, counts, bits, np.arange(rows, dtype=np.int64)))
        self._take_room()

    def _take_room(self) -> None:
        """Take memory of this process."""
        rows = len(self._base.arrays.counts)
        room = 1 << max(2 * rows, 16).bit_length()
        self._slots = HashedSlots(
            key=np.zeros(room, np.uint64),
            counts=np.zeros(room, np.int32),
            bits=np.zeros(room if self._counted else 1, np.uint64),
            of_row=np.zeros(rows, np.uint64),
            moved=np.zeros(rows, np.uint64),
        )

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in self.__dict__.items() if name not in ("_kernel", "_slots")}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._kernel = kernels.load("hashed_lattice")
        self._take_room()

    def base(self) -> Any:
        """Return the view of all profiles."""
        return self._base

    def _moves(self, view: _View, node: Node) -> npt.NDArray[np.int64]:
        moves = [
            (j, self._offsets[j][old], self._offsets[j][new])
            for j, (old, new) in enumerate(zip(view.node, node, strict=True))
            if old != new
        ]
        return np.array(moves, np.int64).reshape(-1, 3)

    def roll_up(self, view: Any, node: Node) -> Any:
        """Return the view of a node at or above the view's own."""
        rows = len(view.arrays.keys)
        new = HashedView(
            keys=np.empty(rows, np.uint64),
            counts=np.empty(rows, np.int32),
            bits=np.empty(rows if self._counted else 0, np.uint64),
            rows=np.empty(rows, np.int64),
        )
        groups = self._kernel.roll_up(
            view.arrays, self._codes, self._randoms, self._moves(view, node), self._slots, self._counted, new
        )
        return _View(node, HashedView._make(part[:groups].copy() for part in new))

    def check(self, view: Any, node: Node) -> Checked:
        """Check a node at or above the view's own."""
        withheld, groups, squares = self._kernel.check(
            view.arrays, self._codes, self._randoms, self._moves(view, node), self._slots, self._k,
            self._column_bits, self._wanted,
        )  # fmt: skip
        return Checked(withheld, withheld, 0.0, groups, float(squares))


def _random_words(nodes: npt.NDArray[np.int64], column: int, salt: int) -> npt.NDArray[np.uint64]:
    """Random words by node of a hierarchy (splitmix64), the same in every run."""
    seed = np.uint64((column + 1) * 0x9E3779B97F4A7C15 + (salt + 1) * 0xD1B54A32D192ED03 & 0xFFFFFFFFFFFFFFFF)
    with np.errstate(over="ignore"):
        word = (nodes.astype(np.uint64) + np.uint64(1)) * np.uint64(0xBF58476D1CE4E5B9) + seed
        word = (word ^ (word >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        word = (word ^ (word >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return word ^ (word >> np.uint64(31))
