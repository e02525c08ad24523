"""Tables of which columns are read by their positions: in files, parsed in a child process, or in memory."""

from __future__ import annotations

import codecs
import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hedgerow.errors import DataError, Problem
from hedgerow.outside import sandbox
from hedgerow.outside.intake import open_regular
from hedgerow.outside.sandbox.limits import Limits, room
from hedgerow.verification.reading.cells import map_distinct, on_labels, unguarded
from hedgerow.verification.reading.columnar import Kind
from hedgerow.verification.reading.delimited import Dialect
from hedgerow.verification.values.notation import with_points

if TYPE_CHECKING:
    import pyarrow as pa

BLOCK = 1 << 24
RELEASED = Dialect(empty_is_missing=True)
"""How releases are written that do not say otherwise."""
PARTS_AT_ONCE = 100


@dataclass(frozen=True)
class OpenTable:
    """A table of which columns are read by their positions.

    Attributes
    ----------
    header
        The names of its columns, in order.
    schema
        Their types, in the same order.
    place
        How messages name it.
    batches
        Reads columns by position, batch by batch.
    guarded
        Whether cells are guarded against spreadsheets.
    with_commas
        The columns in which numbers have decimal commas.
    titles
        What the file calls its columns beside their names, in the same order; empty where it cannot say.
    """

    header: tuple[str, ...]
    schema: pa.Schema
    place: str
    batches: Callable[[Sequence[int]], Iterator[pa.RecordBatch]]
    guarded: bool = False
    with_commas: frozenset[str] = frozenset()
    titles: tuple[str, ...] = ()

    def meant(self, name: str, column: pa.ChunkedArray) -> pa.ChunkedArray:
        """Return cells of text as they are meant: without guards, and numbers with decimal points."""
        import pyarrow as pa

        if self.guarded:
            column = on_labels(column, unguarded) if pa.types.is_dictionary(column.type) else unguarded(column)
        return map_distinct(column, with_points) if name in self.with_commas else column

    def table(self, at: Sequence[int]) -> pa.Table:
        """Read columns by position, whole."""
        import pyarrow as pa

        schema = pa.schema([self.schema.field(position) for position in at])
        return pa.Table.from_batches(list(self.batches(at)), schema)


def open_csv(path: Path, dialect: Dialect) -> OpenTable:
    """Open a CSV file with a header."""
    import pyarrow as pa

    header = tuple(read_csv_header(path, dialect))
    schema = pa.schema([(f"f{position}", pa.string()) for position in range(len(header))])
    return OpenTable(header, schema, str(path), lambda at: stream_csv(path, dialect, at, len(header)))


def open_columnar(kind: Kind, path: Path) -> OpenTable:
    """Open a Parquet file, a folder of Parquet files or an Arrow IPC file."""
    schema = columnar_schema(path, kind)
    return OpenTable(tuple(schema.names), schema, str(path), lambda at: stream_columnar(path, kind, at))


def open_texts(tasks: str, path: Path, density: int, **request: Any) -> OpenTable:
    """Open a file of which every cell is text, with the reader that these tasks belong to.

    ``density``: how many bytes of plain columns a byte of it may stand for.
    """
    import pyarrow as pa

    def ask(task: str, **more: Any) -> sandbox.Answer:
        size = path.stat().st_size if path.is_file() else 0
        return _ask(f"{tasks}_{task}", [path], Limits.of_size(density * size), **request, **more)

    def batches(at: Sequence[int]) -> Iterator[pa.RecordBatch]:
        with ask("rows", columns=list(at)) as answer:
            yield from answer.batches()

    with ask("header") as answer:
        header, titles = tuple(answer.facts["header"]), tuple(answer.facts.get("titles", ()))
    schema = pa.schema([(f"f{at}", pa.string()) for at in range(len(header))])
    return OpenTable(header, schema, str(path), batches, titles=titles)


def open_in_memory(source: Any, place: str) -> OpenTable:
    """Take over a table in memory."""
    table = arrow_table(source)
    return OpenTable(
        tuple(table.column_names), table.schema, place, lambda at: iter(table.select(list(at)).to_batches())
    )


# -- files, parsed in a child ----------------------------------------------------------------------------------------


def read_csv_header(path: Path, dialect: Dialect) -> list[str]:
    """Return the cells of the first row.

    Raises
    ------
    DataError
        ``no-file``, ``encoding``, ``empty``, ``format`` or ``too-much``.
    """
    with _ask("delimited:csv_header", [path], dialect=asdict(dialect)) as answer:
        return list(answer.facts["cells"])


def stream_csv(path: Path, dialect: Dialect, columns: Sequence[int], width: int) -> Iterator[pa.RecordBatch]:
    """Read some columns, by position, of a CSV file with a header as text, batch by batch; rows stay in order.

    Raises
    ------
    DataError
        ``encoding`` with the line, ``ragged`` with the row, ``too-much`` or ``format``.
    """
    with _ask("delimited:csv_rows", [path], dialect=asdict(dialect), columns=list(columns), width=width) as answer:
        yield from answer.batches()


def check_quotes(path: Path, dialect: Dialect = RELEASED) -> None:
    """Refuse a CSV file with a quotation mark that is not closed: the rest of it would be one cell."""
    with os.fdopen(open_regular(path, "The file"), "rb") as raw:
        encoding = "latin-1" if dialect.codec == "utf-8-sig" else dialect.encoding  # the mark is one byte in both
        decoder = codecs.getincrementaldecoder(encoding)("replace")
        marks = sum(decoder.decode(block).count(dialect.quote) for block in iter(lambda: raw.read(BLOCK), b""))
    if marks % 2:
        raise DataError(Problem("format", "A quotation mark is not closed.", str(path)))


def columnar_schema(path: Path, kind: Kind) -> pa.Schema:
    """Return names and types of the columns, which are the same in every file of a folder."""
    schemas = []
    for parts in _some_at_once(columnar_parts(path)):
        with _ask("columnar:columnar_schema", parts, kind=kind, place=str(path)) as answer:
            schemas.append(answer.schema)
    if any(not schema.equals(schemas[0]) for schema in schemas):
        message = "The files of the folder do not have the same columns."
        raise DataError(Problem("format", message, str(path), "check that the folder holds one table"))
    return schemas[0]


def stream_columnar(path: Path, kind: Kind, columns: Sequence[int] | None = None) -> Iterator[pa.RecordBatch]:
    """Read columns, by position, batch by batch; the files of a folder in the order of their names."""
    wanted = None if columns is None else list(columns)
    for parts in _some_at_once(columnar_parts(path)):
        with _ask("columnar:columnar_rows", parts, kind=kind, columns=wanted, place=str(path)) as answer:
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


def _ask(task: str, files: Sequence[Path], limits: Limits | None = None, **request: Any) -> sandbox.Answer:
    request = {"place": str(files[0]), **request, "room": room()}
    return sandbox.run(f"hedgerow.verification.reading.{task}", request, files, limits=limits, what="The file")


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
