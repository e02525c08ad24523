"""Files that hold columns: read from the file itself, never mapped into memory, and validated before use."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from hedgerow.microdata.parsing.form import Form
from hedgerow.outside.sandbox.limits import ROOM, most_cells

if TYPE_CHECKING:
    import pyarrow as pa

BATCH = 1 << 16


@dataclass(frozen=True)
class Columnar(ABC):
    """A file of columns that is open.

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

    @abstractmethod
    def _batches(self, wanted: Sequence[str]) -> Iterator[pa.RecordBatch]:
        """Read some columns piece by piece, each piece validated."""


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
