"""Trees, builders, limits and files."""

from __future__ import annotations

from decimal import Decimal
from pathlib import Path

import pytest

from hedgerow.errors import DataError, PlanError
from hedgerow.plan.hierarchy import Hierarchy, Intervals, builders, read_hierarchy, write_hierarchy
from hedgerow.plan.hierarchy.intervals import segments
from hedgerow.plan.hierarchy.limits import limit_of_leaves, nodes_by_level, nodes_by_name

LOCATION = {
    "United States": {
        "West Coast": {"California": ["San Diego", "Los Angeles"]},
        "Midwest": {"Kansas": ["Wichita", "Kansas City"], "Nebraska": ["Lincoln"]},
    }
}


def limits_by_name(hierarchy: Hierarchy, *names: str) -> dict[str, str]:
    nodes = limit_of_leaves(hierarchy, nodes_by_name(hierarchy, names))
    return {leaf: hierarchy.names[node] for leaf, node in zip(hierarchy.leaves, nodes, strict=True)}


def test_limits_of_the_paper() -> None:
    location = Hierarchy.from_tree(LOCATION)
    assert limits_by_name(location, "California", "Kansas", "Midwest") == {
        "San Diego": "California",
        "Los Angeles": "California",
        "Wichita": "Kansas",
        "Kansas City": "Kansas",
        "Lincoln": "Midwest",
    }


def test_without_marks_the_limit_is_the_root() -> None:
    assert set(limits_by_name(Hierarchy.from_tree(LOCATION)).values()) == {"United States"}


def test_a_marked_leaf_limits_itself() -> None:
    assert limits_by_name(Hierarchy.from_tree(LOCATION), "Wichita")["Wichita"] == "Wichita"


def test_level_marks_what_each_leaf_becomes_and_the_first_mark_holds() -> None:
    uneven = Hierarchy.from_tree({"*": {"X": {"c": None, "Y": ["d"]}}})
    marked = nodes_by_level(uneven, 2)  # c becomes the root, d becomes X; X is met first from c too
    assert [uneven.names[node] for node in limit_of_leaves(uneven, marked)] == ["X", "X"]


def test_structure() -> None:
    location = Hierarchy.from_tree(LOCATION)
    assert location.leaves == ("San Diego", "Los Angeles", "Wichita", "Kansas City", "Lincoln")
    assert location.height == 3
    assert location.levels == 4
    assert location.lca("Wichita", "Lincoln") == "Midwest"
    assert location.lca("Kansas", "Wichita") == "Kansas"
    assert location.lca("Wichita") == "Wichita"
    assert location.lca("Nebraska", "Lincoln") == "Nebraska"
    assert location.height_of("Midwest") == 2
    assert location.leaves_under("Midwest") == ("Wichita", "Kansas City", "Lincoln")
    assert location.ancestors("Lincoln") == ("Lincoln", "Nebraska", "Midwest", "United States")
    assert location.level(1) == ("California", "Kansas", "Nebraska")
    assert "Kansas" in location
    assert "Texas" not in location
    assert Hierarchy.from_tree(location.tree()) == location
    assert Hierarchy.from_paths(location.paths()) == location


@pytest.mark.parametrize(
    ("paths", "code"),
    [
        ([("a", "X", "*"), ("a", "Y", "*")], "two-parents"),
        ([("a", "X", "*"), ("b", "X", "Y", "*")], "two-parents"),
        ([("a", "X", "a", "*")], "cycle"),
        ([("a", "X"), ("b", "Y")], "two-roots"),
        ([("X", "*"), ("a", "X", "*")], "value-is-node"),
        ([("Other", "Other", "*"), ("Foo", "Other", "*")], "ambiguous-label"),
        ([], "hierarchy-empty"),
    ],
)
def test_problems_of_a_tree(paths: list[tuple[str, ...]], code: str) -> None:
    with pytest.raises(PlanError) as caught:
        Hierarchy.from_paths(paths)
    assert code in [problem.code for problem in caught.value.problems]


def test_a_label_may_be_repeated_down_a_chain() -> None:
    chain = Hierarchy.from_paths([("Sales", "Sales", "*"), ("Tech", "Technical", "*")])
    assert chain.height == 2
    assert chain.leaves == ("Sales", "Tech")
    assert chain.paths()[0] == ("Sales", "Sales", "*")


def test_unknown_limit_offers_the_nearest_name() -> None:
    with pytest.raises(PlanError, match="did you mean 'Kansas'"):
        nodes_by_name(Hierarchy.from_tree(LOCATION), ["Kansa"])


@pytest.mark.parametrize("delimiter", [";", ","])
def test_files_round_trip(tmp_path: Path, delimiter: str) -> None:
    tree = Hierarchy.from_tree({"*": {"A, or B": ["x", 'the "y"'], "C;D": ["z"]}})
    write_hierarchy(tree, tmp_path / "h.csv", delimiter)
    assert read_hierarchy(tmp_path / "h.csv") == tree


def test_file_problems_name_the_file(tmp_path: Path) -> None:
    (tmp_path / "h.csv").write_text("a;X;*\na;Y;*\n")
    with pytest.raises(PlanError, match=r"h\.csv.*two parents"):
        read_hierarchy(tmp_path / "h.csv")
    with pytest.raises(PlanError, match="does not exist"):
        read_hierarchy(tmp_path / "absent.csv")


def test_bands() -> None:
    built = builders.bands(["-3", "0", "39", "39.0", "40", "n/a"], [5, 10, 20])
    assert built.unplaced == ("n/a",)
    assert built.hierarchy.ancestors("39") == ("39", "35-39", "30-39", "20-39", "*")
    assert built.hierarchy.ancestors("-3") == ("-3", "-5--1", "-10--1", "-20--1", "*")
    assert built.leaf_of["39.0"] == "39"


def test_bands_of_numbers_with_fractions_are_half_open() -> None:
    assert builders.bands(["1.5", "2"], [Decimal("0.5"), 1]).hierarchy.ancestors("1.5") == (
        "1.5",
        "[1.5, 2)",
        "[1, 2)",
        "*",
    )


def test_cuts() -> None:
    built = builders.cuts(["0", "19", "20", "39", "40", "-1"], [[0, 20, 30, 40], [0, 20, 40]])
    assert built.hierarchy.ancestors("39") == ("39", "30-39", "20-39", "*")
    assert built.hierarchy.ancestors("0") == ("0", "0-19", "0-19", "*")
    assert set(built.unplaced) == {"40", "-1"}


def test_prefixes() -> None:
    assert builders.prefixes(["41076", "41935"], [4, 3, 2, 1, 0]).hierarchy.height == 5
    built = builders.prefixes(["43102", "431**", "2"], [5, 3, 0])
    assert built.hierarchy.ancestors("43102") == ("43102", "431**", "*")
    assert built.hierarchy.ancestors("2") == ("2", "2****", "*")
    assert built.unplaced == ("431**",)  # a released 431** must mean one thing


def test_dates() -> None:
    built = builders.dates(["2024-02-29", "1999-12-31T23:59:00", "2024-02-30"], ["month", "quarter", "year", "decade"])
    assert built.hierarchy.ancestors("1999-12-31") == ("1999-12-31", "1999-12", "1999-Q4", "1999", "1990s", "*")
    assert built.unplaced == ("2024-02-30",)
    german = builders.dates(["29.02.2024"], ["year"], "%d.%m.%Y")
    assert german.leaf_of == {"29.02.2024": "2024-02-29"}


@pytest.mark.parametrize(
    "wrong",
    [
        lambda: builders.bands(["1"], [5, 12]),
        lambda: builders.bands(["1"], [0]),
        lambda: builders.cuts(["1"], [[0, 20, 40], [0, 30, 40]]),
        lambda: builders.cuts(["1"], [[0, 20, 40], [0, 20]]),
        lambda: builders.cuts(["1"], [[20, 0]]),
        lambda: builders.prefixes(["1"], [3, 5]),
        lambda: builders.dates(["1"], ["year", "month"]),
    ],
)
def test_rules_that_do_not_nest(wrong: object) -> None:
    with pytest.raises(PlanError) as caught:
        wrong()  # type: ignore[operator]
    assert caught.value.problems[0].code == "bands"


def test_free_intervals() -> None:
    numbers = Intervals.over(["1.5", "2", "10", "10.0"])
    assert [numbers.number(code) for code in range(3)] == [Decimal("1.5"), 2, 10]
    assert numbers.label(0, 1) == "[1.5, 2]"
    assert numbers.label(2, 2) == "10"
    assert Intervals.over(["-5", "-1"]).label(0, 1) == "-5--1"


def test_free_intervals_snapped_to_a_grid() -> None:
    assert Intervals.over(["31", "42"], snap=5).label(0, 1) == "30-44"
    assert Intervals.over(["31.5", "42"], snap=5).label(0, 1) == "[30, 45)"
    assert Intervals.over(["31", "42"], snap=5).span == 14


def test_segments_between_cuts() -> None:
    numbers = Intervals.over(["49999", "50000", "1.5"])
    assert segments(numbers, [50000]).tolist() == [0, 0, 1]
    assert segments(numbers, [Decimal("1.55")]).tolist() == [0, 1, 1]


def test_numbers_of_too_many_digits_are_refused() -> None:
    with pytest.raises(DataError, match="18 digits"):
        Intervals.over(["1", "1234567890123456789012"])


def test_short_paths_may_be_padded_with_the_root_as_arx_does() -> None:
    padded = Hierarchy.from_paths([("a", "X", "*"), ("other", "*", "*")])
    assert padded.paths() == (("a", "X", "*"), ("other", "*"))
