"""The reference of trees and limits holds to the papers' places and to brute force."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.cases.locations import LOCATION, LOCATION_LIMITS, trees
from tests.naive.trees import Node, Tree

# ---- trees and limits ---------------------------------------------------------------------------


def test_location_limits() -> None:
    limits = {leaf: LOCATION.limit(leaf, LOCATION_LIMITS) for leaf in LOCATION.leaves}
    assert limits == {
        "San Diego": "California",
        "Los Angeles": "California",
        "Wichita": "Kansas",
        "Kansas City": "Kansas",
        "Lincoln": "Midwest",
    }
    assert LOCATION.limit_set(LOCATION_LIMITS) == LOCATION_LIMITS


def test_limit_of_an_unmarked_path_is_the_root_and_of_a_marked_leaf_itself() -> None:
    assert LOCATION.limit("Lincoln", ["California"]) == "United States"
    assert LOCATION.limit("Lincoln", ["Lincoln", "Midwest"]) == "Lincoln"


def test_ancestors_heights_and_levels() -> None:
    assert LOCATION.lca(["Wichita", "Kansas City"]) == "Kansas"
    assert LOCATION.lca(["Wichita", "Lincoln", "Kansas City"]) == "Midwest"
    assert LOCATION.lca(["Lincoln"]) == "Lincoln"
    assert [LOCATION.height(node) for node in ("Lincoln", "Nebraska", "Midwest", "United States")] == [
        0,
        1,
        2,
        3,
    ]
    assert LOCATION.leaves_under("Midwest") == ("Wichita", "Kansas City", "Lincoln")
    assert LOCATION.marked_by_level(1) == {"California", "Kansas", "Nebraska"}
    assert LOCATION.marked_by_level(9) == {"United States"}


def test_levels_stop_at_the_root_when_leaves_stand_at_different_depths() -> None:
    tree = Tree.from_nested({"*": {"shallow": None, "deep": {"deeper": ["a", "b"]}}})
    assert tree.leaves == ("shallow", "a", "b")
    assert tree.marked_by_level(2) == {"*", "deep"}


def test_leaves_of_a_parent_map_are_numbered_depth_first_by_first_appearance() -> None:
    tree = Tree.from_parents({"b": "Y", "a": "X", "c": "X", "X": "*", "Y": "*"}, ["a", "b", "c"])
    assert tree.leaves == ("a", "c", "b")


@pytest.mark.parametrize(
    ("parents", "leaves"),
    [
        ({"a": "X", "X": "a"}, ["a"]),
        ({"a": "X", "b": "Y"}, ["a", "b"]),
        ({"a": "X", "X": "*"}, ["a", "X"]),
        ({"a": "*", "b": "*"}, ["a"]),
    ],
    ids=["cycle", "two roots", "inner node listed", "leaf not listed"],
)
def test_what_is_no_tree_is_refused(parents: dict[Node, Node], leaves: list[Node]) -> None:
    with pytest.raises(ValueError, match=r"must|cycle|leads to no"):
        Tree.from_parents(parents, leaves)


@given(trees(), st.data())
def test_common_ancestor_of_a_set_is_that_of_its_ends(tree: Tree, data: st.DataObject) -> None:
    numbers = data.draw(st.sets(st.integers(0, len(tree.leaves) - 1), min_size=1))
    ends = {tree.leaves[min(numbers)], tree.leaves[max(numbers)]}
    assert tree.lca(tree.leaves[number] for number in numbers) == tree.lca(ends)


@given(trees())
def test_leaves_under_a_node_have_consecutive_numbers(tree: Tree) -> None:
    for node in tree.paths:
        numbers = [tree.numbers[leaf] for leaf in tree.leaves_under(node)]
        assert numbers == list(range(numbers[0], numbers[0] + len(numbers)))
