"""What every reader gives: a file that is open, of which something is known, and whose columns can be read."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Protocol

from hedgerow.microdata.parsing.form import Form

if TYPE_CHECKING:
    import pyarrow as pa


class Opened(Protocol):
    """A file of some format; whoever opens it has checked the names of its columns."""

    @property
    def form(self) -> Form:
        """How it is written, with everything found out filled in."""

    @property
    def schema(self) -> pa.Schema:
        """Its columns with their types, in order."""

    @property
    def rows(self) -> int | None:
        """Rows that it says it has; None: it does not say."""

    @property
    def unpacked(self) -> int:
        """Bytes that it says its columns take when unpacked; 0: it does not say."""

    def read(self, wanted: Sequence[str]) -> pa.Table:
        """Read some columns whole."""

    def batches(self, wanted: Sequence[str]) -> Iterator[pa.RecordBatch]:
        """Read some columns piece by piece, as ``schema`` has them."""
