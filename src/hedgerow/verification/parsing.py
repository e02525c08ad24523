"""Parsing the bytes of a release, of its original and of its link; run in a child process, on code of its own."""

from __future__ import annotations

import codecs
import csv
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NoReturn

from hedgerow.errors import DataError, Problem
from hedgerow.intake import is_text_encoding
from hedgerow.sandbox import Found
from hedgerow.sandbox.limits import LONGEST_NAME, MOST_BATCHES, MOST_COLUMNS, MOST_FOOTER, MOST_HEADER, ROOM, most_cells

if TYPE_CHECKING:
    import pyarrow as pa

BLOCK = 1 << 24
BATCH = 1 << 17


@dataclass(frozen=True)
class Dialect:
    """How a CSV file is written.

    Attributes
    ----------
    empty_is_missing
        Whether a cell that is empty and not quoted is read as missing, and an empty line as a row of such.
    """

    delimiter: str = ","
    quote: str = '"'
    encoding: str = "utf-8"
    empty_is_missing: bool = False

    @property
    def codec(self) -> str:
        """The encoding, such that a byte order mark is skipped."""
        return "utf-8-sig" if codecs.lookup(self.encoding).name == "utf-8" else self.encoding


# -- what is asked for -----------------------------------------------------------------------------------------------


def csv_header(request: Mapping[str, Any], files: Sequence[str]) -> Found:
    """Return the cells of the first row of a CSV file."""
    return Found({"cells": _header(Path(files[0]), request["place"], Dialect(**request["dialect"]))})


def csv_rows(request: Mapping[str, Any], files: Sequence[str]) -> Found:
    """Return some columns, by position, of a CSV file as text, without the first row."""
    import pyarrow as pa

    columns = request["columns"]
    schema = pa.schema([(f"f{position}", pa.string()) for position in columns])
    dialect = Dialect(**request["dialect"])
    return Found({}, schema, _rows(Path(files[0]), request["place"], dialect, columns, request["width"]))


def columnar_schema(request: Mapping[str, Any], files: Sequence[str]) -> Found:
    """Return the columns of Parquet or Arrow files, which must be the same."""
    place, kind = request["place"], request["kind"]
    return Found({}, _same_schema(files, kind, place, request["room"]))


def columnar_rows(request: Mapping[str, Any], files: Sequence[str]) -> Found:
    """Return columns, by position, of Parquet or Arrow files."""
    import pyarrow as pa

    place, kind, columns = request["place"], request["kind"], request["columns"]
    with _reading(place, kind):
        whole = _same_schema(files, kind, place, request["room"])
        wanted = range(len(whole.names)) if columns is None else columns
        schema = pa.schema([whole.field(position) for position in wanted])

    def batches() -> Iterator[pa.RecordBatch]:
        with _reading(place, kind):
            for file in files:
                yield from _columns(Path(file), kind, place, request["room"], columns)

    return Found({}, schema, batches())


# -- CSV -------------------------------------------------------------------------------------------------------------


def _header(path: Path, place: str, dialect: Dialect) -> list[str]:
    for part in (dialect.delimiter, dialect.quote):
        if not part.isascii():
            message = "The delimiter and the quotation mark of a CSV file must be ASCII characters."
            raise DataError(Problem("format", message, place, "change data.delimiter or data.quote"))
    if not is_text_encoding(dialect.encoding):
        message = f"Encoding {dialect.encoding!r} is not known, or is not one of text."
        raise DataError(Problem("encoding", message, place, "use utf-8, latin-1, cp1252, …"))
    try:
        with path.open(encoding=dialect.codec, newline="") as file:
            for row in csv.reader(_lines(file, place), delimiter=dialect.delimiter, quotechar=dialect.quote):
                if row:
                    return _bounded(row, place)
    except OSError as error:
        raise _not_there(place, error) from None
    except UnicodeError:
        _say_why(path, place, dialect)
    except (csv.Error, ValueError, TypeError):
        raise DataError(Problem("format", "The first row of the file is not CSV.", place)) from None
    raise DataError(Problem("empty", "The file is empty.", place, "it must have a header line"))


def _lines(file: Any, place: str) -> Iterator[str]:
    left = MOST_HEADER
    while line := file.readline(left + 1):
        left -= len(line)
        if left < 0:
            message = f"The first row of the file has more than {MOST_HEADER:,} characters."
            raise DataError(Problem("too-much", message, place, "check that it is a table, and its quotes"))
        yield line


def _bounded(names: list[str], place: str) -> list[str]:
    if len(names) > MOST_COLUMNS or any(len(name) > LONGEST_NAME for name in names):
        message = f"The file has more than {MOST_COLUMNS:,} columns, or one whose name is longer than {LONGEST_NAME:,}."
        raise DataError(Problem("too-much", message, place, "check the delimiter and the quotes"))
    return names


def _rows(path: Path, place: str, dialect: Dialect, columns: Sequence[int], width: int) -> Iterator[pa.RecordBatch]:
    import pyarrow as pa
    import pyarrow.csv as arrow_csv

    try:
        with arrow_csv.open_csv(path, **_options(dialect, columns, width)) as reader:
            header = 1
            for batch in reader:
                yield batch.slice(header)
                header = max(header - batch.num_rows, 0)
    except OSError as error:
        raise _not_there(place, error) from None
    except pa.ArrowMemoryError:
        raise MemoryError from None
    except (pa.ArrowException, ValueError, TypeError):  # UnicodeDecodeError is a ValueError
        _say_why(path, place, dialect)


def _options(dialect: Dialect, columns: Sequence[int], width: int) -> dict[str, Any]:
    import pyarrow as pa
    import pyarrow.csv as arrow_csv

    codec = "utf8" if dialect.codec == "utf-8-sig" else dialect.encoding
    return {
        "read_options": arrow_csv.ReadOptions(autogenerate_column_names=True, encoding=codec, block_size=BLOCK),
        "parse_options": _parse_options(dialect, None),
        "convert_options": arrow_csv.ConvertOptions(
            column_types={f"f{position}": pa.string() for position in range(width)},
            include_columns=[f"f{position}" for position in columns],
            null_values=[""] if dialect.empty_is_missing else [],
            strings_can_be_null=dialect.empty_is_missing,
            quoted_strings_can_be_null=False,
        ),
    }


def _parse_options(dialect: Dialect, handler: Callable[[Any], str] | None) -> Any:
    import pyarrow.csv as arrow_csv

    return arrow_csv.ParseOptions(
        delimiter=dialect.delimiter,
        quote_char=dialect.quote,
        double_quote=True,
        escape_char=False,
        newlines_in_values=True,
        ignore_empty_lines=not dialect.empty_is_missing,
        invalid_row_handler=handler,
    )


def _say_why(path: Path, place: str, dialect: Dialect) -> NoReturn:
    """Find out why a CSV file could not be read, and say so; the parser's own words may quote cells."""
    import pyarrow as pa
    import pyarrow.csv as arrow_csv

    decoder = codecs.getincrementaldecoder(dialect.codec)()
    with path.open("rb") as file:
        number = 1
        try:
            for line in file:
                decoder.decode(line)
                number += 1
            decoder.decode(b"", final=True)
        except UnicodeError:
            message = f"Line {number} is not text in {dialect.encoding}."
            raise DataError(Problem("encoding", message, f"{place}:{number}", "check data.encoding")) from None
    ragged: list[tuple[int, int, int]] = []

    def note(row: Any) -> str:
        ragged.append((row.number or 0, row.actual_columns, row.expected_columns))
        return "error"

    options = arrow_csv.ReadOptions(autogenerate_column_names=True, use_threads=False, block_size=BLOCK)
    with suppress(pa.ArrowException, ValueError, OSError, TypeError):
        arrow_csv.read_csv(path, options, _parse_options(dialect, note))
    if ragged:
        row, cells, expected = ragged[0]
        message = f"Row {row} (the header is row 1) has {cells} cells. The header has {expected}."
        raise DataError(Problem("ragged", message, place, "check the delimiter and the quotes"))
    raise DataError(Problem("format", "The file cannot be read as CSV.", place))


def _not_there(place: str, error: OSError) -> DataError:
    message = f"The file cannot be opened: {error.strerror or 'unreadable'}."
    return DataError(Problem("no-file", message, place, "check the path"))


# -- Parquet and Arrow -----------------------------------------------------------------------------------------------

Kind = Literal["parquet", "arrow"]
Batches = Callable[[Sequence[str] | None], Iterator["pa.RecordBatch"]]


def _same_schema(files: Sequence[str], kind: Kind, place: str, room: float) -> pa.Schema:
    with _reading(place, kind):
        schemas = [_open_columnar(Path(file), kind, place, room)[0] for file in files]
    if any(not schema.equals(schemas[0]) for schema in schemas):
        message = "The files of the folder do not have the same columns."
        raise DataError(Problem("format", message, place, "check that the folder holds one table"))
    return schemas[0]


def _columns(
    path: Path, kind: Kind, place: str, room: float, columns: Sequence[int] | None
) -> Iterator[pa.RecordBatch]:
    schema, batches = _open_columnar(path, kind, place, room)
    wanted = list(range(len(schema.names))) if columns is None else list(columns)
    names = [schema.names[position] for position in wanted]
    unique = len(set(schema.names)) == len(schema.names)  # of columns with one name all would be read
    most, rows = most_cells(path.stat().st_size, room), 0
    for batch in batches(names if unique else None):
        rows += batch.num_rows
        if rows * max(len(wanted), 1) > most:
            raise _too_many(most, place)
        batch.validate(full=True)  # before a column is touched
        yield batch.select(names if unique else wanted)


def _open_columnar(path: Path, kind: Kind, place: str, room: float) -> tuple[pa.Schema, Batches]:
    import pyarrow as pa

    if kind == "arrow":

        def arrow_batches(names: Sequence[str] | None) -> Iterator[pa.RecordBatch]:
            with pa.OSFile(str(path)) as source:
                reader = pa.ipc.open_file(source)
                for number in range(reader.num_record_batches):
                    yield reader.get_batch(number)

        with pa.OSFile(str(path)) as file:
            opened = pa.ipc.open_file(file)
            if opened.num_record_batches > MOST_BATCHES:
                raise _too_many(MOST_BATCHES, place)
            schema = opened.schema
        _bounded(list(schema.names), place)
        return schema, arrow_batches
    import pyarrow.parquet as pq

    bounds = {"thrift_string_size_limit": MOST_FOOTER, "thrift_container_size_limit": MOST_FOOTER}

    def parquet_batches(names: Sequence[str] | None) -> Iterator[pa.RecordBatch]:
        with pq.ParquetFile(path, **bounds) as source:
            yield from source.iter_batches(BATCH, columns=names)

    with pq.ParquetFile(path, **bounds) as file:
        schema, most = file.schema_arrow, most_cells(path.stat().st_size, room)
        _bounded(list(schema.names), place)
        if file.metadata.num_rows * max(len(schema.names), 1) > most:
            raise _too_many(most, place)
        return schema, parquet_batches


def _too_many(most: int, place: str) -> DataError:
    message = f"The file unpacks to more than {most:,} cells, too many for its size."
    return DataError(Problem("too-much", message, place, f"if you trust it, set {ROOM}=10 in the environment"))


@contextmanager
def _reading(place: str, kind: Kind) -> Iterator[None]:
    import pyarrow as pa

    try:
        yield
    except FileNotFoundError as error:
        raise _not_there(place, error) from None
    except (pa.ArrowMemoryError, MemoryError):
        raise MemoryError from None
    except (pa.ArrowException, OSError, ValueError, KeyError, IndexError, TypeError, OverflowError):
        name = "Parquet" if kind == "parquet" else "Arrow"
        message = f"The file cannot be read as {name}."
        raise DataError(Problem("format", message, place, "check that the file is whole")) from None
