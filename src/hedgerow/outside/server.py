"""Servers: their addresses, which never show a password, and connecting to PostgreSQL in our own words.

How to connect to MariaDB stands in ``mariadb``.
"""

from __future__ import annotations

import importlib
import re
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import quote, unquote

from hedgerow.errors import DataError, HedgerowError, Problem, how_to_install
from hedgerow.outside.stores import shown_store

POSTGRES = ("postgresql", "postgres")
MARIADB = ("mariadb", "mysql")
"""How addresses of servers begin."""

LONGEST = 63  # bytes of a name in PostgreSQL; what is longer it cuts off without a word

#: Only an address that can be read in one way is shown: a stray ``@``, ``/`` or ``?`` may belong to a password.
SHOWABLE = re.compile(
    r"(?P<scheme>postgres(?:ql)?|mariadb|mysql)://(?:(?P<user>[^:@/?#\s]*)(?::[^@/?#\s]*)?@)?"
    r"(?P<host>(?:(?:\[[0-9a-fA-F:.]*\]|[^:@/?#,\s\[\]]*)(?::\d+)?,?)*)(?:/(?P<name>[^@/?#\s]*))?(?:\?[^@]*)?"
)

#: What the driver says when it cannot connect, and what we say: our own words only, because its may hold the password.
REASONS = (
    (r"password authentication failed|no password supplied", "the server does not accept the role or its password"),
    (r"database .* does not exist", "the server has no such database"),
    (r"role .* does not exist", "the server has no such role"),
    (r"no pg_hba\.conf entry", "the server does not let this role in from this machine"),
    (r"could not translate host name", "there is no machine of that name"),
    (r"Connection refused|No such file or directory", "no server is listening there"),
    (r"timeout expired|timed out", "the server did not answer in time"),
    (r"too many (clients|connections)|remaining connection slots", "the server has no connection left"),
    (r"SSL|certificate", "the encrypted connection could not be made"),
    (
        r"invalid URI|invalid .*connection option|invalid port|unexpected .*URI|missing .*URI",
        "the address is malformed",
    ),
)


@dataclass(frozen=True)
class ServerAddress:
    """The address of a server with a parameter of ours taken out of it.

    Attributes
    ----------
    url
        The address for the driver. It may hold a password, so it is never shown.
    given
        The values that the parameter had.
    base
        What messages may show of it: no password, no parameters.
    """

    url: str = field(repr=False)
    given: tuple[str, ...]
    base: str

    def shown(self, parameter: str, value: str) -> str:
        """Return what messages show: the address with our parameter."""
        return f"{self.base}?{parameter}={quote(value, safe='.')}"


def is_server(address: Any) -> bool:
    """Tell whether something is the address of a server.

    Examples
    --------
    >>> is_server("postgresql://ann@db/health"), is_server("mysql://ann@db/health"), is_server("patients.csv")
    (True, True, False)
    """
    return _begins(address, (*POSTGRES, *MARIADB))


def is_mariadb(address: Any) -> bool:
    """Tell whether something is the address of a MariaDB or MySQL server."""
    return _begins(address, MARIADB)


def is_postgres(address: Any) -> bool:
    """Tell whether something is the address of a PostgreSQL server."""
    return _begins(address, POSTGRES)


def _begins(address: Any, schemes: tuple[str, ...]) -> bool:
    return isinstance(address, str) and address.partition("://")[0] in schemes and "://" in address


def check_path(place: Any) -> None:
    """Refuse the address of something else where a path may stand; it is not shown, as it may hold a password.

    Examples
    --------
    >>> check_path("patients.csv")
    >>> check_path("oracle://ann:secret@db.example/health")
    Traceback (most recent call last):
    hedgerow.errors.DataError: The address is none of a PostgreSQL or MariaDB server. [table-address]
      hint: name a file or a folder, or for example postgresql://user@host/database?table=schema.patients
    """
    if isinstance(place, str) and "://" in place and not is_server(place):
        message = "The address is none of a PostgreSQL or MariaDB server."
        hint = "name a file or a folder, or for example postgresql://user@host/database?table=schema.patients"
        raise DataError(Problem("table-address", message, hint=hint))


def shown(place: Any) -> str:
    """Return what messages show of a place: an address without its password and parameters, anything else as it is.

    Examples
    --------
    >>> shown("postgresql://ann:secret@db.example/health?table=clinic.patients"), shown("patients.csv")
    ('postgresql://ann@db.example/health?table=clinic.patients', 'patients.csv')
    """
    if not is_server(place):
        return shown_store(str(place))
    found = read_server(place, "table")
    return found.shown("table", found.given[0]) if found.given else found.base


def is_keepable(text: str) -> bool:
    r"""Whether a database can keep a text: no NUL, and no half of a character that takes two.

    Examples
    --------
    >>> is_keepable("Zoë O'Neil"), is_keepable("a\0b"), is_keepable("\ud800")
    (True, False, False)
    """
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return "\0" not in text


def read_server(address: str, parameter: str) -> ServerAddress:
    """Take a parameter of ours out of the address of a server.

    Examples
    --------
    >>> found = read_server("postgresql://ann:secret@db.example:5433/health?schema=clinic&sslmode=require", "schema")
    >>> found
    ServerAddress(given=('clinic',), base='postgresql://ann@db.example:5433/health')
    """
    base, _, parameters = address.partition("?")
    pairs = [pair for pair in parameters.split("&") if pair]
    given = tuple(unquote(pair.partition("=")[2]) for pair in pairs if pair.partition("=")[0] == parameter)
    others = [pair for pair in pairs if pair.partition("=")[0] != parameter]
    if not any(pair.partition("=")[0] == "connect_timeout" for pair in others):
        others.append("connect_timeout=10")  # the driver's own is to wait for ever
    return ServerAddress(base + "?" + "&".join(others), given, _base(address))


def _base(address: str) -> str:
    found = SHOWABLE.fullmatch(address)
    place = "…"
    if found:
        user, host, name = (found[part] or "" for part in ("user", "host", "name"))
        place = (f"{user}@" if user else "") + host + (f"/{name}" if name else "")
    scheme = address.partition("://")[0]
    return f"{POSTGRES[0] if scheme in POSTGRES else scheme}://{place}"


def find_driver(what: str) -> Any:
    """Return the driver, or say what needs it."""
    try:
        return importlib.import_module("adbc_driver_postgresql.dbapi")
    except ImportError:
        message = f"{what} needs a driver that is not installed."
        raise HedgerowError(Problem("usage", message, hint=how_to_install("postgres"))) from None


def connect(driver: Any, url: str, place: str) -> Any:
    """Connect to a server, or say in our own words why not."""
    try:
        # Transactions are begun by our own statements: the driver would begin the next one at once.
        return driver.connect(url, autocommit=True)
    except driver.Error as error:
        reason = next((ours for theirs, ours in REASONS if re.search(theirs, str(error))), "the server said no")
        hint = "check the address, the role and its password; psql, given the address without what is ours, tells more"
        message = f"The database cannot be reached: {reason}."
        raise DataError(Problem("no-connection", message, place, hint)) from None


TRANSACTION = "SELECT CAST(pg_catalog.txid_current() AS TEXT) AS name"
"""The number of a transaction that writes, by which another connection learns how it ended."""
ENDING = 10.0
"""Seconds that the server gets to end a transaction whose client is gone."""


def how_it_ended(number: str, ask: Callable[[str], str]) -> bool | None:
    """Tell whether a transaction was committed, when the connection broke while it ended.

    Parameters
    ----------
    number
        What ``TRANSACTION`` said in it.
    ask
        Asks the server, by a new connection, for one text.

    Returns
    -------
    bool or None
        None if the server does not say.
    """
    query = f"SELECT COALESCE(pg_catalog.txid_status({int(number)}), 'unknown') AS name"
    end = time.monotonic() + ENDING
    while (said := ask(query)) == "in progress" and time.monotonic() < end:
        time.sleep(0.05)
    return {"committed": True, "aborted": False}.get(said)
