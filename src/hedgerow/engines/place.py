"""Where a table lies on a server: ``postgresql://…?table=schema.patients``, ``mariadb://…?table=patients``."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from hedgerow.errors import DataError, Problem
from hedgerow.outside import mariadb
from hedgerow.outside.server import LONGEST, is_keepable, is_mariadb, read_server

NAME = r'(?:"(?:[^"]|"")+"|[^".]+)'
MARK = "hedgerow"
"""Begins what is said of a table that is a release: only such a table is replaced."""
TABLE = re.compile(rf"(?:(?P<schema>{NAME})\.)?(?P<table>{NAME})")


@dataclass(frozen=True)
class TablePlace:
    """A table on a server.

    Attributes
    ----------
    url
        The address for the driver. It may hold a password, so it is never shown.
    schema
        Its schema, which MariaDB calls a database; None: where the server looks first.
    table
        Its name.
    shown
        What messages show.
    """

    url: str = field(repr=False)
    schema: str | None
    table: str
    shown: str

    @property
    def sql(self) -> str:
        """The table, as a statement names it."""
        return quoted(self.table) if self.schema is None else f"{quoted(self.schema)}.{quoted(self.table)}"

    def beside(self, table: str) -> str:
        """Another table of the same schema, as a statement names it."""
        return quoted(table) if self.schema is None else f"{quoted(self.schema)}.{quoted(table)}"


def quoted(name: str) -> str:
    """Write a name so that nothing in it is read as anything else.

    Examples
    --------
    >>> print(quoted('x"; DROP TABLE y; --'))
    "x""; DROP TABLE y; --"
    """
    return '"' + name.replace('"', '""') + '"'


def read_place(address: str) -> TablePlace:
    """Read the address of a table.

    Names are taken as they are, with capitals; one that holds a dot or a quotation mark stands in quotation marks, as
    in SQL. Signs that mean something in addresses are percent-encoded.

    Raises
    ------
    DataError
        If it names no table, or more than one, or a name that cannot be.

    Examples
    --------
    >>> read_place("postgresql://ann:secret@db.example/health?table=clinic.patients")
    TablePlace(schema='clinic', table='patients', shown='postgresql://ann@db.example/health?table=clinic.patients')
    >>> read_place('postgresql:///health?table="odd.schema"."pa%22%22tients"').table
    'pa"tients'
    """
    if not is_keepable(address):
        raise _wrong("The address of a server holds a NUL or half a character.")
    server = read_server(address, "table")
    if len(server.given) != 1:
        often = "does not name a table" if not server.given else "names a table more than once"
        raise _wrong(f"The address {often}.")
    found = TABLE.fullmatch(server.given[0])
    if found is None:
        raise _wrong("'table' is not a name, or a schema and a name with a dot between them.")
    schema, table = (None if name is None else _plain(name) for name in (found["schema"], found["table"]))
    assert table is not None
    for name in (schema, table):
        if name is None:
            continue
        if is_mariadb(address):
            if not mariadb.is_name(name):
                raise _wrong(f"A name in 'table' has more than {mariadb.LONGEST} characters, or one that cannot be.")
        elif not is_keepable(name) or not 1 <= len(name.encode()) <= LONGEST:
            raise _wrong(f"A name in 'table' has more than {LONGEST} bytes, or a NUL.")
    return TablePlace(server.url, schema, table, server.shown("table", server.given[0]))


def _plain(name: str) -> str:
    return name[1:-1].replace('""', '"') if name.startswith('"') else name


def _wrong(message: str) -> DataError:
    hint = "for example postgresql://user@host/database?table=schema.patients"
    return DataError(Problem("table-address", message, hint=hint))
