"""Numbers that kernels and their callers both use, each once.

Whoever lays out arrays imports them from here, and so do the kernels, to which they are constants. This module loads no
numba, so that callers stay light. Numbers that one kernel alone uses stand there; those of models in
``privacy/codes.py``.
"""

from __future__ import annotations

FAR = 1 << 62  # more than anything costs
NO_CODE = (1 << 31) - 1  # greater than any code, size and number of a cluster

# How the cost of a box is given in one attribute: search_index.py and merging.py say what each means.
TABLE, STEPS, FREE, SPANS = range(4)

# How a free interval is priced when clusters are merged.
PRODUCT, BLEND, SHARE, PLAIN = range(4)

# What is known of an attribute's prices when clusters are merged. By all kinds: the kind, where the costs begin, how
# many codes there are. STEPS: cost of one value. SPANS: the form (PRODUCT … PLAIN), cost of a column of which nothing
# is left, base and all importances of rules together, the ratio of a blend, what a span has beyond the difference of
# its ends, the span of the whole column, the unit in which spans are counted so that products stay small, and where the
# rules (first code, last code, importance of each) begin and end among the costs.
KIND, OFFSET, WIDTH, SINGLE, FORM, WEIGHT, WHOLE, UP, DOWN, CLOSED, COLUMN, UNIT, RULES, LAST_RULE = range(14)
PRICE_COLUMNS = 14

# What is asked of groups beside k records: nothing; persons and different values; models that must be asked as well.
NOTHING, VALUES, EVERYTHING = range(3)

# Why the branch and bound over boxes paused: a node is to be checked, all is done, time is up, there is no more room.
ASK, DONE, BREATH, FULL = range(4)

# Its totals: boxes in the heap, numbers of boxes not in use, boxes looked at.
IN_HEAP, UNUSED, VISITED = range(3)

# What is known of a node of the lattice.
OPEN, INFEASIBLE, FEASIBLE = range(3)

# Counts of a search for the best node: feasible nodes, all that were checked.
SEEN, CHECKED = range(2)

# What is known of a cluster that changes: records, cost per record, cell, first record; its leaf in the tree of loose
# clusters, the next cluster there, and whether it is loose.
SIZE, COST, CELL, HEAD, LEAF, NEXT, LOOSE = range(7)
CLUSTER_COLUMNS = 7

# How many clusters were numbered so far, and how many of them are loose.
NUMBERED, LOOSENED = range(2)

# Steps of a change, as tallied: of repairing clusters, and of lowering the loss.
BORROWED, DISSOLVED, MERGED = range(3)
SPLIT, MOVED, SWAPPED, BROKEN_UP = range(4)

# What steps may not undo: nothing; how many clusters there are; how even their sizes are.
ANY_SIZES, MANY, EVEN = range(3)

# Rows of a version placed among those of another: holdings, searches for a place, moves that can be undone.
HELD, SEARCHED, MOVES = range(3)
