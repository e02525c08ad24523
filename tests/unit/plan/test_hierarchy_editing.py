"""Trees changed by hand: against a plain reference, and what must hold after any change."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hedgerow.errors import PlanError
from hedgerow.microdata.columns import MISSING
from hedgerow.plan.hierarchy import Hierarchy, editing
from hedgerow.plan.hierarchy.limits import limit_of_leaves, nodes_by_name
from hedgerow.plan.model import HierarchySpec, spec_of
from tests.naive import editing as naive

LOCATION = Hierarchy.from_tree(
    {
        "US": {
            "West": {"California": ["San Diego", "Los Angeles"], "Nevada": ["Reno"]},
            "Midwest": {"Kansas": ["Wichita", "Topeka"], "Nebraska": ["Lincoln"]},
        }
    }
)


@st.composite
def trees(draw: st.DrawFn) -> Hierarchy:
    """Trees of any shape, some with labels repeated down a chain, some with a leaf for missing values."""
    names = (f"n{number}" for number in range(1_000))

    def twig(depth: int) -> Any:
        name = next(names)
        children = [twig(depth - 1) for _ in range(draw(st.integers(0, 3)))] if depth else []
        built = [name, children]
        for _ in range(draw(st.sampled_from([0, 0, 0, 1, 2]))):
            built = [name, [built]]
        return built

    children = [twig(draw(st.integers(0, 3))) for _ in range(draw(st.integers(1, 4)))]
    hierarchy = from_twig(["*", children])
    return hierarchy.with_leaves_under_root([MISSING]) if draw(st.booleans()) else hierarchy


def from_twig(root: naive.Twig) -> Hierarchy:
    paths: list[tuple[str, ...]] = []

    def walk(node: naive.Twig, above: tuple[str, ...]) -> None:
        path = (node[0], *above)
        if not node[1]:
            paths.append(path)
        for child in node[1]:
            walk(child, path)

    walk(root, ())
    return Hierarchy.from_paths(paths)


def to_twig(hierarchy: Hierarchy) -> naive.Twig:
    nodes: list[naive.Twig] = [[name, []] for name in hierarchy.names]
    for node, parent in enumerate(hierarchy.parents):
        if parent >= 0 and hierarchy.names[node] != MISSING:
            nodes[parent][1].append(nodes[node])
    return nodes[0]


@st.composite
def changes(draw: st.DrawFn) -> tuple[Hierarchy, str, tuple[Any, ...]]:
    hierarchy = draw(trees())
    numbers = st.integers(0, len(editing.of_plan(hierarchy).names) - 1)
    some = st.lists(numbers, min_size=1, max_size=4)
    names = st.sampled_from(["new", " new ", "", "n1", "*"])
    kind = draw(st.sampled_from(["move", "group", "dissolve", "rename"]))
    arguments = {"move": (some, numbers), "group": (some, names), "dissolve": (numbers,), "rename": (numbers, names)}
    return hierarchy, kind, tuple(draw(argument) for argument in arguments[kind])


def done(hierarchy: Hierarchy, kind: str, arguments: tuple[Any, ...]) -> Hierarchy | None:
    try:
        return getattr(editing, kind)(hierarchy, *arguments)
    except PlanError:
        return None


@given(changes())
def test_as_the_plain_reference(change: tuple[Hierarchy, str, tuple[Any, ...]]) -> None:
    hierarchy, kind, arguments = change
    root = to_twig(hierarchy)
    function: Callable[..., None] = getattr(naive, kind)
    try:
        function(root, *arguments)
        expected = from_twig(root)
    except (naive.Refused, PlanError):  # the second: one label would mean two things
        expected = None
    assert done(hierarchy, kind, arguments) == expected


@given(changes())
def test_leaves_stay_and_no_group_is_empty(change: tuple[Hierarchy, str, tuple[Any, ...]]) -> None:
    hierarchy, kind, arguments = change
    after = done(hierarchy, kind, arguments)
    if after is None:
        return
    before = editing.of_plan(hierarchy)
    assert sorted(after.leaves) == sorted(before.leaves)
    groups = {name for node, name in enumerate(before.names) if before.heights[node]}
    assert not {leaf for leaf in after.leaves if leaf in groups and leaf not in before.leaves}
    assert Hierarchy.from_tree(HierarchySpec(tree=after.tree()).tree or {}) == after
    assert spec_of(after).tree == after.tree()


@given(trees(), st.data())
def test_the_order_of_clicks_does_not_matter(hierarchy: Hierarchy, data: st.DataObject) -> None:
    numbers = st.integers(0, len(editing.of_plan(hierarchy).names) - 1)
    nodes = data.draw(st.lists(numbers, min_size=1, max_size=5))
    parent = data.draw(numbers)
    shuffled = data.draw(st.permutations(nodes + nodes[:1]))
    assert done(hierarchy, "move", (nodes, parent)) == done(hierarchy, "move", (shuffled, parent))
    assert done(hierarchy, "group", (nodes, "new")) == done(hierarchy, "group", (shuffled, "new"))


@given(changes(), st.data())
def test_carried_limits_are_nodes_and_never_wider(
    change: tuple[Hierarchy, str, tuple[Any, ...]], data: st.DataObject
) -> None:
    """A limit that is gone gives way to nodes that cover its leaves, all of them, and no others."""
    hierarchy, kind, arguments = change
    after = done(hierarchy, kind, arguments)
    if after is None:
        return
    before = editing.of_plan(hierarchy)
    name = data.draw(st.sampled_from(before.names))
    carried = editing.carried_limits(before, after, [name])
    assert all(limit in after for limit in carried)
    if name in after:
        assert carried == (name,)
    else:
        covered = [leaf for limit in carried for leaf in after.leaves_under(limit)]
        assert sorted(covered) == sorted(before.leaves_under(name))


def names_of(hierarchy: Hierarchy, *names: str) -> list[int]:
    return [hierarchy.node(name) for name in names]


def test_a_group_that_loses_its_last_child_goes() -> None:
    after = editing.move(LOCATION, names_of(LOCATION, "Reno"), LOCATION.node("California"))
    assert "Nevada" not in after
    assert after.leaves_under("California") == ("San Diego", "Los Angeles", "Reno")


def test_a_node_may_move_up_to_where_its_group_was_all_there_was() -> None:
    chain = Hierarchy.from_tree({"*": {"T": {"A": ["x"]}, "B": ["y"]}})
    assert editing.move(chain, names_of(chain, "x"), chain.node("T")).tree() == {"*": {"T": {"x": {}}, "B": {"y": {}}}}


def test_what_is_put_under_a_repeated_label_goes_to_its_end() -> None:
    padded = Hierarchy.from_paths([("a", "X", "X", "*"), ("b", "Y", "Z", "*")])
    after = editing.move(padded, names_of(padded, "b"), padded.node("X"))
    assert after.paths() == (("a", "X", "X", "*"), ("b", "X", "X", "*"))


def test_a_repeated_label_is_renamed_as_one() -> None:
    padded = Hierarchy.from_paths([("X", "X", "X", "*"), ("b", "Y", "Z", "*")])
    assert editing.rename(padded, 1, "group of X").paths()[0] == ("X", "group of X", "group of X", "*")
    assert editing.rename(padded, 2, "group of X").paths()[0] == ("X", "group of X", "group of X", "*")


def test_a_limit_passes_to_the_children_of_a_node_that_is_gone() -> None:
    after = editing.dissolve(LOCATION, LOCATION.node("Midwest"))
    limits = editing.carried_limits(LOCATION, after, ["West", "Midwest"])
    assert limits == ("West", "Kansas", "Nebraska")
    keys = limit_of_leaves(after, nodes_by_name(after, limits))
    assert {after.names[node] for node in keys} == {"West", "Kansas", "Nebraska"}


@pytest.mark.parametrize(
    ("act", "code"),
    [
        (lambda: editing.move(LOCATION, [0], 1), "usage"),
        (lambda: editing.move(LOCATION, [], 1), "usage"),
        (lambda: editing.move(LOCATION, names_of(LOCATION, "West"), LOCATION.node("Nevada")), "cycle"),
        (lambda: editing.move(LOCATION, names_of(LOCATION, "Reno"), LOCATION.node("Wichita")), "value-is-node"),
        (lambda: editing.move(LOCATION, [99], 1), "unknown-node"),
        (lambda: editing.group(LOCATION, names_of(LOCATION, "Reno", "Wichita"), "new"), "usage"),
        (lambda: editing.group(LOCATION, names_of(LOCATION, "Reno"), "Kansas"), "ambiguous-label"),
        (lambda: editing.group(LOCATION, names_of(LOCATION, "Reno"), "  "), "usage"),
        (lambda: editing.dissolve(LOCATION, 0), "usage"),
        (lambda: editing.dissolve(LOCATION, LOCATION.node("Reno")), "usage"),
        (lambda: editing.rename(LOCATION, LOCATION.node("Reno"), "Sparks"), "usage"),
        (lambda: editing.rename(LOCATION, LOCATION.node("Kansas"), "Nevada"), "ambiguous-label"),
    ],
)
def test_refused(act: Callable[[], Hierarchy], code: str) -> None:
    with pytest.raises(PlanError) as caught:
        act()
    assert [problem.code for problem in caught.value.problems] == [code]
