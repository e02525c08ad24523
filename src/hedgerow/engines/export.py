"""Writing released rows to one file and reading them back, in each of the formats that releases have.

The same rows give the same bytes, whichever engine they are from. They come in batches and are written in blocks of
fixed size, so a file may be larger than memory.
"""

from __future__ import annotations

import csv
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from hedgerow.engines.descriptor import ENGINES, release_forms
from hedgerow.engines.release_dialect import STANDARD, ReleaseDialect
from hedgerow.engines.rows import Rows, Selected
from hedgerow.engines.spreadsheet import guard, unguard
from hedgerow.engines.writer import Writer
from hedgerow.errors import HedgerowError, Problem
from hedgerow.microdata.read import check_extra, dictionary_encoded
from hedgerow.plan import DataFormat, Plan
from hedgerow.plan.formats import FormatDescriptor, found_by_name, release_formats

if TYPE_CHECKING:
    import pyarrow as pa

BLOCK = 1 << 20
"""Rows that are written at a time: a row group of Parquet."""


def write(rows: Rows, folder: Path, form: str, dialect: ReleaseDialect = STANDARD) -> str:
    """Write rows into a folder, in a format that is given by its name, and return the file's name."""
    one = next((one for one in release_formats() if one.name == form), None)
    if one is None:
        raise _not_written(form)
    _writer(one).write(rows, folder / one.released_file, dialect)
    return one.released_file


def read_back(path: Path, plan: Plan) -> Rows:
    """Take rows from a file, or a folder of Parquet files, that was written under a plan."""
    writer = _writer(next(one for one in release_formats() if one.released_file == path.name))
    return writer.read_back(path, plan.data, ReleaseDialect.of(plan))


def check_form(form: str) -> None:
    """Refuse a word that does not say how a release is written."""
    if form not in release_forms():
        raise _not_written(form)
    for one in release_formats():
        if one.name == form:
            check_extra(one)


def _not_written(form: str) -> HedgerowError:
    owner = next((one for one in ENGINES if form in one.forms), None)
    if owner is None:
        hint = f"one of {', '.join(release_forms())}"
        return HedgerowError(Problem("usage", f"No release is written as {form!r}.", hint=hint))
    names = " or ".join(one.name for one in release_formats())
    message = f"Only the {owner.title} engine writes {form!r}: {owner.forms[form]}."
    return HedgerowError(Problem("usage", message, hint=f"use {names}"))


def _writer(one: FormatDescriptor) -> Writer:
    found: Writer = found_by_name(one.writer)
    return found


def blocks(rows: Rows) -> Iterator[pa.Table]:
    """Put batches together to blocks of one size, the last one smaller; at least one, which may be empty."""
    import pyarrow as pa

    waiting: list[pa.RecordBatch] = []
    size, given = 0, False
    for batch in rows.batches():
        waiting.append(batch)
        size += batch.num_rows
        while size >= BLOCK:
            table = pa.Table.from_batches(waiting, rows.schema)
            yield table.slice(0, BLOCK).combine_chunks()
            waiting, size, given = table.slice(BLOCK).to_batches(), size - BLOCK, True
    if size or not given:
        yield pa.Table.from_batches(waiting, rows.schema).combine_chunks()


def _write_parquet(rows: Rows, path: Path, dialect: ReleaseDialect) -> None:
    import pyarrow.parquet as pq

    schema = _with_numbers(rows)
    with pq.ParquetWriter(path, schema, compression="zstd", store_schema=False) as writer:
        for block in blocks(rows):
            writer.write_table(block.cast(schema), row_group_size=BLOCK)


def _with_numbers(rows: Rows) -> pa.Schema:
    """Return the types of the columns, in which means and medians are numbers."""
    import pyarrow as pa

    return pa.schema(
        [pa.field(one.name, pa.float64(), one.nullable) if one.name in rows.numbers else one for one in rows.schema]
    )


def _read_parquet_back(path: Path, form: DataFormat, dialect: ReleaseDialect) -> Rows:
    """Take rows from a file, or from a folder of files, one after the other."""
    import pyarrow.dataset as ds

    files = sorted(path.glob("*.parquet")) if path.is_dir() else [path]
    dataset = ds.dataset([str(file) for file in files], format="parquet")
    return Rows(lambda: Selected(dataset.schema, lambda: iter(dataset.to_batches(use_threads=False))))


def _write_csv(rows: Rows, path: Path, dialect: ReleaseDialect) -> None:
    """Write delimited text."""
    if not dialect.standard:
        _write_in_dialect(rows, path, dialect)
        return
    quoted = any(map(_needs_quotes, map(guard, rows.schema.names)))
    if not _write_cells(rows, path, quoted):
        _write_cells(rows, path, quoted=True)


def _write_cells(rows: Rows, path: Path, quoted: bool) -> bool:
    """Write the header and all rows; cells are quoted only if some cell of the table needs it.

    Returns False, and leaves a part of the file, if a cell was met that needs quotes where none are written.
    """
    import pyarrow as pa
    import pyarrow.csv as arrow_csv

    names = [guard(name) for name in rows.schema.names]
    header = pa.table([pa.array([name], pa.string()) for name in names], names=[str(i) for i in range(len(names))])
    options = arrow_csv.WriteOptions(include_header=False, quoting_style="needed" if quoted else "none")
    with path.open("wb") as file:
        arrow_csv.write_csv(header, file, options)
        for block in blocks(rows):
            guarded = [_guarded(column) for column in block.columns]
            if not quoted and any(needs_quotes for _, needs_quotes in guarded):
                return False
            if block.num_rows:
                arrow_csv.write_csv(pa.table([column for column, _ in guarded], names=names), file, options)
    return True


def _write_in_dialect(rows: Rows, path: Path, dialect: ReleaseDialect) -> None:
    """Write the header and all rows; a cell is quoted where it needs it."""
    import pyarrow as pa
    import pyarrow.compute as pc

    names = [guard(name) for name in rows.schema.names]
    dialect.check(names)
    encoder = dialect.encoder()
    with path.open("wb") as file:
        file.write(encoder.encode(dialect.delimiter.join(map(dialect.cell, names)) + "\n"))
        for block in blocks(rows):
            if not block.num_rows:
                continue
            columns = [
                _in_dialect(column.cast(pa.string()), dialect, name in dialect.numbers)
                for name, column in zip(block.column_names, block.columns, strict=True)
            ]
            lines = pc.binary_join_element_wise(*columns, dialect.delimiter)
            for line in lines.to_pylist():
                file.write(encoder.encode(f"{line}\n"))
        file.write(encoder.encode("", final=True))


def _in_dialect(column: pa.ChunkedArray, dialect: ReleaseDialect, of_numbers: bool) -> pa.Array:
    """Write the cells of a column; each distinct value is looked at once."""
    import pyarrow as pa

    encoded = dictionary_encoded(column)
    texts = [None if cell is None else guard(cell) for cell in encoded.dictionary.to_pylist()]
    dialect.check(text for text in texts if text is not None)
    shown = [text if text is None or not of_numbers else dialect.shown(text) for text in texts]
    cells = ["" if text is None else dialect.cell(text) for text in shown]
    return pa.array(cells, pa.string()).take(encoded.indices).fill_null("")


def _guarded(column: pa.ChunkedArray) -> tuple[pa.ChunkedArray, bool]:
    """Make text cells harmless and tell whether some need quotes; each distinct value is looked at once."""
    import pyarrow as pa

    if not pa.types.is_string(column.type):
        return column, False
    encoded = dictionary_encoded(column)
    cells = [None if cell is None else guard(cell) for cell in encoded.dictionary.to_pylist()]
    needs_quotes = any(cell is not None and _needs_quotes(cell) for cell in cells)
    return pa.chunked_array([pa.array(cells, pa.string()).take(encoded.indices)]), needs_quotes


def _needs_quotes(cell: str) -> bool:
    """Tell whether a cell would be misread without quotes; an empty one would be read as missing."""
    return not cell or any(sign in cell for sign in '",\r\n') or cell != cell.strip()


def _read_csv_back(path: Path, form: DataFormat, dialect: ReleaseDialect) -> Rows:
    """Take rows from a file; all cells are text."""
    import pyarrow as pa
    import pyarrow.csv as arrow_csv

    with path.open(encoding=dialect.encoding, newline="") as file:
        names = next(csv.reader(file, delimiter=dialect.delimiter, quotechar=dialect.quote))
    of_numbers = [unguard(name) in dialect.numbers for name in names]
    text = dict.fromkeys(names, pa.string())
    schema = pa.schema([(unguard(name), pa.string()) for name in names])

    def batches() -> Iterator[pa.RecordBatch]:
        read = arrow_csv.open_csv(
            path,
            arrow_csv.ReadOptions(column_names=names, skip_rows=1, encoding=dialect.encoding),
            arrow_csv.ParseOptions(
                delimiter=dialect.delimiter,
                quote_char=dialect.quote,
                newlines_in_values=True,
                ignore_empty_lines=False,
            ),
            arrow_csv.ConvertOptions(column_types=text, null_values=[""], strings_can_be_null=True,
                                     quoted_strings_can_be_null=False),
        )  # fmt: skip
        for batch in read:
            cells = []
            for column, numbers in zip(batch, of_numbers, strict=True):
                shown = [None if cell is None else unguard(cell) for cell in column.to_pylist()]
                cells.append([None if cell is None else dialect.read(cell) for cell in shown] if numbers else shown)
            yield pa.RecordBatch.from_arrays([pa.array(column, pa.string()) for column in cells], schema=schema)

    return Rows(lambda: Selected(schema, batches))


CSV = Writer(_write_csv, _read_csv_back)
PARQUET = Writer(_write_parquet, _read_parquet_back)
