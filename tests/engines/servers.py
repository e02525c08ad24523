"""Tables on a PostgreSQL server for the tests: put there, looked at, changed behind our back."""

from __future__ import annotations

import functools
import itertools
import os
import time
from typing import Any
from urllib.parse import quote

import pyarrow as pa

NUMBERS = itertools.count(1)
TYPES = {
    "string": "text",
    "int16": "smallint",
    "int32": "integer",
    "int64": "bigint",
    "float": "real",
    "double": "double precision",
    "bool": "boolean",
    "date32[day]": "date",
    "timestamp[us]": "timestamp",
    "timestamp[us, tz=UTC]": "timestamptz",
}


def fresh(name: str = "t") -> str:
    """A name that no other test uses on a server that they share."""
    return f"{name}_{os.getpid()}_{next(NUMBERS)}"


def quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


@functools.cache
def connection(address: str) -> Any:
    """A connection of the tests' own, each statement a transaction; connecting takes longer than most statements."""
    from adbc_driver_postgresql import dbapi

    return dbapi.connect(address, autocommit=True)


def execute(address: str, *statements: str) -> None:
    with connection(address).cursor() as cursor:
        for statement in statements:
            cursor.execute(statement)


def ask(address: str, query: str) -> list[tuple[Any, ...]]:
    with connection(address).cursor() as cursor:
        cursor.execute(query)
        return list(cursor.fetchall())


def at(address: str, table: str, schema: str | None = None) -> str:
    """The address of a table, whatever its name is."""
    name = quoted(table) if schema is None else f"{quoted(schema)}.{quoted(table)}"
    return f"{address}&table={quote(name, safe='')}"


def type_of(kind: pa.DataType) -> str:
    if pa.types.is_decimal(kind):
        return f"numeric({kind.precision}, {kind.scale})"
    if pa.types.is_dictionary(kind):
        return type_of(kind.value_type)
    if pa.types.is_timestamp(kind):  # a server keeps the moment, not the zone
        return "timestamp" if kind.tz is None else "timestamptz"
    return TYPES[str(kind)]


def load(address: str, table: pa.Table, name: str | None = None, schema: str | None = None) -> str:
    """Make a table on a server, and return its address."""
    name = name or fresh()
    target = quoted(name) if schema is None else f"{quoted(schema)}.{quoted(name)}"
    columns = ", ".join(f"{quoted(field.name)} {type_of(field.type)}" for field in table.schema)
    plain = pa.table(
        [pa.chunked_array([column.combine_chunks()]) for column in table.columns], names=table.column_names
    )
    with connection(address).cursor() as cursor:
        cursor.execute(f"CREATE TABLE {target} ({columns})")
        if table.num_rows:
            cursor.adbc_ingest("incoming", plain, mode="create", temporary=True)
            cursor.execute(f"INSERT INTO {target} SELECT * FROM pg_temp.incoming")
            cursor.execute("DROP TABLE pg_temp.incoming")
    return at(address, name, schema)


def relations(address: str) -> set[tuple[str, str]]:
    """Every table and view that is not the server's own: schema and name.

    Temporary tables count if they stay: the server removes them a moment after their connection has ended.
    """
    query = (
        "SELECT CAST(n.nspname AS TEXT), CAST(c.relname AS TEXT) FROM pg_class AS c"
        " JOIN pg_namespace AS n ON n.oid = c.relnamespace"
        " WHERE c.relkind IN ('r', 'v', 'm', 'p') AND n.nspname NOT IN ('pg_catalog', 'information_schema')"
        " AND n.nspname NOT LIKE 'pg_toast%'"
    )
    for _ in range(100):
        found = {(schema, name) for schema, name in ask(address, query)}
        if not any(schema.startswith("pg_temp") for schema, _ in found):
            break
        time.sleep(0.05)
    return found
