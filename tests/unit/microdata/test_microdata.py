"""Reading tables: formats, encodings, missing markers, values without a leaf, and clear refusals."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.feather as feather
import pyarrow.parquet as pq
import pytest

import hedgerow as hr
from hedgerow.microdata import FreeColumn, Microdata, TreeColumn, encode_table, read_table
from hedgerow.microdata.columns import encode as encode_column
from hedgerow.microdata.recoding import Recoding

SECRET = "Xyzzy-Secret"


def plan(attributes: dict[str, Any] | None = None, **more: Any) -> hr.Plan:
    default = {
        "name": "identifier",
        "age": {"role": "quasi-identifier", "hierarchy": {"bands": [10]}},
        "ill": "sensitive",
    }
    return hr.Plan.from_dict({"attributes": attributes or default, "privacy": {"k": 2}, **more})


def encode(source: Any, asked: hr.Plan) -> Microdata:
    return encode_table(read_table(source, asked), asked)


def labels(microdata: Microdata, column: int = 0) -> list[str | None]:
    """The encoded values by record, as they would be published alone."""
    codes = microdata.profiles[microdata.profile_of_unit, microdata.index_order.index(column)].astype(np.int64)
    alone = Recoding.of_boxes(
        microdata, np.arange(len(codes)), *([np.tile(codes[:, None], len(microdata.columns))] * 2)
    )
    shown = microdata.columns[column].labels(alone.shown(column))
    return [label for _, label in sorted(zip(microdata.record_of.tolist(), shown, strict=True))]


FRAME = {"name": ["a", "b", "c"], "age": [39, 40, 41], "ill": ["flu", "cold", "flu"]}


@pytest.mark.parametrize("kind", ["csv", "parquet", "arrow", "pandas", "polars", "pyarrow"])
def test_every_kind_of_table_is_read_alike(tmp_path: Path, kind: str) -> None:
    source: Any = {
        "pandas": lambda: pd.DataFrame(FRAME, index=[7, 8, 9]),
        "polars": lambda: pl.DataFrame(FRAME),
    }.get(kind, lambda: pa.table(FRAME))()
    if kind in ("csv", "parquet", "arrow"):
        path = tmp_path / f"t.{kind}"
        {
            "csv": lambda: pd.DataFrame(FRAME).to_csv(path, index=False),
            "parquet": lambda: pq.write_table(pa.table(FRAME), path),
            "arrow": lambda: feather.write_feather(pa.table(FRAME), path),
        }[kind]()
        source = path
    microdata = encode(source, plan())
    assert labels(microdata) == ["39", "40", "41"]


def test_identifiers_are_dropped_at_reading(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text(f"name,age,ill,note\n{SECRET},39,flu,x\nb,40,flu,x\n")
    table = read_table(tmp_path / "t.csv", plan())
    assert set(table.columns) == {"age", "ill"}
    assert table.not_released == ("name", "note")


@pytest.mark.parametrize("delimiter", [",", ";", "\t", "|"])
def test_delimiters_are_found_out(tmp_path: Path, delimiter: str) -> None:
    rows = [["name", "age", "ill"], ['"a, b; c"', "39", "flu"], ["b", "40", "cold"]]
    (tmp_path / "t.csv").write_text("\n".join(delimiter.join(row) for row in rows))
    table = read_table(tmp_path / "t.csv", plan())
    assert table.format.delimiter == delimiter
    assert table.records == 2


def test_encodings(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_bytes("name,age,ill\na,39,Fieber\xfc\nb,40,grün\n".encode("latin-1"))
    table = read_table(tmp_path / "t.csv", plan(data={"encoding": "latin-1"}))
    assert table.columns["ill"].to_pylist() == ["Fieberü", "grün"]
    with pytest.raises(hr.DataError, match=r"Line 2 is not text in utf-8.*\[encoding\]\n  hint: set data.encoding"):
        read_table(tmp_path / "t.csv", plan())
    (tmp_path / "bom.csv").write_bytes(b"\xef\xbb\xbfage,name,ill\n39,a,flu\n40,b,flu\n")
    assert read_table(tmp_path / "bom.csv", plan()).records == 2
    with pytest.raises(hr.DataError, match="Encoding 'utf-9' is not known"):
        read_table(tmp_path / "t.csv", plan(data={"encoding": "utf-9"}))


def test_quotes_and_line_breaks_in_cells(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text('name,age,ill\n"a\nb",39,"say ""no"", twice"\nb,40,flu\n')
    assert read_table(tmp_path / "t.csv", plan()).columns["ill"].to_pylist() == ['say "no", twice', "flu"]


def test_missing_markers_and_blanks(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("name,age,ill\na, 39 ,flu\nb,?, \nc,,NA\n")
    microdata = encode(tmp_path / "t.csv", plan(data={"missing": ["", "?"]}))
    assert labels(microdata) == ["39", None, None]
    assert read_table(tmp_path / "t.csv", plan(data={"missing": ["", "?"]})).columns["ill"].to_pylist() == [
        "flu",
        None,
        "NA",
    ]


def test_typed_values_have_one_label_whatever_their_type() -> None:
    asked = plan({"x": "quasi-identifier"})
    assert labels(encode(pa.table({"x": [1.0, 2.5, None]}), asked)) == ["1", "2.5", None]
    assert labels(encode(pa.table({"x": [True, False]}), asked)) == ["true", "false"]
    assert labels(encode(pd.DataFrame({"x": pd.Categorical(["b", "a", None])}), asked)) == ["b", "a", None]
    days = pa.array([19000, None], pa.date32())
    dated = plan({"x": {"role": "quasi-identifier", "hierarchy": {"dates": ["month"]}}})
    assert labels(encode(pa.table({"x": days}), dated)) == ["2022-01-08", None]


@pytest.mark.parametrize(("values", "kind"), [(3, np.uint8), (300, np.uint16), (70_000, np.uint32)])
def test_codes_are_small_unsigned_integers(values: int, kind: type) -> None:
    column = pa.chunked_array([pa.array([str(value) for value in range(values)])])
    attribute = plan({"x": "quasi-identifier"}).attributes["x"]
    assert encode_column("x", attribute, column).codes.dtype == kind


def test_a_missing_quasi_identifier_is_a_category_of_its_own() -> None:
    asked = plan({"x": {"role": "quasi-identifier", "intervals": "free"}, "y": "quasi-identifier"})
    rows = pa.table({"x": [1, 2, None, None], "y": ["a", "a", None, "b"]})
    release = hr.anonymize(rows, asked)
    assert sorted(map(str, release.data.to_pylist())) == sorted(
        map(str, [{"x": "1-2", "y": "a"}] * 2 + [{"x": None, "y": "*"}] * 2)
    )


@pytest.mark.parametrize(
    ("attribute", "values"),
    [
        ({"hierarchy": {"bands": [10]}}, ["39", SECRET, "40", "40"]),
        ({"hierarchy": {"cuts": [[0, 50]]}}, ["39", "4711", "40", "40"]),
        ({"intervals": "free"}, ["39", SECRET, "40", "40"]),
        ({"hierarchy": {"tree": {"*": ["39", "40"]}}}, ["39", SECRET, "40", "40"]),
        ({"hierarchy": {"dates": ["year"]}}, ["2024-01-01", SECRET, "2024-01-02", "2024-01-02"]),
    ],
)
def test_a_value_without_a_leaf_is_refused_or_withheld_and_never_shown(
    attribute: dict[str, Any], values: list[str]
) -> None:
    def asked(unknown: str) -> hr.Plan:
        return plan({"x": {"role": "quasi-identifier", "unknown": unknown, **attribute}})

    with pytest.raises(
        hr.DataError, match=r"Column 'x': 1 records \(1 different values\).*first is record 2\."
    ) as caught:
        encode(pa.table({"x": values}), asked("error"))
    assert values[1] not in str(caught.value)
    release = hr.anonymize(pa.table({"x": values}), asked("withhold"))
    assert release.withheld == 1
    assert release.private["withheld_because"]["no_leaf"] == 1
    if "intervals" not in attribute:
        microdata = encode(pa.table({"x": values}), asked("own-leaf-under-root"))
        assert values[1] in labels(microdata)
        hr.anonymize(pa.table({"x": values}), asked("own-leaf-under-root"))


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("", "empty"),
        ("\n\n", "empty"),
        ("name,age,ill\n", "empty"),
        ("name,age,ill\na,39\nb,40,flu\n", "ragged"),
        ("name,age,ill\na,39,flu,extra\n", "ragged"),
        ("name,age,age,ill\na,39,39,flu\n", "duplicate-column"),
        ("name,years,ill\na,39,flu\n", "missing-column"),
        ("name:age:ill\na:39:flu\n", "missing-column"),
    ],
)
def test_bad_csv(tmp_path: Path, text: str, code: str) -> None:
    (tmp_path / "t.csv").write_text(text)
    with pytest.raises(hr.DataError) as caught:
        read_table(tmp_path / "t.csv", plan())
    assert caught.value.problems[0].code == code
    assert "flu" not in str(caught.value)


def test_ragged_rows_are_counted_and_named(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("name,age,ill\na,39,flu\nb,40\nc,41\nd,42,flu\n")
    with pytest.raises(hr.DataError, match=r"2 rows do not have the 3 cells of the header .first: record 2, 3"):
        read_table(tmp_path / "t.csv", plan())


def test_a_wrong_delimiter_gets_a_hint(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("name;age;ill\na;39;flu\n")
    with pytest.raises(hr.DataError, match=r"set data\.delimiter"):
        read_table(tmp_path / "t.csv", plan(data={"delimiter": ","}))


@pytest.mark.parametrize("name", ["t.parquet", "t.arrow"])
def test_damaged_columnar_files(tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_bytes(b"PAR1 not really")
    with pytest.raises(hr.DataError, match="cannot be read as"):
        read_table(tmp_path / name, plan())


def test_things_that_are_no_table(tmp_path: Path) -> None:
    with pytest.raises(hr.DataError, match="does not exist"):
        read_table(tmp_path / "absent.csv", plan())
    with pytest.raises(hr.DataError, match="does not exist"):
        read_table(tmp_path / "absent.parquet", plan())
    with pytest.raises(hr.DataError, match="is a folder"):
        read_table(tmp_path, plan())
    with pytest.raises(hr.DataError, match="type dict is not read"):
        read_table({"age": [1]}, plan())
    (tmp_path / "t.csv.gz").write_bytes(b"\x1f\x8b")
    with pytest.raises(hr.DataError, match="cannot be unpacked"):
        read_table(tmp_path / "t.csv.gz", plan())
    with pytest.raises(hr.DataError, match=r"ending in \.json are not read"):
        read_table(tmp_path / "t.json", plan())


def test_a_person_without_a_key_is_refused() -> None:
    asked = plan({"x": "quasi-identifier"}, person="who")
    with pytest.raises(hr.DataError, match="1 records have no person key; the first is record 2"):
        encode(pa.table({"x": ["a", "b"], "who": ["p", None]}), asked)


def test_k_counts_persons_if_a_person_key_is_named() -> None:
    asked = plan({"x": "quasi-identifier", "ill": "sensitive"}, person="who")
    rows = pa.table({"x": ["a", "a", "a", "b", "b"], "ill": list("fghij"), "who": [1, 1, 1, 2, 3]})
    release = hr.anonymize(rows, asked)
    assert release.facts["persons"] == 3
    assert release.facts["smallest_group_persons"] >= 2
    assert "who" not in release.table.column_names
    with pytest.raises(hr.NoSolution, match="only 1 persons"):
        hr.anonymize(rows.slice(0, 3), asked)


def test_domains() -> None:
    asked = plan({"x": {"role": "quasi-identifier", "intervals": "free"}, "y": "quasi-identifier"})
    microdata = encode(pa.table({"x": [3, 1, 1], "y": ["b", "a", "a"]}), asked)
    assert isinstance(microdata.columns[0], FreeColumn)
    assert isinstance(microdata.columns[1], TreeColumn)
    assert microdata.counts.tolist() == [2, 1]
    assert microdata.index_order == (1, 0)


@pytest.mark.parametrize("level", [0, 1, 2])
def test_codes_of_different_lengths_are_generalized_and_verified(level: int) -> None:
    asked = plan({"x": {"role": "quasi-identifier", "hierarchy": {"prefix": [2, 1]}, "limit": {"level": level}}})
    values = ["1", "1", "10", "10", "100", "101", "102", "2", "21", "213"] * 2
    assert hr.anonymize(pa.table({"x": values}), asked).facts["limits_broken"] == 0


@pytest.mark.parametrize("spelling", ["30-39", "[30, 40)"])
@pytest.mark.parametrize("values", [["31", "34", "35", "39", "41"], ["31.5", "34", "35", "39", "41"]])
def test_a_limit_on_an_interval_may_be_spelled_either_way(spelling: str, values: list[str]) -> None:
    asked = plan({"x": {"role": "quasi-identifier", "hierarchy": {"bands": [5, 10, 50]}, "limits": [spelling]}})
    found = hr.explain(pa.table({"x": values}), asked)
    assert (found.blocks, found.withheld) == (2, 1)
    assert hr.anonymize(pa.table({"x": values}), asked).withheld == 1


def test_an_uneven_tree_survives_being_written_with_the_release(tmp_path: Path) -> None:
    tree = {"US": {"Washington, D.C.": None, "Ohio": ["Akron", "Toledo"], "null": None}}
    asked = plan({"x": {"role": "quasi-identifier", "hierarchy": {"tree": tree}, "limits": ["Ohio"]}})
    values = ["Washington, D.C.", "null", "Akron", "Toledo", "null"]
    hr.anonymize(pa.table({"x": values}), asked, tmp_path / "release")
    again = hr.Plan.load(tmp_path / "release" / "plan.yaml")
    assert again.attributes["x"].hierarchy == asked.attributes["x"].hierarchy


def test_a_width_counts_what_it_leaves_over_as_one_cell() -> None:
    asked = plan({"x": {"role": "quasi-identifier", "intervals": "free", "limit": {"width": 2}}})
    found = hr.explain(pa.table({"x": [1, 2, 3, 50, 100, 150]}), asked)
    assert (found.blocks, found.blocks_withheld, found.withheld) == (2, 1, 3)


def test_two_widths_are_both_kept_though_not_proven_least() -> None:
    both = {"role": "quasi-identifier", "intervals": "free", "limit": {"width": 2}}
    rows = pa.table({"x": [1, 1, 2, 9, 9, 50], "y": [1, 9, 1, 1, 2, 1]})
    release = hr.anonymize(rows, plan({"x": both, "y": both}))
    assert (release.withheld, release.facts["limits_broken"], release.private["withheld_is_least"]) == (2, 0, False)


def test_a_limit_on_a_value_that_does_not_occur_is_refused() -> None:
    asked = plan({"x": {"role": "quasi-identifier", "limits": ["femal"]}})
    with pytest.raises(hr.DataError, match="limit 'femal' is not a value that occurs"):
        encode(pa.table({"x": ["female", "male"]}), asked)


def test_problems_of_several_columns_are_reported_together() -> None:
    tree = {"role": "quasi-identifier", "hierarchy": {"tree": {"*": ["a"]}}}
    with pytest.raises(hr.DataError) as caught:
        encode(pa.table({"x": ["a", "b"], "y": ["b", "a"]}), plan({"x": tree, "y": tree}))
    assert len(caught.value.problems) == 2


def test_a_width_below_one_step_of_the_grid_withholds_everything_and_harms_nothing() -> None:
    asked = plan(
        {
            "x": {"role": "quasi-identifier", "intervals": "free", "snap": 5, "limit": {"width": 4}},
            "y": "quasi-identifier",
        }
    )
    rows = pa.table({"x": [1.5, 2.5, 7.5, 8.5], "y": ["a", "a", "a", "a"]})
    assert hr.explain(rows, asked).withheld == 4


def test_the_digest_in_the_facts_is_that_of_the_released_plan(tmp_path: Path) -> None:
    release = hr.anonymize(pa.table(FRAME), plan(), tmp_path / "release")
    assert hr.Plan.load(tmp_path / "release" / "plan.yaml").digest() == release.facts["plan"]


@pytest.mark.parametrize("kind", [pa.struct([]), pa.list_(pa.int64())])
def test_distinct_values_that_are_lists_or_records_are_refused_as_such(kind: pa.DataType, tmp_path: Path) -> None:
    values = pa.array([{}] if pa.types.is_struct(kind) else [[1]], kind)
    chunk = pa.DictionaryArray.from_arrays(pa.array([0, 0], pa.int8()), values)
    table = pa.table({"age": pa.chunked_array([chunk, chunk])})
    with pa.OSFile(str(tmp_path / "data.arrow"), "wb") as file, pa.ipc.new_file(file, table.schema) as made:
        made.write_table(table)
    plan = hr.Plan.from_dict({"attributes": {"age": "quasi-identifier"}, "privacy": {"k": 2}})
    for data in (tmp_path / "data.arrow", table):
        with pytest.raises(hr.DataError, match="lists or records"):
            hr.anonymize(data, plan)
