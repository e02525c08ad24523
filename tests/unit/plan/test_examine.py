"""Looking at a table: the same from every kind of file, in memory or not; nothing of it in words; how values spread."""

from __future__ import annotations

import datetime as dt
import itertools
import random
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.csv as arrow_csv
import pyarrow.feather as feather
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

import hedgerow as hr
from hedgerow.engines import opening
from hedgerow.errors import DataError
from hedgerow.evaluation.drafting import Distribution, SeenColumn, distribution, examining
from hedgerow.evaluation.drafting.distribution import MOST_BINS
from hedgerow.evaluation.drafting.draft import examine_here
from hedgerow.evaluation.drafting.examining import examine
from hedgerow.evaluation.synthetic import census, clinic
from hedgerow.plan import DataFormat, Plan
from hedgerow.plan.hierarchy.numbers import parse_half_open
from tests.cases.examinations import seen_of


@pytest.fixture
def large(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let every file be one that is not read into memory."""
    monkeypatch.setattr(opening, "LARGE_FILE", 0)

    def refuse(*_: Any, **__: Any) -> None:
        raise AssertionError("the file was read into memory")

    monkeypatch.setattr(examining, "examine_here", refuse)


TYPED = pa.table(
    {
        "text": [" a", "a ", "b", None, "?", ""] * 40,
        "whole": pa.array([1, 2, 3, None, 5, 17] * 40, pa.int16()),
        "real": [0.5, -0.0, 0.0, float("nan"), 1e22, None] * 40,
        "single": pa.array([0.1, 2.0, 3.0, None, 5.5, 6.0] * 40, pa.float32()),
        "pay": pa.array([Decimal("1.50"), Decimal("2.00"), None, Decimal("-3.25")] * 60, pa.decimal128(9, 2)),
        "day": [dt.date(2024, 1, 1) + dt.timedelta(days=i) for i in range(240)],
        "seen": pa.array([dt.datetime(2024, 1, 1, 9, 30, i % 60) for i in range(240)], pa.timestamp("us")),
        "zoned": pa.array(
            [dt.datetime(2024, 1, 1, i % 24, tzinfo=dt.UTC) for i in range(240)], pa.timestamp("ms", "UTC")
        ),
        "flag": [True, False, None] * 80,
        "blood": pa.array(["A", "B", "AB", None] * 60).dictionary_encode(),
        "empty": pa.nulls(240, pa.string()),
    }
)
UNPLAIN = {
    "list": pa.array([[1, 2]] * 240),
    "record": pa.array([{"a": 1, "b": "x"}] * 240),
    "bytes": pa.array([b"x"] * 240),
    "span": pa.array([dt.timedelta(days=1)] * 240),
}


# -- the same from everywhere ----------------------------------------------------------------------------------------


@pytest.fixture
def files(tmp_path: Path) -> list[Path]:
    table = pa.table(clinic(400).columns)
    arrow_csv.write_csv(table, tmp_path / "clinic.csv")
    pq.write_table(table, tmp_path / "clinic.parquet", row_group_size=30)
    feather.write_feather(table, tmp_path / "clinic.arrow", compression="uncompressed")
    return [tmp_path / f"clinic.{ending}" for ending in ("csv", "parquet", "arrow")]


def test_every_file_in_memory_or_not_is_seen_alike(files: list[Path], request: pytest.FixtureRequest) -> None:
    here = [seen_of(examine(path)) for path in files]
    frame = examine(pa.table(clinic(400).columns))
    assert all(seen == seen_of(frame) for seen in here)
    assert frame.preview == tuple(zip(*(column[:50] for column in clinic(400).columns.values()), strict=True))
    drafts = [examine_here(path, rows=0).to_yaml() for path in files]
    request.getfixturevalue("large")
    assert [seen_of(examine(path)) for path in files] == here
    assert [hr.draft_plan(path) for path in files] == drafts


def test_a_census_with_missing_markers(tmp_path: Path, request: pytest.FixtureRequest) -> None:
    path = tmp_path / "census.csv"
    arrow_csv.write_csv(pa.table(census(3000).columns), path)
    here = examine(path)
    assert here.to_yaml() == examine_here(path, rows=0).to_yaml()
    request.getfixturevalue("large")
    assert examine(path) == here


@pytest.mark.usefixtures("large")
def test_types_of_a_large_file_are_told_alike(tmp_path: Path) -> None:
    table = TYPED
    for name, values in UNPLAIN.items():
        table = table.append_column(name, values)
    pq.write_table(table, tmp_path / "typed.parquet")
    here = examine_here(table)
    there = examine(tmp_path / "typed.parquet")
    assert seen_of(there) == seen_of(here)
    assert [column.name for column in there.columns if not column.readable] == list(UNPLAIN)
    assert there.columns[0].counts == {"a": 80, "b": 40}
    assert there.markers == ("?",)
    assert there.preview[4][0] == "?"
    assert there.preview[0][1:5] == ("1", "0.5", "0.10000000149011612", "1.5")


def test_lists_in_a_parquet_file_are_left_out(tmp_path: Path) -> None:
    pq.write_table(pa.table({**UNPLAIN, "sex": ["f", "m"] * 120}), tmp_path / "a.parquet")
    plan = Plan.loads(hr.draft_plan(tmp_path / "a.parquet"))
    assert plan.quasi_identifiers == ("sex",)
    assert hr.explain(tmp_path / "a.parquet", plan).withheld == 0


ODD = [
    '"; DROP TABLE records; --',
    "Age",
    "age",
    "AGE",
    "",
    "column 0",
    "c0",
    "n",
    "it's",
    "a\nb",
    "名前",
    "{}",
    "{0}",
    "%s",
]


@pytest.mark.usefixtures("large")
def test_any_column_name_is_looked_at(tmp_path: Path) -> None:
    table = pa.table({name: [f"{i}", f"{i}", f"{-i}"] * 20 for i, name in enumerate(ODD)})
    pq.write_table(table, tmp_path / "odd.parquet")
    seen = examine(tmp_path / "odd.parquet")
    assert [column.name for column in seen.columns] == ODD
    assert seen_of(seen) == seen_of(examine_here(table))
    assert list(Plan.loads(seen.to_yaml()).attributes) == ODD


@pytest.mark.usefixtures("large")
@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "cp1252", "utf-16"])
def test_the_encoding_of_a_large_file_is_found(encoding: str, tmp_path: Path) -> None:
    path = tmp_path / "people.csv"
    rows = ["Größe;sex", *(f"{i % 5} Fuß;{'?fm'[i % 3]}" for i in range(300))]
    path.write_bytes("\n".join(rows).encode(encoding))
    seen = examine(path)
    assert seen.format.delimiter == ";"
    assert seen.reasons["encoding"].sure == (encoding != "cp1252")
    assert seen.to_yaml() == examine_here(path, rows=0).to_yaml()


# -- many values -----------------------------------------------------------------------------------------------------


@pytest.fixture
def wide(tmp_path: Path) -> Path:
    draw = random.Random(0)
    table = pa.table(
        {
            "name": [f"Person {i}" for i in range(3000)],
            "pay": pa.array([draw.randrange(0, 100_000, 10) if i % 3 else None for i in range(3000)]),
            "town": [f"Town {i // 2}" for i in range(2000)] + ["Kiel"] * 900 + [""] * 100,
            "sex": ["f", "m", None] * 1000,
        }
    )
    pq.write_table(table, tmp_path / "wide.parquet")
    return tmp_path / "wide.parquet"


def test_of_very_many_values_some_are_looked_at(
    wide: Path, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest
) -> None:
    here = examine(wide)
    request.getfixturevalue("large")
    monkeypatch.setattr(examining, "MOST_VALUES", 500)
    seen = examine(wide)
    for whole, column in zip(here.columns, seen.columns, strict=True):
        assert len(column.counts) <= 500
        assert (column.distinct, column.filled) == (whole.distinct, whole.filled)
        assert column.counts.items() <= whole.counts.items()
        assert column.nearly_unique == whole.nearly_unique
    assert [column.partial for column in seen.columns] == [True, True, True, False]
    assert seen.columns[2].counts["Kiel"] == 900
    assert [proposal.role for proposal in seen.proposals] == [proposal.role for proposal in here.proposals]
    assert seen.proposals[1].rule == here.proposals[1].rule  # a fair choice of the numbers, not the least
    text = seen.to_yaml()
    assert text.count("Rare ones were not looked at") == 2  # of the name it does not matter
    assert Plan.loads(text) == Plan.loads(here.to_yaml())
    estimated, exact = (distribution(found.columns[1]) for found in (seen, here))
    assert [label for label, _ in estimated.values] == [label for label, _ in exact.values]
    assert all(abs(one - other) < 60 for (_, one), (_, other) in zip(estimated.values, exact.values, strict=True))
    assert distribution(seen.columns[2]).values[0] == ("Kiel", 900)
    table = pq.read_table(wide)
    pq.write_table(table.take(random.Random(1).sample(range(3000), 3000)), wide)
    assert examine(wide).columns == seen.columns  # whatever the order of rows


def test_only_so_many_values_come_here(wide: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(opening, "LARGE_FILE", 0)
    monkeypatch.setattr(examining, "MOST_VALUES", 7)
    sizes = []
    count = examining.count_values  # type: ignore[attr-defined]

    def counted(*words: Any) -> Any:
        found = count(*words)
        sizes.append(len(found.counts))
        return found

    monkeypatch.setattr(examining, "count_values", counted)
    examine(wide)
    assert sizes == [7, 7, 7, 3]


# -- progress and problems -------------------------------------------------------------------------------------------


def test_progress_tells_of_every_column(files: list[Path], request: pytest.FixtureRequest) -> None:
    told: list[tuple[str, int, int]] = []
    wanted = [("looking at columns", i, 10) for i in range(10)]
    examine(files[0], progress=lambda *words: told.append(words))
    assert told == wanted
    told.clear()
    request.getfixturevalue("large")
    examine(files[0], progress=lambda *words: told.append(words))
    assert told[-10:] == wanted
    assert {stage for stage, _, _ in told[:-10]} == {"reading"}


@pytest.mark.usefixtures("large")
@pytest.mark.parametrize(
    ("content", "code"),
    [
        ("a,b\n", "empty"),
        ("a,a\n1,2\n", "duplicate-column"),
        ("a,b\n1\n", "ragged"),
        ("Kim,20\n" + "Kim,20\nLee,31\n" * 9, "no-header"),
    ],
)
def test_large_files_that_cannot_be_drafted(content: str, code: str, tmp_path: Path) -> None:
    (tmp_path / "people.csv").write_text(content)
    with pytest.raises(DataError) as caught:
        examine(tmp_path / "people.csv")
    assert [problem.code for problem in caught.value.problems] == [code]
    assert "Kim" not in str(caught.value)


@pytest.mark.usefixtures("large")
def test_a_large_file_without_plain_values_is_refused(tmp_path: Path) -> None:
    pq.write_table(pa.table({"where": [[1], [2]]}), tmp_path / "a.parquet")
    with pytest.raises(DataError, match="plain values"):
        examine(tmp_path / "a.parquet")


@pytest.mark.usefixtures("large")
def test_an_examination_that_is_ended_leaves_nothing(files: list[Path], tmp_path: Path, monkeypatch: Any) -> None:
    monkeypatch.setenv("TMPDIR", str(tmp_path / "scratch"))
    monkeypatch.setattr("tempfile.tempdir", None)
    (tmp_path / "scratch").mkdir()

    def stop(stage: str, done: int, total: int) -> None:
        if done == 3:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        examine(files[0], progress=stop)
    assert not list((tmp_path / "scratch").iterdir())


@pytest.mark.parametrize("place", ["mysql://ann:hunter2@db/x", "postgresql://ann:hunter2@db/x"])
def test_addresses_that_name_no_table_are_not_shown(place: str) -> None:
    for look in (examine, hr.draft_plan):
        with pytest.raises(DataError) as caught:
            look(place)
        assert caught.value.problems[0].code == "table-address"
        assert "hunter2" not in str(caught.value)


def test_what_was_seen_is_not_in_its_words() -> None:
    table = pa.table({"name": ["Kim", "Lee"] * 30, "sex": ["Other", "Female"] * 30})
    seen = examine(table)
    words = repr(seen) + "".join(repr(distribution(column)) for column in seen.columns)
    assert not any(value in words for value in ("Kim", "Lee", "Other", "Female"))


def test_no_row_is_kept_where_none_is_wanted(files: list[Path]) -> None:
    assert examine(files[0], rows=0).preview == ()
    assert len(examine(files[0], rows=7).preview) == 7


def test_a_stated_form_is_kept(files: list[Path]) -> None:
    form = DataFormat(missing=("", "Flu"), delimiter=",")
    assert examine(files[0], form).missing == ("", "Flu")


# -- how values are spread -------------------------------------------------------------------------------------------


def of(values: list[Any], name: str = "what", most: int = 12) -> Distribution:
    return distribution(SeenColumn.of(name, pa.chunked_array([values]), len(values)), most)


def test_categories_are_listed_by_frequency_then_label() -> None:
    values = [f"v{i:02d}" for i in range(20) for _ in range(3)] + ["z"] * 5 + [None] * 4
    found = of(values)
    assert found.kind == "categories"
    assert found.values == (("z", 5), *((f"v{i:02d}", 3) for i in range(11)))
    assert (found.other, found.other_values) == (27, 9)
    assert (found.missing, found.distinct, found.records) == (4, 21, 69)
    assert found.bars[-1] == ("9 other values", 27)
    assert of(["a", "b"] * 30).bars == (("a", 30), ("b", 30))
    assert of(["a", "b", "b"] * 30, most=1).bars[-1] == ("1 other value", 30)


def test_few_numbers_are_categories_and_many_are_in_bins() -> None:
    assert of([i % 12 for i in range(300)]).kind == "categories"
    found = of([str(i % 90) for i in range(900)])
    assert found.kind == "numbers"
    assert found.values[:2] == (("0-4", 50), ("5-9", 50))
    assert len(found.values) == 18


def test_cells_that_are_no_numbers_stand_beside_the_bins() -> None:
    found = of([str(i % 90) for i in range(900)] + ["90+"] * 5 + ["old"])
    assert found.kind == "numbers"
    assert (found.other, found.other_values) == (6, 2)
    assert sum(count for _, count in found.bars) == 906


@pytest.mark.parametrize("values", [[f"x{i}" for i in range(400)], [f"{i:06d}" for i in range(400)], list(range(400))])
def test_what_names_records_shows_no_value(values: list[Any]) -> None:
    found = of(values)
    assert (found.kind, found.values, found.other, found.other_values) == ("names", (), 0, 0)
    assert (found.distinct, found.missing) == (400, 0)


def test_measures_are_shown_even_if_every_one_differs() -> None:
    found = of([18 + i * 0.037 for i in range(400)], "bmi")
    assert found.kind == "numbers"
    assert found.values[0] == ("[18, 19)", 28)
    assert of(list(range(1000, 1400)), "income").kind == "numbers"


def test_codes_are_categories() -> None:
    assert of([f"{43000 + i % 60}" for i in range(600)], "zip").kind == "categories"
    assert of([f"{i % 60:04d}" for i in range(600)], "fips").kind == "categories"


@pytest.mark.parametrize(
    ("step", "first", "bins"),
    [
        (dt.timedelta(days=1), "2023-01-30", 20),
        (dt.timedelta(days=20), "2023-01", 14),
        (dt.timedelta(days=100), "2023-Q1", 22),
        (dt.timedelta(days=365), "2023", 20),
        (dt.timedelta(days=3000), "2020-2029", 16),
    ],
)
def test_days_are_counted_by_calendar(step: dt.timedelta, first: str, bins: int) -> None:
    days = [dt.date(2023, 1, 30) + i * step for i in range(20)] * 5
    for values in (days, [day.strftime("%d.%m.%Y") for day in days]):
        found = of(values)
        assert found.kind == "numbers"
        assert found.values[0][0] == first
        assert len(found.values) == bins
        assert (sum(count for _, count in found.values), found.other, found.other_values) == (100, 0, 0)


def test_days_over_centuries() -> None:
    found = of([dt.date(1800 + i * 20, 5, 1) for i in range(20)] * 5)
    assert found.values[0] == ("1800-1819", 5)
    assert len(found.values) <= MOST_BINS


def test_columns_that_hold_nothing() -> None:
    assert of([[1], [2]] * 30).kind == "names"
    assert of([None] * 30).kind == "categories"
    assert of([None] * 30).bars == ()
    assert distribution(SeenColumn("x", 9, {}, allowed=False)).kind == "names"


def test_values_that_were_not_looked_at_are_others() -> None:
    column = SeenColumn("town", 100, {"a": 30, "b": 20}, unlisted=10, unlisted_records=40)
    found = distribution(column, most=1)
    assert found.bars == (("a", 30), ("11 other values", 60))
    assert found.missing == 10


numbers = st.integers() | st.decimals(allow_nan=False, allow_infinity=False, places=3) | st.integers(0, 60)


@given(st.dictionaries(numbers.map(str), st.integers(20, 99), min_size=13), st.randoms())
def test_bins_hold_every_number_once(counts: dict[str, int], draw: random.Random) -> None:
    column = SeenColumn("pay", sum(counts.values()) + 3, counts)
    found = distribution(column)
    shuffled = list(counts.items())
    draw.shuffle(shuffled)
    assert distribution(SeenColumn("pay", column.records, dict(shuffled))) == found
    if found.kind != "numbers":
        assert len(column.numbers) <= 12  # the same number, written in several ways
        return
    assert len(found.values) <= MOST_BINS
    assert found.missing == 3
    edges = [edges_of(label) for label, _ in found.values]
    closed = [(low, high) for low, high in edges if low is not None and high is not None]
    (width,) = {high - low for low, high in closed}
    assert all(before[1] == after[0] for before, after in itertools.pairwise(edges))
    assert (Decimal(width.numerator) / width.denominator).normalize().as_tuple().digits in ((1,), (2,), (5,))
    assert [count for _, count in found.values] == [
        sum(
            count
            for number, count in column.numbers.items()
            if (low is None or low <= Fraction(number)) and (high is None or Fraction(number) < high)
        )
        for low, high in edges
    ]
    assert sum(count for _, count in found.values) == column.filled


def edges_of(label: str) -> tuple[Fraction | None, Fraction | None]:
    """Read the name of a bin; one that holds a single whole number is named by it, and one may be open."""
    if label.startswith("under "):
        return None, Fraction(label.removeprefix("under "))
    if label.endswith(" or more"):
        return Fraction(label.removesuffix(" or more")), None
    found = parse_half_open(label)
    low, high = (int(label), int(label) + 1) if found is None else found
    return Fraction(low), Fraction(high)


def test_numbers_that_lie_far_out_share_a_bin() -> None:
    found = of([str(i % 40) for i in range(4000)] + ["-999999999"] * 3 + ["123456789.5"] * 2)
    assert found.values[0] == ("under 0", 3)
    assert found.values[1] == ("[0, 2)", 200)
    assert found.values[-1] == ("40 or more", 2)
    assert of(["0"] * 4000 + [str(i) for i in range(30)]).values[0] == ("0-1", 4002)
