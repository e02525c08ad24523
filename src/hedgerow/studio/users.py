"""The users of a team's studio: names and hashes of passwords in a file, and signing in."""

from __future__ import annotations

import base64
import hashlib
import hmac
import os
import re
import secrets
import time
from collections import deque
from collections.abc import Mapping
from pathlib import Path

from hedgerow.errors import DataError, Problem
from hedgerow.outside.intake import read_bytes

COST = {"n": 1 << 15, "r": 8, "p": 1}  # some 0.1 s and 32 MB a try
MEMORY = 64 << 20
SHORTEST = 10
MOST_BYTES = 16 << 20  # of a users file
NAME = re.compile(r"[A-Za-z0-9._@-]{1,64}")
TRIES, WINDOW_SECONDS = 10, 60.0
"""Wrong passwords that one name may have within the window before it has to wait."""


def hash_password(password: str) -> str:
    """Return what the users file keeps: scrypt, with a salt of its own."""
    salt = secrets.token_bytes(16)
    digest = hashlib.scrypt(password.encode(), salt=salt, maxmem=MEMORY, **COST)
    return "$".join(("scrypt", *(str(value) for value in COST.values()), _text(salt), _text(digest)))


def matches(password: str, kept: str) -> bool:
    """Tell whether a password is the one that was hashed.

    Examples
    --------
    >>> kept = hash_password("a long password")
    >>> matches("a long password", kept), matches("another", kept)
    (True, False)
    """
    _, n, r, p, salt, digest = kept.split("$")
    found = hashlib.scrypt(password.encode(), salt=base64.b64decode(salt), maxmem=MEMORY, n=int(n), r=int(r), p=int(p))
    return hmac.compare_digest(found, base64.b64decode(digest))


def _text(raw: bytes) -> str:
    return base64.b64encode(raw).decode()


def read_users(path: Path) -> dict[str, str]:
    """Read a users file: one ``name:hash`` on every line.

    Raises
    ------
    DataError
        If it cannot be read, others may read it, or a line is not one of a user.
    """
    try:
        lines = read_bytes(path, MOST_BYTES, "The users file").decode().splitlines()
        mode = path.stat().st_mode
    except (OSError, UnicodeDecodeError, DataError):
        raise _problem("The users file cannot be read.", path, "make one with --add-user NAME") from None
    if mode & 0o077:
        raise _problem("The users file can be read by others.", path, "chmod 600 it")
    users = {}
    for number, line in enumerate(lines, 1):
        name, _, kept = line.strip().partition(":")
        if not line.strip() or line.startswith("#"):
            continue
        if not NAME.fullmatch(name) or not re.fullmatch(r"scrypt(\$\d+){3}(\$[A-Za-z0-9+/=]+){2}", kept):
            raise _problem(f"Line {number} is not a user.", path, "write lines with --add-user NAME")
        users[name] = kept
    if not users:
        raise _problem("The users file names nobody.", path, "add somebody with --add-user NAME")
    return users


def add_user(path: Path, name: str, password: str) -> None:
    """Add a user to a file, or give one that is there another password."""
    if not NAME.fullmatch(name):
        raise _problem("A name has 1 to 64 letters, digits and the signs . _ @ -", path)
    if len(password) < SHORTEST:
        raise _problem(f"A password has {SHORTEST} characters or more.", path)
    users = read_users(path) if path.exists() else {}
    users[name] = hash_password(password)
    new = path.with_name(f".{path.name}.new")
    handle = os.open(new, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    with os.fdopen(handle, "w", encoding="utf-8") as file:
        file.writelines(f"{who}:{kept}\n" for who, kept in users.items())
    new.replace(path)


class Door:
    """Lets users in, and makes those who guess wait."""

    def __init__(self, users: Mapping[str, str]) -> None:
        self._users = users
        self._nobody = hash_password(secrets.token_hex(16))  # a name that is not there takes as long
        self._wrong: dict[str, deque[float]] = {}

    def knows(self, name: str) -> bool:
        """Tell whether somebody has this name; for the log only."""
        return name in self._users

    def opens(self, name: str, password: str) -> bool:
        """Tell whether name and password fit; always so slow that guessing does not pay."""
        fits = matches(password, self._users.get(name, self._nobody)) and name in self._users
        now = time.monotonic()
        wrong = self._wrong.setdefault(name if name in self._users else "", deque(maxlen=TRIES))
        if len(wrong) == TRIES and now - wrong[0] < WINDOW_SECONDS:
            return False
        if not fits:
            wrong.append(now)
        return fits


def _problem(message: str, path: Path, hint: str = "") -> DataError:
    return DataError(Problem("users", message, str(path), hint))
