"""The ranges that boxes are made of, laid out for the kernels: of every column, and of the blocks before them."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from hedgerow.anonymization.clustering.costs import UNIT, Costs
from hedgerow.anonymization.kernels.codes import STEPS, TABLE
from hedgerow.anonymization.kernels.tuples.bounding import Ranges
from hedgerow.anonymization.kernels.tuples.searching import Prices
from hedgerow.microdata import FreeColumn, Microdata, TreeColumn
from hedgerow.types import IntArray

Parts = dict[str, list[npt.NDArray[Any]]]


def lay_out_ranges(microdata: Microdata, costs: Costs, keeps_limits: bool, blocks: int) -> Ranges:
    """Lay out the ranges of so many blocks, which come first as if they were a column, and of the columns after them.

    Of a tree column they are its nodes, as far as they differ in what they cost from those above: whatever is in a node
    can be in one above it that costs the same. So the nodes follow from the costs alone. All blocks together are a node
    that is too dear for any group.
    """
    parts: Parts = {name: [] for name in Ranges._fields}
    path, cost = nodes_by_cost(np.ones(blocks - 1, np.int64))
    _add_tree(parts, path, np.where(cost > 0, UNIT * (len(costs.kind) + 1), 0))  # above any price
    for j, column in enumerate(microdata.indexed_columns):
        if isinstance(column, TreeColumn):
            _add_tree(parts, *nodes_by_cost(_steps(costs, j)))
        else:
            _add_intervals(parts, column, costs, j, column.scaled_width if keeps_limits else None)
    kinds = {"path": np.int32, "lower": np.uint32, "upper": np.uint32}
    return Ranges(**{name: _joined(found, kinds.get(name, np.int64)) for name, found in parts.items()})


def after_blocks(prices: Prices) -> Prices:
    """Prices of columns that stand behind one that tells the blocks apart."""
    nothing: Any = [0]
    return Prices(
        np.concatenate([nothing, prices.kind]).astype(np.uint8),
        np.concatenate([nothing, prices.offset]),
        np.concatenate([nothing, prices.width]),
        prices.costs,
    )


def nodes_by_cost(steps: IntArray) -> tuple[IntArray, IntArray]:
    """Return the node of every code by depth, and the cost of every node, given the cost of each code with the next.

    Examples
    --------
    >>> path, cost = nodes_by_cost(np.array([1, 3, 3]))
    >>> path.tolist(), cost.tolist()
    ([[0, 1, 4], [0, 1, 5], [0, 2, 2], [0, 3, 3]], [3, 1, 0, 0, 0, 0])
    """
    path, cost = [np.zeros(len(steps) + 1, np.int64)], [int(steps.max(initial=0))]
    apart = np.append(True, np.zeros(len(steps), bool))  # whether a code is in another node than the one before
    while True:
        before = np.cumsum(apart) - 1
        most = _greatest(before, steps)
        divided = most > 0  # the others have no nodes below, or none that cost less
        if not divided.any():
            return np.stack(path, axis=1), np.array(cost, np.int64)
        apart[1:] |= divided[before[1:]] & (steps == most[before[1:]])
        now, first = np.cumsum(apart) - 1, np.flatnonzero(apart)
        new = divided[before[first]]
        number = np.where(new, len(cost) + np.cumsum(new) - 1, path[-1][first])
        cost += _greatest(now, steps)[new].clip(0).tolist()
        path.append(number[now])


def _greatest(run: IntArray, steps: IntArray) -> IntArray:
    """Greatest of the steps inside every run of codes; −1 if there is none."""
    inside = run[1:] == run[:-1]
    most = np.full(int(run[-1]) + 1, -1, np.int64)
    np.maximum.at(most, run[1:][inside], steps[inside])
    return most


def _add_tree(parts: Parts, path: IntArray, cost: IntArray) -> None:
    depth, leaf = np.zeros(len(cost), np.int64), np.zeros(len(cost), np.int64)
    for level in reversed(range(path.shape[1])):  # a leaf is repeated below: its depth is the first
        depth[path[:, level]] = level
    leaf[path[:, -1]] = 1
    nodes = sum(map(len, parts["cost"]))
    parts["levels"].append(np.array([path.shape[1]]))
    parts["start"].append(np.array([sum(map(len, parts["path"]))]))
    parts["widest"].append(np.array([-1]))
    parts["path"].append((path + nodes).ravel())
    parts["cost"].append(cost)
    parts["depth"].append(depth)
    parts["leaf"].append(leaf)


def _add_intervals(parts: Parts, column: FreeColumn, costs: Costs, j: int, width: int | None) -> None:
    codes = np.zeros((column.domain_size, len(costs.kind)), np.int64)
    codes[:, j] = np.arange(column.domain_size)
    lower, upper = costs.ends(codes, codes)
    parts["levels"].append(np.array([0]))
    parts["start"].append(np.array([sum(map(len, parts["lower"]))]))
    parts["widest"].append(np.array([-1 if width is None else width]))
    parts["lower"].append(lower[:, j])
    parts["upper"].append(upper[:, j])
    parts["left"].append(column.low_ends())
    parts["right"].append(column.high_ends())


def _steps(costs: Costs, j: int) -> IntArray:
    """Cost of every code of a tree column with the next."""
    offset, width = int(costs.offset[j]), int(costs.width[j])
    if costs.kind[j] == TABLE:
        table = costs.costs[offset : offset + width * width].reshape(width, width)
        return np.diagonal(table, 1).astype(np.int64)
    assert costs.kind[j] == STEPS
    return costs.costs[offset : offset + width - 1].astype(np.int64)


def _joined(parts: list[npt.NDArray[Any]], kind: Any) -> npt.NDArray[Any]:
    return np.concatenate(parts).astype(kind) if parts else np.zeros(0, kind)
