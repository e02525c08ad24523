"""Drafts: every heuristic, no value of a record, readable by the plan they propose, the same for any row order."""

from __future__ import annotations

import datetime as dt
import itertools
import re
from decimal import Decimal
from pathlib import Path
from typing import Any

import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.feather as feather
import pyarrow.parquet as pq
import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from hedgerow.api import explain
from hedgerow.errors import DataError
from hedgerow.evaluation.drafting.examining import draft_plan
from hedgerow.evaluation.drafting.propose import about, band_widths
from hedgerow.evaluation.synthetic import clinic, write_demo
from hedgerow.plan import Attribute, DataFormat, Plan
from tests.cases.data import data


def draft_of(name: str, values: Any) -> tuple[Attribute, str]:
    """Return what is proposed for one column beside another, and the comment on it."""
    beside = (["a", "b"] * len(values))[: len(values)]
    text = draft_plan(pa.table({name: values, "beside": beside}))
    plan = Plan.loads(text)
    comments = text.split("attributes:\n\n")[1].split("\n\n")[0]
    return plan.attributes[name], " ".join(re.findall(r"# (.*)", comments))


def numbered(form: str, count: int = 400) -> list[str]:
    return [form.format(i) for i in range(count)]


# -- identifiers -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("values", [numbered("x{}"), numbered("{}"), numbered("{:06d}"), list(range(400))])
def test_what_differs_in_nearly_every_record_is_left_out(values: list[Any]) -> None:
    attribute, comment = draft_of("what", values)
    assert attribute.role == "identifier"
    assert "nearly every record has its own" in comment


def test_missing_cells_do_not_hide_that_a_column_names_records() -> None:
    assert draft_of("what", numbered("x{}", 200) + [""] * 200)[0].role == "identifier"


def test_few_records_are_no_ground_to_call_a_column_unique() -> None:
    assert draft_of("what", numbered("x{}", 20))[0].role == "quasi-identifier"


@pytest.mark.parametrize("name", ["name", "Full Name", "lastName", "e-mail", "email", "patient_id", "SSN", "case no"])
def test_a_column_whose_name_says_that_it_names_people_is_left_out(name: str) -> None:
    attribute, comment = draft_of(name, numbered("x{}", 130) * 3)
    assert attribute.role == "identifier"
    assert "by its name" in comment
    assert "person:" in comment


@pytest.mark.parametrize("name", ["county name", "number of children", "education-num", "valid"])
def test_similar_names_are_not_mistaken_for_those_of_people(name: str) -> None:
    assert draft_of(name, ["x1", "x2"] * 200)[0].role == "quasi-identifier"
    assert draft_of(name, numbered("x{}", 130) * 3)[0].role == "quasi-identifier"


def test_long_text_that_differs_is_left_out() -> None:
    values = (
        numbered("{} told the nurse that the evening before nothing had been wrong", 240) + ["nothing to tell"] * 160
    )
    attribute, comment = draft_of("remarks", values)
    assert attribute.role == "identifier"
    assert "long text" in comment


def test_lists_and_empty_columns_are_left_out() -> None:
    assert draft_of("where", [[1.0, 2.0]] * 30)[0].role == "identifier"
    attribute, comment = draft_of("nothing", pa.nulls(30, pa.string()))
    assert attribute.role == "identifier"
    assert "no value at all" in comment


def test_one_column_stands_in_where_all_seem_to_be_identifiers() -> None:
    table = pa.table({"empty": pa.nulls(50), "code": numbered("x{}", 50)})
    text = draft_plan(table)
    assert Plan.loads(text).quasi_identifiers == ("code",)
    assert "stands in" in text
    assert explain(table, Plan.loads(text)).withheld == 0
    with pytest.raises(DataError, match="plain values"):
        draft_plan(pa.table({"where": [[1], [2]]}))


# -- numbers ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("values", [[str(i % 90) for i in range(400)], [i % 90 for i in range(400)]])
def test_many_numbers_get_bands(values: list[Any]) -> None:
    attribute, comment = draft_of("age", values)
    assert attribute.hierarchy is not None
    assert attribute.hierarchy.bands == (5, 10, 20)
    assert "whole numbers, about 90 different, none missing" in comment


def test_fractions_get_bands_even_if_every_one_differs() -> None:
    attribute, comment = draft_of("bmi", [18 + i * 0.037 for i in range(400)])
    assert attribute.hierarchy is not None
    assert attribute.hierarchy.bands is not None
    assert comment.startswith("numbers, nearly every record has its own")


def test_numbers_that_measure_get_bands_even_if_every_one_differs() -> None:
    for name in ("income", "age in days"):
        assert draft_of(name, list(range(1000, 1400)))[0].hierarchy is not None


def test_few_whole_numbers_are_categories() -> None:
    attribute, comment = draft_of("children", [i % 7 for i in range(400)])
    assert (attribute.role, attribute.hierarchy) == ("quasi-identifier", None)
    assert "7 different" in comment


def test_a_few_cells_that_are_no_numbers_do_not_spoil_the_bands() -> None:
    table = pa.table({"age": [str(20 + i % 70) for i in range(400)] + ["90+"] * 9})
    plan = Plan.loads(draft_plan(table))
    assert plan.attributes["age"].unknown == "own-leaf-under-root"
    assert explain(table, plan).withheld == 0
    mixed = pa.table({"age": [str(20 + i % 70) for i in range(400)] + ["35-39"] * 9})
    assert explain(mixed, Plan.loads(draft_plan(mixed))).withheld == 0


@given(
    st.dictionaries(st.integers() | st.decimals(allow_nan=False, allow_infinity=False), st.integers(1, 99), min_size=1)
)
def test_band_widths_are_round_and_nest(numbers: dict[int | Decimal, int]) -> None:
    widths = band_widths(numbers)
    assert all(
        width > 0 and str(Decimal(width).normalize().as_tuple().digits) in "(1,)(2,)(4,)(5,)" for width in widths
    )
    assert all(wide % narrow == 0 for narrow, wide in itertools.pairwise(widths))


# -- codes, dates, text ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "values", "length"),
    [
        ("zip", [str(43000 + i % 60) for i in range(400)], 5),
        ("home_zip_code", [2139 + 40000 * (i % 2) for i in range(400)], 5),
        ("Postcode", [f"AB{i % 9} {i % 7}CD" for i in range(400)], 7),
        ("PLZ", numbered("{:05d}"), 5),
        ("fips", [f"{i % 50:04d}" for i in range(400)], 4),
        ("county code", [str(100 + i % 50) for i in range(400)], 3),
    ],
)
def test_postal_codes_and_the_like_are_shortened(name: str, values: list[Any], length: int) -> None:
    attribute, _ = draft_of(name, values)
    assert attribute.hierarchy is not None
    assert attribute.hierarchy.kind == "prefix"
    assert attribute.hierarchy.length == length
    assert attribute.hierarchy.prefix is not None
    assert max(attribute.hierarchy.prefix) < length


def test_lost_leading_zeros_are_pointed_out() -> None:
    assert "leading zeros" in draft_of("zip", [2139, 43102] * 30)[1]
    assert "leading zeros" not in draft_of("zip", [43103, 43102] * 30)[1]


def test_numbers_of_equal_length_are_still_numbers() -> None:
    attribute, _ = draft_of("weight", [str(10000 + 7 * (i % 300)) for i in range(400)])
    assert attribute.hierarchy is not None
    assert attribute.hierarchy.kind == "bands"


DAYS = [dt.date(2023, 1, 1) + dt.timedelta(days=7 * i) for i in range(60)]


@pytest.mark.parametrize(
    ("values", "form"),
    [
        (DAYS, None),
        ([dt.datetime.combine(day, dt.time(9, 30)) for day in DAYS], None),
        ([day.isoformat() for day in DAYS], None),
        ([day.strftime("%Y%m%d") for day in DAYS], None),
        ([day.strftime("%d.%m.%Y") for day in DAYS], "%d.%m.%Y"),
        ([day.strftime("%m/%d/%Y") for day in DAYS], "%m/%d/%Y"),
        ([day.strftime("%d/%m/%Y %H:%M") for day in DAYS], "%d/%m/%Y %H:%M"),
    ],
)
def test_dates_are_recognised_however_written(values: list[Any], form: str | None) -> None:
    attribute, comment = draft_of("seen", values)
    assert attribute.hierarchy is not None
    assert attribute.hierarchy.dates == ("month", "quarter", "year")
    assert attribute.hierarchy.form == form
    assert "tells day from month" not in comment


@pytest.mark.parametrize(
    ("years", "levels"),
    [
        (14, ("month", "quarter", "year")),
        (30, ("month", "year", "decade")),
        (60, ("month", "year", "decade", "20-years", "40-years")),
    ],
)
def test_dates_go_up_as_far_as_their_years_do(years: int, levels: tuple[str, ...]) -> None:
    attribute, _ = draft_of("born", [dt.date(1940 + i % years, 1 + i % 12, 1) for i in range(60)])
    assert attribute.hierarchy is not None
    assert attribute.hierarchy.dates == levels


def test_ambiguous_dates_are_pointed_out() -> None:
    assert "tells day from month" in draft_of("seen", ["01/02/2024", "03/04/2024"] * 30)[1]


def test_few_words_are_flat_and_many_ask_for_a_hierarchy() -> None:
    few, comment = draft_of("sex", ["f", "m"] * 200)
    assert (few.role, few.hierarchy) == ("quasi-identifier", None)
    assert "hierarchy" not in comment
    many, comment = draft_of("town", numbered("Town {}", 130) * 3)
    assert (many.role, many.hierarchy) == ("quasi-identifier", None)
    assert "need a hierarchy" in comment


# -- sensitive -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["diagnosis", "ICD10 code", "hivStatus", "Religion", "salary-class", "test_result"])
def test_sensitive_is_asked_and_never_guessed(name: str) -> None:
    attribute, comment = draft_of(name, ["x", "y", "z"] * 100)
    assert attribute.role == "quasi-identifier"
    assert "`sensitive`" in comment


def test_nothing_but_the_two_safe_roles_is_ever_proposed() -> None:
    plan = Plan.loads(draft_plan(pa.table(clinic(500).columns)))
    assert {attribute.role for attribute in plan.attributes.values()} == {"identifier", "quasi-identifier"}


# -- how the data is written -----------------------------------------------------------------------------------------

ROWS = [("Größe", "sex", "age")] + [(f"{i % 5} Fuß", "?fm"[i % 3], str(20 + i % 40)) for i in range(300)]


@pytest.mark.parametrize("delimiter", [",", ";", "\t", "|"])
@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "cp1252", "utf-16"])
def test_delimiter_encoding_and_missing_markers_are_found(delimiter: str, encoding: str, tmp_path: Path) -> None:
    path = tmp_path / "people.csv"
    path.write_bytes("\n".join(delimiter.join(row) for row in ROWS).encode(encoding))
    plan = Plan.loads(draft_plan(path))
    assert plan.data.delimiter == delimiter
    assert plan.data.encoding == encoding
    assert plan.data.missing == ("", "?")
    assert list(plan.attributes) == ["Größe", "sex", "age"]
    assert explain(path, plan).withheld == 0


def test_a_stated_form_is_kept(tmp_path: Path) -> None:
    path = tmp_path / "people.txt"
    path.write_bytes("\n".join(";".join(row) for row in ROWS).encode("latin-1"))
    form = DataFormat(delimiter=";", encoding="latin-1", missing=("-",), quote="'", format="csv")
    assert Plan.loads(draft_plan(path, form)).data == form


def test_the_share_of_missing_cells_is_told() -> None:
    assert "about 25 % missing" in draft_of("sex", ["f", "m", "f", "NA"] * 50)[1]
    assert "under 1 % missing" in draft_of("sex", ["f", "m"] * 200 + [""])[1]


def test_every_source_gives_the_same_draft(tmp_path: Path) -> None:
    table = pa.table(clinic(400).columns)
    pq.write_table(table, tmp_path / "a.parquet")
    feather.write_feather(table, tmp_path / "a.arrow", compression="uncompressed")
    sources = [table, table.to_pandas(), pl.from_arrow(table), tmp_path / "a.parquet", str(tmp_path / "a.arrow")]
    assert len({draft_plan(source) for source in sources}) == 1


def test_unused_categories_are_not_counted() -> None:
    frame = pd.DataFrame({"blood": pd.Categorical(["A", "B"] * 50, categories=["A", "B", "AB", "0"])})
    assert "2 different" in draft_plan(frame)


# -- what cannot be drafted ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("content", "code"), [("", "empty"), ("a,b\n", "empty"), ("a,a\n1,2\n", "duplicate-column"), ("a,b\n1\n", "ragged")]
)
def test_unreadable_tables_are_refused(content: str, code: str, tmp_path: Path) -> None:
    (tmp_path / "people.csv").write_text(content)
    with pytest.raises(DataError) as caught:
        draft_plan(tmp_path / "people.csv")
    assert caught.value.problems[0].code == code


@pytest.mark.parametrize("form", [None, DataFormat(delimiter=";")])
def test_a_missing_file_or_a_folder_is_refused(form: DataFormat | None, tmp_path: Path) -> None:
    for path in (tmp_path, tmp_path / "nowhere.csv"):
        with pytest.raises(DataError) as caught:
            draft_plan(path, form)
        assert caught.value.problems[0].code == "no-file"


def test_a_file_without_a_header_line_is_refused_without_quoting_it(tmp_path: Path) -> None:
    path = tmp_path / "people.csv"
    path.write_text("\n".join(f"{['Kim', 'Lee'][i % 2]},{20 + i % 30},{'fm'[i % 2]}" for i in range(100)))
    with pytest.raises(DataError, match="first line") as caught:
        draft_plan(path)
    assert "Kim" not in str(caught.value)


# -- no value of a record --------------------------------------------------------------------------------------------


def assert_silent(text: str, columns: dict[str, list[str]]) -> None:
    """Check that no cell stands in a draft; round band widths are the draft's own."""
    said = re.sub(r"bands: \[.*?\]", "", text)
    leaked = {cell for cells in columns.values() for cell in set(cells) if len(cell) > 3 and cell in said}
    assert not leaked


def test_no_cell_of_the_clinic_stands_in_its_draft(tmp_path: Path) -> None:
    patients = clinic()
    path, _ = write_demo(tmp_path, patients)
    assert_silent(draft_plan(path), patients.columns)


@given(
    st.lists(st.tuples(st.text("abcdeXYZ0123456789 .-/", min_size=4, max_size=12), st.integers(1000, 9999)), min_size=1)
)
def test_no_cell_of_any_table_stands_in_its_draft(rows: list[tuple[str, int]]) -> None:
    words, numbers = [f"~{word}~" for word, _ in rows], [f"{number}.{number}" for _, number in rows]
    assert_silent(draft_plan(pa.table({"w": words, "n": numbers})), {"w": words, "n": numbers})


# -- the draft is a plan ---------------------------------------------------------------------------------------------

ODD_NAMES = [
    "", " ", "no", "NO", "null", "~", "123", "1.5", "1e3", "a: b", "a #b", "#", "- x", "?", "*", "&a", "!tag", "{a}", "[",
    "'", '"', "\\", "%", "@", "`", "|", ">", "=", "<<", "ü", "名前", "🙂", "a\nb", "a\tb", "\x00", "\x7f", "\x85", "\u2028",
    "\ufeff", "true", "2024-01-01", "x" * 3000, "role", "attributes", "a,b", "a;b", " lead", "trail ", "---", "...",
]  # fmt: skip


@given(st.lists(st.text(max_size=20) | st.sampled_from(ODD_NAMES), min_size=1, max_size=6, unique=True))
def test_any_column_name_survives_the_draft(names: list[str]) -> None:
    text = draft_plan(pa.table({name: ["a", "b"] * 5 for name in names}), trust_names=True)
    assert list(Plan.loads(text).attributes) == names
    assert list(yaml.safe_load(text)["attributes"]) == names  # other readers of YAML take them for text too


def test_every_odd_name_survives_at_once() -> None:
    assert (
        list(Plan.loads(draft_plan(pa.table({name: ["a", "b"] for name in ODD_NAMES}), trust_names=True)).attributes)
        == ODD_NAMES
    )


_KINDS = (
    st.integers(-50, 99).map(str),
    st.integers(0, 10**6),
    st.dates().map(str),
    st.dates(dt.date(1900, 1, 1), dt.date(2030, 1, 1)),
    st.floats(allow_infinity=False, width=32),
    st.booleans(),
    st.text(max_size=8),
    st.one_of(
        st.integers(0, 120).map(str),
        st.sampled_from(["", "?", "NA", "f", "90+", "007", "2024-02-29", "1.2.2024", "-3", "2.50", "*", "35-39"]),
    ),
)


@pytest.mark.filterwarnings("ignore::hedgerow.microdata.frames.LostZerosWarning")
@given(st.data())
def test_any_table_gets_a_draft_that_explains_whatever_the_order_of_its_rows(data: st.DataObject) -> None:
    size = data.draw(st.integers(1, 60))
    columns = {
        name: data.draw(st.lists(cells, min_size=size, max_size=size))
        for name, cells in zip(
            ["a", "zip", "income"], data.draw(st.tuples(*[st.sampled_from(_KINDS)] * 3)), strict=True
        )
    }
    table = pa.table(columns)
    text = draft_plan(table)
    order = list(range(size))
    data.draw(st.randoms()).shuffle(order)
    assert draft_plan(table.take(order)) == text
    assert explain(table, Plan.loads(text)).records == size


def test_the_draft_of_the_clinic_explains_and_reads_well(tmp_path: Path) -> None:
    path, _ = write_demo(tmp_path, clinic())
    text = draft_plan(path)
    plan = Plan.loads(text)
    assert text.startswith("# DRAFT — review every line")
    assert max(map(len, text.splitlines())) <= 120
    assert plan.columns("identifier") == ("name", "patient_number")
    kinds = {name: part.hierarchy.kind for name, part in plan.attributes.items() if part.hierarchy is not None}
    assert kinds == {"age": "bands", "zip": "prefix", "admitted": "dates", "income": "bands"}
    assert plan.privacy.k == 5
    assert explain(path, plan).withheld == 0


def test_rounded_counts() -> None:
    assert [about(count) for count in (1, 20, 21, 99, 104, 1951)] == [
        "1", "20", "about 20", "about 100", "about 100", "about 2,000",
    ]  # fmt: skip


def test_adult() -> None:
    (path,) = data("arx-adult/adult.csv")
    text = draft_plan(path)
    plan = Plan.loads(text)
    assert len(plan.quasi_identifiers) == 9
    assert text.count("`sensitive`") == 1  # the salary class
    found = explain(path, plan)
    assert (found.records, found.withheld) == (30162, 0)


def test_adult_as_published_has_no_header_line(tmp_path: Path) -> None:
    (published,) = data("adult.data")
    with pytest.raises(DataError, match="first line"):
        draft_plan(published)
    path = tmp_path / "adult.csv"
    lines = published.read_text().strip()
    names = (
        "age,workclass,fnlwgt,education,education-num,marital-status,occupation,relationship,race,sex,capital-gain,"
        "capital-loss,hours-per-week,native-country,salary"
    )
    path.write_text(f"{names}\n{lines}\n")
    plan = Plan.loads(draft_plan(path))
    assert plan.data.missing == ("", "?")
    assert plan.columns("identifier") == ()
    assert explain(path, plan).withheld == 0


@pytest.mark.parametrize("name", ["Nachname", "lastname", "patient email", "cognome"])
def test_names_of_people_are_left_out_however_few_there_are(name: str) -> None:
    table = pa.table({name: ["Kraus", "Böhm"] * 50, "age": list(range(100))})
    assert yaml.safe_load(draft_plan(table))["attributes"][name] == "identifier"
