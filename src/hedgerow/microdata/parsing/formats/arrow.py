"""Arrow files: the format of IPC files, not of streams."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from hedgerow.microdata.parsing.columnar import Columnar, reading
from hedgerow.microdata.parsing.form import Form
from hedgerow.outside.sandbox.limits import MOST_BATCHES
from hedgerow.plan.formats import FormatDescriptor

if TYPE_CHECKING:
    import pyarrow as pa


class ArrowFile(Columnar):
    """An Arrow file that is open."""

    def read(self, wanted: Sequence[str]) -> pa.Table:
        """Read some columns whole."""
        import pyarrow as pa

        batches = list(self.batches(wanted))
        return pa.Table.from_batches(batches, pa.schema([self.schema.field(name) for name in wanted]))

    def _batches(self, wanted: Sequence[str]) -> Iterator[pa.RecordBatch]:
        for number in range(self.file.num_record_batches):
            batch = self.file.get_batch(number)
            self.check_cells(batch.num_rows, len(wanted))
            batch.validate(full=True)  # before a column is touched
            yield batch.select(list(wanted))


def open_arrow(path: Path, form: Form) -> ArrowFile:
    """Open a file, and read what it says of itself."""
    import pyarrow as pa

    size = path.stat().st_size
    with reading(form):
        file = pa.ipc.open_file(pa.OSFile(str(path)))
        if file.num_record_batches > MOST_BATCHES:
            raise form.unreadable()
        found = ArrowFile(file, form, file.schema, size, None, size)
        names = list(found.schema.names)
    form.check_names(names)
    return found


DESCRIPTOR = FormatDescriptor(
    name="arrow",
    title="Arrow",
    help="IPC files, not streams",
    order=30,
    endings=(".arrow", ".feather", ".ipc"),
    opened=open_arrow,
    options=("decimal", "thousands"),
)
