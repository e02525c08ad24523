"""The lattice of full-domain generalizations: one level per quasi-identifier (Truta and Vinay 2006).

Level 0 maps a leaf to itself, level l to the ancestor l steps up, stopping at the root. Limits cut the lattice in one
of two ways: *keep* lets every value stop at its own limit; *whole-levels* leaves out a level that takes some value that
occurs beyond its limit.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Literal

import numpy as np

from hedgerow.errors import NoSolution, Problem
from hedgerow.measures.by_records import costs_of_nodes, records_by_code
from hedgerow.microdata import Microdata, TreeColumn
from hedgerow.plan.concepts import objectives
from hedgerow.plan.hierarchy.limits import limit_of_leaves
from hedgerow.types import IntArray

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
    """

    microdata: Microdata
    codes: IntArray
    maps: tuple[tuple[IntArray, ...], ...]

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

    def name(self, node: Node) -> str:
        """Write a node as ⟨column level, …⟩."""
        return "⟨" + ", ".join(f"{c.name} {level}" for c, level in zip(self.columns, node, strict=True)) + "⟩"

    def shares(self, objective: str) -> tuple[list[list[IntArray]], list[int]]:
        """What a code costs by column and level, as whole numbers, and the denominators by column."""
        numerators, denominators = [], []
        measure = objectives()[objective]
        for position, (column, levels) in enumerate(zip(self.columns, self.maps, strict=True)):
            by_node, whole = costs_of_nodes(measure, column, records_by_code(self.microdata, position))
            numerators.append([by_node[nodes] for nodes in levels])
            denominators.append(max(int(whole), 1))
        return numerators, denominators

    def weights(self) -> list[Fraction]:
        """Weight of every column, summing to 1."""
        raw = [Fraction(column.weight) for column in self.columns]
        total = sum(raw, Fraction(0))
        return [weight / total for weight in raw]


def make_space(microdata: Microdata, limits: Limits = "keep", most_nodes: int | None = MOST_NODES) -> Space:
    """Lay out the lattice of microdata.

    Raises
    ------
    NoSolution
        If the lattice has more nodes than can be laid out; None is for searches that do not.
    """
    codes = np.asfortranarray(microdata.profiles[:, np.argsort(microdata.index_order)].astype(np.int64))
    maps = []
    for position, column in enumerate(microdata.columns):
        assert isinstance(column, TreeColumn)
        tree = column.hierarchy
        marked = column.marked if limits != "ignore" else ()
        limit = limit_of_leaves(tree, marked) if marked else np.zeros(column.domain_size, np.int64)
        present = np.bincount(codes[:, position], minlength=column.domain_size) > 0
        nodes, levels = tree.leaf_nodes, []
        for _ in range(tree.height + 1):
            beyond = tree.depths[nodes] < tree.depths[limit]
            if limits == "whole-levels" and (beyond & present).any():
                break
            levels.append(np.where(beyond, limit, nodes))
            nodes = np.maximum(tree.parent[nodes], 0)
        maps.append(tuple(levels))
    space = Space(microdata, codes, tuple(maps))
    if most_nodes is not None and space.nodes > most_nodes:
        message = f"The lattice has {space.nodes:,} nodes, more than {most_nodes:,}."
        hint = "use method: cluster, or {name: lattice, objective: research-value}, or fewer or flatter hierarchies"
        raise NoSolution(Problem("too-many-nodes", message, hint=hint))
    return space
