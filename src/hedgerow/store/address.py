"""Where a store is: the path of a file, or the address of a PostgreSQL server with a schema."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import quote, unquote

from hedgerow.errors import DataError, Problem
from hedgerow.store.rows import is_keepable

SCHEMA = "hedgerow"
LONGEST = 63  # bytes of a name in PostgreSQL; what is longer it cuts off without a word

#: Only an address that can be read in one way is shown: a stray ``@``, ``/`` or ``?`` may belong to a password.
SHOWABLE = re.compile(
    r"postgres(?:ql)?://(?:(?P<user>[^:@/?#\s]*)(?::[^@/?#\s]*)?@)?"
    r"(?P<host>(?:(?:\[[0-9a-fA-F:.]*\]|[^:@/?#,\s\[\]]*)(?::\d+)?,?)*)(?:/(?P<name>[^@/?#\s]*))?(?:\?[^@]*)?"
)


@dataclass(frozen=True)
class ServerAddress:
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


def read_address(address: str | Path) -> Path | ServerAddress:
    """Tell a path from the address of a server, and take the schema out of the latter.

    Raises
    ------
    DataError
        If it is the address of something else, or names a schema that cannot be.

    Examples
    --------
    >>> read_address("postgresql://ann:secret@db.example:5433/health?schema=clinic&sslmode=require")
    ServerAddress(schema='clinic', shown='postgresql://ann@db.example:5433/health?schema=clinic')
    >>> read_address("clinic.store").name
    'clinic.store'
    """
    if isinstance(address, Path) or "://" not in address:
        if not str(address) or "\0" in str(address):
            raise _wrong("A store is a path or the address of a server. Got an empty text, or one with a NUL.")
        return Path(address)
    scheme = address.partition("://")[0]
    if scheme not in ("postgresql", "postgres"):
        raise _wrong("A store lies in a file (a path), or on a server (postgresql://…). The address is neither.")
    if not is_keepable(address):
        raise _wrong("The address of a server holds a NUL or half a character.")
    base, _, parameters = address.partition("?")
    given = [pair for pair in parameters.split("&") if pair]
    schemas = [unquote(pair.partition("=")[2]) for pair in given if pair.partition("=")[0] == "schema"]
    others = [pair for pair in given if pair.partition("=")[0] != "schema"]
    if len(schemas) > 1:
        raise _wrong("The address names the schema more than once.")
    schema = schemas[0] if schemas else SCHEMA
    if not is_keepable(schema) or not 1 <= len(schema.encode()) <= LONGEST:
        raise _wrong(f"'schema' must be a name of 1 to {LONGEST} bytes, without NUL.")
    if schema.startswith("pg_"):
        raise _wrong("'schema' must not begin with 'pg_': PostgreSQL keeps those names to itself.")
    if not any(pair.partition("=")[0] == "connect_timeout" for pair in others):
        others.append("connect_timeout=10")  # the driver's own is to wait for ever
    return ServerAddress(base + "?" + "&".join(others), schema, _shown(address, schema))


def _shown(address: str, schema: str) -> str:
    found = SHOWABLE.fullmatch(address)
    place = "…"
    if found:
        user, host, name = (found[part] or "" for part in ("user", "host", "name"))
        place = (f"{user}@" if user else "") + host + (f"/{name}" if name else "")
    return f"postgresql://{place}?schema={quote(schema, safe='')}"


def _wrong(message: str) -> DataError:
    hint = "for example clinic.store, or postgresql://user@host/database?schema=clinic"
    return DataError(Problem("store-address", message, hint=hint))
