"""The reference of losses and costs holds to the example of Truta and Campan 2007 and to hand."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.cases.locations import LOCATION, encode, trees
from tests.naive import measures
from tests.naive.attributes import Attribute, FreeAttribute, TreeAttribute
from tests.naive.costs import UNIT, Costs, round_half_up
from tests.naive.trees import Node, Tree

# ---- losses (INC example) ------------------------------------------------------------------------

PEOPLE = [
    (25, "41076", "M"),
    (40, "41935", "F"),
    (35, "12345", "M"),
    (55, "33333", "M"),
    (33, "41733", "F"),
    (42, "41076", "M"),
    (38, "41933", "M"),
]


def prefix_tree(codes: list[str]) -> Tree:
    """Zip codes that lose one last digit per level."""
    parents: dict[Node, Node] = {}
    for code in codes:
        for kept in range(len(code), 0, -1):
            parents[code[:kept].ljust(len(code), "*")] = code[: kept - 1].ljust(len(code), "*")
    return Tree.from_parents(parents, list(dict.fromkeys(codes)))


PEOPLE_ATTRIBUTES: tuple[Attribute, ...] = (
    FreeAttribute.over(age for age, _, _ in PEOPLE),
    TreeAttribute(prefix_tree([zip_code for _, zip_code, _ in PEOPLE])),
    TreeAttribute(Tree.flat("MF")),
)
PEOPLE_RECORDS = encode(PEOPLE_ATTRIBUTES, list(PEOPLE))
SOLUTION = [[0, 1], [2, 3], [4, 5, 6]]


def test_inc_cluster_losses() -> None:
    losses = [measures.loss(PEOPLE_ATTRIBUTES, [PEOPLE_RECORDS[i] for i in group]) for group in SOLUTION]
    assert losses == [Fraction("4.2"), Fraction(10, 3), Fraction("5.7")]


@pytest.mark.parametrize(
    ("groups", "total"),
    [
        (SOLUTION, Fraction(397, 30)),  # 13.2333
        ([[0, 1, 4], [2, 3, 5, 6]], Fraction(389, 30)),  # 12.9667, printed as 12.96
        ([[0, 1, 4, 6], [2, 3, 5]], Fraction("13.4")),
    ],
)
def test_inc_total_losses(groups: list[list[int]], total: Fraction) -> None:
    scored = (PEOPLE_ATTRIBUTES, PEOPLE_RECORDS, groups, 0)
    assert measures.total_loss(*scored) == total
    assert sum(measures.loss_by_attribute(*scored)) == total
    assert measures.ntil(*scored) == total / 21


def test_a_withheld_record_costs_one_per_attribute() -> None:
    scored = (PEOPLE_ATTRIBUTES, PEOPLE_RECORDS, SOLUTION[:2], 3)
    assert measures.total_loss(*scored) == Fraction("4.2") + Fraction(10, 3) + 9
    assert sum(measures.loss_by_attribute(*scored)) == measures.total_loss(*scored)
    assert measures.ntil(PEOPLE_ATTRIBUTES, PEOPLE_RECORDS, [], 7) == 1


def test_weights_multiply_each_term() -> None:
    tree, free = (
        TreeAttribute(Tree.flat("ab"), weight=Fraction(3)),
        FreeAttribute.over([0, 4], weight=Decimal("0.5")),
    )
    records = [(0, 0), (1, 1)]
    assert measures.loss((tree, free), records) == 2 * (3 + Fraction(1, 2))
    assert measures.ntil((tree, free), records, [[0, 1]], 0) == 1


def test_discernibility_and_average_group_size() -> None:
    assert measures.discernibility([[0, 1], [2, 3, 4]], withheld=2) == 4 + 9 + 7 * 2
    assert measures.normalized_average_group_size([[0, 1], [2, 3, 4]], withheld=2, k=2) == Fraction(7, 4)


def test_ncp() -> None:
    location, age = TreeAttribute(LOCATION), FreeAttribute.over([10, 20, 50])
    records = encode((location, age), [("Wichita", 10), ("Lincoln", 20), ("San Diego", 50)])
    per_record = Fraction(3, 5) + Fraction(1, 4)
    assert measures.ncp((location, age), records, [[0, 1]], withheld=1) == 2 * per_record + 2
    assert measures.ncp((location, age), records, [[0], [1], [2]], withheld=0) == 0
    assert location.share_covered("Nebraska") == 0


def test_breaks_of_free_limits() -> None:
    free = FreeAttribute.over([10, 19, 20, 30], cuts=[20], width=9)
    assert not free.crosses_cut(10, 19)
    assert free.crosses_cut(19, 20)
    assert not free.crosses_cut(20, 30)
    assert not free.is_too_wide(10, 19)
    assert free.is_too_wide(20, 30)
    published = [((0, 1),), ((0, 1),), ((2, 3),), None]
    assert measures.limit_breaks([free], [(0,), (1,), (2,), (3,)], published) == [(2, 0)]
    assert [free.cell(code) for code in range(4)] == [0, 0, 1, 1]


# ---- costs -----------------------------------------------------------------------------------------------


def test_costs_are_integers_rounded_half_up() -> None:
    tree, free = TreeAttribute(LOCATION, weight=Fraction(2)), FreeAttribute.over([0, 1, 7])
    costs = Costs((tree, free))
    assert round_half_up(Fraction(5, 2)) == 3
    assert costs.cost(("Kansas", (0, 0))) == UNIT // 3
    one, seven = round_half_up(Fraction(UNIT, 14)), UNIT // 2
    assert costs.cost(("Lincoln", (1, 2))) == seven - one
    assert costs.cost(("United States", (0, 2))) == UNIT + UNIT // 2


def test_attributes_without_height_or_range_cost_nothing() -> None:
    costs = Costs((TreeAttribute(Tree.from_nested({"only": None})), FreeAttribute.over([5, 5])))
    assert costs.distance((0, 0), (0, 0)) == 0


@given(trees(), st.lists(st.integers(-9, 9), min_size=1, max_size=8), st.data())
def test_an_integer_cost_is_the_loss_per_record_up_to_rounding(
    tree: Tree, numbers: list[int], data: st.DataObject
) -> None:
    attributes = (TreeAttribute(tree), FreeAttribute.over(numbers))
    leaf = st.integers(0, len(tree.leaves) - 1)
    rank = st.integers(0, len(attributes[1].values) - 1)
    members = data.draw(st.lists(st.tuples(leaf, rank), min_size=1, max_size=5))
    costs = Costs(attributes)
    exact = UNIT * measures.loss(attributes, members) / len(members)
    assert abs(costs.cost(costs.box(members)) - exact) <= Fraction(3, 2)
