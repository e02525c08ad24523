"""Parquet and Arrow files: read from the file itself, never mapped into memory, and validated before use."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hedgerow.parsing.form import Form
from hedgerow.sandbox.limits import MOST_BATCHES, MOST_FOOTER, ROOM, most_cells

if TYPE_CHECKING:
    import pyarrow as pa

BATCH = 1 << 16


@dataclass(frozen=True)
class Columnar:
    """A Parquet or Arrow file that is open.

    Attributes
    ----------
    rows
        Rows that the file says it has; None: it does not say.
    unpacked
        Bytes that it says its columns take when unpacked.
    """

    file: Any
    form: Form
    schema: pa.Schema
    size: int
    rows: int | None
    unpacked: int

    def check(self, columns: int) -> None:
        """Refuse a file that unpacks to more cells than one of its size may."""
        if self.rows is not None:
            self.check_cells(self.rows, columns)

    def check_cells(self, rows: int, columns: int) -> None:
        """Refuse more cells than a file of this size may have."""
        most = most_cells(self.size, self.form.room)
        if rows * max(columns, 1) > most:
            message = f"The file unpacks to more than {most:,} cells, too many for its size."
            raise self.form.too_much(message, f"if you trust it, set {ROOM}=10 in the environment")

    def batches(self, wanted: Sequence[str]) -> Iterator[pa.RecordBatch]:
        """Read some columns piece by piece, each piece validated."""
        self.check(len(wanted))
        rows = 0
        with reading(self.form):
            for batch in self._batches(wanted):
                rows += batch.num_rows
                self.check_cells(rows, len(wanted))
                yield batch

    def _batches(self, wanted: Sequence[str]) -> Iterator[pa.RecordBatch]:
        if self.form.kind == "parquet":
            for batch in self.file.iter_batches(BATCH, columns=list(wanted)):
                batch.validate(full=True)
                yield batch
        else:
            for number in range(self.file.num_record_batches):
                batch = self.file.get_batch(number)
                self.check_cells(batch.num_rows, len(wanted))
                batch.validate(full=True)  # before a column is touched
                yield batch.select(list(wanted))

    def read(self, wanted: Sequence[str]) -> pa.Table:
        """Read some columns whole."""
        import pyarrow as pa

        if self.form.kind != "parquet":
            batches = list(self.batches(wanted))
            return pa.Table.from_batches(batches, pa.schema([self.schema.field(name) for name in wanted]))
        self.check(len(wanted))
        with reading(self.form):
            table = self.file.read(columns=list(wanted))
            table.validate(full=True)
            return table


def open_columnar(path: Path, form: Form) -> Columnar:
    """Open a Parquet or Arrow file, and read what it says of itself."""
    import pyarrow as pa

    size = path.stat().st_size
    with reading(form):
        if form.kind == "parquet":
            import pyarrow.parquet as pq

            file = pq.ParquetFile(
                path,
                memory_map=False,
                thrift_string_size_limit=MOST_FOOTER,
                thrift_container_size_limit=MOST_FOOTER,
            )
            told = file.metadata
            groups = range(told.num_row_groups)
            unpacked = sum(told.row_group(number).total_byte_size for number in groups)
            found = Columnar(file, form, file.schema_arrow, size, told.num_rows, unpacked)
        else:
            file = pa.ipc.open_file(pa.OSFile(str(path)))
            if file.num_record_batches > MOST_BATCHES:
                raise form.unreadable()
            found = Columnar(file, form, file.schema, size, None, size)
        names = list(found.schema.names)
    form.check_names(names)
    return found


@contextmanager
def reading(form: Form) -> Iterator[None]:
    """Say in our own words that a file cannot be read: the library's may hold cells."""
    import pyarrow as pa

    try:
        yield
    except (pa.ArrowMemoryError, MemoryError):
        raise MemoryError from None
    except (pa.ArrowException, OSError, ValueError, KeyError, IndexError, TypeError, OverflowError):
        raise form.unreadable() from None
