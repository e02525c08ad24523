"""Did the pattern survive: facts of Adult, releases worked out by hand, queries, distances, risks, and their drawings."""

from __future__ import annotations

import io
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from rich.console import Console

from hedgerow.errors import HedgerowError
from hedgerow.evaluation.patterns import (
    DecisionTree,
    LabelFeature,
    Node,
    OrderedFeature,
    Target,
    distances,
    draw_queries,
    grow,
    query_error,
    raw_features,
    released_features,
)
from hedgerow.evaluation.patterns.queries import estimates, relative_errors, true_counts
from hedgerow.microdata import Microdata, Table, encode_table, read_table
from hedgerow.microdata.recoding import Recoding
from hedgerow.plan import Plan
from hedgerow.privacy import risks
from hedgerow.reports.terminal.tree import tree_view, trees_side_by_side

AGE, EDUCATION_NUM, CAPITAL_GAIN, SALARY = 0, 4, 10, 14
ONLY_TRAINING = 30_162


def load(attributes: dict[str, Any], columns: dict[str, list[Any]]) -> tuple[Table, Plan, Microdata]:
    plan = Plan.from_dict({"attributes": attributes, "privacy": {"k": 2}})
    table = read_table(pa.table(columns), plan)
    return table, plan, encode_table(table, plan)


def group_by(microdata: Microdata, group_of_record: list[int]) -> Recoding:
    """Groups by record; −1 is withheld."""
    group_of = np.array([group_of_record[record] for record in microdata.record_of.tolist()])
    width = len(microdata.columns)
    lo, hi = (np.zeros((int(group_of.max()) + 1, width), np.int64) for _ in range(2))
    for place in range(width):
        codes = microdata.codes(place)[microdata.profile_of_unit].astype(np.int64)
        for group in range(len(lo)):
            lo[group, place], hi[group, place] = codes[group_of == group].min(), codes[group_of == group].max()
    return Recoding.of_boxes(microdata, group_of, lo, hi)


# -- Adult -----------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def adult(adult_rows: list[list[str]]) -> tuple[Table, Plan, Microdata]:
    rows = adult_rows[:ONLY_TRAINING]
    places = {"age": AGE, "education-num": EDUCATION_NUM, "capital-gain": CAPITAL_GAIN, "salary": SALARY}
    attributes: dict[str, Any] = {name: {"role": "quasi-identifier", "intervals": "free"} for name in list(places)[:3]}
    columns = {name: [row[place] for row in rows] for name, place in places.items()}
    return load({**attributes, "salary": "other"}, columns)


def side(node: Node, *yes: bool) -> Node:
    for way in yes:
        found = node.yes if way else node.no
        assert found is not None
        node = found
    return node


def test_the_tree_of_adult_is_that_of_the_thesis(adult: tuple[Table, Plan, Microdata]) -> None:
    tree = grow(*raw_features(*adult, "salary"))
    assert tree.classes == ("<=50K", ">50K")
    assert (tree.root.size, tree.root.counts[1], tree.smallest_leaf) == (30_162, 7_508, 150)
    first, second, third = tree.root.split, side(tree.root, False).split, side(tree.root, False, True).split
    assert first is not None
    assert second is not None
    assert third is not None
    assert [(split.column, split.end, split.threshold) for split in (first, second, third)] == [
        ("capital-gain", None, 7298),
        ("age", None, 28),
        ("education-num", None, 13),
    ]
    rich, young = side(tree.root, True), side(tree.root, False, False)
    coin_toss = side(tree.root, False, True, True)
    assert (rich.size, rich.counts[1], round(rich.purity, 4)) == (1330, 1312, 0.9865)
    assert (young.size, young.counts[0], round(young.purity, 4)) == (7162, 6952, 0.9707)
    assert (coin_toss.size, coin_toss.counts[1], round(coin_toss.purity, 4)) == (5691, 2864, 0.5033)
    leaves = {leaf.text: leaf for leaf in tree.leaves()}
    assert leaves["capital-gain < 7298, age ≥ 28, education-num ≥ 13"].size == 5691
    assert leaves["capital-gain < 7298, 24 ≤ age < 28"].majority == "<=50K"
    assert sum(leaf.size for leaf in leaves.values()) == 30_162


def test_6849_is_the_number_below_the_first_cut_of_adult(adult: tuple[Table, Plan, Microdata]) -> None:
    features, _ = raw_features(*adult, "salary")
    gain = features[2]
    assert isinstance(gain, OrderedFeature)
    assert int(gain.lower[gain.lower < 7298].max()) == 6849


def test_a_release_in_decades_moves_the_cut_of_adult(adult: tuple[Table, Plan, Microdata]) -> None:
    """Ages in steps of ten: the cut at 28 goes to 30, and nobody lies across it."""
    table, plan, microdata = adult
    age = microdata.columns[0]
    numbers = age.intervals.scaled  # type: ignore[union-attr]
    first = np.searchsorted(numbers, numbers // 10 * 10)
    last = np.searchsorted(numbers, numbers // 10 * 10 + 10) - 1
    at = [microdata.index_order.index(place) for place in range(3)]
    lo, hi = (microdata.profiles[:, at].astype(np.int64) for _ in range(2))
    lo[:, 0], hi[:, 0] = first[lo[:, 0]], last[hi[:, 0]]
    release = Recoding.of_boxes(microdata, microdata.profile_of_unit, lo, hi).in_published_order(microdata)
    tree = grow(*released_features(table, plan, microdata, release, "salary"))
    young = side(tree.root, False).split
    assert tree.root.split is not None
    assert young is not None
    assert (tree.root.split.column, tree.root.split.threshold, tree.root.split.overlap) == ("capital-gain", 7298, 0)
    assert (young.column, young.end, young.threshold, young.overlap) == ("age", "from", 30, 0)


# -- trees by hand ---------------------------------------------------------------------------------------------------

PEOPLE: dict[str, Any] = {
    "age": {"role": "quasi-identifier", "intervals": "free"},
    "city": {"role": "quasi-identifier", "hierarchy": {"tree": {"*": {"coast": ["Ely", "Rye"], "hills": ["Ash"]}}}},
    "pays": "sensitive",
}
ROWS: dict[str, list[Any]] = {
    "age": ["20", "24", "30", "34", "40", "44", "50", None],
    "city": ["Ely", "Ely", "Rye", "Rye", "Ash", "Ash", "Ely", "Rye"],
    "pays": ["no", "no", "no", "yes", "yes", "yes", "yes", None],
}


def test_a_release_by_hand() -> None:
    table, plan, microdata = load(PEOPLE, ROWS)
    release = group_by(microdata, [0, 0, 1, 1, 2, 2, -1, -1])
    tree = grow(*released_features(table, plan, microdata, release, "pays"), smallest_leaf=1)
    # 20-24 coast, 30-34 coast, 40-44 hills: no no | no yes | yes yes
    assert tree.left_out == {"missing": 0, "coarsened": 0, "withheld": 2}
    split = tree.root.split
    assert split is not None
    assert (split.column, split.end, split.threshold, split.overlap) == ("age", "from", 30, 0)
    assert [(leaf.text, leaf.size, leaf.majority, leaf.purity) for leaf in tree.leaves()] == [
        ("age ≥ 40", 2, "yes", 1.0),
        ("30 ≤ age < 40", 2, "no", 0.5),
        ("age < 30", 2, "no", 1.0),
    ]


def test_the_same_people_raw() -> None:
    table, plan, microdata = load(PEOPLE, ROWS)
    features, target = raw_features(table, plan, microdata, "pays", ["age"])
    assert target.left_out == {"missing": 1, "no_leaf": 0}
    tree = grow(features, target, smallest_leaf=1)
    assert [(leaf.text, leaf.size) for leaf in tree.leaves()] == [("age ≥ 34", 4), ("age < 34", 3)]


def test_overlap_counts_the_records_that_may_lie_on_either_side() -> None:
    ages = OrderedFeature("age", np.array([10, 20, 28, 40]), np.array([15, 35, 50, 60]))
    target = Target("t", ("a", "b"), np.array([0, 0, 1, 1]), np.array([5, 3, 5, 2]))
    split = grow([ages], target, smallest_leaf=1).root.split
    assert split is not None
    assert (split.end, split.threshold) == ("from", 28)
    assert split.overlap == 3  # those of 20-35


def test_upper_ends_are_cut_too() -> None:
    """All ranges start at the same number, so only their upper ends tell them apart."""
    ages = OrderedFeature("age", np.array([10, 10, 10]), np.array([15, 35, 50]))
    target = Target("t", ("a", "b"), np.array([0, 1, 1]), np.array([5, 3, 4]))
    tree = grow([ages], target, smallest_leaf=1)
    split = tree.root.split
    assert split is not None
    assert (split.end, split.threshold, split.overlap) == ("to", 35, 7)
    assert [leaf.text for leaf in tree.leaves()] == ["age maybe ≥ 35", "age surely < 35"]


def test_ties_go_to_the_first_column_the_lower_end_and_the_lowest_cut() -> None:
    same = np.array([1, 2, 3, 4])
    target = Target("t", ("a", "b"), np.array([0, 1, 0, 1]), np.array([5, 5, 5, 5]))
    split = grow([OrderedFeature("x", same, same + 1), OrderedFeature("y", same, same)], target, 1, 1).root.split
    assert split is not None
    assert (split.column, split.end, split.threshold) == ("x", "from", 2)


def test_gains_that_differ_by_rounding_only_are_equal() -> None:
    """7 8 | 4 4 | 8 7: both cuts gain the same, but not to the last bit."""
    numbers = np.repeat([0, 1, 2], 2)
    target = Target("t", ("a", "b"), np.tile([0, 1], 3), np.array([7, 8, 4, 4, 8, 7]))
    split = grow([OrderedFeature("x", numbers, numbers)], target, 1, 1).root.split
    assert split is not None
    assert split.threshold == 1


def test_labels_of_two_classes_are_cut_by_share_and_of_more_one_by_one() -> None:
    codes = np.array([0, 0, 1, 1, 2, 2])
    place = LabelFeature("place", ("a", "b", "c"), codes)
    counts = np.array([9, 1, 2, 8, 3, 7])
    two = grow([place], Target("t", ("no", "yes"), np.array([0, 1] * 3), counts), 1, 1)
    assert two.root.split is not None
    assert two.root.split.labels == ("b", "c")
    assert [leaf.text for leaf in two.leaves()] == ["place: b or c", "place not b or c"]
    three = grow([place], Target("t", ("no", "yes", "maybe"), np.array([0, 1] * 3), counts), 1, 1)
    assert three.root.split is not None
    assert three.root.split.labels == ("a",)


def test_depth_size_and_purity_stop_a_tree() -> None:
    ages = np.arange(40)
    feature = OrderedFeature("age", ages, ages)
    target = Target("t", ("a", "b"), (ages >= 10).astype(np.int64), np.ones(40, np.int64))
    assert grow([feature], target, depth=0).root.split is None
    tree = grow([feature], target)  # 20 on each side, though 10 | 30 would be pure
    assert tree.root.split is not None
    assert (tree.root.split.threshold, tree.smallest_leaf) == (20, 20)
    assert len(grow([feature], target, smallest_leaf=1).leaves()) == 2
    assert grow([feature], target, smallest_leaf=21).root.split is None
    assert grow([], target).root.split is None


def test_a_tree_of_nothing_is_one_empty_leaf() -> None:
    nothing = np.zeros(0, np.int64)
    tree = grow([OrderedFeature("age", nothing, nothing)], Target("t", ("a", "b"), nothing, nothing))
    assert tree.leaves()[0].size == 0
    assert tree.to_dict()["leaves"] == [{"conditions": [], "size": 0, "majority": "a", "purity": 0.0}]


@pytest.mark.parametrize(("depth", "smallest"), [(-1, None), (3, 0)])
def test_parameters_out_of_range_are_refused(depth: int, smallest: int | None) -> None:
    nothing = np.zeros(0, np.int64)
    with pytest.raises(HedgerowError, match="must be at least"):
        grow([], Target("t", (), nothing, nothing), depth, smallest)


# -- features --------------------------------------------------------------------------------------------------------


def test_a_target_that_was_coarsened_is_left_out_and_counted() -> None:
    table, plan, microdata = load(PEOPLE, ROWS)
    release = group_by(microdata, [0, 0, 1, 1, 2, 1, -1, 3])
    features, target = released_features(table, plan, microdata, release, "city")
    # Ely Ely | Rye Rye Ash → * | Ash | Rye
    assert [feature.name for feature in features] == ["age"]
    assert target.classes == ("Ely", "Rye", "Ash")
    assert target.left_out == {"missing": 0, "coarsened": 3, "withheld": 1}
    assert np.bincount(target.codes, target.counts, 3).tolist() == [2, 1, 1]


def test_a_node_with_one_leaf_is_coarser_than_the_leaf() -> None:
    table, plan, microdata = load(PEOPLE, ROWS)
    release = group_by(microdata, [0, 0, 0, 0, 1, 1, 0, 2])
    tree = microdata.columns[1].hierarchy  # type: ignore[union-attr]
    release.node[1, 1] = tree.node("hills")
    _, target = released_features(table, plan, microdata, release, "city")
    assert target.left_out["coarsened"] == 7  # Ash as hills, too
    assert target.records == 1


def test_suppressed_cells() -> None:
    table, plan, microdata = load(PEOPLE, ROWS)
    release = group_by(microdata, [0, 0, 1, 1, 2, 2, 2, 3])
    cells = np.zeros((8, 2), bool)
    cells[microdata.record_of == 4] = True
    hidden = release.hiding(cells)
    age, city = released_features(table, plan, microdata, hidden, "pays")[0]
    assert isinstance(age, OrderedFeature)
    assert isinstance(city, LabelFeature)
    assert [(low, high) for low, high in zip(age.lower.tolist(), age.upper.tolist(), strict=True)].count((20, 50)) == 1
    assert city.labels == ("*", "Ely", "Rye", "missing")
    assert city.labels[city.codes[age.upper - age.lower == 30][0]] == "missing"
    _, target = released_features(table, plan, microdata, hidden, "city")
    assert target.left_out["missing"] == 1


def test_a_missing_number_may_be_any() -> None:
    table, plan, microdata = load(PEOPLE, {**ROWS, "pays": ["no"] * 8})
    age = raw_features(table, plan, microdata, "pays")[0][0]
    assert isinstance(age, OrderedFeature)
    assert not age.exact
    assert (20, 50) in list(zip(age.lower.tolist(), age.upper.tolist(), strict=True))


def test_numbers_on_a_grid_are_taken_from_the_table() -> None:
    attributes = {"x": {"role": "quasi-identifier", "intervals": "free", "snap": 5}, "t": "other"}
    table, plan, microdata = load(attributes, {"x": ["3", "4", "6", "7.5"], "t": ["a", "b", "a", "b"]})
    raw = raw_features(table, plan, microdata, "t")[0][0]
    assert isinstance(raw, OrderedFeature)
    assert sorted(float(raw.number(low)) for low in raw.lower.tolist()) == [3, 4, 6, 7.5]
    shown = released_features(table, plan, microdata, group_by(microdata, [0, 0, 0, 0]), "t")[0][0]
    assert isinstance(shown, OrderedFeature)
    assert {
        (float(shown.number(a)), float(shown.number(b))) for a, b in zip(shown.lower, shown.upper, strict=True)
    } == {(0, 9.9)}


@pytest.mark.parametrize(
    ("attribute", "values", "kind"),
    [
        ({"hierarchy": {"bands": [5]}}, ["1", "7"], "ordered"),
        ({"hierarchy": {"cuts": [[0, 5, 10]]}}, ["1", "7"], "ordered"),
        ({}, ["1", "7"], "ordered"),
        ({"numeric": False}, ["1", "7"], "label"),
        ({}, ["1", "seven"], "label"),
        ({"hierarchy": {"prefix": [3, 0]}}, ["00912", "43102"], "label"),
        ({"hierarchy": {"prefix": [3, 0]}}, ["90210", "43102"], "ordered"),
        ({"hierarchy": {"dates": ["year"]}}, ["2024-01-01", "2024-02-01"], "label"),
    ],
)
def test_which_columns_are_numbers(attribute: dict[str, Any], values: list[str], kind: str) -> None:
    attributes = {"x": {"role": "quasi-identifier", **attribute}, "t": "other"}
    loaded = load(attributes, {"x": values, "t": ["a", "b"]})
    assert raw_features(*loaded, "t")[0][0].kind == kind


def test_names_of_bands_are_read_as_ranges() -> None:
    attributes = {"x": {"role": "quasi-identifier", "hierarchy": {"bands": ["0.5", 2]}}, "t": "other"}
    table, plan, microdata = load(attributes, {"x": ["0.25", "0.4", "1.5"], "t": ["a", "b", "a"]})
    shown = released_features(table, plan, microdata, group_by(microdata, [0, 0, 0]), "t")[0][0]
    assert isinstance(shown, OrderedFeature)
    assert [str(shown.number(int(end[0]))) for end in (shown.lower, shown.upper)] == ["0", "1.99"]  # [0, 2)


def test_a_name_like_a_range_is_believed_only_if_its_leaves_lie_in_it() -> None:
    tree = {"*": {"1-2": ["5", "6"], "7-9": ["7", "8"]}}
    attributes = {"x": {"role": "quasi-identifier", "hierarchy": {"tree": tree}}, "t": "other"}
    table, plan, microdata = load(attributes, {"x": ["5", "6", "7", "8"], "t": ["a", "a", "b", "b"]})
    shown = released_features(table, plan, microdata, group_by(microdata, [0, 0, 1, 1]), "t")[0][0]
    assert isinstance(shown, OrderedFeature)
    assert sorted(zip(shown.lower.tolist(), shown.upper.tolist(), strict=True)) == [(5, 6), (7, 9)]


@pytest.mark.parametrize(
    ("target", "columns", "message"),
    [
        ("salary", None, "no released column 'salary'"),
        ("pays", ["agee"], "quasi-identifiers only, and 'agee' is none"),
        ("pays", ["pays"], "quasi-identifiers only"),
    ],
)
def test_columns_that_are_not_there_are_refused(target: str, columns: list[str] | None, message: str) -> None:
    loaded = load(PEOPLE, ROWS)
    with pytest.raises(HedgerowError, match=message):
        raw_features(*loaded, target, columns)


def test_a_target_of_many_values_is_refused_without_showing_one() -> None:
    attributes = {"x": "quasi-identifier", "t": "other"}
    loaded = load(attributes, {"x": ["a"] * 60, "t": [f"secret{i}" for i in range(60)]})
    with pytest.raises(HedgerowError, match="has 60 different values; a tree can tell 50") as caught:
        raw_features(*loaded, "t")
    assert "secret" not in str(caught.value)


def test_a_column_of_missing_numbers_only() -> None:
    attributes = {"x": {"role": "quasi-identifier", "intervals": "free"}, "y": "quasi-identifier", "t": "other"}
    columns = {"x": pa.array([None, None], pa.string()), "y": ["a", "b"], "t": ["u", "v"]}
    table, plan, microdata = load(attributes, columns)
    release = group_by(microdata, [0, 0])
    assert released_features(table, plan, microdata, release, "t")[0][0].kind == "label"
    assert query_error(microdata, release, 20).queries == 20
    assert distances(microdata, release)["x"].total_variation == 0


# -- queries ---------------------------------------------------------------------------------------------------------


def test_a_query_by_hand() -> None:
    attributes = {"age": {"role": "quasi-identifier", "intervals": "free"}, "sex": "quasi-identifier"}
    _, _, microdata = load(attributes, {"age": ["20", "21", "24", "29"], "sex": ["F", "F", "F", "M"]})
    release = group_by(microdata, [0, 0, 0, -1])  # 20-24, F
    query = next(
        query
        for query in draw_queries(microdata, 200)
        if len(query) == 1 and query[0].position == 0 and query[0].low == query[0].high == 20
    )
    assert true_counts(microdata, [query]).tolist() == [1]
    assert estimates(microdata, release, [query]).tolist() == [pytest.approx(3 / 5)]  # 20 is one of five numbers
    assert relative_errors(np.array([1, 0]), np.array([0.6, 0.3]), 4).tolist() == pytest.approx([0.4, 75])


PINNED = [[(1, [0, 1]), (2, [1, 3])], [(1, [0, 1])], [(0, [17, 23]), (1, [2, 2]), (2, [2, 2])], [(0, [8, 19])]]


def test_queries_depend_on_the_seed_only() -> None:
    """Pinned: a seed means the same queries with every version of NumPy."""
    attributes = {
        "age": {"role": "quasi-identifier", "intervals": "free"},
        "city": {"role": "quasi-identifier", "hierarchy": {"tree": {"*": {"a": ["a1", "a2"], "b": ["b1"], "c": None}}}},
        "sex": "quasi-identifier",
    }
    columns = {
        "age": [str(n) for n in range(40)],
        "city": ["a1", "a2", "b1", "c"] * 10,
        "sex": ["F", "M", "X", "Y"] * 10,
    }
    _, _, microdata = load(attributes, columns)
    shown = [
        [(asked.position, np.flatnonzero(asked.wanted)[[0, -1]].tolist()) for asked in query]
        for query in draw_queries(microdata, 4, seed=7)
    ]
    assert shown == PINNED
    assert [len(query) for query in draw_queries(microdata, 50, (2, 2))] == [2] * 50
    lengths = [int(a.wanted.sum()) for query in draw_queries(microdata, 300) for a in query if a.position == 0]
    assert (min(lengths), max(lengths)) == (4, 12)  # one to three tenths of 40


def test_another_hierarchy_of_one_column_leaves_the_other_queries_alone() -> None:
    columns: dict[str, list[Any]] = {"age": [str(n) for n in range(20)], "sex": ["F", "M"] * 10}
    free = {"age": {"role": "quasi-identifier", "intervals": "free"}, "sex": "quasi-identifier"}
    bands = {"age": {"role": "quasi-identifier", "hierarchy": {"bands": [5]}}, "sex": "quasi-identifier"}
    asked = [
        [[(a.position, a.wanted.tolist()) for a in query] for query in draw_queries(load(attributes, columns)[2], 50)]
        for attributes in (free, bands)
    ]
    assert asked[0] == asked[1]


@pytest.mark.parametrize("wrong", [{"queries": 0}, {"seed": -1}, {"columns": (0, 2)}, {"columns": (3, 2)}])
def test_queries_out_of_range_are_refused(wrong: dict[str, Any]) -> None:
    _, _, microdata = load(PEOPLE, ROWS)
    with pytest.raises(HedgerowError, match="at least 1"):
        draw_queries(microdata, **wrong)


def test_the_error_of_withheld_records() -> None:
    """Half of the records are withheld, the rest are as they were: every query finds half."""
    attributes = {"sex": "quasi-identifier"}
    _, _, microdata = load(attributes, {"sex": ["F", "F", "M", "M"]})
    found = query_error(microdata, group_by(microdata, [0, -1, 1, -1]), 20)
    assert (found.mean, found.median, found.percentile_90) == (0.5, 0.5, 0.5)
    assert found.to_dict()["released"] == 2


# -- distances and risks ---------------------------------------------------------------------------------------------


def test_distances_by_hand() -> None:
    attributes = {
        "age": {"role": "quasi-identifier", "hierarchy": {"bands": [10]}},
        "city": {"role": "quasi-identifier", "hierarchy": {"tree": {"*": {"coast": ["Ely", "Rye"], "hills": ["Ash"]}}}},
    }
    _, _, microdata = load(attributes, {"age": ["1", "1", "1", "5", "9"], "city": ["Ely", "Ely", "Rye", "Ash", "Ash"]})
    found = distances(microdata, group_by(microdata, [0, 0, 0, 1, 1]))
    # city: 2/5 1/5 2/5 becomes 1.5/5 1.5/5 2/5
    assert found["city"].total_variation == pytest.approx(0.1)
    assert found["city"].earth_movers is None
    # age: 3/5 1/5 1/5; the second group is published as 0-9, so 3 + 2/3, 2/3, 2/3 of 5
    assert found["age"].total_variation == pytest.approx(2 / 15)
    assert found["age"].earth_movers == pytest.approx((2 / 15 + 1 / 15) / 2)
    assert found["age"].to_dict() == {"total_variation": 0.133333333, "earth_movers": 0.1}


def test_risks_by_hand() -> None:
    found = risks(np.array([2, 3, 5, 10]), withheld=4, threshold=0.2)
    assert found["prosecutor"] == {"highest": 0.5, "average": 0.2, "share_above_threshold": 0.25}
    assert found["journalist"]["highest"] == found["prosecutor"]["highest"]
    assert found["marketer"]["average"] == 0.2
    assert (found["released"], found["withheld"], found["groups"]) == (20, 4, 4)
    assert risks(np.array([2, 3]), threshold=0)["prosecutor"]["share_above_threshold"] == 1
    assert risks(np.array([1]), threshold=1)["prosecutor"]["share_above_threshold"] == 0
    assert risks(np.zeros(0, np.int64), withheld=3)["prosecutor"]["highest"] == 0
    with pytest.raises(HedgerowError, match="from 0 to 1"):
        risks(np.array([2]), threshold=1.5)


# -- drawings --------------------------------------------------------------------------------------------------------


def text_of(renderable: Any, width: int) -> str:
    console = Console(width=width, record=True, file=io.StringIO())
    console.print(renderable)
    return console.export_text()


def released_tree() -> tuple[DecisionTree, DecisionTree]:
    table, plan, microdata = load(PEOPLE, ROWS)
    release = group_by(microdata, [0, 0, 0, 1, 1, 1, -1, 2])
    raw = grow(*raw_features(table, plan, microdata, "pays"), smallest_leaf=1)
    return raw, grow(*released_features(table, plan, microdata, release, "pays"), smallest_leaf=1)


def test_trees_in_a_terminal() -> None:
    raw, shown = (tree.to_dict() for tree in released_tree())
    text = text_of(tree_view(raw), 90)
    assert "all records" in text
    assert "└─" in text
    assert "left out: 1 target missing" in text
    wide = text_of(trees_side_by_side(raw, shown), 200)
    assert any("original records" in line and "release" in line for line in wide.splitlines())
    narrow = text_of(trees_side_by_side(raw, shown), 80)
    assert not any("original records" in line and "release" in line for line in narrow.splitlines())
    assert max(map(len, narrow.splitlines())) <= 80
    assert "1 withheld" in narrow


def test_ranges_across_a_cut_are_said() -> None:
    ages = OrderedFeature("age", np.array([10, 20, 28, 40]), np.array([15, 35, 50, 60]))
    target = Target("t", ("a", "b"), np.array([0, 0, 1, 1]), np.array([5, 3, 5, 2]))
    text = text_of(tree_view(grow([ages], target, smallest_leaf=1).to_dict()), 90)
    assert "unsure: records whose range lies across" in text
