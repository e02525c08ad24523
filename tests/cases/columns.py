"""Columns of numbers and of categories, as the references of research value take them."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Any

from hypothesis import strategies as st

from tests.naive.attributes import FreeAttribute, TreeAttribute
from tests.naive.research_value import (
    Categories,
    FreeNumbers,
    NumberTree,
    Rule,
    Settings,
    band_tree,
)
from tests.naive.trees import Tree

PRODUCT = Settings()
HALF = Settings(blend=Fraction(1, 2))
LETTERS = Tree.from_nested({"*": {"A": ["a", "b"], "B": {"C": ["c", "d"], "e": None}}})
PAIRS = Tree.from_nested({"*": {"A": ["a", "b"], "B": ["c", "d"]}})


def free(values: Sequence[Any], rules: Sequence[Rule] = (), **limits: Any) -> FreeNumbers:
    return FreeNumbers(FreeAttribute.over(values, **limits), rules)


def categories(
    tree: Tree, values: Sequence[str], rules: Sequence[Rule] = (), marked: Sequence[str] = (), weight: int = 1
) -> Categories:
    attribute = TreeAttribute(tree, frozenset(marked), Fraction(weight))
    return Categories(attribute, {attribute.code(value) for value in values}, rules)


def bands(values: Sequence[Any], widths: Sequence[Any], rules: Sequence[Rule] = (), weight: int = 1) -> NumberTree:
    tree, bounds = band_tree(values, widths)
    return NumberTree(TreeAttribute(tree, weight=Fraction(weight)), range(len(tree.leaves)), rules, bounds)


letters = st.sampled_from("abcd")
