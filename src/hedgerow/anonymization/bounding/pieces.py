"""What a bound is worked out for at a time: some blocks together, so that many small ones are few pieces of work."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from hedgerow.microdata import Microdata
from hedgerow.types import IntArray

PROFILES = 4_000  # at most in a piece of several blocks


@dataclass(frozen=True, eq=False)
class Piece:
    """Some blocks.

    Attributes
    ----------
    profiles
        Their profiles, as numbered in the microdata.
    block
        Block of every profile, numbered from 0 here.
    counts
        Records of every profile.
    paid
        What the records of every profile pay in the release, all together, in whole multiples of 1/UNIT.
    """

    profiles: IntArray
    block: IntArray
    counts: IntArray
    paid: IntArray

    @property
    def known(self) -> int:
        """What these blocks lose in the release."""
        return int(self.paid.sum())

    @property
    def records(self) -> int:
        """Number of records."""
        return int(self.counts.sum())


def cut_to_pieces(microdata: Microdata, block_of: IntArray, paid: IntArray) -> list[Piece]:
    """Put blocks together, in their order, to pieces; a large one is a piece by itself.

    ``block_of`` and ``paid`` are by profile; blocks numbered −1 are left out.
    """
    order = np.argsort(block_of, kind="stable")
    order = order[np.searchsorted(block_of[order], 0) :]
    number = np.cumsum(np.append(0, np.diff(block_of[order]) != 0)) if len(order) else order
    sizes = np.bincount(number)
    pieces: list[Piece] = []
    first = last = 0  # blocks of the next piece
    while first < len(sizes):
        room = PROFILES - int(sizes[first])
        last = first + 1
        while last < len(sizes) and sizes[last] <= room:
            room -= int(sizes[last])
            last += 1
        inside = slice(*np.searchsorted(number, [first, last]).tolist())
        profiles = order[inside]
        pieces.append(Piece(profiles, number[inside] - first, microdata.counts[profiles], paid[profiles]))
        first = last
    return pieces
