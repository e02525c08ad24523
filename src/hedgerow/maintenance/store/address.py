"""Where a store is: the path of a file, or the address of a PostgreSQL server with a schema."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from hedgerow.errors import DataError, Problem
from hedgerow.outside.server import LONGEST, is_keepable, is_postgres, read_server

SCHEMA = "hedgerow"


@dataclass(frozen=True)
class StoreAddress:
    """A schema of a database on a PostgreSQL server.

    Attributes
    ----------
    url
        The address for the driver. It may hold a password, so it is never shown.
    schema
        The name of the schema.
    shown
        What messages show instead: no password, no parameters.
    """

    url: str = field(repr=False)
    schema: str
    shown: str


def read_address(address: str | Path) -> Path | StoreAddress:
    """Tell a path from the address of a server, and take the schema out of the latter.

    Raises
    ------
    DataError
        If it is the address of something else, or names a schema that cannot be.

    Examples
    --------
    >>> read_address("postgresql://ann:secret@db.example:5433/health?schema=clinic&sslmode=require")
    StoreAddress(schema='clinic', shown='postgresql://ann@db.example:5433/health?schema=clinic')
    >>> read_address("clinic.store").name
    'clinic.store'
    """
    if isinstance(address, Path) or "://" not in address:
        if not str(address) or "\0" in str(address):
            raise _wrong("A store is a path or the address of a server. Got an empty text, or one with a NUL.")
        return Path(address)
    if not is_postgres(address):
        raise _wrong("A store lies in a file (a path), or on a server (postgresql://…). The address is neither.")
    if not is_keepable(address):
        raise _wrong("The address of a server holds a NUL or half a character.")
    server = read_server(address, "schema")
    if len(server.given) > 1:
        raise _wrong("The address names the schema more than once.")
    schema = server.given[0] if server.given else SCHEMA
    if not is_keepable(schema) or not 1 <= len(schema.encode()) <= LONGEST:
        raise _wrong(f"'schema' must be a name of 1 to {LONGEST} bytes, without NUL.")
    if schema.startswith("pg_"):
        raise _wrong("'schema' must not begin with 'pg_': PostgreSQL keeps those names to itself.")
    return StoreAddress(server.url, schema, server.shown("schema", schema))


def _wrong(message: str) -> DataError:
    hint = "for example clinic.store, or postgresql://user@host/database?schema=clinic"
    return DataError(Problem("store-address", message, hint=hint))
