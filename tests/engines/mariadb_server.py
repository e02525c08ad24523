"""Tables on a MariaDB server for the tests: put there, looked at, changed behind our back."""

from __future__ import annotations

import functools
from typing import Any
from urllib.parse import quote

import pyarrow as pa
import pyarrow.compute as pc

from hedgerow.outside.mariadb import read_url
from tests.engines.servers import fresh, quoted

TYPES = {
    "string": "LONGTEXT CHARACTER SET utf8mb4",
    "int8": "TINYINT",
    "int16": "SMALLINT",
    "int32": "INT",
    "int64": "BIGINT",
    "float": "FLOAT",
    "double": "DOUBLE",
    "date32[day]": "DATE",
    "timestamp[us]": "DATETIME(6)",
    "timestamp[us, tz=UTC]": "TIMESTAMP(6) NULL",
}
SETTINGS = "SET sql_mode = 'ANSI_QUOTES,STRICT_ALL_TABLES,ALLOW_INVALID_DATES', time_zone = '+00:00'"


@functools.cache
def connection(address: str) -> Any:
    """A connection of the tests' own, each statement a transaction."""
    import pymysql

    found: Any = pymysql.connect(**read_url(address).arguments, charset="utf8mb4", autocommit=True)
    with found.cursor() as cursor:
        cursor.execute(SETTINGS)
    return found


def execute(address: str, *statements: str) -> None:
    with connection(address).cursor() as cursor:
        for statement in statements:
            cursor.execute(statement)


def ask(address: str, query: str) -> list[tuple[Any, ...]]:
    with connection(address).cursor() as cursor:
        cursor.execute(query)
        return list(cursor.fetchall())


def database(address: str, name: str) -> str:
    """Make a database, and return its address on the same server."""
    execute(address, f"CREATE DATABASE {quoted(name)} CHARACTER SET latin1")
    return address.replace("/mysql?", f"/{name}?")


def at(address: str, table: str) -> str:
    """The address of a table, whatever its name is."""
    return f"{address}&table={quote(quoted(table), safe='')}"


def kept(table: pa.Table) -> pa.Table:
    """A table as such a server can keep it: truth values are 0 and 1, and no number is infinite or none."""
    for number, field in enumerate(table.schema):
        column = table.column(number)
        if pa.types.is_boolean(field.type):
            column = column.cast(pa.int8())
        elif pa.types.is_floating(field.type):
            column = pc.if_else(pc.is_finite(column), column, pa.scalar(None, field.type))
        elif pa.types.is_timestamp(field.type) and field.type.tz is not None:
            column = column.cast(pa.timestamp("us", "UTC"))
        elif pa.types.is_dictionary(field.type):
            column = column.cast(field.type.value_type)
        table = table.set_column(number, field.name, column)
    return table


def type_of(kind: pa.DataType) -> str:
    if pa.types.is_decimal(kind):
        return f"DECIMAL({kind.precision}, {kind.scale})"
    return TYPES[str(kind)]


def load(address: str, table: pa.Table, name: str | None = None) -> str:
    """Make a table on a server, and return its address."""
    name, table = name or fresh(), kept(table)
    columns = ", ".join(f"{quoted(field.name)} {type_of(field.type)}" for field in table.schema)
    with connection(address).cursor() as cursor:
        cursor.execute(f"CREATE TABLE {quoted(name)} ({columns})")
        places = ", ".join(["%s"] * table.num_columns)
        cells = [
            [None if cell is None else str(cell.replace(tzinfo=None)) for cell in column.to_pylist()]
            if pa.types.is_timestamp(column.type)
            else column.to_pylist()
            for column in table.columns
        ]
        rows = list(zip(*cells, strict=True))
        if rows:
            cursor.executemany(f"INSERT INTO {quoted(name)} VALUES ({places})", rows)
    return at(address, name)


def tables(address: str) -> set[str]:
    """Every table of the database that an address names."""
    return {name for (name,) in ask(address, "SHOW TABLES")}
