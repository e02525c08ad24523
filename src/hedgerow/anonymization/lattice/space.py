"""The lattice of full-domain generalizations: one level per quasi-identifier (Truta and Vinay 2006).

Level 0 maps a leaf to itself, level l to the ancestor l steps up, stopping at the root. Limits cut the lattice in one
of two ways: *keep* lets every value stop at its own limit; *whole-levels* leaves out a level that takes some value that
occurs beyond its limit.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Literal

import numpy as np

from hedgerow.errors import NoSolution, Problem
from hedgerow.measures.by_records import costs_of_nodes
from hedgerow.microdata import Microdata, TreeColumn
from hedgerow.plan.concepts import MeasureDescriptor, objectives
from hedgerow.plan.hierarchy.limits import limit_of_leaves
from hedgerow.types import BoolArray, IntArray

Limits = Literal["keep", "whole-levels", "ignore"]
Node = tuple[int, ...]
MOST_NODES = 20_000_000


def is_additive(objective: str) -> bool:
    """Tell whether an objective adds up over records and columns, so that levels alone bound it."""
    return objectives()[objective].is_additive


@dataclass(frozen=True, eq=False)
class Space:
    """The lattice over microdata.

    Attributes
    ----------
    codes
        Codes of every profile, columns in the plan's order.
    maps
        For every quasi-identifier and level: the node of the hierarchy that each code becomes.
    levels
        For every quasi-identifier the numbers of these levels, where not all from 0 on are in it.
    limits
        How limits cut it.
    """

    microdata: Microdata
    codes: IntArray
    maps: tuple[tuple[IntArray, ...], ...]
    levels: tuple[tuple[int, ...], ...] = ()
    limits: Limits = "keep"

    @cached_property
    def shape(self) -> tuple[int, ...]:
        """Number of levels of every quasi-identifier."""
        return tuple(len(levels) for levels in self.maps)

    @cached_property
    def nodes(self) -> int:
        """Number of nodes."""
        return int(np.prod([len(levels) for levels in self.maps], dtype=object))

    @property
    def columns(self) -> tuple[TreeColumn, ...]:
        """The quasi-identifiers."""
        return tuple(column for column in self.microdata.columns if isinstance(column, TreeColumn))

    def numbers(self, j: int) -> tuple[int, ...]:
        """Return the numbers of the levels of a quasi-identifier, as hierarchies count them."""
        return self.levels[j] if self.levels else tuple(range(len(self.maps[j])))

    def named(self, node: Node) -> dict[str, int]:
        """Return the levels of a node, by the names of the quasi-identifiers."""
        return {column.name: self.numbers(j)[node[j]] for j, column in enumerate(self.columns)}

    def name(self, node: Node) -> str:
        """Write a node as ⟨column level, …⟩."""
        return "⟨" + ", ".join(f"{name} {level}" for name, level in self.named(node).items()) + "⟩"

    def shares(self, objective: str) -> tuple[list[list[IntArray]], list[int]]:
        """What a code costs by column and level, as whole numbers, and the denominators by column."""
        if objective not in self._shares:
            self._shares[objective] = self._shares_of(objectives()[objective])
        return self._shares[objective]

    @cached_property
    def _shares(self) -> dict[str, tuple[list[list[IntArray]], list[int]]]:
        return {}

    @cached_property
    def records_by_code(self) -> tuple[IntArray, ...]:
        """Records of every code of every quasi-identifier."""
        return tuple(self.microdata.records_by_code(position) for position in range(len(self.maps)))

    def _shares_of(self, measure: MeasureDescriptor) -> tuple[list[list[IntArray]], list[int]]:
        numerators, denominators = [], []
        for column, levels, records in zip(self.columns, self.maps, self.records_by_code, strict=True):
            by_node, whole = costs_of_nodes(measure, column, records)
            numerators.append([by_node[nodes] for nodes in levels])
            denominators.append(max(int(whole), 1))
        return numerators, denominators

    def weights(self) -> list[Fraction]:
        """Weight of every column, summing to 1."""
        raw = [Fraction(column.weight) for column in self.columns]
        total = sum(raw, Fraction(0))
        return [weight / total for weight in raw]


def make_space(
    microdata: Microdata,
    limits: Limits = "keep",
    most_nodes: int | None = MOST_NODES,
    chosen: Mapping[str, int] | None = None,
) -> Space:
    """Lay out the lattice of microdata.

    ``chosen`` levels are the only ones of their columns. A level at which a label would stand for two different groups
    of values, as it can in hierarchies as printed, is left out.

    Raises
    ------
    NoSolution
        If the lattice has more nodes than can be laid out (None is for searches that do not), or a chosen level cannot
        be published.
    """
    codes = np.asfortranarray(microdata.profiles[:, np.argsort(microdata.index_order)].astype(np.int64))
    maps: list[tuple[IntArray, ...]] = []
    numbers: list[tuple[int, ...]] = []
    for position, column in enumerate(microdata.columns):
        assert isinstance(column, TreeColumn)
        present = np.bincount(codes[:, position], minlength=column.domain_size) > 0
        levels = _levels_of(column, present, limits)
        wanted = (chosen or {}).get(column.name)
        if wanted is not None:
            level = min(wanted, column.hierarchy.height)  # fewer records may have fewer levels
            if level >= len(levels):
                raise NoSolution(_beyond_limits(column, level, len(levels) - 1))
            twofold = column.hierarchy.two_meanings(levels[level])
            if twofold is not None:
                raise NoSolution(_twofold(column, wanted, column.hierarchy.two_groups(*twofold)))
            maps.append((levels[level],))
            numbers.append((wanted,))
            continue
        clear = [level for level, nodes in enumerate(levels) if column.hierarchy.two_meanings(nodes) is None]
        maps.append(tuple(levels[level] for level in clear))
        numbers.append(tuple(clear))
    space = Space(microdata, codes, tuple(maps), tuple(numbers), limits)
    if most_nodes is not None and space.nodes > most_nodes:
        message = f"The lattice has {space.nodes:,} nodes, more than {most_nodes:,}."
        hint = "use method: cluster, or {name: lattice, objective: research-value}, or fewer or flatter hierarchies, "
        hint += "or choose the levels of some columns"
        raise NoSolution(Problem("too-many-nodes", message, hint=hint))
    return space


def _levels_of(column: TreeColumn, present: BoolArray, limits: Limits) -> list[IntArray]:
    """Return the node that every code becomes at each level that the limits admit."""
    tree = column.hierarchy
    marked = column.marked if limits != "ignore" else ()
    limit = limit_of_leaves(tree, marked) if marked else np.zeros(column.domain_size, np.int64)
    nodes, levels = tree.leaf_nodes, []
    for _ in range(tree.height + 1):
        beyond = tree.depths[nodes] < tree.depths[limit]
        if limits == "whole-levels" and (beyond & present).any():
            break
        levels.append(np.where(beyond, limit, nodes))
        nodes = np.maximum(tree.parent[nodes], 0)
    return levels


def _beyond_limits(column: TreeColumn, level: int, highest: int) -> Problem:
    message = f"Column {column.name!r} cannot be published at level {level}: some value would go beyond its limit."
    return Problem("no-node", message, hint=f"choose a level up to {highest}, or let each value stop with limits: keep")


def _twofold(column: TreeColumn, level: int, problem: Problem) -> Problem:
    message = f"Column {column.name!r} cannot be published at level {level}: {problem.message}"
    return Problem(problem.code, message, hint=f"{problem.hint}, or choose another level")
