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
    starts = np.flatnonzero(np.append(True, block_of[order][1:] != block_of[order][:-1])) if len(order) else order
    ends = np.append(starts[1:], len(order))
    pieces, first = [], 0
    for number, end in enumerate(ends.tolist()):
        last = number + 1 == len(ends)
        if last or ends[number + 1] - starts[first] > PROFILES:
            profiles = order[starts[first] : end]
            block = np.unique(block_of[profiles], return_inverse=True)[1].reshape(-1)
            pieces.append(Piece(profiles, block, microdata.counts[profiles], paid[profiles]))
            first = number + 1
    return pieces
