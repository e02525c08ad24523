"""Ways up from a value to the root, as the check builds them anew: trees, prefixes, bands, dates, and columns of them."""

from __future__ import annotations

import datetime as dt
from decimal import Decimal
from fractions import Fraction
from typing import Any

import pytest

from hedgerow.plan import Attribute, HierarchySpec, Limit, Plan
from hedgerow.verification.promises.rules import BetweenNodes, BetweenNumbers, _same_number, _spellings
from hedgerow.verification.values.bands import Bands
from hedgerow.verification.values.columns import (
    Column,
    FreeJudge,
    SuppressibleJudge,
    TreeJudge,
    column_of,
    ladder_of,
    may_suppress,
)
from hedgerow.verification.values.dates import Dates, period_of
from hedgerow.verification.values.numbers import Span, name_number, read_number, read_span
from hedgerow.verification.values.sensitive import Reader
from hedgerow.verification.values.trees import (
    ANYTHING,
    Flat,
    Ladder,
    Line,
    Marks,
    NamedTree,
    Prefixes,
    leaves_in_order,
    pieces,
)

TREE: dict[str, Any] = {"any": {"west": {"Ohio": {"Akron": {}, "Dayton": {}}, "Iowa": {}}, "east": {"Maine": {}}}}


def leaves(lines: Any) -> list[str | None]:
    return [line.labels[0] for line in lines]


# -- limits on a way up ------------------------------------------------------------------------------------------------


def test_limits_on_a_line() -> None:
    labels = ("a", "b", "c", "*")
    assert Marks().line(labels) == Line(labels, 3)
    assert [Marks(level).line(labels).limit for level in (0, 1, 3, 4)] == [0, 1, 3, 3]
    assert Marks(names=frozenset({"b", "c"})).line(labels).limit == 1
    assert Marks(names=frozenset({"x"})).line(labels).limit == 3
    line = Line(labels, 1)
    assert [line.breaks(label) for label in labels] == [False, False, True, True]
    assert not Line(("a", "a", "b"), 0).breaks("a")  # the lowest place of a label counts
    strays = [Marks(level).stray_line(None, "any") for level in (None, 0, 1, 2)]
    assert strays == [Line((None, "any"), limit) for limit in (1, 0, 1, 1)]
    assert Marks.of(None) == Marks()
    assert Marks.of(Limit(level=2)) == Marks(2)
    assert Marks.of(Limit(nodes=("x", "y"))) == Marks(None, frozenset({"x", "y"}))


def test_pieces_between_marks() -> None:
    assert list(pieces(0, 10, [])) == [(0, 10)]
    assert list(pieces(0, 10, [(0, 3), (5, 10)])) == [(0, 3), (3, 5), (5, 10)]
    assert list(pieces(0, 10, [(-5, 12)])) == [(0, 10)]
    assert list(pieces(0, 10, [(10, 12), (-1, 0), (9, 11)])) == [(0, 9), (9, 10)]


# -- trees -------------------------------------------------------------------------------------------------------------


def test_trees() -> None:
    assert [way[0] for way in leaves_in_order(TREE)] == ["Akron", "Dayton", "Iowa", "Maine"]
    tree = NamedTree.of(TREE, Marks(names=frozenset({"Ohio"})))
    assert tree.root == "any"
    assert tree.lines("Akron") == (Line(("Akron", "Ohio", "west", "any"), 1),)
    assert tree.lines("Iowa") == (Line(("Iowa", "west", "any"), 2),)
    assert tree.lines("Ohio") == ()
    assert [tree.knows(label) for label in ("Ohio", "any", "Iowa", "Utah")] == [True, True, True, False]
    assert leaves(tree.witnesses("west")) == ["Akron", "Dayton", "Iowa"]


def test_levels_of_a_tree_with_leaves_at_different_depths() -> None:
    """Level 1 of Iowa is the west, so nobody in the west has a limit below: all of Ohio is in it."""
    tree = NamedTree.of(TREE, Marks(1))
    assert {leaf: line.labels[line.limit] for leaf, line in tree.line_of.items()} == {
        "Akron": "Ohio",
        "Dayton": "Ohio",
        "Iowa": "west",
        "Maine": "east",
    }
    tree = NamedTree.of(TREE, Marks(3))
    assert {line.labels[line.limit] for line in tree.line_of.values()} == {"any"}


def test_flat_columns() -> None:
    flat = Flat(Marks(names=frozenset({"x"})))
    assert flat.lines("y") == (Line(("y", "*"), 1),)
    assert flat.lines("x") == (Line(("x", "*"), 0),)
    assert flat.knows("whatever")
    assert leaves(flat.witnesses("y")) == ["y"]
    assert leaves(flat.witnesses("*")) == [ANYTHING, "x"]


def test_prefixes() -> None:
    codes = Prefixes.of([5, 3, 1, 0], 5, Marks())
    assert codes.kept == (3, 1)
    assert codes.lines("43102") == (Line(("43102", "431**", "4****", "*"), 3),)
    assert codes.lines("43") == (Line(("43", "43***", "4****", "*"), 3),)
    assert codes.lines("4") == (Line(("4", "4****", "*"), 2),)
    assert codes.lines("") == codes.lines("431021") == ()
    known = {"*": True, "431**": True, "43102": True, "*****": False, "431021": False, "": False, "**": False}
    assert {label: codes.knows(label) for label in known} == known


def test_values_that_are_written_like_groups() -> None:
    assert Prefixes.of([3], 5, Marks(), ["431**", "43102"]).lines("431**") == ()
    assert Prefixes.of([3], 5, Marks(), ["431**", "43102"]).lines("43102") != ()
    assert Prefixes.of([3], 5, Marks(), ["431**", "99999"]).lines("431**") != ()  # the group of nobody else
    assert Prefixes.of([3], 5, Marks(), ["43102"]).masked == frozenset()


def test_witnesses_of_prefixes_have_every_length() -> None:
    codes = Prefixes.of([3], 5, Marks())
    assert leaves(codes.witnesses("431**")) == ["431", "431" + ANYTHING, "431" + 2 * ANYTHING]
    assert [len(leaf or "") for leaf in leaves(codes.witnesses("*"))] == [1, 2, 3, 4, 5]
    assert leaves(codes.witnesses("43102")) == ["43102"]
    marked = Prefixes.of([3], 5, Marks(names=frozenset({"43102"})))
    assert leaves(marked.witnesses("431**")) == ["431", "431" + ANYTHING, "431" + 2 * ANYTHING, "43102"]
    assert leaves(marked.witnesses("999**")) == ["999", "999" + ANYTHING, "999" + 2 * ANYTHING]


# -- numbers and bands -------------------------------------------------------------------------------------------------


def test_numbers_at_their_edges() -> None:
    assert read_number("0" * 1998 + "7") == 7
    assert read_number("1." + "0" * 1997) == 1  # 1999 characters
    assert read_number("1." + "0" * 1998) is None
    assert [read_number(text) for text in ("", "x", "1e", "--1", "²")] == [None] * 5
    assert name_number(Fraction(1, 2)) == "0.5"
    assert name_number(Fraction(-21, 20)) == "-1.05"
    assert name_number(Fraction(123, 10)) == "12.3"
    assert name_number(-3) == "-3"


def test_spans_at_their_edges() -> None:
    closed = read_span("[1.5, 2]")
    assert closed == Span(Fraction(3, 2), 2, "closed")
    assert closed.end == 2
    assert [closed.holds(number) for number in (1, Fraction(3, 2), 2, Fraction(5, 2))] == [False, True, True, False]
    number = read_span("7")
    assert number is not None
    assert [number.holds(value) for value in (6, 7, 8)] == [False, True, False]
    assert read_span("[1, 2.5)") == Span(1, Fraction(5, 2), "half-open")
    assert read_span("2.5") == Span(Fraction(5, 2), Fraction(5, 2), "number")
    assert [read_span(text) for text in ("[2.5, x)", "[., 2)", "", "1-", "[1,2]")] == [None] * 5


def bands(*widths: Any, limit: Limit | None = None, cuts: Any = None) -> Bands:
    return Bands.of(HierarchySpec(cuts=cuts) if cuts else HierarchySpec(bands=widths), limit)


def test_marks_of_bands_in_either_writing() -> None:
    marked = bands(10, limit=Limit(nodes=("30-39", "[50, 60)", "7.0", "2.5", "*")))
    assert marked.marks == Marks(None, frozenset({"[30, 40)", "[50, 60)", "7", "2.5", "*"}))
    assert marked.whole_marks == Marks(None, frozenset({"30-39", "50-59", "7", "2.5", "*"}))
    assert set(marked.marked) == {(30, 40), (50, 60), (7, 8)}
    halves = bands(Decimal("2.5"), limit=Limit(nodes=("[0, 2.5)",)))
    assert halves.marks == halves.whole_marks == Marks(None, frozenset({"[0, 2.5)"}))
    level = bands(10, limit=Limit(level=1))
    assert (level.marks, level.whole_marks) == (Marks(1), Marks(1))


def test_bands_of_a_number() -> None:
    assert bands(5, 20).bands_of(37) == [(35, 40), (20, 40)]
    assert bands(5, 20).bands_of(-1) == [(-5, 0), (-20, 0)]
    assert bands(5).bands_of(Fraction(9, 2)) == [(0, 5)]
    between = bands(cuts=((0, 18, 65), (0, 65)))
    assert [between.bands_of(number) for number in (-1, 0, 17, 18, 64, 65)] == [
        None,
        [(0, 18), (0, 65)],
        [(0, 18), (0, 65)],
        [(18, 65), (0, 65)],
        [(18, 65), (0, 65)],
        None,
    ]
    assert bands(5, 20).whole
    assert between.whole
    assert not bands(Decimal("0.5"), 5).whole
    assert not bands(cuts=((0, Decimal("0.5"), 2),)).whole


def test_lines_of_bands() -> None:
    ages = bands(5, 20, limit=Limit(nodes=("20-39",)))
    assert ages.lines("37") == (
        Line(("37", "35-39", "20-39", "*"), 2),
        Line(("37", "[35, 40)", "[20, 40)", "*"), 2),
    )
    assert ages.lines("37.5") == (Line(("37.5", "[35, 40)", "[20, 40)", "*"), 2),)
    assert ages.lines("x") == ()
    assert bands(cuts=((0, 18, 65),)).lines("70") == ()
    assert bands(Decimal("0.5")).lines("3") == (Line(("3", "[3, 3.5)", "*"), 2),)


def test_labels_of_bands() -> None:
    ages = bands(5, 20)
    known = {
        "*": True,
        "x": False,
        "7": True,
        "7.5": True,
        "35-39": True,
        "35-38": False,
        "20-39": True,
        "40-49": False,
    }
    known |= {"[35, 40)": True, "[35, 40]": False, "[36, 41)": False, "[35, 45)": False, "3-7": False}
    assert {label: ages.knows(label) for label in known} == known
    between = bands(cuts=((0, 18, 65),))
    known = {
        "0": True,
        "64": True,
        "65": False,
        "-1": False,
        "0-17": True,
        "18-64": True,
        "0-64": False,
        "65-70": False,
    }
    assert {label: between.knows(label) for label in known} == known
    halves = bands(Decimal("2.5"))
    known = {"[0, 2.5)": True, "[5, 7.5)": True, "0-4": False, "5": True}
    assert {label: halves.knows(label) for label in known} == known
    assert not bands(Decimal("2.5"), 5).knows("5-9")  # bands are written with brackets if one has a fraction


def test_witnesses_of_bands() -> None:
    ages = bands(10, limit=Limit(nodes=("30-39",)))
    assert leaves(ages.witnesses("37")) == ["37", "37"]
    assert leaves(ages.witnesses("40-49")) == ["40", "40"]
    below, inside, above = (read_number(str(leaf)) for leaf in dict.fromkeys(leaves(ages.witnesses("*"))))
    assert below is not None
    assert above is not None
    assert below < 30
    assert (inside, above) == (30, 40)
    inner = bands(20, 5, limit=Limit(nodes=("25-29", "37", "22.5")))
    assert list(dict.fromkeys(leaves(inner.witnesses("20-39")))) == ["20", "25", "30", "37", "38"]
    assert list(dict.fromkeys(leaves(inner.witnesses("[20, 40)")))) == ["22.5", "27.5", "33.5", "37.5", "39", "37"]
    assert "37" not in leaves(inner.witnesses("0-19"))
    assert "37" in leaves(inner.witnesses("*"))
    assert "22.5" in leaves(inner.witnesses("*"))
    assert leaves(bands(10).witnesses("*")) != []
    between = bands(cuts=((5, 18, 65), (5, 65)), limit=Limit(nodes=("18-64",)))
    assert list(dict.fromkeys(leaves(between.witnesses("*")))) == ["5", "18"]
    assert list(dict.fromkeys(leaves(bands(cuts=((5, 18, 65),)).witnesses("*")))) == ["5"]


# -- dates -------------------------------------------------------------------------------------------------------------


def day(year: int, month: int = 1, date: int = 1) -> int:
    return dt.date(year, month, date).toordinal()


AFTER = dt.date.max.toordinal() + 1


@pytest.mark.parametrize(
    ("label", "period"),
    [
        ("2024-02-29", (day(2024, 2, 29), day(2024, 2, 29) + 1, "day")),
        ("2024-02", (day(2024, 2), day(2024, 3), "month")),
        ("2024-12", (day(2024, 12), day(2025), "month")),
        ("2024-Q1", (day(2024, 1), day(2024, 4), "quarter")),
        ("2024-Q4", (day(2024, 10), day(2025), "quarter")),
        ("2024", (day(2024), day(2025), "year")),
        ("2020s", (day(2020), day(2030), "decade")),
        ("0000s", (1, day(10), "decade")),
        ("0010s", (day(10), day(20), "decade")),
        ("9980s", (day(9980), day(9990), "decade")),
        ("9990s", (day(9990), AFTER, "decade")),
        ("1940-1959", (day(1940), day(1960), "20-years")),
        ("1920-1959", (day(1920), day(1960), "40-years")),
        ("0000-0019", (1, day(20), "20-years")),
        ("9980-9999", (day(9980), AFTER, "20-years")),
        *((label, None) for label in ("1950-1969", "1940-1979", "1940-1960", "1959-1940", "1940-1940", "1940-1959s")),
        ("9998", (day(9998), day(9999), "year")),
        ("9999", (day(9999), AFTER, "year")),
        ("9999-11", (day(9999, 11), day(9999, 12), "month")),
        ("9999-12", (day(9999, 12), AFTER, "month")),
        ("9999-Q3", (day(9999, 7), day(9999, 10), "quarter")),
        ("9999-Q4", (day(9999, 10), AFTER, "quarter")),
        ("9999-12-31", (AFTER - 1, AFTER, "day")),
        *((label, None) for label in ("2021s", "2024-Q5", "2024-Q1-05", "2024-13", "2024-02-30", "0000", "*", "24")),
    ],
)
def test_periods(label: str, period: tuple[int, int, str] | None) -> None:
    assert period_of(label) == period


def test_lines_of_days() -> None:
    dates = Dates(Marks(), ("month", "quarter", "year", "decade"))
    assert dates.lines("2024-02-29T10:30")[0] == Line(("2024-02-29", "2024-02", "2024-Q1", "2024", "2020s", "*"), 5)
    quarters = [dates.lines(f"0987-{month:02d}-01")[0].labels[2] for month in range(1, 13)]
    assert quarters == [f"0987-Q{number}" for number in (1, 1, 1, 2, 2, 2, 3, 3, 3, 4, 4, 4)]
    assert dates.lines("0007-12-31")[0].labels == ("0007-12-31", "0007-12", "0007-Q4", "0007", "0000s", "*")
    lifetimes = Dates(Marks(), ("decade", "20-years", "40-years"))
    assert lifetimes.lines("1959-12-31")[0].labels == ("1959-12-31", "1950s", "1940-1959", "1920-1959", "*")
    assert lifetimes.lines("0007-12-31")[0].labels == ("0007-12-31", "0000s", "0000-0019", "0000-0039", "*")
    assert dates.lines("29.02.2024") == ()
    assert Dates(Marks(), ("year",), "%d.%m.%Y").lines("29.02.2024")[0].labels == ("2024-02-29", "2024", "*")
    assert Dates(Marks(), ("year",), "%d.%m.%Y").lines("2024-02-29") == ()


def test_labels_and_witnesses_of_dates() -> None:
    dates = Dates(Marks(names=frozenset({"2024-02", "x"})), ("month", "year"))
    known = {"*": True, "2024": True, "2024-02": True, "2024-02-03": True, "2024-Q1": False, "2020s": False, "x": False}
    assert {label: dates.knows(label) for label in known} == known
    assert leaves(dates.witnesses("2024")) == ["2024-01-01", "2024-02-01", "2024-03-01"]
    assert leaves(dates.witnesses("2023")) == ["2023-01-01"]
    assert leaves(dates.witnesses("*")) == ["0001-01-01", "2024-02-01", "2024-03-01"]
    last = Dates(Marks(names=frozenset({"9999-12-31"})), ("year",))
    assert leaves(last.witnesses("*")) == ["0001-01-01", "9999-12-31"]


# -- columns -----------------------------------------------------------------------------------------------------------


def tree_column(marks: Marks, own_leaf: bool = False, root_of_missing: bool = False) -> TreeJudge:
    return TreeJudge(NamedTree.of(TREE, marks), own_leaf, root_of_missing)


def test_columns_with_a_tree() -> None:
    column = tree_column(Marks(names=frozenset({"Ohio"})))
    assert column.lines(None) == (Line((None, "any"), 1),)
    assert column.lines("Utah") == ()
    assert tree_column(Marks(), own_leaf=True).lines("Utah") == (Line(("Utah", "any"), 1),)
    covered = [column.covers("Akron", label) for label in ("Akron", "Ohio", "any", "Iowa", "east", None)]
    assert covered == [True, True, True, False, False, False]
    assert [column.covers(None, label) for label in (None, "any", "west")] == [True, True, False]
    broken = [column.breaks("Akron", label) for label in ("Akron", "Ohio", "west", "any", "east")]
    assert broken == [False, False, True, True, False]
    assert [column.knows(label) for label in ("Ohio", "Utah", None)] == [True, False, True]
    assert tree_column(Marks(), own_leaf=True).knows("Utah")


def test_what_is_published_at_a_level() -> None:
    column = tree_column(Marks(names=frozenset({"Ohio"})))
    assert [column.at_level("Akron", level, False) for level in (0, 1, 2, 3, 4)] == [
        {"Akron"},
        {"Ohio"},
        {"west"},
        {"any"},
        {"any"},
    ]
    assert [column.at_level("Akron", level, True) for level in (0, 1, 2)] == [{"Akron"}, {"Ohio"}, {"Ohio"}]
    assert [column.at_level(None, level, True) for level in (0, 1, 2)] == [{None}, {"any"}, {"any"}]


def test_risks_of_labels() -> None:
    column = tree_column(Marks(names=frozenset({"Ohio"})))
    labels = ("Akron", "Ohio", "west", "any", "east", "Utah", None)
    assert [column.risk(label) for label in labels] == ["none", "none", "some", "some", "none", "none", "none"]
    everywhere = Marks(names=frozenset({"west", "east"}))
    assert tree_column(everywhere).risk("any") == "sure"
    assert tree_column(everywhere, own_leaf=True).risk("any") == "some"
    assert tree_column(everywhere, root_of_missing=True).risk("any") == "some"
    assert tree_column(everywhere, root_of_missing=True).risk("west") == "none"


def test_columns_that_know_the_original() -> None:
    column = tree_column(Marks(names=frozenset({"Ohio"}))).given(["Akron", "Iowa", "Utah"])
    labels = ("Akron", "Ohio", "west", "any", "Dayton", "east", None)
    assert [column.knows(label) for label in labels] == [True, True, True, True, False, False, False]
    assert [column.risk(label) for label in labels] == ["none", "none", "some", "some", "none", "none", "none"]
    only = tree_column(Marks(names=frozenset({"Ohio"}))).given(["Akron"])
    assert [only.risk(label) for label in ("Ohio", "west", "any")] == ["none", "sure", "sure"]
    assert tree_column(Marks()).given([None]).knows(None)


def test_free_columns() -> None:
    free = FreeJudge()
    assert [free.covers(value, label) for value, label in ((None, None), (None, "3"), ("3", None), ("x", "3"))] == [
        True,
        False,
        False,
        False,
    ]
    labels = ("3", "2-3", "3-5", "4-5", "[2, 3)", "[2.5, 3]", "[3.5, 4]", "x")
    assert [free.covers("3", label) for label in labels] == [True, True, True, False, False, True, False, False]
    assert [free.knows(label) for label in ("3", "2.5", "2-3", "[2, 3)", "[2.5, 3]", "x", None)] == [
        *[True, True, True, False, True, False, True]
    ]
    whole = FreeJudge(snap=1)
    assert [whole.knows(label) for label in ("3", "3-4", "[3, 5)", "[3, 5]", "2.5")] == [True, True, True, False, False]
    halves = FreeJudge(snap=Fraction(5, 2))
    assert [halves.knows(label) for label in ("[0, 2.5)", "[0, 2)", "[1, 2.5)", "0-4", "5")] == [
        *[True, False, False, False, False]
    ]
    assert [FreeJudge(width=1).risk(label) for label in ("3-4", "3-5", None)] == ["none", "sure", "none"]
    known = FreeJudge().given(["9", "x", "3.5"])
    assert (known.numbers, known.has_missing) == ((Fraction(7, 2), 9), False)
    assert [known.knows(label) for label in ("3-4", "[3, 4]", "9-12", "10-12", None)] == [
        *[False, True, True, False, False]
    ]


def test_columns_of_which_cells_may_be_suppressed() -> None:
    column = SuppressibleJudge(FreeJudge(width=1, has_missing=False))
    assert [column.knows(label) for label in (None, "3", "x")] == [True, True, False]
    assert [column.covers("3", label) for label in (None, "3", "4")] == [True, True, False]
    assert [column.breaks("3", label) for label in (None, "3-4", "3-5")] == [False, False, True]
    assert [column.risk(label) for label in (None, "3-4", "3-5")] == ["none", "none", "sure"]


def plan_of(attribute: dict[str, Any], **parts: Any) -> Plan:
    attributes = {"x": {"role": "quasi-identifier"} | attribute}
    return Plan.from_dict({"attributes": attributes, "privacy": {"k": 2}} | parts)


def test_columns_by_plan() -> None:
    plan = plan_of({"hierarchy": {"tree": {"any": ["a", "b"]}}, "limits": ["a", "b"]})
    column = column_of(plan, "x", ["any"], None)
    assert isinstance(column, TreeJudge)
    assert (column.own_leaf, column.root_of_missing, column.risk("any")) == (False, False, "sure")
    ignoring = column_of(plan_of({"hierarchy": {"tree": {"any": ["a", "b"]}}, "limits": ["a", "b"]},
                                 method={"limits": "ignore"}), "x", ["any"], None)  # fmt: skip
    assert ignoring.risk("any") == "some"
    lattice = column_of(plan_of({"hierarchy": {"tree": {"any": ["a", "b"]}}, "limits": ["a", "b"]}, method="lattice"),
                        "x", ["any"], None)  # fmt: skip
    assert lattice.risk("any") == "some"
    own = column_of(plan_of({"unknown": "own-leaf-under-root", "hierarchy": {"tree": {"any": ["a"]}}}), "x", [], None)
    assert isinstance(own, TreeJudge)
    assert own.own_leaf


def test_free_columns_by_plan() -> None:
    plan = plan_of({"intervals": "free", "snap": "2.5", "limit": {"cuts": [15, 65], "width": 20}})
    assert column_of(plan, "x", [], None) == FreeJudge((15, 65), 20, Fraction(5, 2))
    assert column_of(plan, "x", [], ["3", None]) == FreeJudge((15, 65), 20, Fraction(5, 2), (3,), True)
    assert column_of(plan_of({"intervals": "free"}), "x", [], None) == FreeJudge()


def test_where_cells_may_be_suppressed() -> None:
    suppress = {"method": {"name": "utility", "suppress": True}, "missing": "matches-any"}
    limited = {"limits": ["a"], "hierarchy": {"tree": {"any": ["a", "b"]}}}
    assert may_suppress(plan_of({}, **suppress), "x")
    assert not may_suppress(plan_of(limited, **suppress), "x")
    assert not may_suppress(plan_of({}), "x")
    kinds: list[type[Column]] = [type(column_of(plan_of({}, **parts), "x", [], None)) for parts in (suppress, {})]
    assert kinds == [SuppressibleJudge, TreeJudge]


def test_lengths_of_prefixes_by_plan() -> None:
    """Where the plan does not say, a full value is as long as the longest of the original, or else of the release."""
    plan = plan_of({"hierarchy": {"prefix": [2]}})
    for published, original, length in ((["12**"], None, 4), (["12**"], ["123", None], 3), ([None], None, 1)):
        column = column_of(plan, "x", published, original)
        assert isinstance(column, TreeJudge)
        assert isinstance(column.ladder, Prefixes)
        assert column.ladder.length == length
    said = ladder_of(HierarchySpec(prefix=(2,), length=6), None, (), 4)
    assert isinstance(said, Prefixes)
    assert said.length == 6


# -- sensitive values --------------------------------------------------------------------------------------------------


def reader(texts: list[str], **parts: Any) -> Reader:
    return Reader.of(Attribute(role="sensitive", **parts), texts)


def ways(found: Reader, *texts: str) -> list[Any]:
    return [None if (reading := found.read(text)) is None else reading.way for text in texts]


def test_values_without_a_hierarchy() -> None:
    plain = reader([])
    assert not plain.has_hierarchy
    assert ways(plain, " Flu", "FLU ", "ﬂu") == [("flu",)] * 3
    places = [reading.place for text in ("x", "7", "2.5") if (reading := plain.read(text)) is not None]
    assert places == [(1, 0, "x"), (0, 7, "7"), (0, Fraction(5, 2), "2.5")]


def test_values_with_a_tree() -> None:
    tree = {"any": {"cancer": ["Lung", "Throat"], "flu": None}}
    found = reader([], hierarchy={"tree": tree})
    assert found.has_hierarchy
    assert ways(found, "LUNG ", "flu", "cancer", "x") == [("Lung", "cancer", "any"), ("flu", "any"), None, None]
    assert [found.leaves[leaf].place for leaf in ("lung", "throat", "flu")] == [(0, 0, ""), (0, 1, ""), (0, 2, "")]  # type: ignore[index]
    assert found.ways == {("Lung", "cancer", "any"), ("Throat", "cancer", "any"), ("flu", "any")}
    above = reader([], hierarchy={"tree": tree}, level=1)
    assert ways(above, "lung", "throat", "flu") == [("cancer", "any"), ("cancer", "any"), ("any",)]
    assert [above.leaves[leaf].place for leaf in ("lung", "throat", "flu")] == [(0, 0, ""), (0, 0, ""), (0, 2, "")]  # type: ignore[index]
    own = reader([], hierarchy={"tree": tree}, unknown="own-leaf-under-root")
    assert ways(own, "X") == [("x", "any")]
    assert ways(reader([], hierarchy={"tree": tree}, unknown="own-leaf-under-root", level=1), "X") == [("any",)]


def test_values_with_a_rule() -> None:
    numbers = reader(["7", "12"], hierarchy={"bands": [5, 20]})
    assert numbers.has_hierarchy
    assert ways(numbers, "7.0", "12", "x") == [
        ("7", "[5, 10)", "[0, 20)", "*"),
        ("12", "[10, 15)", "[0, 20)", "*"),
        None,
    ]
    place = numbers.read("12")
    assert place is not None
    assert place.place == (0, 12, "")
    assert ways(reader(["7"], hierarchy={"bands": [5, 20]}, level=1), "7") == [("[5, 10)", "[0, 20)", "*")]
    codes = reader(["AB12", "b"], hierarchy={"prefix": [2]})
    assert ways(codes, "Ab12", "AB123") == [("ab12", "ab**", "*"), None]
    code = codes.read("AB12")
    assert code is not None
    assert code.place == (0, 0, "ab12")
    days = reader([], hierarchy={"dates": ["month"]})
    assert ways(days, "2024-02-29", "2024-02-29T10:00Z") == [("2024-02-29", "2024-02", "*")] * 2


# -- rules -------------------------------------------------------------------------------------------------------------


def test_numbers_to_keep_apart() -> None:
    rule = BetweenNumbers(64, 65, None, "*")
    labels = ("60-64", "60-65", "64-70", "65-70", "[60, 65)", "[60, 65.5)", "[60, 65]", "*", "x")
    assert [rule.mixed_in(label) for label in labels] == [False, True, True, False, False, True, True, True, False]
    named = BetweenNumbers(3, 7, {"low": Span(1, 6, "closed"), "all": Span(1, 7, "closed")}, "any")
    assert [named.mixed_in(label) for label in ("low", "all", "any", "1-9")] == [False, True, True, False]


def test_nodes_to_keep_apart() -> None:
    rule = BetweenNodes(NamedTree.of(TREE, Marks()), "Akron", "Iowa")
    labels = ("Akron", "Ohio", "west", "east", "any", "Utah")
    assert [rule.mixed_in(label) for label in labels] == [False, False, True, False, True, False]
    stranger = BetweenNodes(NamedTree.of(TREE, Marks()), "Akron", "Utah")  # whom the tree does not have
    assert [stranger.mixed_in(label) for label in ("Ohio", "west", "any")] == [False, False, True]
    ladder: Ladder = bands(5, 20)
    apart = BetweenNodes(ladder, "20-24", "30-34")
    labels = ("20-24", "20-39", "[20, 40)", "[30, 35)", "40-59", "22")
    assert [apart.mixed_in(label) for label in labels] == [False, True, True, False, False, False]


def test_ways_to_write_what_a_rule_names() -> None:
    assert _spellings("7.0") == {"7"}
    assert _spellings("20-24") == {"20-24", "[20, 25)"}
    assert _spellings("[0, 0.5)") == {"[0, 0.5)"}
    assert _spellings("x") == {"x"}


def test_numbers_as_stated() -> None:
    assert [_same_number(stated, 2) for stated in (2, 2.0, 3, True, "2", None)] == [
        True,
        True,
        False,
        False,
        False,
        False,
    ]
    assert [_same_number(stated, Decimal("0.1")) for stated in (0.1, 0.2, 1)] == [True, False, False]
