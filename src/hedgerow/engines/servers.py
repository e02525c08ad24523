"""Sessions on servers: the one that an address asks for."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Protocol

from hedgerow.engines.counting import CountingSession
from hedgerow.engines.place import TablePlace
from hedgerow.engines.sql import SqlColumn
from hedgerow.outside.server import is_mariadb

if TYPE_CHECKING:
    import pyarrow as pa


class ServerSession(CountingSession, Protocol):
    """A session on a server where releases can be put, too.

    Attributes
    ----------
    at
        The table.
    """

    at: TablePlace

    def columns_of(self, place: TablePlace) -> tuple[SqlColumn, ...]:
        """Return the columns of a table."""

    def withheld(self) -> dict[str, str]:
        """Return the columns that are better not looked at, and why."""

    def read_only(self) -> None:
        """From now on write nothing that stays."""

    def check_free(self, target: TablePlace, replace: bool) -> None:
        """Refuse a target that exists, or that may not be replaced."""

    def make(self, target: TablePlace, query: str) -> TablePlace:
        """Make a table of a query's rows under a hidden name beside the target."""

    def fill(self, target: TablePlace, schema: pa.Schema, batches: Iterator[pa.RecordBatch]) -> TablePlace:
        """Make a table of rows from elsewhere under a hidden name beside the target."""

    def show(self, hidden: TablePlace, target: TablePlace, comment: str, replace: bool) -> None:
        """Put a table into place, with what is said of it."""

    def comment(self, place: TablePlace) -> str | None:
        """Return what is said of a table."""


def open_server(place: TablePlace, wanted: Sequence[str] | None = None) -> ServerSession:
    """Connect to the server of a table; ``wanted``: the columns that will be asked for, if that is known."""
    if is_mariadb(place.url):
        from hedgerow.engines.mariadb import MariaDbSession

        return MariaDbSession(place, wanted)
    from hedgerow.engines.postgres import PostgresSession

    return PostgresSession(place)
