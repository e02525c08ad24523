"""A MariaDB or MySQL server: reading its address, and connecting to it in our own words."""

from __future__ import annotations

import configparser
import importlib
import os
import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, unquote, urlsplit

from hedgerow.errors import DataError, HedgerowError, Problem, how_to_install
from hedgerow.outside.server import is_keepable

LONGEST = 64  # characters of a name
SETTINGS_FILE = "~/.my.cnf"
"""Where people keep their role and password: read as the server's own programs do, for what an address leaves out."""
PASSWORD = "MYSQL_PWD"  # the name of a variable
FILES = ("ssl_ca", "ssl_cert", "ssl_key")
#: What an address may say behind its ``?``.
PARAMETERS = ("unix_socket", "connect_timeout", "ssl_verify_identity", *FILES)
YES_OR_NO = {"true": True, "false": False, "1": True, "0": False}

#: What the server or the driver says when it cannot connect, by number or words, and what we say.
REASONS = (
    (r"^\((1045|1698|1820|1862|4151)\b", "the server does not accept the role or its password"),
    (r"^\((1044|1049)\b", "the server has no such database, or not for this role"),
    (r"^\((1130|1129)\b", "the server does not let this role in from this machine"),
    (r"^\((1040|1203|1226)\b", "the server has no connection left"),
    (r"getaddrinfo|Name or service|name resolution|nodename", "there is no machine of that name"),
    (r"Connection refused|No such file or directory", "no server is listening there"),
    (r"timed out", "the server did not answer in time"),
    (r"SSL|TLS|certificate", "the encrypted connection could not be made"),
    (r"section header|parsing errors|line: ", f"{SETTINGS_FILE} cannot be read"),
    (r"authentication plugin|cryptography", "the driver does not know how the server wants the password"),
)


@dataclass(frozen=True)
class MariaDbAddress:
    """What a driver needs to connect.

    Attributes
    ----------
    arguments
        Named as the driver names them. They may hold a password, so they are never shown.
    """

    arguments: dict[str, Any] = field(repr=False)

    @property
    def database(self) -> str | None:
        """The database that is named first."""
        name: str | None = self.arguments.get("database")
        return name


def is_name(name: str) -> bool:
    r"""Whether a table, a database or a column may have a name: 64 characters of the first 65,536, no space at the end.

    A space or a control character at the beginning is taken away by the server where it selects something by that name.

    Examples
    --------
    >>> is_name("Zoë's patients"), is_name("a" * 65), is_name("end "), is_name("\x7fa"), is_name("😀")
    (True, False, False, False, False)
    """
    plain = is_keepable(name) and all(ord(sign) < 1 << 16 for sign in name)
    return plain and 1 <= len(name) <= LONGEST and not name.endswith(" ") and name[0] > " " and name[0] != "\x7f"


def read_url(url: str) -> MariaDbAddress:
    """Read the address of a server: who, where, which database, and what is said behind the ``?``.

    Raises
    ------
    DataError
        If it cannot be read, or says something that means nothing here.

    Examples
    --------
    >>> read_url("mysql://ann:s%40crt@db.example:3307/health?connect_timeout=5").arguments["port"]
    3307
    >>> read_url("mariadb://db.example/health?charset=latin1")
    Traceback (most recent call last):
    hedgerow.errors.DataError: The address has a parameter that means nothing here. [table-address]
      hint: the parameters are table, unix_socket, connect_timeout, ssl_verify_identity, ssl_ca, ssl_cert, ssl_key
    """
    try:
        parts = urlsplit(url)
        found: dict[str, Any] = {
            "user": parts.username and unquote(parts.username),
            "password": parts.password and unquote(parts.password),
            "host": parts.hostname and unquote(parts.hostname),
            "port": parts.port,
            "database": unquote(parts.path[1:]) or None,
        }
        given = parse_qsl(parts.query, keep_blank_values=True, strict_parsing=bool(parts.query))
        if any(name not in PARAMETERS for name, _ in given):
            hint = f"the parameters are table, {', '.join(PARAMETERS)}"
            message = "The address has a parameter that means nothing here."
            raise DataError(Problem("table-address", message, hint=hint))
        said = dict(given)
        if "connect_timeout" in said:
            found["connect_timeout"] = int(said.pop("connect_timeout"))
        if "ssl_verify_identity" in said:
            found["ssl_verify_identity"] = YES_OR_NO[said.pop("ssl_verify_identity").lower()]
        found |= said
    except (ValueError, KeyError):
        raise DataError(Problem("table-address", "The address of the server is malformed.", hint=EXAMPLE)) from None
    if found["database"] is not None and not is_name(found["database"]):
        message = f"The name of the database has more than {LONGEST} characters, or one that cannot be."
        raise DataError(Problem("table-address", message, hint=EXAMPLE))
    return MariaDbAddress({name: value for name, value in found.items() if value is not None})


EXAMPLE = "for example mariadb://user@host/database?table=patients"


def find_driver() -> Any:
    """Return the driver, or say what needs it."""
    try:
        return importlib.import_module("pymysql")
    except ImportError:
        message = "A table on a MariaDB server needs a driver that is not installed."
        raise HedgerowError(Problem("usage", message, hint=how_to_install("mariadb"))) from None


def connect(driver: Any, url: str, place: str, **more: Any) -> Any:
    """Connect to a server, or say in our own words why not."""
    arguments = {**read_url(url).arguments, **more}
    password = arguments.get("password", os.environ.get(PASSWORD))
    if password is not None:
        arguments["password"] = password.encode()
    settings = Path(SETTINGS_FILE).expanduser()
    if settings.is_file():
        arguments["read_default_file"] = str(settings)
    try:
        # No file of this machine is ever sent: a server could ask for any.
        return driver.connect(**arguments, charset="utf8mb4", autocommit=True, local_infile=False)
    except (driver.Error, OSError, ValueError, RuntimeError, TypeError, configparser.Error) as error:
        reason = next((ours for theirs, ours in REASONS if re.search(theirs, str(error))), "the server said no")
        hint = "check the address, the role and its password; the program mariadb, given the same, tells more"
        message = f"The database cannot be reached: {reason}."
        raise DataError(Problem("no-connection", message, place, hint)) from None
