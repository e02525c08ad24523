"""Parsing the bytes of a release or an original, by itself: what is read, and what is refused in which words."""

from __future__ import annotations

import csv
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from hedgerow.errors import DataError
from hedgerow.outside.sandbox import TaskResult
from hedgerow.verification.reading import columnar, delimited, refusals
from hedgerow.verification.reading.columnar import columnar_rows, columnar_schema
from hedgerow.verification.reading.delimited import Dialect, csv_header, csv_rows

RELEASE = Dialect(empty_is_missing=True)


def write(folder: Path, content: str | bytes) -> Path:
    path = folder / "file.csv"
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


def header(path: Path, dialect: Dialect = RELEASE) -> list[str]:
    request = {"place": "here", "dialect": asdict(dialect)}
    return list(csv_header(request, [str(path)]).facts["cells"])


def rows(path: Path, columns: Sequence[int], width: int, dialect: Dialect = RELEASE) -> list[tuple[Any, ...]]:
    request = {"place": "here", "dialect": asdict(dialect), "columns": list(columns), "width": width}
    found = csv_rows(request, [str(path)])
    assert schema_of(found).names == [f"f{position}" for position in columns]
    return cells_of(found)


def schema_of(found: TaskResult) -> pa.Schema:
    assert found.schema is not None
    return found.schema


def cells_of(found: TaskResult) -> list[tuple[Any, ...]]:
    return [
        row for batch in found.batches for row in zip(*(column.to_pylist() for column in batch.columns), strict=True)
    ]


def refused(error: pytest.ExceptionInfo[DataError]) -> tuple[str, str, str | None]:
    problem = error.value.problems[0]
    return problem.code, problem.message, problem.place


# -- CSV ---------------------------------------------------------------------------------------------------------------


def test_codecs_skip_a_byte_order_mark() -> None:
    assert [Dialect(encoding=name).codec for name in ("utf-8", "UTF8", "latin-1")] == [
        "utf-8-sig",
        "utf-8-sig",
        "latin-1",
    ]


@pytest.mark.parametrize(
    ("content", "cells"),
    [
        ("a,b\n1,2\n", ["a", "b"]),
        ("\n\r\na,b\n1,2\n", ["a", "b"]),  # a header is the first line that is not empty
        ("\ufeffa,b\n", ["a", "b"]),
        ('"a\nx","b,""c"\n', ["a\nx", 'b,"c']),
        ("a", ["a"]),
        ('""\n', [""]),
    ],
)
def test_headers(tmp_path: Path, content: str, cells: list[str]) -> None:
    assert header(write(tmp_path, content)) == cells


def test_headers_in_other_dialects(tmp_path: Path) -> None:
    path = write(tmp_path, "é;'b;c'\n".encode("latin-1"))
    assert header(path, Dialect(";", "'", "latin-1")) == ["é", "b;c"]


@pytest.mark.parametrize(
    ("content", "dialect", "code", "message"),
    [
        ("", RELEASE, "empty", "The file is empty."),
        ("\n\n", RELEASE, "empty", "The file is empty."),
        (
            "a,b\n",
            Dialect("·"),
            "format",
            "The delimiter and the quotation mark of a CSV file must be ASCII characters.",
        ),
        (
            "a,b\n",
            Dialect(quote="”"),
            "format",
            "The delimiter and the quotation mark of a CSV file must be ASCII characters.",
        ),
        ("a,b\n", Dialect(encoding="rot13"), "encoding", "Encoding 'rot13' is not known, or is not one of text."),
        ("a,b\n", Dialect(",,"), "format", "The first row of the file is not CSV."),
        (b"a,\xff\n", RELEASE, "encoding", "Line 1 is not text in utf-8."),
        (b"\n\na,\xff\n", RELEASE, "encoding", "Line 3 is not text in utf-8."),
        (b"\n\na,\xc3", RELEASE, "encoding", "Line 4 is not text in utf-8."),
    ],
)
def test_headers_that_are_refused(
    tmp_path: Path, content: str | bytes, dialect: Dialect, code: str, message: str
) -> None:
    path = write(tmp_path, content)
    with pytest.raises(DataError) as error:
        header(path, dialect)
    assert refused(error)[:2] == (code, message)


def test_a_header_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(DataError) as error:
        header(tmp_path / "none.csv")
    assert refused(error) == ("no-file", "The file cannot be opened: No such file or directory.", "here")
    with pytest.raises(DataError) as error:
        rows(tmp_path / "none.csv", [0], 1)
    assert refused(error)[0] == "no-file"


def test_a_header_has_so_many_characters_at_most(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(delimited, "MOST_HEADER", 8)
    assert header(write(tmp_path, '"a\nb",c\nmore and more\n')) == ["a\nb", "c"]
    assert header(write(tmp_path, '"a\nbc",d')) == ["a\nbc", "d"]  # exactly 8
    for content in ('"a\nbcd",e', "abcd,efgh", "abcd,efg\n"):
        with pytest.raises(DataError) as error:
            header(write(tmp_path, content))
        assert refused(error)[0] == "too-much"


def test_columns_and_their_names_are_bounded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(refusals, "MOST_COLUMNS", 3)
    monkeypatch.setattr(refusals, "LONGEST_NAME", 4)
    assert header(write(tmp_path, "a,b,long\n")) == ["a", "b", "long"]
    for content in ("a,b,c,d\n", "a,longer\n"):
        with pytest.raises(DataError) as error:
            header(write(tmp_path, content))
        assert refused(error)[0] == "too-much"


def test_rows_without_the_header(tmp_path: Path) -> None:
    path = write(tmp_path, 'a,b,c\n1,"2,""x""",3\n,"",6\n"7\n8",9,\n')
    found = [("3", "1"), ("6", None), (None, "7\n8")]
    assert rows(path, [2, 0], 3) == found
    assert rows(path, [1], 3) == [('2,"x"',), ("",), ("9",)]
    assert rows(path, [2, 0], 3, Dialect()) == [("3", "1"), ("6", ""), ("", "7\n8")]  # an original trims by itself
    assert rows(write(tmp_path, "a,b\n"), [0, 1], 2) == []


def test_an_empty_line_is_a_row_only_where_empty_is_missing(tmp_path: Path) -> None:
    path = write(tmp_path, "a\n1\n\n2\n")
    assert rows(path, [0], 1) == [("1",), (None,), ("2",)]
    assert rows(path, [0], 1, Dialect()) == [("1",), ("2",)]


def test_backslashes_mean_nothing(tmp_path: Path) -> None:
    assert rows(write(tmp_path, 'a,b\n"x\\",y\n'), [0, 1], 2) == [("x\\", "y")]


def test_numbers_and_dates_stay_text(tmp_path: Path) -> None:
    path = write(tmp_path, "a,b\n007,2020-01-01\nNA,true\n")
    assert rows(path, [0, 1], 2) == [("007", "2020-01-01"), ("NA", "true")]


def test_rows_of_several_blocks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The header is cut off once, whatever blocks there are."""
    monkeypatch.setattr(delimited, "PIECE", 7)
    monkeypatch.setattr(delimited, "BATCH", 3)
    path = write(tmp_path, "a,b\n" + "".join(f"{number},x{number}\n" for number in range(200)))
    assert rows(path, [0, 1], 2) == [(str(number), f"x{number}") for number in range(200)]
    path = write(tmp_path, "a,b\n" + "".join(f'{number},"x\n{number},\n"\n' for number in range(200)))
    assert rows(path, [0, 1], 2) == [(str(number), f"x\n{number},\n") for number in range(200)]


def test_rows_in_another_encoding(tmp_path: Path) -> None:
    path = write(tmp_path, "é;b\nü;'1;2'\n".encode("latin-1"))
    assert rows(path, [0, 1], 2, Dialect(";", "'", "latin-1")) == [("ü", "1;2")]
    assert rows(write(tmp_path, "\ufeffa,b\nü,1\n"), [0, 1], 2, Dialect(encoding="UTF8")) == [("ü", "1")]


@pytest.mark.parametrize(
    ("content", "code", "message"),
    [
        ("a,b\n1,2\n3\n", "ragged", "Row 3 (the header is row 1) has 1 cells. The header has 2."),
        ("a,b\n1,2,3\n4\n", "ragged", "Row 2 (the header is row 1) has 3 cells. The header has 2."),
        (b"a,b\n1,2\n3,\xff\n", "encoding", "Line 3 is not text in utf-8."),
        (b"a,b\n1,2\n3,\xc3", "encoding", "Line 4 is not text in utf-8."),
    ],
)
def test_rows_that_are_refused(tmp_path: Path, content: str | bytes, code: str, message: str) -> None:
    path = write(tmp_path, content)
    with pytest.raises(DataError) as error:
        rows(path, [0, 1], 2)
    assert refused(error)[:2] == (code, message)


def test_cells_are_never_quoted(tmp_path: Path) -> None:
    path = write(tmp_path, "a,b\nAlice,2,3\n")
    with pytest.raises(DataError) as error:
        rows(path, [0, 1], 2)
    assert "Alice" not in str(error.value)
    with pytest.raises(DataError) as error:  # columns that the file does not have
        rows(write(tmp_path, "a,b\nAlice,2\n"), [2], 3)
    assert refused(error) == ("format", "The file cannot be read as CSV.", "here")


def test_cells_are_bounded_and_the_bound_of_the_process_is_put_back(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(delimited, "LONGEST", 5)
    before = csv.field_size_limit()
    assert rows(write(tmp_path, "a,b\n12345,2\n"), [0], 2) == [("12345",)]
    for read in (header, lambda path: rows(path, [0], 2)):
        for content in ("123456,b\n", '"1\n3\n56",b\n'):
            with pytest.raises(DataError) as error:
                read(write(tmp_path, content))
            assert refused(error)[:2] == ("too-much", "A cell of the file has more than 5 characters.")
    assert csv.field_size_limit() == before
    monkeypatch.setattr(delimited, "LONGEST", 1 << 20)
    long = "x" * (before + 1)
    assert rows(write(tmp_path, f"a\n{long}\n"), [0], 1) == [(long,)]


def test_rows_are_bounded_some_at_a_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also in columns that nobody wants, and in a row that never ends; what went before counts no more."""
    monkeypatch.setattr(delimited, "PIECE", 2)
    monkeypatch.setattr(delimited, "MOST_OF_PIECE", 20)
    assert rows(write(tmp_path, "a,b\n1,2\n" * 10), [0], 2) == [("1",), *[("a",), ("1",)] * 9]
    for content in ("a,b\n1,2345678901234567\n", 'a,b\n1,2\n3,"456\n789\n,\n456\n789\n"\n', "a,b\n1" + "," * 30):
        with pytest.raises(DataError) as error:
            rows(write(tmp_path, content), [0], 2)
        assert refused(error)[:2] == ("too-much", "2 rows of the file have more than 20 characters.")


@pytest.mark.parametrize(
    ("content", "dialect", "cells"),
    [
        ('a,b\n"",\n,""\n', RELEASE, [("", None), (None, "")]),
        ('a,b\n"a"",b",""\n"","\n"",\n"\n,""""\n', RELEASE, [('a",b', ""), ("", '\n",\n'), (None, '"')]),
        ('a,b\n""x,\n"",x""\n', RELEASE, [("x", None), ("", 'x""')]),
        ('a,b\n\n"",1\n', RELEASE, [(None, None), ("", "1")]),
        ("a;b\r\n'';\r\n;''\r\n", Dialect(";", "'", empty_is_missing=True), [("", None), (None, "")]),
        ("a^b\n||^\n^||\n", Dialect("^", "|", empty_is_missing=True), [("", None), (None, "")]),
        ("a]b\n\\\\]\n]\\\\\n", Dialect("]", "\\", empty_is_missing=True), [("", None), (None, "")]),
    ],
)
def test_a_quoted_empty_cell_is_not_missing(
    tmp_path: Path, content: str, dialect: Dialect, cells: list[tuple[Any, ...]]
) -> None:
    assert rows(write(tmp_path, content), [0, 1], 2, dialect) == cells


def test_lines_end_with_any_of_three_signs(tmp_path: Path) -> None:
    for dialect in (RELEASE, Dialect()):
        path = write(tmp_path, 'a,b\r1,"\r"\n2,"\r\n"\r\n3,\x0b\x1c\u2028\x00')
        assert rows(path, [0, 1], 2, dialect) == [("1", "\r"), ("2", "\r\n"), ("3", "\x0b\x1c\u2028\x00")]


def test_an_empty_line_is_no_header_of_a_release(tmp_path: Path) -> None:
    path = write(tmp_path, "\na\n1\n")
    with pytest.raises(DataError) as error:
        rows(path, [0], 1)
    assert refused(error)[:2] == ("format", "The file cannot be read as CSV.")
    assert rows(path, [0], 1, Dialect()) == [("1",)]


def test_bytes_that_are_no_text_count_in_columns_that_are_read(tmp_path: Path) -> None:
    path = write(tmp_path, b"a,b\n1,2\n\xff,4\n")
    assert rows(path, [1], 2) == [("2",), ("4",)]
    for columns, encoding in (([0], "utf-8"), ([1], "ascii")):
        with pytest.raises(DataError) as error:
            rows(path, columns, 2, Dialect(encoding=encoding))
        assert refused(error) == ("encoding", f"Line 3 is not text in {encoding}.", "here:3")


# -- Parquet and Arrow -------------------------------------------------------------------------------------------------

TABLE = pa.table({"a": [1, 2, 3], "b": ["x", None, "z"], "c": [1.5, 2.5, None]})


def put(path: Path, table: pa.Table = TABLE, batch: int | None = None) -> str:
    if path.suffix == ".parquet":
        pq.write_table(table, path)
    else:
        with pa.ipc.new_file(path, table.schema) as file:
            file.write_table(table, max_chunksize=batch)
    return str(path)


def request(kind: str, columns: list[int] | None = None, room: float = 1) -> dict[str, Any]:
    return {"place": "here", "kind": kind, "columns": columns, "room": room}


KINDS = ["parquet", "arrow"]


@pytest.mark.parametrize("kind", KINDS)
def test_columnar_files(tmp_path: Path, kind: str) -> None:
    files = [put(tmp_path / f"1.{kind}"), put(tmp_path / f"2.{kind}", TABLE.slice(1))]
    assert schema_of(columnar_schema(request(kind), files)).equals(TABLE.schema)
    everything = columnar_rows(request(kind), files)
    assert schema_of(everything).equals(TABLE.schema)
    assert cells_of(everything) == [(1, "x", 1.5), (2, None, 2.5), (3, "z", None), (2, None, 2.5), (3, "z", None)]
    some = columnar_rows(request(kind, [2, 0]), files[:1])
    assert schema_of(some).names == ["c", "a"]
    assert cells_of(some) == [(1.5, 1), (2.5, 2), (None, 3)]


@pytest.mark.parametrize("kind", KINDS)
def test_columns_of_one_name_are_told_by_position(tmp_path: Path, kind: str) -> None:
    table = pa.Table.from_arrays([pa.array([1, 2]), pa.array([3, 4]), pa.array([5, 6])], names=["x", "y", "x"])
    files = [put(tmp_path / f"1.{kind}", table)]
    assert cells_of(columnar_rows(request(kind, [2]), files)) == [(5,), (6,)]
    assert cells_of(columnar_rows(request(kind, [1, 0]), files)) == [(3, 1), (4, 2)]
    assert cells_of(columnar_rows(request(kind), files)) == [(1, 3, 5), (2, 4, 6)]


@pytest.mark.parametrize("kind", KINDS)
def test_files_of_one_table_have_the_same_columns(tmp_path: Path, kind: str) -> None:
    files = [put(tmp_path / f"1.{kind}"), put(tmp_path / f"2.{kind}", TABLE.select(["a", "b"]))]
    for ask in (columnar_schema, columnar_rows):
        with pytest.raises(DataError) as error:
            ask(request(kind), files)
        assert refused(error) == ("format", "The files of the folder do not have the same columns.", "here")


@pytest.mark.parametrize(("kind", "name"), [("parquet", "Parquet"), ("arrow", "Arrow")])
def test_columnar_files_that_are_none(tmp_path: Path, kind: str, name: str) -> None:
    (tmp_path / "file").write_bytes(b"PAR1 and nothing else")
    with pytest.raises(DataError) as error:
        columnar_schema(request(kind), [str(tmp_path / "file")])
    assert refused(error) == ("format", f"The file cannot be read as {name}.", "here")
    with pytest.raises(DataError) as error:
        columnar_rows(request(kind), [str(tmp_path / "none")])
    assert refused(error)[0] == "no-file"


def test_memory_that_runs_out_is_not_a_fault_of_the_file() -> None:
    for error in (MemoryError, pa.ArrowMemoryError):
        with pytest.raises(MemoryError) as raised, columnar._reading("here", "parquet"):
            raise error
        assert type(raised.value) is MemoryError


@pytest.mark.parametrize("kind", KINDS)
def test_cells_of_columnar_files_are_bounded(tmp_path: Path, kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Three rows of three columns are nine cells; of an Arrow file those that are asked for count."""
    file = put(tmp_path / f"1.{kind}")

    def allow(cells: int) -> None:
        monkeypatch.setattr(columnar, "most_cells", lambda size, room: int(cells * room))

    allow(9)
    assert len(cells_of(columnar_rows(request(kind), [file]))) == 3
    allow(8)
    with pytest.raises(DataError) as error:
        cells_of(columnar_rows(request(kind), [file]))
    assert refused(error)[:2] == ("too-much", "The file unpacks to more than 8 cells, too many for its size.")
    assert len(cells_of(columnar_rows(request(kind, room=2), [file]))) == 3  # by the room that was asked for
    if kind == "parquet":  # which says at once how many there are
        with pytest.raises(DataError, match="more than 8 cells"):
            columnar_schema(request(kind), [file])
    else:
        allow(6)
        assert len(cells_of(columnar_rows(request(kind, [0, 1]), [file]))) == 3


def test_rows_are_counted_over_all_batches(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = put(tmp_path / "1.arrow", TABLE, batch=1)
    monkeypatch.setattr(columnar, "most_cells", lambda size, room: 6)
    found = columnar_rows(request("arrow"), [file]).batches
    assert [next(iter(found)).num_rows, next(iter(found)).num_rows] == [1, 1]
    with pytest.raises(DataError, match="more than 6 cells"):
        next(iter(found))


def test_rows_without_columns_count_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(columnar, "most_cells", lambda size, room: 2)
    file = put(tmp_path / "1.arrow")
    with pytest.raises(DataError, match="more than 2 cells"):
        list(columnar_rows(request("arrow", []), [file]).batches)
    monkeypatch.setattr(columnar, "most_cells", lambda size, room: 3)
    assert sum(batch.num_rows for batch in columnar_rows(request("arrow", []), [file]).batches) == 3


def test_batches_of_an_arrow_file_are_bounded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = put(tmp_path / "1.arrow", TABLE, batch=1)
    monkeypatch.setattr(columnar, "MOST_BATCHES", 3)
    assert schema_of(columnar_schema(request("arrow"), [file])).equals(TABLE.schema)
    monkeypatch.setattr(columnar, "MOST_BATCHES", 2)
    with pytest.raises(DataError, match="more than 2 cells"):
        columnar_schema(request("arrow"), [file])


@pytest.mark.parametrize("kind", KINDS)
def test_names_of_columns_are_bounded(tmp_path: Path, kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(refusals, "MOST_COLUMNS", 2)
    with pytest.raises(DataError) as error:
        columnar_schema(request(kind), [put(tmp_path / f"1.{kind}")])
    assert refused(error)[0] == "too-much"


def test_what_is_inside_is_validated(tmp_path: Path) -> None:
    """Bytes that are no text are found before a column is touched."""
    broken = pa.Array.from_buffers(
        pa.string(), 2, [None, pa.py_buffer(b"\0\0\0\0\x01\0\0\0\x02\0\0\0"), pa.py_buffer(b"a\xff")]
    )
    schema = pa.schema([("a", pa.string())])
    with pa.ipc.new_file(tmp_path / "1.arrow", schema) as file:
        file.write_batch(pa.RecordBatch.from_arrays([broken], schema=schema))
    with pytest.raises(DataError) as error:
        list(columnar_rows(request("arrow"), [str(tmp_path / "1.arrow")]).batches)
    assert refused(error)[:2] == ("format", "The file cannot be read as Arrow.")
