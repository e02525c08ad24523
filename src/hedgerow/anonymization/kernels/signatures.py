"""The types that every kernel is called with: one signature each, so that all can be compiled ahead.

A call with other types works too, but compiles the kernel once more, at that moment; the tests refuse it. Arrays are
contiguous and can be written to. See the modules for what the arguments mean.
"""

from __future__ import annotations

from typing import Any

from numba.core import types as numba_types

from hedgerow.anonymization.kernels.tuples import (
    asked,
    bounding,
    changing,
    exact,
    improving,
    lattice,
    merging,
    regions,
    searching,
)

types: Any = numba_types  # they stand where the named tuples have arrays
NUMBER, SHARE, FLAG = types.int64, types.float64, types.boolean
NUMBERS, SHARES, FLAGS = types.int64[::1], types.float64[::1], types.boolean[::1]
TABLE, FLAG_TABLE = types.int64[:, ::1], types.boolean[:, ::1]
CODES, WORDS, WORD_TABLE = types.uint32[:, ::1], types.uint64[::1], types.uint64[:, ::1]
SMALL, SMALL_TABLE = types.int32[::1], types.int32[:, ::1]


def _type(members: Any) -> Any:
    """The type of a named tuple, given as one that holds the types of its fields."""
    return types.BaseTuple.from_types(tuple(members), type(members))


# search_index.py, diverse.py
PRICES = _type(searching.Prices(kind=types.uint8[::1], offset=NUMBERS, width=NUMBERS, costs=SMALL))
MODELS = _type(asked.Models(column=NUMBERS, kind=NUMBERS, a=SHARES, b=SHARES, c=SHARES))
TREES = _type(
    asked.Trees(parent=NUMBERS, height=SHARES, leaf_node=NUMBERS, node_start=NUMBERS, leaf_start=NUMBERS)
)  # fmt: skip
RESULTS = (NUMBERS, CODES, CODES, NUMBERS, NUMBERS, NUMBERS)  # groups, boxes, sizes, progress, stop

# clusters.py
STATE = _type(
    changing.State(
        codes=CODES, profile=NUMBERS, cell=NUMBERS, place=NUMBERS, following=SMALL, box=SMALL_TABLE, info=TABLE,
        used=NUMBERS,
    )
)  # fmt: skip
INDEX = _type(
    changing.Index(
        low=SMALL, high=SMALL, dear=SMALL, smallest=SMALL, lowest=SMALL, child=NUMBERS, begin=NUMBERS, roots=NUMBERS,
        order=NUMBERS, reach=SMALL_TABLE, about=TABLE, head=NUMBERS,
    )
)  # fmt: skip
ASKED = _type(
    changing.Asked(
        k=NUMBER, lasts=FLAG, sensitive=TABLE, value_start=NUMBERS, overall=NUMBERS, models=MODELS, trees=TREES,
        person=NUMBERS, widest=NUMBERS, ends=NUMBERS, end_start=NUMBERS,
    )
)  # fmt: skip
DESK = _type(changing.ClusterDesk(*[NUMBERS] * len(changing.ClusterDesk._fields)))
CLUSTERS = (STATE, INDEX, PRICES, ASKED, DESK)
COVERS = _type(changing.Covers(order=NUMBERS, first=SMALL_TABLE, last=SMALL_TABLE, cheapest=NUMBERS, lowest=NUMBERS))

# neighbours.py, regrouping.py, exchanges.py, demands.py
SEARCHES = _type(improving.Searches(nearest=NUMBER, window=NUMBER, patience=NUMBER, partner_patience=NUMBER))
CELLS = _type(improving.Starts(profile=NUMBERS, group=NUMBERS, unit=NUMBERS))
RECORDS = _type(
    improving.Records(
        lower=CODES, upper=CODES, profile=SMALL, near=SMALL_TABLE, distance=SMALL_TABLE, least=SMALL,
        nearest=NUMBER,
    )
)  # fmt: skip
GROUPS = _type(improving.UnitGroups(place=SMALL, member=SMALL_TABLE, size=SMALL, cost=SMALL, lower=CODES, upper=CODES))
DEMANDS = _type(
    asked.Demands(
        k=NUMBER, what=NUMBER, person=NUMBERS, stamp=NUMBERS, sensitive=TABLE, value_start=NUMBERS, overall=NUMBERS,
        models=MODELS, trees=TREES, wanted=NUMBERS, histogram=NUMBERS, tally=NUMBERS, lasts=FLAG,
    )
)  # fmt: skip
SEARCHED = (CELLS, RECORDS, GROUPS, PRICES, DEMANDS)
FLOATS = types.float32[::1]
REGROUPING_DESK = _type(
    improving.RegroupingDesk(
        by_group=_type(
            improving.ByGroup(
                chance=WORDS, draws=NUMBERS, mark=NUMBERS, unused=SMALL, excess=FLOATS, urgency=FLOATS, failures=FLOATS,
                kept=SMALL, touched=SMALL, is_touched=FLAGS,
            )
        ),
        pool=_type(
            improving.Pool(
                taken=SMALL, active=NUMBERS, whole=CODES, units=SMALL, floor=SMALL, weight=SMALL, goes=SMALL,
                key=SMALL, cost=SMALL, part=SMALL_TABLE, units_lower=CODES, units_upper=CODES, listed=SMALL,
            )
        ),
        made=_type(
            improving.Made(lower=CODES, upper=CODES, size=NUMBERS, cost=NUMBERS, start=NUMBERS, number=NUMBERS)
        ),
        changed=_type(improving.Changed(lower=CODES, upper=CODES, size=NUMBERS, cost=NUMBERS, number=NUMBERS)),
    )
)  # fmt: skip
EXCHANGES_DESK = _type(improving.ExchangesDesk(least=CODES, most=CODES, mark=NUMBERS, listed=SMALL))

# exact_blocks.py
EXACT_DESK = _type(
    exact.ExactDesk(
        block=_type(
            exact.Block(
                unit=NUMBERS, kind=NUMBERS, rank=TABLE, costs=SMALL, first_cost=NUMBERS, codes=NUMBERS, apart=TABLE,
                near=TABLE, level=NUMBERS,
            )
        ),
        levels=_type(
            exact.Remainders(
                left=NUMBERS, lost=NUMBERS, floor=TABLE, floors=NUMBERS, dearest=TABLE, pivot_floor=NUMBERS,
                least=NUMBERS,
            )
        ),
        frames=_type(
            exact.Frames(
                record=NUMBERS, size=NUMBERS, cost=NUMBERS, floors=NUMBERS, lower=TABLE, upper=TABLE, tried=FLAGS,
                many=NUMBERS, next=NUMBERS, listed=TABLE, price=TABLE, out=NUMBERS, out_cost=NUMBERS, out_lower=TABLE,
                out_upper=TABLE,
            )
        ),
        best=NUMBERS, units=NUMBERS,
    )
)  # fmt: skip

# merging.py, apart.py
MERGING = _type(
    merging.Merging(
        lo=TABLE, hi=TABLE, records=NUMBERS, bits=WORD_TABLE, alive=FLAGS, partner=NUMBERS, head=NUMBERS, tail=NUMBERS,
        following=NUMBERS, hidden=FLAG_TABLE,
    )
)  # fmt: skip
MERGE_PRICES = _type(merging.MergePrices(terms=TABLE, costs=NUMBERS))
MERGE_ASKED = _type(
    merging.MergeAsked(
        k=NUMBER, wanted=NUMBERS, word_start=NUMBERS, may_hide=FLAGS, whole=NUMBERS, hides=FLAG,
    )
)  # fmt: skip
BLOCKS = _type(
    merging.Blocks(
        begin=NUMBERS, first=NUMBERS, last=NUMBERS, records=NUMBERS, lost=NUMBERS, begin_tree=NUMBERS, leaf=NUMBERS,
        parent=NUMBERS, node_first=NUMBERS, node_last=NUMBERS, codes=TABLE, units=NUMBERS, shown=TABLE, cell=NUMBERS,
        slots=NUMBERS, filled=NUMBERS, shift=NUMBER,
    )
)  # fmt: skip

# lattice.py, frontiers.py, hashed_lattice.py, boxes.py
VIEW = _type(lattice.View(words=WORDS, counts=SMALL, bits=WORDS))
ADDRESS = _type(lattice.Address(table=types.uint32[::1], offset=NUMBERS, stride=NUMBERS, domain=NUMBER))
SLOTS = _type(lattice.Slots(counts=SMALL, bits=WORDS, key=WORDS, of_row=SMALL))
JOINTS = _type(
    lattice.Joints(table=types.uint32[::1], of=NUMBERS, times=NUMBERS, first=NUMBERS, offset=NUMBERS, size=NUMBERS)
)  # fmt: skip
DEMANDED = _type(lattice.Demanded(k=NUMBER, column_bits=WORDS, wanted=NUMBERS, gains=SHARES, budget=NUMBER))
NODES = _type(
    lattice.Nodes(
        state=types.uint8[::1], extra=SHARES, bound=SHARES, stride=NUMBERS, shape=NUMBERS, corner=NUMBERS,
        entropies=types.float64[:, ::1],
    )
)  # fmt: skip
SEEN = _type(lattice.Seen(number=NUMBERS, score=SHARES, withheld=NUMBERS, best=SHARES, totals=NUMBERS))
HASHED_VIEW = _type(lattice.HashedView(keys=WORDS, counts=SMALL, bits=WORDS, rows=NUMBERS))
HASHED_SLOTS = _type(lattice.HashedSlots(key=WORDS, counts=SMALL, bits=WORDS, of_row=WORDS, moved=WORDS))
LEVELS = types.uint16[:, ::1]
BOXES = _type(
    lattice.Boxes(lo=LEVELS, up=LEVELS, heap=NUMBERS, heap_cost=NUMBERS, unused=NUMBERS, totals=NUMBERS)
)  # fmt: skip
CONFLICTS = _type(lattice.Conflicts(levels=TABLE, packed=WORD_TABLE))

# closed_boxes.py, ascent.py
RANGES = _type(
    bounding.Ranges(
        levels=NUMBERS, start=NUMBERS, path=SMALL, cost=NUMBERS, depth=NUMBERS, leaf=NUMBERS, lower=types.uint32[::1],
        upper=types.uint32[::1], left=NUMBERS, right=NUMBERS, widest=NUMBERS,
    )
)  # fmt: skip
BOX_SEARCH = _type(bounding.BoxSearch(codes=CODES, counts=NUMBERS, cap=NUMBERS, k=NUMBER))
BOX_DESK = _type(
    bounding.BoxDesk(
        frame=TABLE, listed=SMALL, low=NUMBERS, high=NUMBERS, tally=NUMBERS, place=NUMBERS, child=NUMBERS,
        values=NUMBERS,
    )
)  # fmt: skip
FOUND = _type(bounding.Found(start=NUMBERS, member=SMALL, cost=NUMBERS, rest=NUMBERS))
WALK = _type(bounding.Walk(place=SHARES, way=SHARES, length=SHARES))

# regions.py
HULLS = _type(
    regions.Hulls(
        lo=SMALL_TABLE, hi=SMALL_TABLE, box=NUMBERS, item=NUMBERS, first=NUMBERS, level=TABLE, node_lo=SMALL_TABLE,
        node_hi=SMALL_TABLE, left=NUMBERS,
    )
)  # fmt: skip
HOLDINGS = _type(
    regions.Holdings(
        lo=SMALL_TABLE, hi=SMALL_TABLE, box=NUMBERS, group=NUMBERS, value=NUMBERS, free=NUMBERS, head=NUMBERS,
        follow=NUMBERS, holder=NUMBERS, rows=NUMBERS, used=NUMBERS,
    )
)  # fmt: skip
HOLDING_DESK = _type(
    regions.HoldingDesk(
        dead=FLAGS, seen_old=NUMBERS, seen_new=NUMBERS, from_new=NUMBERS, from_old=NUMBERS, queue=NUMBERS,
        found=NUMBERS, move_old=NUMBERS, move_new=NUMBERS, move_step=NUMBERS,
    )
)  # fmt: skip

# squared.py
POINTS = (types.float64[:, ::1], NUMBERS, NUMBERS)  # of units, where parts start, their first groups

KERNELS: dict[str, tuple[Any, ...]] = {
    "apart.begin": (MERGE_PRICES, BLOCKS),
    "apart.merge_apart": (
        NUMBERS, NUMBER, NUMBER, MERGING, FLAGS, MERGE_PRICES, MERGE_ASKED, BLOCKS, NUMBERS, NUMBERS, NUMBERS,
    ),
    "ascent.ascend": (FOUND, NUMBER, NUMBERS, NUMBERS, NUMBER, NUMBER, NUMBER, WALK, NUMBERS, NUMBERS),
    "boxes.advance": (BOXES, CONFLICTS, NUMBER, TABLE, NUMBER, NUMBER),
    "boxes.push": (BOXES, NUMBER, NUMBER),
    "closed_boxes.find_boxes": (BOX_SEARCH, RANGES, PRICES, BOX_DESK, FOUND, NUMBERS, NUMBER),
    "clusters.build": (STATE, PRICES),
    "clusters.plant": (STATE, PRICES, NUMBERS, INDEX),
    "diverse.cluster_cells": (
        CODES, NUMBERS, NUMBERS, TABLE, NUMBERS, NUMBER, NUMBERS, NUMBER, NUMBER, NUMBERS, PRICES, NUMBER, NUMBER,
        NUMBERS, NUMBERS, NUMBERS, MODELS, TREES, NUMBERS, FLAG, FLAG, *RESULTS,
    ),
    "exact_blocks.solve_cells": (
        CELLS, CODES, SMALL, NUMBERS, PRICES, DEMANDS, EXACT_DESK, NUMBER, NUMBER, NUMBERS, FLAGS, NUMBERS, NUMBERS,
    ),
    "exchanges.exchange_in_cells": (*SEARCHED, EXCHANGES_DESK, NUMBERS, NUMBERS),
    "frontiers.search": (VIEW, NUMBER, JOINTS, SLOTS, DEMANDED, NODES, SEEN, TABLE, NUMBER, NUMBERS),
    "hashed_lattice.check": (HASHED_VIEW, CODES, WORDS, TABLE, HASHED_SLOTS, NUMBER, WORDS, NUMBERS),
    "hashed_lattice.roll_up": (HASHED_VIEW, CODES, WORDS, TABLE, HASHED_SLOTS, FLAG, HASHED_VIEW),
    "k_member.cluster_cells": (
        CODES, NUMBERS, NUMBERS, NUMBER, NUMBERS, NUMBER, NUMBER, NUMBERS, PRICES, NUMBER, NUMBER, *RESULTS,
    ),
    "lattice.check": (VIEW, ADDRESS, SLOTS, NUMBER, WORDS, NUMBERS, SHARES, NUMBERS, NUMBER, NUMBER),
    "lattice.mark_below": (types.uint8[::1], SHARES, NUMBERS, NUMBERS, FLAG, SHARE),
    "lattice.roll_up": (VIEW, ADDRESS, SLOTS, VIEW, FLAG),
    "lowering.break_covered": (*CLUSTERS, COVERS, NUMBERS, NUMBERS),
    "lowering.improve": (*CLUSTERS, NUMBER, NUMBERS, NUMBERS, NUMBER, NUMBERS),
    "maintenance.merge_rest": (*CLUSTERS, NUMBERS, NUMBERS, NUMBERS),
    "maintenance.repair": (*CLUSTERS, NUMBER, NUMBERS, NUMBERS, NUMBER, FLAG, NUMBERS),
    "maintenance.settle_all": (*CLUSTERS, NUMBER, NUMBERS, NUMBERS, NUMBERS),
    "merging.merge_cells": (
        NUMBERS, NUMBER, NUMBER, MERGING, FLAGS, MERGE_PRICES, MERGE_ASKED, NUMBERS, NUMBERS,
    ),
    "neighbours.nearest_in_cells": (
        CODES, CODES, NUMBERS, NUMBERS, PRICES, NUMBER, SEARCHES, SMALL_TABLE, SMALL_TABLE, SMALL, NUMBERS,
    ),
    "regrouping.regroup_cells": (*SEARCHED, REGROUPING_DESK, NUMBERS, NUMBER, WORDS, NUMBERS, NUMBERS),
    "regions.connect": (HULLS, HULLS, NUMBERS, NUMBERS, NUMBERS, NUMBERS, NUMBERS, NUMBERS),
    "regions.enclose": (HULLS,),
    "regions.hide": (
        HULLS, HOLDINGS, HOLDING_DESK, NUMBERS, NUMBERS, TABLE, TABLE, NUMBER, NUMBERS, NUMBER, NUMBER, NUMBERS, TABLE,
    ),
    "regions.settle": (HULLS, HOLDINGS, HOLDING_DESK, NUMBERS, NUMBERS, NUMBERS),
    "sizes.level": (*CLUSTERS, NUMBER, NUMBERS, NUMBERS, NUMBERS, NUMBERS, NUMBERS),
    "sizes.split_all": (*CLUSTERS, NUMBER, NUMBERS, NUMBERS, NUMBERS),
    "squared.anneal": (
        *POINTS, TABLE, NUMBERS, DEMANDS, NUMBERS, NUMBER, SHARE, SHARES, WORDS, NUMBERS,
    ),
    "squared.errors": (*POINTS, NUMBERS, SHARES),
    "squared.maximum_distance": (*POINTS, NUMBER, NUMBERS, NUMBERS),
    "squared.nearest_units": (types.float64[:, ::1], NUMBERS, TABLE, NUMBERS),
    "squared.solve_small": (*POINTS, DEMANDS, NUMBER, NUMBERS, FLAGS, NUMBERS),
    "width_runs.cut_cells": (NUMBERS, NUMBERS, NUMBERS, TABLE, NUMBERS, NUMBERS, NUMBER, NUMBERS),
}  # fmt: skip
"""Argument types by ``module.function``."""

GIVES_ARRAYS = frozenset({"clusters.plant"})
"""Kernels that give arrays of their own back, which only numba can hand over."""
