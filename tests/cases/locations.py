"""The places of the papers' patients, trees to draw, and coding of rows."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

from tests.naive.attributes import Attribute, Record
from tests.naive.trees import Node, Tree

LOCATION = Tree.from_nested(
    {
        "United States": {
            "West Coast": {"California": ["San Diego", "Los Angeles"]},
            "Midwest": {"Kansas": ["Wichita", "Kansas City"], "Nebraska": ["Lincoln"]},
        }
    }
)
LOCATION_LIMITS = frozenset({"California", "Kansas", "Midwest"})


@st.composite
def trees(draw: st.DrawFn) -> Tree:
    """Random trees of 1 to 12 nodes; node 0 is the root, leaves listed in any order."""
    size = draw(st.integers(1, 12))
    parents: dict[Node, Node] = {node: draw(st.integers(0, node - 1)) for node in range(1, size)}
    leaves = sorted(set(range(size)) - set(parents.values()))
    return Tree.from_parents(parents, draw(st.permutations(leaves)))


def encode(attributes: tuple[Attribute, ...], rows: list[tuple[Any, ...]]) -> list[Record]:
    return [tuple(a.code(value) for a, value in zip(attributes, row, strict=True)) for row in rows]
