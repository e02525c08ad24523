"""Scratch space for kernels, laid out by whoever calls them, without numba.

Kernels work on bare views of it (see ``bare.py``), so the caller must keep it.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from hedgerow.anonymization.kernels.tuples.arrays import Small
from hedgerow.anonymization.kernels.tuples.exact import Block, ExactDesk, Frames, Remainders
from hedgerow.anonymization.kernels.tuples.improving import (
    ByGroup,
    Changed,
    ExchangesDesk,
    Made,
    Pool,
    RegroupingDesk,
)

LARGEST_POOL = 5  # groups that regrouping takes apart at once
DRAWS = np.array([int(-math.log((i + 0.5) / 4096) * (1 << 20)) for i in range(4096)])  # exponential, in 1/2^20


def for_regrouping(q: int, room: int, k: int, capacity: int, place: Small) -> RegroupingDesk:
    """Scratch space for ``capacity`` groups of up to ``room`` units over q attributes, in which units are placed so.

    The kernel works on bare views of it (see ``bare.py``), so the caller must keep it.
    """
    most, made = LARGEST_POOL * room + 1, LARGEST_POOL * room // k + 3

    def empty(kind: Any, *shape: int) -> Any:
        return np.empty(shape, kind)

    by_group = ByGroup(
        chance=np.zeros(1, np.uint64), draws=DRAWS, mark=np.zeros(capacity, np.int64),
        unused=empty(np.int32, capacity + 1), excess=np.zeros(capacity, np.float32),
        urgency=np.zeros(capacity, np.float32), failures=np.zeros(capacity, np.float32),
        kept=place.copy(), touched=empty(np.int32, len(place)), is_touched=np.zeros(len(place), bool),
    )  # fmt: skip
    pool = Pool(
        taken=empty(np.int32, LARGEST_POOL), active=empty(np.int64, q), whole=empty(np.uint32, 2, q),
        units=empty(np.int32, most), floor=empty(np.int32, most), weight=empty(np.int32, most),
        goes=empty(np.int32, most),
        key=empty(np.int32, most), cost=empty(np.int32, most), part=empty(np.int32, q, most),
        units_lower=empty(np.uint32, q, most), units_upper=empty(np.uint32, q, most),
        listed=empty(np.int32, room + most),
    )  # fmt: skip
    new = Made(
        lower=empty(np.uint32, made, q), upper=empty(np.uint32, made, q), size=empty(np.int64, made),
        cost=empty(np.int64, made), start=empty(np.int64, made), number=empty(np.int64, made),
    )  # fmt: skip
    old = Changed(
        lower=empty(np.uint32, most, q), upper=empty(np.uint32, most, q), size=empty(np.int64, most),
        cost=empty(np.int64, most), number=empty(np.int64, most),
    )  # fmt: skip
    return RegroupingDesk(by_group, pool, new, old)


def for_exchanges(q: int, room: int, capacity: int) -> ExchangesDesk:
    """Scratch space for ``capacity`` groups of up to ``room`` units over q attributes, which the caller must keep."""
    return ExchangesDesk(
        least=np.zeros((capacity, q), np.uint32), most=np.zeros((capacity, q), np.uint32),
        mark=np.full(capacity, -1, np.int64), listed=np.empty(room + 1, np.int32),
    )  # fmt: skip


def for_exact_blocks(q: int, most: int) -> ExactDesk:
    """Scratch space for blocks of up to ``most`` records over q attributes; its caller must keep it."""

    def empty(*shape: int) -> Any:
        return np.empty(shape, np.int64)

    n = most + 2
    return ExactDesk(
        Block(
            unit=empty(n), kind=empty(n), rank=empty(n, q), costs=np.empty(q * n * n, np.int32), first_cost=empty(q),
            codes=empty(q), apart=empty(n, n), near=empty(n, n), level=empty(n),
        ),
        Remainders(
            left=empty(n), lost=empty(n), floor=empty(n, n), floors=empty(n), dearest=empty(n, n),
            pivot_floor=empty(n), least=empty(n),
        ),
        Frames(
            record=empty(n), size=empty(n), cost=empty(n), floors=empty(n), lower=empty(n, q), upper=empty(n, q),
            tried=np.empty(n, np.bool_), many=empty(n), next=empty(n), listed=empty(n, n), price=empty(n, n),
            out=empty(n), out_cost=empty(n), out_lower=empty(n, q), out_upper=empty(n, q),
        ),
        best=empty(n), units=empty(n),
    )  # fmt: skip
