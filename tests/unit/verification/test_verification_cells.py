"""Cells as text and by number, as the check reads, counts and compares them."""

from __future__ import annotations

import datetime as dt
import math
from collections.abc import Iterator
from decimal import Decimal
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from hedgerow.engines.dialect import SqlDialect
from hedgerow.errors import DataError, Problem
from hedgerow.plan import DataFormat, Plan
from hedgerow.verification import InDatabase, InFile, verify_in_place
from hedgerow.verification.counting.distinct_rows import (
    CountedRows,
    Encoder,
    collect,
    count,
    distinct,
    plain,
    read_kind,
    text_of,
)
from hedgerow.verification.counting.fingerprints import Fingerprints
from hedgerow.verification.counting.numbering import number_cells, number_rows
from hedgerow.verification.counting.sources import count_original, count_released, open_original, open_released, surplus
from hedgerow.verification.counting.statements import count_rows, count_surplus, fetch_rows
from hedgerow.verification.counting.tabulation import encoded
from hedgerow.verification.counting.tallies import Tallies
from hedgerow.verification.reading import cells, tables
from hedgerow.verification.reading.cells import (
    as_text,
    decoded,
    distinct_cells,
    kind_of,
    map_distinct,
    on_labels,
    read_as,
    trim,
    unguard,
    unguarded,
    without,
)
from hedgerow.verification.reading.link import read_link
from hedgerow.verification.reading.original import Original, positions, read_original
from hedgerow.verification.reading.places import Where
from hedgerow.verification.reading.published import _read_data
from hedgerow.verification.reading.tables import (
    arrow_table,
    check_quotes,
    columnar_parts,
    columnar_schema,
    open_columnar,
    stream_columnar,
)

QI = "quasi-identifier"


def chunks(*parts: Any, of: pa.DataType | None = None) -> pa.ChunkedArray:
    return pa.chunked_array([pa.array(part, of) for part in parts], of)


def labels(*parts: list[str | None]) -> pa.ChunkedArray:
    return pa.chunked_array([pa.array(part, pa.string()).dictionary_encode() for part in parts])


# -- what a column holds -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("kind", "held"),
    [
        (pa.string(), "text"),
        (pa.large_string(), "text"),
        (pa.string_view(), "text"),
        (pa.int8(), "number"),
        (pa.decimal128(9, 2), "number"),
        (pa.float64(), "float"),
        (pa.float32(), "float32"),
        (pa.bool_(), "truth"),
        (pa.date32(), "date"),
        (pa.timestamp("s"), "moment"),
        (pa.time32("s"), "other"),
        (pa.list_(pa.int8()), "other"),
        (pa.dictionary(pa.int32(), pa.string()), "text"),
        (pa.dictionary(pa.int32(), pa.int64()), "number"),
    ],
)
def test_kinds_of_columns(kind: pa.DataType, held: str) -> None:
    assert kind_of(chunks([], of=kind)) == held


@pytest.mark.parametrize(
    ("cells", "kind", "texts"),
    [
        ([1, None, -3], pa.int64(), ["1", None, "-3"]),
        (
            [1.5, math.nan, 2.0, math.inf, -math.inf, 1e22],
            pa.float64(),
            ["1.5", None, "2", "inf", "-inf", "1" + 22 * "0"],
        ),
        ([Decimal("1.50"), None], pa.decimal128(9, 2), ["1.5", None]),
        ([True, False, None], pa.bool_(), ["true", "false", None]),
        ([dt.date(2024, 2, 29)], pa.date32(), ["2024-02-29"]),
        ([dt.datetime(2024, 2, 29, 10, 30)], pa.timestamp("ns"), ["2024-02-29T10:30:00"]),
        ([dt.datetime(2024, 2, 29, 10, 30)], pa.timestamp("s", "Europe/Berlin"), ["2024-02-29T10:30:00+00:00"]),
        ([dt.time(22, 30), dt.time(22, 30, 0, 500000), None], pa.time64("us"), ["22:30:00", "22:30:00.5", None]),
        ([dt.time(22, 30, 10)], pa.time32("s"), ["22:30:10"]),
        ([" a ", None], pa.large_string(), [" a ", None]),
        ([["a", "b"], None], pa.list_(pa.string()), ["['a', 'b']", None]),
        ([b" x "], pa.binary(), ["b' x '"]),
    ],
)
def test_cells_as_text(cells: list[Any], kind: pa.DataType, texts: list[str | None]) -> None:
    column = pa.chunked_array([pa.array(cells, kind)])
    assert as_text(column).to_pylist() == texts
    assert as_text(column).type == pa.string()
    if not pa.types.is_nested(kind):
        assert as_text(column.dictionary_encode()).to_pylist() == texts


def test_nanoseconds_are_cut() -> None:
    column = pa.chunked_array([pa.array([1_500_000_000_123_456_789], pa.timestamp("ns"))])
    assert as_text(column).to_pylist() == ["2017-07-14T02:40:00.123456"]


def test_moments_are_compared_in_one_time_zone() -> None:
    summer = dt.datetime(2024, 7, 1, 12, tzinfo=dt.timezone(dt.timedelta(hours=2)))
    assert cells._write(summer) == "2024-07-01T10:00:00+00:00"
    assert cells._write(dt.datetime(2024, 7, 1, 12)) == "2024-07-01T12:00:00"


@pytest.mark.parametrize(
    ("kind", "texts"),
    [
        ("number", {" 1.50 ": "1.5", "x": "x", "1e2": "100"}),
        ("float", {"1e3": "1000", "0.1": "0.1", "nan": None, "x ": "x"}),
        ("float32", {"0.1": "0.10000000149011612", "1e99": "inf"}),
        ("truth", {"1": "true", "0": "false", "TRUE": "true", "no": "no"}),
        ("date", {"20240229": "2024-02-29", "2024-02-30": "2024-02-30"}),
        ("moment", {"2024-02-29 10:30": "2024-02-29T10:30:00", "2024-02-29T10:30Z": "2024-02-29T10:30:00+00:00"}),
        ("text", {" x ": "x"}),
        ("other", {" x ": "x", "1.50": "1.50"}),
    ],
)
@pytest.mark.filterwarnings("ignore:overflow")
def test_text_that_stands_for_something_else(kind: Any, texts: dict[str, str | None]) -> None:
    assert {text: read_as(kind)(text) for text in texts} == texts


def test_dictionaries_of_several_chunks() -> None:
    column = pa.chunked_array([*labels(["a", "b"]).chunks, *labels(["c", "a", None]).chunks])
    assert decoded(column).to_pylist() == ["a", "b", "c", "a", None]
    views = pa.chunked_array([pa.DictionaryArray.from_arrays(pa.array([1, 0]), pa.array(["x", "y"], pa.string_view()))])
    assert decoded(views).to_pylist() == ["y", "x"]
    assert decoded(views).type == pa.string()
    assert map_distinct(column, str.upper).to_pylist() == ["A", "B", "C", "A", None]
    assert map_distinct(decoded(column), str.upper).to_pylist() == ["A", "B", "C", "A", None]
    assert map_distinct(chunks(of=pa.string()), str.upper).to_pylist() == []
    assert distinct_cells(column)[1].tolist() == [0, 1, 2, 0, -1]
    assert distinct_cells(pa.chunked_array([], pa.string()))[1].tolist() == []


def test_missing_markers() -> None:
    for column in (chunks([" a ", "?", "", None]), labels([" a ", "?", "", None])):
        assert trim(column, []).to_pylist() == ["a", "?", "", None]
        assert trim(column, ["?", ""]).to_pylist() == ["a", None, None, None]
        assert without(column, ["?", ""]).to_pylist() == [" a ", None, None, None]
    assert on_labels(pa.chunked_array([], pa.dictionary(pa.int32(), pa.string())), lambda one: one).to_pylist() == []


def test_tables_in_memory() -> None:
    table = pa.table({"a": [1]})
    assert arrow_table(table) is table

    class Stream:
        def __arrow_c_stream__(self, requested_schema: Any = None) -> Any:
            return table.__arrow_c_stream__(requested_schema)

    assert arrow_table(Stream()).equals(table)
    with pytest.raises(DataError, match="Data of type list is not read"):
        arrow_table([1])


# -- files -------------------------------------------------------------------------------------------------------------


def test_quotes_come_in_pairs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tables, "BLOCK", 3)
    path = tmp_path / "file.csv"
    for content, closed in (("a,b\n", True), ('"a","b"\n', True), ('"a","b\n', False), ('a""b"c\n', False)):
        path.write_text(content, encoding="utf-8")
        if closed:
            check_quotes(path)
        else:
            with pytest.raises(DataError, match="A quotation mark is not closed"):
                check_quotes(path)


def test_folders_of_parquet_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tables, "PARTS_AT_ONCE", 2)
    with pytest.raises(DataError, match="holds no Parquet file"):
        columnar_parts(tmp_path)
    for number in range(5):
        pq.write_table(pa.table({"a": [number], "b": [str(number)]}), tmp_path / f"part-{number}.parquet")
    for name in ("_SUCCESS", "_x.parquet", ".x.parquet", "notes.txt"):
        (tmp_path / name).touch()
    assert [part.name for part in columnar_parts(tmp_path)] == [f"part-{number}.parquet" for number in range(5)]
    assert columnar_parts(tmp_path / "part-0.parquet") == [tmp_path / "part-0.parquet"]
    assert open_columnar("parquet", tmp_path).table([0, 1]).to_pydict() == {
        "a": [0, 1, 2, 3, 4],
        "b": ["0", "1", "2", "3", "4"],
    }
    assert [batch.to_pydict() for batch in stream_columnar(tmp_path / "part-3.parquet", "parquet", [1])] == [
        {"b": ["3"]}
    ]
    pq.write_table(pa.table({"a": [1]}), tmp_path / "part-4.parquet")  # alone among those that are read at once
    with pytest.raises(DataError, match="do not have the same columns"):
        columnar_schema(tmp_path, "parquet")


PLAN = Plan.from_dict({"attributes": {"x": QI, "s": "sensitive"}, "privacy": {"k": 2}})
MARKED = DataFormat(missing=("?",))


def test_release_files(tmp_path: Path) -> None:
    (tmp_path / "data.csv").write_text("x,'=s,z,x\n'=a,1,2,3\n'a,,5,6\n", encoding="utf-8")
    header, columns, kinds, rows = _read_data(tmp_path / "data.csv", PLAN)
    assert header == ("x", "=s", "z", "x")
    assert {name: column.to_pylist() for name, column in columns.items()} == {"x": ["=a", "'a"]}  # the first of two
    assert (kinds, rows) == ({"x": "text"}, 2)
    pq.write_table(pa.table({"x": ["'=a", None], "z": [1, 2], "s": [1.5, 2.0]}), tmp_path / "data.parquet")
    header, columns, kinds, rows = _read_data(tmp_path / "data.parquet", PLAN)
    assert header == ("x", "z", "s")
    assert {name: column.to_pylist() for name, column in columns.items()} == {"x": ["'=a", None], "s": ["1.5", "2"]}
    assert (kinds, rows) == ({"x": "text", "s": "float"}, 2)


def test_guards_against_spreadsheets() -> None:
    cells = {"'=x": "=x", "''=x": "'=x", "'-5": "-5", "-5": "-5", "'tis": "'tis", "'": "'", "'＋x": "＋x"}  # noqa: RUF001
    assert {text: unguard(text) for text in cells} == cells
    assert unguarded(chunks(list(cells))).to_pylist() == list(cells.values())


def test_columns_of_the_original() -> None:
    assert positions(["a", "b", "c"], ["c", "a"], "here") == {"c": 2, "a": 0}
    with pytest.raises(DataError) as error:
        positions(["a", "b", "a"], ["b", "a", "d"], "here")
    assert [problem.code for problem in error.value.problems] == ["duplicate-column", "missing-column"]
    assert "2 columns named 'a'" in error.value.problems[0].message


def test_originals(tmp_path: Path) -> None:
    table = pa.table({"s": [1.50, 2.0], "z": [1, 2], "x": [" a ", "?"]})
    plan = Plan.from_dict({"data": {"missing": ["?"]}, "attributes": {"x": QI, "s": "sensitive"}, "privacy": {"k": 2}})
    pq.write_table(table, tmp_path / "data.PQ")
    with pa.ipc.new_file(tmp_path / "data.arrow", table.schema) as file:
        file.write_table(table)
    (tmp_path / "data.txt").write_text(" s |z| x \n1.5|1| a \n2|2|?\n", encoding="utf-8")
    for source in (table, tmp_path / "data.PQ", tmp_path / "data.arrow", str(tmp_path / "data.txt")):
        found = read_original(source, plan)
        cells = {name: column.to_pylist() for name, column in found.columns.items()}
        assert cells == {"x": ["a", None], "s": ["1.5", "2"]}
        assert found.records == 2
        assert found.kinds["x"] == "text"
        assert found.missing("x") == 1
    with pytest.raises(DataError, match="does not exist"):
        read_original(tmp_path, plan)


def test_missing_cells_of_a_counted_original() -> None:
    found = Original({"x": chunks(["a", None, None])}, {"x": "text"}, 12, np.array([5, 4, 3]))
    assert found.missing("x") == 7
    assert set(found.distinct("x")) == {"a", None}


def test_link_tables(tmp_path: Path) -> None:
    path = tmp_path / "link.csv"
    path.write_text("record, row\n3,1\n1,2\n", encoding="utf-8")
    table = pa.table({"row": [1, 2], "record": [3, 1]})
    for source in (path, str(path), table, ([3, 1], [1, 2]), [np.array([3, 1]), np.array([1, 2])]):
        found = read_link(source)
        assert (found.record.tolist(), found.row.tolist()) == ([3, 1], [1, 2])
    assert read_link(([], [])).record.dtype == np.int64
    path.write_text("record,row\n3,x\n", encoding="utf-8")
    (tmp_path / "other.csv").write_text("row,record\n3,1\n", encoding="utf-8")
    wrong: list[Any] = [path, tmp_path / "other.csv", ([1.5], [1]), ([[1]], [[1]]), table.select(["row"])]
    for source in wrong:
        with pytest.raises(DataError, match="must have two columns of whole numbers"):
            read_link(source)


# -- numbers for cells and rows ----------------------------------------------------------------------------------------


def test_numbers_of_cells_and_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    one, other = number_cells(labels(["a", None], ["b"]), labels(["b", "c", None]))
    assert (one.tolist(), other.tolist()) == ([0, -1, 1], [1, 2, -1])
    nothing = labels(["a"]).slice(0, 0)
    assert [part.tolist() for part in number_cells(nothing, nothing)] == [[], []]
    columns = [(np.array([4, 4, -1]), np.array([-1, 4])), (np.array([0, 1, 0]), np.array([0, 0]))]
    found = number_rows(columns, 3, 2)
    assert [found[0].tolist(), found[1].tolist(), found[2]] == [[1, 2, 0], [0, 1], 3]
    for largest in (0, 1, 11, 12, 13):  # keys that would be too large are numbered anew on the way
        monkeypatch.setattr("hedgerow.verification.counting.numbering.LARGEST_KEY", largest)
        again = number_rows(columns, 3, 2)
        assert [again[0].tolist(), again[1].tolist(), again[2]] == [[1, 2, 0], [0, 1], 3]
    assert [part.tolist() for part in number_rows([], 2, 1)[:2]] == [[0, 0], [0]]


def test_numbers_of_rows_do_not_overflow() -> None:
    """Of seven columns with a billion numbers each, keys would have some 210 bits."""
    column = (np.array([0, 10**9, 5, 10**9]), np.array([10**9, 0]))
    last = (np.array([0, 1, 0, 0]), np.array([1, 0]))
    one, other, size = number_rows([*[column] * 7, last], 4, 2)
    assert size == 4
    assert one.tolist() == [0, 3, 1, 2]
    assert other.tolist() == [3, 0]


def test_encoded_columns() -> None:
    for column in (chunks(["a", None, "a"], of=pa.large_string()), labels(["a", None, "a"])):
        assert encoded(column).type == pa.dictionary(pa.int32(), pa.string())
        assert encoded(column).to_pylist() == ["a", None, "a"]


# -- counting ----------------------------------------------------------------------------------------------------------


def test_kinds_that_a_database_declares() -> None:
    text, number = pa.array(["1.50"]), pa.array([1])
    assert read_kind(text, "decimal") == ("number", True)
    assert read_kind(text, "text") == ("text", False)
    assert read_kind(number, "decimal") == ("number", False)
    for declared, held in (("decimal", "1.5"), ("other", "1.50")):
        column, kind = text_of(text, declared)
        assert column.to_pylist() == [held]
        assert kind == ("number" if declared == "decimal" else "text")
    assert text_of(number)[0].to_pylist() == ["1"]


class Wrapped(pa.ExtensionType):  # type: ignore[misc]
    def __init__(self) -> None:
        super().__init__(pa.string(), "hedgerow.tests.wrapped")

    def __arrow_ext_serialize__(self) -> bytes:
        return b""

    @classmethod
    def __arrow_ext_deserialize__(cls, storage_type: pa.DataType, serialized: bytes) -> Wrapped:
        return cls()


def test_cells_of_any_type_get_numbers() -> None:
    wrapped = pa.ExtensionArray.from_storage(Wrapped(), pa.array(["a", "b"]))
    assert plain(wrapped).type == pa.string()
    assert plain(pa.array(["a"])).to_pylist() == ["a"]
    assert Encoder().encode(wrapped).tolist() == [0, 1]
    nested = pa.array([["a"], ["b"], ["a"], None])
    assert distinct(nested).to_pylist() == ["['a']", "['b']", "['a']", None]
    assert Encoder().encode(nested).tolist() == [0, 1, 0, -1]
    assert distinct(pa.array([1.5, 1.5])).dictionary.to_pylist() == [1.5]
    held = labels(["a", "b"]).chunk(0)
    assert distinct(held) is held
    twice = pa.DictionaryArray.from_arrays(pa.array([0, 1, None]), pa.array(["a", "a"]))
    assert Encoder().encode(twice).tolist() == [0, 0, -1]
    assert Encoder().encode(pa.array([1.0, math.nan, None])).tolist() == [0, -1, -1]


def test_encoders_go_on_from_batch_to_batch() -> None:
    encoder = Encoder("decimal")
    column = encoder.read([pa.array(["1.50", None]), pa.array(["1.5", "2"])])
    assert column.to_pylist() == ["1.5", None, "1.5", "2"]
    assert (encoder.kind, encoder.parse) == ("number", True)
    assert Encoder().read([]).to_pylist() == []
    assert Encoder().read([pa.array(["1.50"])]).to_pylist() == ["1.50"]


def shown(found: CountedRows) -> dict[str, Any]:
    cells = {name: column.to_pylist() for name, column in found.columns.items()}
    rows = list(zip(*cells.values(), found.counts.tolist(), strict=True))
    return {"rows": sorted(rows, key=str), "kinds": dict(found.kinds)}


def test_rows_that_were_counted() -> None:
    batches = [
        pa.record_batch({"c0": ["a", None], "c1": ["1.50", "2"], "p": [2, None], "n": [3, 4]}),
        pa.record_batch({"c0": ["a"], "c1": ["1.5"], "p": [1], "n": [5]}),
    ]
    found = collect(batches, ["x", "y"], ["text", "decimal"], person=True)
    assert shown(found) == {
        "rows": [("a", "1.5", 3), ("a", "1.5", 5), (None, "2", 4)],
        "kinds": {"x": "text", "y": "number"},
    }
    assert found.persons is not None
    assert found.persons.tolist() == [2, -1, 1]
    assert found.first is None
    assert collect(batches, ["x"], ["text"], person=False).persons is None
    nobody = collect([pa.record_batch({"n": [0]})], [], [], person=False)
    assert nobody.counts.tolist() == []
    assert collect([pa.record_batch({"n": [7]})], [], [], person=False).counts.tolist() == [7]
    assert collect([], ["x"], ["text"], person=False).counts.tolist() == []


def test_rows_are_counted_batch_by_batch() -> None:
    batches = [
        pa.record_batch({"x": ["b", "a", "b"], "p": ["P", "Q", "P"]}),
        pa.record_batch({"x": ["a", None, "b"], "p": ["Q", None, "O"]}),
    ]
    found = count(iter([batch.select(["x"]) for batch in batches]), ["x"])
    order = sorted(range(3), key=lambda row: found.first[row])  # type: ignore[index]
    assert [found.columns["x"].to_pylist()[row] for row in order] == ["b", "a", None]
    assert [found.counts.tolist()[row] for row in order] == [3, 2, 1]
    assert sorted(found.first.tolist()) == [1, 2, 5]  # type: ignore[union-attr]
    assert found.persons is None
    found = count(iter(batches), ["x"], person=True)
    rows = zip(found.columns["x"].to_pylist(), found.persons.tolist(), found.counts.tolist(), strict=True)  # type: ignore[union-attr]
    assert set(rows) == {("b", 2, 2), ("a", 3, 2), (None, -1, 1), ("b", 1, 1)}
    assert count(iter([]), ["x"]).counts.tolist() == []


def test_what_goes_wrong_while_rows_are_counted_is_told_as_it_was() -> None:
    def batches() -> Any:
        yield pa.record_batch({"x": ["a"]})
        raise DataError(Problem("format", "No table.", "here"))

    with pytest.raises(DataError, match="No table"):
        count(batches(), ["x"])


def test_fingerprints() -> None:
    tallies = Tallies.open()
    one, other, nothing = Fingerprints(tallies), Fingerprints(tallies), Fingerprints(tallies)
    one.add([chunks(["a", "a", None]), chunks(["x", "x", "y"])])
    one.add([chunks(["b"]), chunks(["x"])])
    other.add([chunks(["a", "c", "b", "b"]), chunks(["x", "x", "x", "x"])])
    assert (one.surplus(other), other.surplus(one)) == (2, 2)
    assert (one.surplus(nothing), nothing.surplus(one), one.surplus(one)) == (4, 0, 0)
    assert sorted(one.counts()[1].tolist()) == [1, 1, 2]
    tallies.close()


# -- statements in a database ------------------------------------------------------------------------------------------


class Lender(SqlDialect):
    """A database that runs what it is told."""

    text_type, binary = "VARCHAR", ""

    def __init__(self) -> None:
        self.connection = duckdb.connect()

    def quote(self, name: str) -> str:
        return f'"{name}"'

    def literal(self, text: str) -> str:
        return "'" + text.replace("'", "''") + "'"

    def ask(self, query: str) -> pa.Table:
        return self.connection.sql(query).to_arrow_table()

    def stream(self, query: str) -> Iterator[pa.RecordBatch]:
        yield from self.ask(query).to_batches()

    def put(self, name: str, cells: dict[str, Any], kinds: str) -> InDatabase:
        self.connection.register(name, pa.table(cells))
        return InDatabase(self, name, tuple(zip(cells, kinds.split(), strict=True)))


@pytest.fixture
def lender() -> Iterator[Lender]:
    there = Lender()
    yield there
    there.connection.close()


def test_rows_are_counted_in_the_database(lender: Lender) -> None:
    place = lender.put(
        "t1", {"x": ["a", " a", "a"], "f": [1.5, math.nan, 1.5], "p": ["Q", " ", "P "]}, "text float text"
    )
    rows = lender.ask(count_rows(place, ["x", "f"])).to_pylist()
    assert sorted(rows, key=str) == [{"c0": " a", "c1": None, "n": 1}, {"c0": "a", "c1": 1.5, "n": 2}]
    persons = lender.ask(count_rows(place, ["x"], "p", [""])).to_pylist()
    assert sorted(persons, key=str) == [
        {"c0": " a", "p": None, "n": 1},
        {"c0": "a", "p": 1, "n": 1},
        {"c0": "a", "p": 2, "n": 1},
    ]
    keys = lender.put("t2", {"p": [10, 9, 10]}, "integer")  # numbers stand in the order of numbers
    assert sorted(lender.ask(count_rows(keys, [], "p")).to_pylist(), key=str) == [{"p": 1, "n": 1}, {"p": 2, "n": 2}]
    assert lender.ask(count_rows(place, [])).to_pylist() == [{"n": 3}]
    assert lender.ask(count_rows(place, [], "f")).num_rows == 2
    assert lender.ask(fetch_rows(place, ["f", "x"])).to_pydict() == {"c0": [1.5, None, 1.5], "c1": ["a", " a", "a"]}


def test_what_is_no_number_is_missing_and_other_kinds_are_text(lender: Lender) -> None:
    place = lender.put("t1", {"o": [1, 2], "i": [1, 2], "t": ["a", "b"]}, "other integer text")
    found = lender.ask(fetch_rows(place, ["o", "i", "t"]))
    assert found.to_pydict() == {"c0": ["1", "2"], "c1": [1, 2], "c2": ["a", "b"]}


def test_surplus_in_the_database(lender: Lender) -> None:
    original = lender.put("o1", {"x": ["a ", "?", "b", ""], "n": [1, 2, 3, 4]}, "text integer")
    right = lender.put("r1", {"x": ["a", None, "b"], "n": [1, 2, 3]}, "text integer")
    assert lender.ask(count_surplus(right, original, ["x", "n"], DataFormat(missing=("?", "")))).to_pylist() == [
        {"n": 0}
    ]
    written = lender.put("r2", {"x": ["a", ""], "n": ["1", "4"]}, "text text")  # an empty text may be a missing value
    assert lender.ask(count_surplus(written, original, ["x", "n"], DataFormat(missing=("?", "")))).to_pylist() == [
        {"n": 0}
    ]
    wrong = lender.put("r3", {"x": ["a", "a", "?"], "n": [1, 1, 2]}, "text integer")
    assert lender.ask(count_surplus(wrong, original, ["x", "n"], DataFormat(missing=("?", "")))).to_pylist() == [
        {"n": 2}
    ]


def test_surplus_wherever_tables_lie(lender: Lender, tmp_path: Path) -> None:
    """The same in one database, in two, and in files."""
    cells: dict[str, Any] = {"x": ["a ", "?", "b"], "d": [1.5, 2.0, 3.0]}
    shown: dict[str, Any] = {"x": ["a", None, "'=b"], "d": ["1.50", "2", "3"]}
    other = Lender()
    form = Plan.from_dict({"attributes": {"x": QI}, "privacy": {"k": 2}}).data
    pq.write_table(pa.table(shown), tmp_path / "data.parquet")
    (tmp_path / "data.csv").write_text("x,d\na,1.50\n,2\n'=b,3\n", encoding="utf-8")
    originals = [
        open_original(where, form)
        for where in (
            lender.put("o1", cells, "text float"),
            InFile(pa.table(cells)),
            other.put("o1", cells, "text float"),
        )
    ]
    releases: list[Where] = [
        InFile(tmp_path / "data.parquet"),
        InFile(tmp_path / "data.csv"),
        lender.put("r1", shown, "text text"),
    ]
    tallies = Tallies.open()
    for original in originals:
        for where in releases[:2]:
            assert surplus(open_released(where), original, ["x", "d"], MARKED, tallies) == 1
            assert surplus(open_released(where), original, ["d"], MARKED, tallies) == 0
    assert surplus(open_released(releases[2]), originals[2], ["x", "d"], MARKED, tallies) == 1
    assert surplus(open_released(releases[2]), originals[0], ["x"], MARKED, tallies) == 1
    tallies.close()
    other.connection.close()


def test_counted_originals_and_releases(tmp_path: Path) -> None:
    plan = Plan.from_dict(
        {
            "data": {"missing": ["?"]},
            "attributes": {"p": "identifier", "x": QI, "s": "sensitive", "o": "other"},
            "privacy": {"k": 2},
            "person": "p",
        }
    )
    cells = {"p": ["Q ", "?", "P", "Q"], "x": ["a ", "b", "b", "a"], "s": [1, 2, 2, 1], "o": [1, 2, 3, 4]}
    table = pa.table({**cells, "p": pa.array(cells["p"]).dictionary_encode()})
    for source in (InFile(pa.table(cells)), InFile(table)):
        found = count_original(open_original(source, plan.data), plan, persons=True)
        assert found.persons is not None
        assert found.counts is not None
        rows = zip(
            found.columns["x"].to_pylist(), found.columns["s"].to_pylist(), found.persons, found.counts, strict=True
        )
        assert sorted(rows) == [("a", "1", 2, 1), ("a", "1", 2, 1), ("b", "2", -1, 1), ("b", "2", 1, 1)]
        assert (found.records, found.kinds) == (4, {"x": "text", "s": "number"})
        assert count_original(open_original(source, plan.data), plan, persons=False).persons is None
    (tmp_path / "data.csv").write_text("x,'=z,s\n'=a,1,5\nb,2,6\n'=a,3,5\n", encoding="utf-8")
    shown = count_released(open_released(InFile(tmp_path / "data.csv")), plan, {})
    assert shown.header == ("x", "=z", "s")
    assert shown.counts is not None
    assert shown.first is not None
    rows = zip(shown.columns["x"].to_pylist(), shown.columns["s"].to_pylist(), shown.counts, shown.first, strict=True)
    assert sorted(rows) == [("=a", "5", 2, 1), ("b", "6", 1, 2)]
    assert (shown.rows, shown.entries, shown.in_order) == (3, 2, True)
    pq.write_table(pa.table({"x": ["'=a"], "s": ["'=b"]}), tmp_path / "data.parquet")  # only CSV files are guarded
    stored = open_released(InFile(tmp_path / "data.parquet"))
    assert count_released(stored, plan, {}).columns["x"].to_pylist() == ["'=a"]
    assert [column.to_pylist() for batch in stored.batches(["s"]) for column, _ in batch] == [["'=b"]]
    with pytest.raises(DataError, match="does not exist"):
        open_original(InFile(tmp_path / "none.csv"), plan.data)
    with pytest.raises(DataError, match="no column 'o'"):
        count_original(open_original(InFile(pa.table({"x": ["a"], "s": [1]})), plan.data), plan, persons=False)


def test_originals_of_every_form(tmp_path: Path) -> None:
    form = Plan.from_dict({"attributes": {"x": QI}, "privacy": {"k": 2}}).data
    table = pa.table({"x": ["a", "b"], "n": [1, 2]})
    (tmp_path / "parts").mkdir()
    pq.write_table(table, tmp_path / "parts" / "part-0.parquet")
    pq.write_table(table, tmp_path / "data.PARQUET")
    with pa.ipc.new_file(tmp_path / "data.feather", table.schema) as file:
        file.write_table(table)
    (tmp_path / "data.csv").write_text(" x ;n\na;1\nb;2\n", encoding="utf-8")
    for name in ("parts", "data.PARQUET", "data.feather", "data.csv"):
        source = open_original(InFile(tmp_path / name), form)
        assert source.header == ("x", "n")
        (batch,) = source.batches(["n", "x"])
        assert [column.to_pylist() for column, _ in batch] == [["1", "2"], ["a", "b"]]
        assert source.count(["x"], None, ()).counts.tolist() == [1, 1]


def test_releases_without_columns_that_stay_as_they_are(tmp_path: Path) -> None:
    plan = Plan.from_dict({"attributes": {"x": QI}, "privacy": {"k": 2}})
    table = pa.table({"x": ["a", "a"]})
    pq.write_table(table, tmp_path / "data.parquet")
    found = verify_in_place(plan, {}, InFile(tmp_path / "data.parquet"), InFile(table))
    assert (found["unchanged"].found, found["unchanged"].kept) == ("so in 0 columns", True)
    (tmp_path / "data.parquet").write_bytes(b"no table")
    found = verify_in_place(plan, {}, InFile(tmp_path / "data.parquet"), InFile(table))
    assert [promise.name for promise in found] == ["readable"]
