"""Parquet files."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from hedgerow.microdata.parsing.columnar import BATCH, Columnar, reading
from hedgerow.microdata.parsing.form import Form
from hedgerow.outside.sandbox.limits import MOST_FOOTER
from hedgerow.plan.formats import FormatDescriptor

if TYPE_CHECKING:
    import pyarrow as pa


class ParquetFile(Columnar):
    """A Parquet file that is open."""

    def read(self, wanted: Sequence[str]) -> pa.Table:
        """Read some columns whole."""
        self.check(len(wanted))
        with reading(self.form):
            table = self.file.read(columns=list(wanted))
            table.validate(full=True)
            return table

    def _batches(self, wanted: Sequence[str]) -> Iterator[pa.RecordBatch]:
        for batch in self.file.iter_batches(BATCH, columns=list(wanted)):
            batch.validate(full=True)
            yield batch


def open_parquet(path: Path, form: Form) -> ParquetFile:
    """Open a file, and read what it says of itself."""
    with reading(form):
        import pyarrow.parquet as pq

        file = pq.ParquetFile(
            path,
            memory_map=False,
            thrift_string_size_limit=MOST_FOOTER,
            thrift_container_size_limit=MOST_FOOTER,
        )
        told = file.metadata
        unpacked = sum(told.row_group(number).total_byte_size for number in range(told.num_row_groups))
        found = ParquetFile(file, form, file.schema_arrow, path.stat().st_size, told.num_rows, unpacked)
        names = list(found.schema.names)
    form.check_names(names)
    return found


DESCRIPTOR = FormatDescriptor(
    name="parquet",
    title="Parquet",
    help="the footer says how many rows there are",
    order=20,
    endings=(".parquet", ".pq"),
    opened=open_parquet,
    options=("decimal", "thousands"),
    tells_extent=True,
    writer="hedgerow.engines.export:PARQUET",
)
