"""Reading a table: CSV, Parquet, Arrow files, and anything that hands over an Arrow stream (pandas, polars, pyarrow).

Only the columns that the plan needs are read: identifiers never enter the process's tables. Messages name columns and
row numbers, never what a cell holds.
"""

from __future__ import annotations

import codecs
import csv
import os
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from hedgerow.errors import DataError, Problem, did_you_mean
from hedgerow.plan import DataFormat, Plan
from hedgerow.server import check_path, is_server, shown

if TYPE_CHECKING:
    import pyarrow as pa

DELIMITERS = (",", ";", "\t", "|")
MOST_COLUMNS = 10_000
CSV_BLOCK = 1 << 24


@dataclass(frozen=True)
class Table:
    """A table as it was read.

    Attributes
    ----------
    columns
        The columns that were read, by name; text is dictionary-encoded, trimmed, and null where missing.
    records
        Number of records.
    not_released
        Columns of the source that stay behind.
    format
        How the source is written, with everything found out filled in.
    counts
        How many records each row stands for, where an engine has collapsed the table; None: one each.
    """

    columns: dict[str, pa.ChunkedArray]
    records: int
    not_released: tuple[str, ...]
    format: DataFormat
    counts: npt.NDArray[np.int64] | None = None


def read_table(source: Any, plan: Plan, key: bool = False) -> Table:
    """Read the columns a plan needs from a path or a table in memory; the record key only if it is asked for."""
    check_file(source)
    also = (plan.person, plan.key if key else None)
    wanted = [*plan.released_columns, *dict.fromkeys(name for name in also if name is not None)]
    if isinstance(source, str | Path):
        table, names, form = _read_file(Path(source), plan.data, wanted, plan)
    else:
        table, names = _read_stream(source, wanted, plan)
        form = plan.data
    if table.num_rows == 0:
        raise DataError(Problem("empty", "The table has no records.", place_of(source), "give a table with records"))
    columns = {name: clean(table.column(name), plan.data.missing) for name in wanted}
    stay = tuple(name for name in names if name not in plan.released_columns)
    return Table(columns, table.num_rows, stay, form)


@dataclass(frozen=True)
class Batches:
    """A table that is read piece by piece.

    Attributes
    ----------
    names
        All columns of the source, in order.
    schema
        Those that the plan needs.
    batches
        The rows, once.
    format
        How the source is written, with everything found out filled in.
    """

    names: tuple[str, ...]
    schema: pa.Schema
    batches: Iterator[pa.RecordBatch]
    format: DataFormat


def read_batches(source: Any, plan: Plan) -> Batches:
    """Read the columns a plan needs piece by piece, as they are written: text is not cleaned yet."""
    import pyarrow as pa

    wanted = list(dict.fromkeys([*plan.released_columns, *([plan.person] if plan.person is not None else [])]))
    if not isinstance(source, str | Path):
        table, names = _read_stream(source, wanted, plan)
        check_types(table.schema, place_of(source))
        return Batches(names, table.schema, iter(table.to_batches()), plan.data)
    path, form = Path(source), plan.data
    kind = _existing_kind(path, form)
    if kind == "csv":
        form = _resolved(path, form)
        names = tuple(_header(path, form))
        check_columns(names, plan, str(path), form.delimiter)
        schema = pa.schema([(name, pa.string()) for name in wanted])
        return Batches(names, schema, _csv_batches(path, form, names, wanted), form)
    file = _open_columnar(path, kind)
    whole = _arrow_schema(file, kind)
    names = tuple(whole.names)
    check_columns(names, plan, str(path))
    schema = pa.schema([whole.field(name) for name in wanted])
    check_types(schema, str(path))
    return Batches(names, schema, _columnar_batches(path, file, kind, wanted), form)


def column_names(source: Any, form: DataFormat) -> tuple[str, ...]:
    """Return the column names of a source without reading its rows."""
    check_file(source)
    if not isinstance(source, str | Path):
        return tuple(_stream_table(source).column_names)
    return tuple(file_schema(Path(source), form).names)


def file_schema(path: Path, form: DataFormat) -> pa.Schema:
    """Return the columns of a file with their types, without reading its rows; those of a CSV file are text."""
    import pyarrow as pa

    kind = file_kind(path, form)
    if kind == "csv":
        return pa.schema([(name, pa.string()) for name in _header(path, _resolved(path, form))])
    return _arrow_schema(_open_columnar(path, kind), kind)


def _arrow_schema(file: Any, kind: str) -> pa.Schema:
    """Return the columns of an open file; Parquet's own names are those of the parts of nested columns."""
    return file.schema_arrow if kind == "parquet" else file.schema


def check_file(source: Any) -> None:
    """Refuse the address of a server where a file is read: as a path it would be shown, with its password."""
    check_path(source)
    if is_server(source):
        message = "This reads files and tables in memory, not a table on a server."
        raise DataError(Problem("usage", message, shown(source), "export the table to a file first"))


def dictionary_encoded(column: pa.ChunkedArray) -> pa.DictionaryArray:
    """Return a column as one array of distinct values and, per record, which one it has."""
    import pyarrow as pa

    encoded = column if pa.types.is_dictionary(column.type) else column.dictionary_encode()
    return encoded.chunk(0) if encoded.num_chunks == 1 else encoded.unify_dictionaries().combine_chunks()


# -- files -----------------------------------------------------------------------------------------------------------


def _read_file(
    path: Path, form: DataFormat, wanted: list[str], plan: Plan
) -> tuple[pa.Table, tuple[str, ...], DataFormat]:
    kind = _existing_kind(path, form)
    if kind == "csv":
        form = _resolved(path, form)
        names = tuple(_header(path, form))
        check_columns(names, plan, str(path), form.delimiter)
        return _read_csv(path, form, names, wanted), names, form
    table = _open_columnar(path, kind)
    names = tuple(_arrow_schema(table, kind).names)
    check_columns(names, plan, str(path))
    try:
        if kind == "parquet":
            return table.read(columns=wanted), names, form
        return table.read_all().select(wanted), names, form
    except Exception:  # its text may hold cells
        raise _unreadable(path, kind) from None


def _existing_kind(path: Path, form: DataFormat) -> str:
    if path.is_dir():
        raise DataError(Problem("no-file", "The data is a folder, not a file.", str(path), "name a file"))
    if not path.exists():
        raise DataError(Problem("no-file", "The data file does not exist.", str(path), "check the path"))
    return file_kind(path, form)


def _columnar_batches(path: Path, file: Any, kind: str, wanted: list[str]) -> Iterator[pa.RecordBatch]:
    try:
        if kind == "parquet":
            yield from file.iter_batches(columns=wanted)
        else:
            yield from (file.get_batch(number).select(wanted) for number in range(file.num_record_batches))
    except Exception:  # its text may hold cells
        raise _unreadable(path, kind) from None


def file_kind(path: Path, form: DataFormat) -> str:
    """Return csv, parquet or arrow: what the plan says, or else by the file's ending."""
    by_ending = {".parquet": "parquet", ".pq": "parquet", ".arrow": "arrow", ".feather": "arrow", ".ipc": "arrow"}
    if form.format is not None:
        return form.format
    if path.suffix.lower() in (".gz", ".zip", ".bz2", ".xz", ".zst", ".xlsx", ".xls", ".json", ".sav", ".dta"):
        message = f"Files ending in {path.suffix} are not read."
        raise DataError(Problem("format", message, str(path), "give CSV, Parquet or Arrow, not compressed"))
    return by_ending.get(path.suffix.lower(), "csv")


def _open_columnar(path: Path, kind: str) -> Any:
    try:
        if kind == "parquet":
            import pyarrow.parquet as pq

            return pq.ParquetFile(path)
        import pyarrow as pa

        return pa.ipc.open_file(pa.memory_map(str(path)))
    except FileNotFoundError:
        raise DataError(Problem("no-file", "The data file does not exist.", str(path), "check the path")) from None
    except Exception:  # its text may hold cells
        raise _unreadable(path, kind) from None


def _unreadable(path: Path, kind: str) -> DataError:
    name = {"parquet": "Parquet", "arrow": "Arrow"}.get(kind, kind)
    hint = "check that the file is whole, or set data.format in the plan"
    return DataError(Problem("format", f"The file cannot be read as {name}.", str(path), hint))


def _resolved(path: Path, form: DataFormat) -> DataFormat:
    """Fill in the delimiter: the one of , ; tab | that stands most often in the header, outside quotes."""
    try:
        codecs.lookup(form.encoding)
    except LookupError:
        message = f"Encoding {form.encoding!r} is not known."
        raise DataError(Problem("encoding", message, str(path), "use utf-8, latin-1, cp1252, …")) from None
    if form.delimiter is not None:
        return form
    line = _first_line(path, form)
    outside = "".join(line.split(form.quote)[::2])
    counts = {delimiter: outside.count(delimiter) for delimiter in DELIMITERS}
    return form.model_copy(update={"delimiter": max(DELIMITERS, key=lambda d: counts[d])})


def _first_line(path: Path, form: DataFormat) -> str:
    try:
        with path.open(encoding=_codec(form), newline="") as file:
            for line in file:
                if line.strip():
                    return line.rstrip("\r\n")
    except OSError as error:
        raise DataError(Problem("no-file", f"The data cannot be opened: {error.strerror}.", str(path))) from None
    except UnicodeDecodeError:
        raise _undecodable(path, form) from None
    raise DataError(Problem("empty", "The file is empty.", str(path), "give a table with a header line"))


def _codec(form: DataFormat) -> str:
    return "utf-8-sig" if form.encoding.lower().replace("_", "-") in ("utf-8", "utf8") else form.encoding


def _header(path: Path, form: DataFormat) -> list[str]:
    try:
        with path.open(encoding=_codec(form), newline="") as file:
            for row in csv.reader(file, delimiter=form.delimiter or ",", quotechar=form.quote):
                if row:
                    return [name.strip() for name in row]
    except OSError as error:
        raise DataError(Problem("no-file", f"The data cannot be opened: {error.strerror}.", str(path))) from None
    except UnicodeDecodeError:
        raise _undecodable(path, form) from None
    except csv.Error:
        raise _unreadable(path, "csv") from None
    raise DataError(Problem("empty", "The file is empty.", str(path), "give a table with a header line"))


def _read_csv(path: Path, form: DataFormat, names: tuple[str, ...], wanted: list[str]) -> pa.Table:
    import pyarrow as pa
    import pyarrow.csv as arrow_csv

    ragged: list[int] = []
    text = pa.dictionary(pa.int32(), pa.string())
    with _in_our_words(path, form):
        table = arrow_csv.read_csv(path, **_csv_options(form, names, wanted, text, ragged))
    _refuse_ragged(path, form, names, wanted, ragged)
    return table


def _csv_batches(path: Path, form: DataFormat, names: tuple[str, ...], wanted: list[str]) -> Iterator[pa.RecordBatch]:
    import pyarrow as pa
    import pyarrow.csv as arrow_csv

    ragged: list[int] = []
    with _in_our_words(path, form):
        options = _csv_options(form, names, wanted, pa.string(), ragged)
        options["read_options"].block_size = CSV_BLOCK
        yield from arrow_csv.open_csv(path, **options)
    _refuse_ragged(path, form, names, wanted, ragged)


def _csv_options(
    form: DataFormat, names: tuple[str, ...], wanted: list[str], text: Any, ragged: list[int], threads: bool = True
) -> dict[str, Any]:
    """How to read a CSV file; rows with too few or too many cells are noted."""
    import pyarrow.csv as arrow_csv

    def note(row: Any) -> str:
        ragged.append(row.number or 0)
        return "skip"

    return {
        "read_options": arrow_csv.ReadOptions(
            encoding=_arrow_encoding(form), column_names=list(names), skip_rows=1, use_threads=threads
        ),
        "parse_options": arrow_csv.ParseOptions(
            delimiter=form.delimiter, quote_char=form.quote, newlines_in_values=True, invalid_row_handler=note
        ),
        "convert_options": arrow_csv.ConvertOptions(
            include_columns=wanted,
            column_types=dict.fromkeys(wanted, text),
            null_values=[],
            strings_can_be_null=False,
        ),
    }


@contextmanager
def _in_our_words(path: Path, form: DataFormat) -> Iterator[None]:
    """Say why a file could not be read; the parser's own words may quote cells."""
    import pyarrow as pa

    try:
        yield
    except pa.ArrowInvalid as error:
        if "UTF8" in str(error) or "decod" in str(error).lower() or "Cannot" in str(error):
            raise _undecodable(path, form) from None
        raise _unreadable(path, "csv") from None
    except OSError as error:
        if error.errno:  # else a draft would try another encoding
            message = f"The data cannot be read: {os.strerror(error.errno)}."
            raise DataError(Problem("no-file", message, str(path))) from None
        raise _undecodable(path, form) from None
    except UnicodeDecodeError:
        raise _undecodable(path, form) from None


def _refuse_ragged(path: Path, form: DataFormat, names: tuple[str, ...], wanted: list[str], ragged: list[int]) -> None:
    import pyarrow as pa
    import pyarrow.csv as arrow_csv

    if not ragged:
        return
    ragged.clear()
    text = pa.dictionary(pa.int32(), pa.string())
    with _in_our_words(path, form):  # row numbers are known only in a single thread
        arrow_csv.read_csv(path, **_csv_options(form, names, wanted, text, ragged, threads=False))
    shown = ", ".join(str(number - 1) for number in ragged[:3])
    message = (
        f"{len(ragged):,} rows do not have the {len(names)} cells of the header (first: record {shown}). "
        "Nothing was read."
    )
    raise DataError(Problem("ragged", message, str(path), "check the delimiter and the quotes of these rows"))


def _arrow_encoding(form: DataFormat) -> str:
    return "utf8" if _codec(form) == "utf-8-sig" else form.encoding


def _undecodable(path: Path, form: DataFormat) -> DataError:
    """Name the line at which the bytes stop being text in the stated encoding."""
    decoder = codecs.getincrementaldecoder(form.encoding)()
    number = 1
    try:
        with path.open("rb") as file:
            for line in file:
                decoder.decode(line)
                number += 1
            decoder.decode(b"", final=True)
    except UnicodeDecodeError:
        pass
    message = f"Line {number} is not text in {form.encoding}."
    hint = "set data.encoding in the plan, for example to latin-1 or cp1252"
    return DataError(Problem("encoding", message, f"{path}:{number}", hint))


# -- tables in memory ------------------------------------------------------------------------------------------------


def _read_stream(source: Any, wanted: list[str], plan: Plan) -> tuple[pa.Table, tuple[str, ...]]:
    table = _stream_table(source)
    names = tuple(table.column_names)
    check_columns(names, plan, place_of(source))
    return table.select(wanted), names


def _stream_table(source: Any) -> pa.Table:
    import pyarrow as pa

    if isinstance(source, pa.Table):
        return source
    if hasattr(source, "__arrow_c_stream__"):
        table = pa.table(source)
        return table.drop_columns([name for name in table.column_names if name.startswith("__index_level_")])
    message = f"Data of type {type(source).__name__} is not read."
    hint = "give a path, or a pandas, polars or pyarrow table"
    raise DataError(Problem("format", message, hint=hint))


def place_of(source: Any) -> str:
    """How messages name a source."""
    return str(source) if isinstance(source, str | Path) else "data"


# -- columns ---------------------------------------------------------------------------------------------------------


def check_columns(names: tuple[str, ...], plan: Plan, place: str, delimiter: str | None = None) -> None:
    """Refuse a table that lacks a column which the plan names, or has two of one name."""
    problems = []
    if len(names) > MOST_COLUMNS:
        problems.append(Problem("format", f"The table has more than {MOST_COLUMNS:,} columns.", place))
    for name, count in Counter(names).items():
        if count > 1:
            message = f"{count} columns are named {name!r}."
            problems.append(Problem("duplicate-column", message, place, "rename them apart"))
    asked = [*plan.attributes, *(name for name in (plan.key, plan.person) if name is not None)]
    missing = [name for name in dict.fromkeys(asked) if name not in names]
    for name in missing:
        hint = did_you_mean(name, names)
        if delimiter is not None and len(names) == 1:
            hint = f"the header has one column only when split at {delimiter!r}: set data.delimiter in the plan"
        message = f"The data has no column {name!r}, which the plan names."
        problems.append(Problem("missing-column", message, place, hint))
    if problems:
        raise DataError(problems)


def check_types(schema: pa.Schema, place: str) -> None:
    """Refuse columns of values that have no one way of being written."""
    import pyarrow as pa

    is_a = pa.types
    refused = {
        "lists or records": is_a.is_nested,
        "bytes": lambda kind: is_a.is_binary(kind) or is_a.is_large_binary(kind) or is_a.is_fixed_size_binary(kind),
        "lengths of time": lambda kind: is_a.is_duration(kind) or is_a.is_interval(kind),
        "numbers of 16 bits": is_a.is_float16,
    }
    problems = []
    for field in schema:
        kind = field.type.value_type if is_a.is_dictionary(field.type) else field.type
        for what, holds in refused.items():
            if holds(kind):
                message = f"Column {field.name!r} holds {what}, which cannot be released."
                problems.append(Problem("format", message, place, "turn it into text or numbers, or leave it out"))
    if problems:
        raise DataError(problems)


def clean(column: pa.ChunkedArray, missing: tuple[str, ...]) -> pa.ChunkedArray:
    """Bring a column to one form: text trimmed and dictionary-encoded, missing markers null, and so is NaN."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if not pa.types.is_dictionary(column.type) and not _is_text(column.type):
        return _numbers(column)
    encoded = dictionary_encoded(column)
    labels, indices = encoded.dictionary, encoded.indices
    if not _is_text(labels.type):
        return _numbers(pa.chunked_array([labels.take(indices)]))
    labels = pc.utf8_trim_whitespace(labels.cast(pa.string()))
    if missing:
        labels = pc.if_else(
            pc.is_in(labels, pa.array(list(missing), pa.string())), pa.scalar(None, pa.string()), labels
        )
    return pa.chunked_array([pa.DictionaryArray.from_arrays(indices, labels)])


def _numbers(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """Make NaN null, and take the sign of zero away, which does not tell numbers apart."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if not (pa.types.is_float32(column.type) or pa.types.is_float64(column.type)):
        return column
    zero = pa.scalar(0, column.type)
    return pc.if_else(pc.is_nan(column), pa.scalar(None, column.type), pc.add(column, zero))


def _is_text(kind: Any) -> bool:
    import pyarrow as pa

    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_string_view(kind))
