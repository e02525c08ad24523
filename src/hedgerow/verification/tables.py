"""Reading tables to plain columns of text, without ever showing a cell in a message."""

from __future__ import annotations

import datetime as dt
import math
import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import numpy.typing as npt

from hedgerow import sandbox
from hedgerow.errors import DataError, Problem
from hedgerow.intake import open_regular
from hedgerow.sandbox.limits import room
from hedgerow.verification.numbers import exact, name_number, read_number
from hedgerow.verification.parsing import Dialect

if TYPE_CHECKING:
    import pyarrow as pa

IntArray = npt.NDArray[np.int64]
Kind = Literal["text", "number", "float", "float32", "truth", "date", "moment", "other"]
BLOCK = 1 << 24
PARTS_AT_ONCE = 100


# -- files, parsed in a child ----------------------------------------------------------------------------------------


def read_csv_header(path: Path, dialect: Dialect) -> list[str]:
    """Return the cells of the first row.

    Raises
    ------
    DataError
        ``no-file``, ``encoding``, ``empty``, ``format`` or ``too-much``.
    """
    with _ask("csv_header", [path], dialect=asdict(dialect)) as answer:
        return list(answer.facts["cells"])


def read_csv(path: Path, dialect: Dialect, columns: Sequence[int], width: int) -> list[pa.ChunkedArray]:
    """Read some columns, by position, of a CSV file with a header as text; rows stay in order.

    Raises
    ------
    DataError
        ``encoding`` with the line, ``ragged`` with the row, or ``format``.
    """
    with _ask("csv_rows", [path], dialect=asdict(dialect), columns=list(columns), width=width) as answer:
        table = answer.table()
    return [table.column(f"f{position}") for position in columns]


def stream_csv(path: Path, dialect: Dialect, columns: Sequence[int], width: int) -> Iterator[pa.RecordBatch]:
    """Read the same as :func:`read_csv`, batch by batch."""
    with _ask("csv_rows", [path], dialect=asdict(dialect), columns=list(columns), width=width) as answer:
        yield from answer.batches()


def check_quotes(path: Path) -> None:
    """Refuse a CSV file with a quotation mark that is not closed: the rest of it would be one cell."""
    with os.fdopen(open_regular(path, "The file"), "rb") as file:
        marks = sum(block.count(b'"') for block in iter(lambda: file.read(BLOCK), b""))
    if marks % 2:
        raise DataError(Problem("format", "A quotation mark is not closed.", str(path)))


def read_columnar(path: Path, kind: Literal["parquet", "arrow"]) -> pa.Table:
    """Read a Parquet file, a folder of Parquet files or an Arrow IPC file."""
    import pyarrow as pa

    schema = columnar_schema(path, kind)
    return pa.Table.from_batches(list(stream_columnar(path, kind)), schema)


def columnar_schema(path: Path, kind: Literal["parquet", "arrow"]) -> pa.Schema:
    """Return names and types of the columns, which are the same in every file of a folder."""
    schemas = []
    for parts in _some_at_once(columnar_parts(path)):
        with _ask("columnar_schema", parts, kind=kind, place=str(path)) as answer:
            schemas.append(answer.schema)
    if any(not schema.equals(schemas[0]) for schema in schemas):
        message = "The files of the folder do not have the same columns."
        raise DataError(Problem("format", message, str(path), "check that the folder holds one table"))
    return schemas[0]


def stream_columnar(
    path: Path, kind: Literal["parquet", "arrow"], columns: Sequence[int] | None = None
) -> Iterator[pa.RecordBatch]:
    """Read columns, by position, batch by batch; the files of a folder in the order of their names."""
    wanted = None if columns is None else list(columns)
    for parts in _some_at_once(columnar_parts(path)):
        with _ask("columnar_rows", parts, kind=kind, columns=wanted, place=str(path)) as answer:
            yield from answer.batches()


def columnar_parts(path: Path) -> list[Path]:
    """Return the Parquet files of a folder, by name, without those that say of themselves that they are no data."""
    if not path.is_dir():
        return [path]
    parts = sorted(part for part in path.glob("*.parquet") if part.name[0] not in "._")
    if not parts:
        raise DataError(Problem("format", "The folder holds no Parquet file.", str(path), "check that it is whole"))
    return parts


def _some_at_once(parts: Sequence[Path]) -> Iterator[Sequence[Path]]:
    return (parts[start : start + PARTS_AT_ONCE] for start in range(0, len(parts), PARTS_AT_ONCE))


def _ask(task: str, files: Sequence[Path], **request: Any) -> sandbox.Answer:
    request = {"place": str(files[0]), **request, "room": room()}
    return sandbox.run(f"hedgerow.verification.parsing:{task}", request, files, what="The file")


# -- tables in memory ------------------------------------------------------------------------------------------------


def arrow_table(source: Any) -> pa.Table:
    """Take over a table in memory."""
    import pyarrow as pa

    if isinstance(source, pa.Table):
        return source
    if hasattr(source, "__arrow_c_stream__"):
        return pa.table(source)
    message = f"Data of type {type(source).__name__} is not read."
    raise DataError(Problem("format", message, hint="give a path, or a pandas, polars or pyarrow table"))


# -- cells as text ---------------------------------------------------------------------------------------------------


def kind_of(column: pa.ChunkedArray) -> Kind:
    """Tell what a column holds."""
    import pyarrow as pa

    is_a = pa.types
    kind = column.type.value_type if is_a.is_dictionary(column.type) else column.type
    if is_a.is_string(kind) or is_a.is_large_string(kind) or is_a.is_string_view(kind):
        return "text"
    if is_a.is_integer(kind) or is_a.is_decimal(kind):
        return "number"
    if is_a.is_floating(kind):
        return "float" if is_a.is_float64(kind) else "float32"
    if is_a.is_boolean(kind):
        return "truth"
    if is_a.is_date(kind):
        return "date"
    return "moment" if is_a.is_timestamp(kind) else "other"


def as_text(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """Write the cells of a column as text, the same for equal values of different types; NaN is missing."""
    import pyarrow as pa

    if pa.types.is_dictionary(column.type):
        column = decoded(column)
    if pa.types.is_timestamp(column.type):  # Python knows no nanoseconds
        column = column.cast(pa.timestamp("us", column.type.tz), safe=False)
    if pa.types.is_time(column.type):  # nor of a time of day
        return map_distinct(column.cast(pa.string()), _without_zeros)
    if kind_of(column) == "text":
        return column.cast(pa.string())
    if pa.types.is_nested(column.type):
        return pa.chunked_array([pa.array(map(_write, column.to_pylist()), pa.string())])
    return map_distinct(column, _write)


def decoded(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """Undo dictionary encoding; a cast does not do it for views of text, as polars has them."""
    import pyarrow as pa

    kind = pa.string() if pa.types.is_string_view(column.type.value_type) else column.type.value_type
    return pa.chunked_array([chunk.dictionary.cast(kind).take(chunk.indices) for chunk in column.chunks], kind)


def _without_zeros(time: str | None) -> str | None:
    """Drop zeros at the end of a fraction of a second: how many there are is up to the type.

    Examples
    --------
    >>> _without_zeros("22:30:00.500"), _without_zeros("22:30:00"), _without_zeros("22:30:00.000")
    ('22:30:00.5', '22:30:00', '22:30:00')
    """
    return time.rstrip("0").rstrip(".") if time is not None and "." in time else time


def _write(value: Any) -> str | None:
    if value is None or value != value:
        return None
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int | Decimal):
        return name_number(exact(value))
    if isinstance(value, float):
        return repr(value) if math.isinf(value) else name_number(exact(Decimal(repr(value))))
    if isinstance(value, dt.datetime) and value.tzinfo is not None:
        value = value.astimezone(dt.UTC)
    return str(value.isoformat()) if hasattr(value, "isoformat") else str(value).strip()


def read_as(kind: Kind) -> Callable[[str], str | None]:
    """Return how a cell of text is brought to the form in which a value of some kind is written.

    Examples
    --------
    >>> read_as("number")("17000.00"), read_as("float")("1e3"), read_as("date")("20240229")
    ('17000', '1000', '2024-02-29')
    """

    def read(text: str) -> str | None:
        text = text.strip()
        try:
            if kind == "number":
                number = read_number(text)
                return text if number is None else name_number(number)
            if kind == "float":
                return _write(float(text))
            if kind == "float32":
                return _write(float(np.float32(float(text))))
            if kind == "truth":
                return {"1": "true", "0": "false"}.get(text, text.lower())
            if kind == "date":
                return dt.date.fromisoformat(text).isoformat()
            return _write(dt.datetime.fromisoformat(text)) if kind == "moment" else text
        except (ValueError, OverflowError):
            return text

    return read


def map_distinct(column: pa.ChunkedArray, change: Callable[[Any], str | None]) -> pa.ChunkedArray:
    """Change every distinct value of a column once."""
    import pyarrow as pa

    if pa.types.is_dictionary(column.type):
        return on_labels(column, lambda labels: map_distinct(labels, change))
    encoded = column.dictionary_encode().unify_dictionaries()
    chunks = []
    labels = None
    for chunk in encoded.chunks:
        if labels is None:
            labels = pa.array([None if v is None else change(v) for v in chunk.dictionary.to_pylist()], pa.string())
        chunks.append(labels.take(chunk.indices))
    return pa.chunked_array(chunks, pa.string())


def distinct_cells(column: pa.ChunkedArray) -> tuple[list[str], IntArray]:
    """Return the distinct cells of a text column and, row by row, which one it has; −1 is missing.

    Examples
    --------
    >>> import pyarrow as pa
    >>> distinct_cells(pa.chunked_array([["a", None], ["b", "a"]]))
    (['a', 'b'], array([ 0, -1,  1,  0]))
    """
    encoded = column.dictionary_encode().unify_dictionaries()
    if encoded.num_chunks == 0:
        return [], np.zeros(0, np.int64)
    parts = [chunk.indices.fill_null(-1).to_numpy(zero_copy_only=False).astype(np.int64) for chunk in encoded.chunks]
    return encoded.chunk(0).dictionary.to_pylist(), np.concatenate(parts)


def trim(column: pa.ChunkedArray, missing: Sequence[str]) -> pa.ChunkedArray:
    """Cut white space around the cells of a text column, and empty those that mean a missing value."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if pa.types.is_dictionary(column.type):
        return on_labels(column, lambda labels: trim(labels, missing))
    column = pc.utf8_trim_whitespace(column)
    return without(column, missing) if missing else pa.chunked_array(column.chunks, pa.string())


def without(column: pa.ChunkedArray, missing: Sequence[str]) -> pa.ChunkedArray:
    """Empty the cells of a text column that hold one of some texts."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if pa.types.is_dictionary(column.type):
        return on_labels(column, lambda labels: without(labels, missing))
    marked = pc.is_in(column, value_set=pa.array(list(missing), pa.string()))
    return pc.if_else(marked, pa.scalar(None, pa.string()), column)


def on_labels(column: pa.ChunkedArray, change: Callable[[pa.ChunkedArray], pa.ChunkedArray]) -> pa.ChunkedArray:
    """Change a dictionary-encoded column of text by its distinct cells; those that become the same are one then.

    Examples
    --------
    >>> import pyarrow as pa
    >>> column = pa.chunked_array([pa.array(["a", " a", "-", None]).dictionary_encode()])
    >>> changed = on_labels(column, lambda labels: trim(labels, ["-"]))
    >>> changed.to_pylist(), len(changed.chunk(0).dictionary)
    (['a', 'a', None, None], 1)
    """
    import pyarrow as pa

    whole = column.unify_dictionaries().combine_chunks()
    if isinstance(whole, pa.ChunkedArray):  # a column without chunks
        whole = pa.array([], column.type)
    labels = change(pa.chunked_array([whole.dictionary])).combine_chunks().dictionary_encode()
    indices = labels.indices.take(whole.indices)
    return pa.chunked_array([pa.DictionaryArray.from_arrays(indices, labels.dictionary)])
