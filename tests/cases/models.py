"""Models of attribute disclosure over a few values, and trees to judge them on."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

from tests.naive.privacy import (
    Alpha,
    Closeness,
    Demands,
    Disclosure,
    Distance,
    Distinct,
    Entropy,
    Likeness,
    Model,
    Recursive,
    Sensitive,
    equal_distance,
    hierarchical_distance,
    ordered_distance,
)
from tests.naive.trees import Node, Tree

VALUES = 4
DISEASES = Tree.from_nested({"*": {"lung": {"cancer": ["small-cell", "other"]}, "flu": None, "cold": None}})
DISTANCES: dict[str, Distance] = {
    "equal": equal_distance,
    "ordered": ordered_distance,
    "hierarchical": hierarchical_distance(DISEASES),
}


def coded(rows: list[tuple[Any, ...]]) -> list[Sensitive]:
    """Values numbered by first appearance, column by column."""
    numbers = [{value: i for i, value in enumerate(dict.fromkeys(column))} for column in zip(*rows, strict=True)]
    return [tuple(codes[value] for codes, value in zip(numbers, row, strict=True)) for row in rows]


@st.composite
def trees(draw: st.DrawFn, most: int = 9) -> Tree:
    """Random trees; node 0 is the root, leaves at any depth."""
    size = draw(st.integers(1, most))
    parents: dict[Node, Node] = {node: draw(st.integers(0, node - 1)) for node in range(1, size)}
    return Tree.from_parents(parents, sorted(set(range(size)) - set(parents.values())))


COUNTING: list[list[list[Model]]] = [[[], []], [[Distinct(2)], []], [[Distinct(2)], [Distinct(3)]]]
GENERAL: list[list[list[Model]]] = [
    [[Entropy(1.8)], []],
    [[Recursive(2.0, 2)], [Distinct(2)]],
    [[Alpha(0.6)], [Alpha(0.7)]],
    [[Closeness(0.3)], []],
    [[Likeness(1.0)], [Likeness(1.5, enhanced=True)]],
    [[Disclosure(1.5)], []],
    [[Closeness(0.3, ordered_distance), Distinct(2)], []],
    [[Closeness(0.3, DISTANCES["hierarchical"])], [Entropy(1.5)]],
]


def demands_over(models: list[list[Model]], sensitive: list[Sensitive]) -> Demands:
    return Demands.over(models, sensitive, n_values=[VALUES, VALUES])
