"""The types that every kernel is called with: one signature each, so that all can be compiled ahead.

A call with other types works too, but compiles the kernel once more, at that moment; the tests refuse it. Arrays are
contiguous and can be written to. See the modules for what the arguments mean.
"""

from __future__ import annotations

from typing import Any

from numba.core import types

NUMBER, SHARE, FLAG = types.int64, types.float64, types.boolean
NUMBERS, SHARES, FLAGS = types.int64[::1], types.float64[::1], types.boolean[::1]
TABLE, FLAG_TABLE = types.int64[:, ::1], types.boolean[:, ::1]
CODES, WORDS, WORD_TABLE = types.uint32[:, ::1], types.uint64[::1], types.uint64[:, ::1]
SMALL, SMALL_TABLE = types.int32[::1], types.int32[:, ::1]


def _tuple(*members: Any) -> Any:
    return types.Tuple(members)


# search_index.py, diverse.py
PRICES = _tuple(types.uint8[::1], NUMBERS, NUMBERS, SMALL)
MODELS = _tuple(NUMBERS, NUMBERS, SHARES, SHARES, SHARES)
TREES = _tuple(NUMBERS, SHARES, NUMBERS, NUMBERS, NUMBERS)
RESULTS = (NUMBERS, CODES, CODES, NUMBERS, NUMBERS, NUMBERS)  # groups, boxes, sizes, progress, stop

# clusters.py
STATE = _tuple(CODES, NUMBERS, NUMBERS, NUMBERS, SMALL, SMALL_TABLE, TABLE, NUMBERS)
INDEX = _tuple(
    SMALL, SMALL, SMALL, SMALL, SMALL, NUMBERS, NUMBERS, NUMBERS, NUMBERS, SMALL_TABLE, TABLE, NUMBERS
)  # fmt: skip
ASKED = _tuple(
    NUMBER, FLAG, TABLE, NUMBERS, NUMBERS, MODELS, TREES, NUMBERS, NUMBERS, NUMBERS, NUMBERS
)  # fmt: skip
DESK = _tuple(*[NUMBERS] * 8)
CLUSTERS = (STATE, INDEX, PRICES, ASKED, DESK)
COVERS = _tuple(NUMBERS, SMALL_TABLE, SMALL_TABLE, NUMBERS, NUMBERS)

# neighbours.py, regrouping.py, exchanges.py, demands.py
CELLS = _tuple(NUMBERS, NUMBERS, NUMBERS)
RECORDS = _tuple(CODES, CODES, SMALL, SMALL_TABLE, SMALL_TABLE, SMALL)
GROUPS = _tuple(SMALL, SMALL_TABLE, SMALL, SMALL, CODES, CODES)
DEMANDS = _tuple(
    NUMBER, NUMBER, NUMBERS, NUMBERS, TABLE, NUMBERS, NUMBERS, MODELS, TREES, NUMBERS, NUMBERS, NUMBERS, FLAG
)  # fmt: skip
SEARCHED = (CELLS, RECORDS, GROUPS, PRICES, DEMANDS)
FLOATS = types.float32[::1]
REGROUPING_DESK = _tuple(
    _tuple(WORDS, NUMBERS, NUMBERS, SMALL, FLOATS, FLOATS, FLOATS),
    _tuple(SMALL, NUMBERS, CODES, SMALL, SMALL, SMALL, SMALL, SMALL, SMALL_TABLE, CODES, CODES, SMALL),
    _tuple(CODES, CODES, NUMBERS, NUMBERS, NUMBERS, NUMBERS),
    _tuple(CODES, CODES, NUMBERS, NUMBERS, NUMBERS),
)
EXCHANGES_DESK = _tuple(CODES, CODES, NUMBERS, SMALL)

# merging.py
MERGED = _tuple(TABLE, TABLE, NUMBERS, WORD_TABLE, FLAGS, NUMBERS, NUMBERS, NUMBERS, NUMBERS, FLAG_TABLE)
MERGE_PRICES = _tuple(TABLE, NUMBERS)
MERGE_ASKED = _tuple(NUMBER, NUMBERS, NUMBERS, FLAGS, NUMBERS, FLAGS, FLAG, FLAG)
FAMILY = _tuple(TABLE, TABLE, TABLE, NUMBERS)

# lattice.py, hashed_lattice.py, boxes.py
VIEW, HASHED_VIEW = _tuple(WORDS, SMALL, WORDS), _tuple(WORDS, SMALL, WORDS, NUMBERS)
ADDRESS = _tuple(types.uint32[::1], NUMBERS, NUMBERS, NUMBER)
SLOTS, HASHED_SLOTS = _tuple(SMALL, WORDS, WORDS, WORDS), _tuple(WORDS, SMALL, WORDS, WORDS, WORDS)
BOXES = _tuple(types.uint16[:, ::1], types.uint16[:, ::1], NUMBERS, NUMBERS, NUMBERS, NUMBERS)
CONFLICTS = _tuple(TABLE, WORD_TABLE)

KERNELS: dict[str, tuple[Any, ...]] = {
    "boxes.advance": (BOXES, CONFLICTS, NUMBER, TABLE, NUMBER, NUMBER),
    "boxes.push": (BOXES, NUMBER, NUMBER),
    "clusters.build": (STATE, PRICES),
    "clusters.plant": (STATE, PRICES, NUMBERS, NUMBER, NUMBER),
    "diverse.cluster_cells": (
        CODES, NUMBERS, NUMBERS, TABLE, NUMBERS, NUMBER, NUMBERS, NUMBER, NUMBER, NUMBERS, PRICES, NUMBER, NUMBER,
        NUMBERS, NUMBERS, NUMBERS, MODELS, TREES, NUMBERS, FLAG, FLAG, *RESULTS,
    ),
    "exchanges.exchange_in_cells": (*SEARCHED, EXCHANGES_DESK, NUMBER, NUMBERS),
    "hashed_lattice.check": (HASHED_VIEW, CODES, WORDS, TABLE, HASHED_SLOTS, NUMBER, WORDS, NUMBERS),
    "hashed_lattice.roll_up": (HASHED_VIEW, CODES, WORDS, TABLE, HASHED_SLOTS, FLAG, HASHED_VIEW),
    "k_member.cluster_cells": (
        CODES, NUMBERS, NUMBERS, NUMBER, NUMBERS, NUMBER, NUMBER, NUMBERS, PRICES, NUMBER, NUMBER, *RESULTS,
    ),
    "lattice.check": (VIEW, ADDRESS, SLOTS, NUMBER, WORDS, NUMBERS, SHARES, NUMBERS, NUMBER),
    "lattice.mark_below": (types.uint8[::1], SHARES, NUMBERS, NUMBERS, FLAG, SHARE),
    "lattice.roll_up": (VIEW, ADDRESS, SLOTS, VIEW, FLAG),
    "lowering.break_covered": (*CLUSTERS, COVERS, NUMBERS, NUMBERS),
    "lowering.improve": (*CLUSTERS, NUMBER, NUMBERS, NUMBERS, NUMBERS),
    "maintenance.merge_rest": (*CLUSTERS, NUMBERS, NUMBERS, NUMBERS),
    "maintenance.repair": (*CLUSTERS, NUMBER, NUMBERS, NUMBERS, NUMBER, FLAG, NUMBERS),
    "maintenance.settle_all": (*CLUSTERS, NUMBER, NUMBERS, NUMBERS, NUMBERS),
    "merging.merge_cells": (
        NUMBERS, NUMBER, NUMBER, MERGED, FLAGS, MERGE_PRICES, MERGE_ASKED, FAMILY, NUMBERS, NUMBERS,
    ),
    "neighbours.nearest_in_cells": (
        CODES, CODES, NUMBERS, NUMBERS, PRICES, NUMBER, NUMBER, NUMBER, SMALL_TABLE, SMALL_TABLE, SMALL, NUMBERS,
    ),
    "regrouping.regroup_cells": (*SEARCHED, REGROUPING_DESK, NUMBER, NUMBER, WORDS, NUMBERS, NUMBERS),
    "width_runs.cut_cells": (NUMBERS, NUMBERS, NUMBERS, TABLE, NUMBERS, NUMBERS, NUMBER),
}  # fmt: skip
"""Argument types by ``module.function``."""
