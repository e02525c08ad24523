"""Parquet and Arrow files; run in a child process, with bounds on what they unpack to."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from hedgerow.errors import DataError, Problem
from hedgerow.outside.sandbox import TaskResult
from hedgerow.outside.sandbox.limits import MOST_BATCHES, MOST_FOOTER, ROOM, most_cells
from hedgerow.verification.reading.refusals import check_names, not_there

if TYPE_CHECKING:
    import pyarrow as pa

Kind = Literal["parquet", "arrow"]
Batches = Callable[[Sequence[str] | None], Iterator["pa.RecordBatch"]]
BATCH = 1 << 17


def columnar_schema(request: Mapping[str, Any], files: Sequence[str]) -> TaskResult:
    """Return the columns of Parquet or Arrow files, which must be the same."""
    place, kind = request["place"], request["kind"]
    return TaskResult({}, _same_schema(files, kind, place, request["room"]))


def columnar_rows(request: Mapping[str, Any], files: Sequence[str]) -> TaskResult:
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

    return TaskResult({}, schema, batches())


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
        check_names(list(schema.names), place)
        return schema, arrow_batches
    import pyarrow.parquet as pq

    bounds = {"thrift_string_size_limit": MOST_FOOTER, "thrift_container_size_limit": MOST_FOOTER}

    def parquet_batches(names: Sequence[str] | None) -> Iterator[pa.RecordBatch]:
        with pq.ParquetFile(path, **bounds) as source:
            yield from source.iter_batches(BATCH, columns=names)

    with pq.ParquetFile(path, **bounds) as file:
        schema, most = file.schema_arrow, most_cells(path.stat().st_size, room)
        check_names(list(schema.names), place)
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
        raise not_there(place, error) from None
    except (pa.ArrowMemoryError, MemoryError):
        raise MemoryError from None
    except (pa.ArrowException, OSError, ValueError, KeyError, IndexError, TypeError, OverflowError):
        name = "Parquet" if kind == "parquet" else "Arrow"
        message = f"The file cannot be read as {name}."
        raise DataError(Problem("format", message, place, "check that the file is whole")) from None
