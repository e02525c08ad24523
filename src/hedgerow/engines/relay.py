"""Handing batches to a driver, which puts whatever goes wrong in making them into words of its own."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pyarrow as pa


class Relay:
    """Batches on their way into a driver; what went wrong in making them is kept."""

    def __init__(self, schema: pa.Schema, batches: Iterator[pa.RecordBatch]) -> None:
        self._schema = schema
        self._batches = batches
        self.failed: BaseException | None = None

    def reader(self) -> pa.RecordBatchReader:
        """Return what the driver reads, once."""
        import pyarrow as pa

        return pa.RecordBatchReader.from_batches(self._schema, self._watched())

    def _watched(self) -> Iterator[pa.RecordBatch]:
        try:
            yield from self._batches
        except BaseException as error:
            self.failed = error
            raise
