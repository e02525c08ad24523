"""Taking in what somebody else wrote: regular files only, of bounded size; JSON of bounded size and depth.

A path may lead to a pipe that nobody writes to, or to a device that never ends. Both are refused before anything is
read. Where the limits of all readers stand is told in the reference, under "Limits on what is read".
"""

from __future__ import annotations

import codecs
import json
import os
import stat
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from hedgerow.errors import DataError, Problem

NOT_FOR_TABLES = frozenset({"punycode", "idna", "undefined", "unicode-escape", "raw-unicode-escape", "utf-7"})
"""Encodings of text that no table is written in; some take a time that grows with the square of its length."""
MOST_JSON_BYTES = 256 << 20
MOST_JSON_PARTS = 20_000_000
"""Values of a JSON text, counted by its commas and brackets, those inside of texts included."""
MOST_JSON_DEPTH = 40
_CAREFULLY = sum(getattr(os, name, 0) for name in ("O_CLOEXEC", "O_NONBLOCK", "O_NOCTTY", "O_BINARY"))
_KINDS = (
    (stat.S_ISDIR, "a folder"),
    (stat.S_ISFIFO, "a pipe"),
    (stat.S_ISCHR, "a device"),
    (stat.S_ISBLK, "a device"),
    (stat.S_ISSOCK, "a socket"),
)


def open_regular(path: str | Path, what: str = "The data") -> int:
    """Open a regular file for reading, and return its descriptor.

    Raises
    ------
    DataError
        ``no-file``: it is not there, may not be read, or is something that is not a regular file.
    """
    try:
        _refuse_other(os.stat(path).st_mode, path, what)  # noqa: PTH116 - a device must not even be opened
        handle = os.open(path, os.O_RDONLY | _CAREFULLY)
    except FileNotFoundError:
        message = f"{what} file does not exist."
        raise DataError(Problem("no-file", message, str(path), "check the path")) from None
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or "it has no such name"
        message = f"{what} cannot be opened: {reason}."
        raise DataError(Problem("no-file", message, str(path), "check the path")) from None
    try:
        _refuse_other(os.fstat(handle).st_mode, path, what)
    except BaseException:
        os.close(handle)
        raise
    return handle


def read_bytes(path: str | Path, most: int, what: str) -> bytes:
    """Read a whole regular file of bounded size."""
    with os.fdopen(open_regular(path, what), "rb") as file:
        try:
            found = file.read(most + 1)
        except OSError as error:
            message = f"{what} cannot be read: {error.strerror or 'unreadable'}."
            raise DataError(Problem("no-file", message, str(path), "check the path")) from None
    if len(found) > most:
        message = f"{what} is larger than {_bytes(most)}."
        raise DataError(Problem("too-much", message, str(path), "give a smaller one"))
    return found


def read_json(text: str | bytes) -> Any:
    """Read JSON text.

    Raises
    ------
    ValueError
        If it is not JSON, or is too large or too deep to be read; the text of the error holds nothing of it.

    Examples
    --------
    >>> read_json('{"k": [5]}')
    {'k': [5]}
    >>> read_json("[" * 100_000)
    Traceback (most recent call last):
    ValueError: nested too deep
    """
    raw = text.encode("utf-8", "surrogatepass") if isinstance(text, str) else text
    if len(raw) > MOST_JSON_BYTES:
        raise ValueError("too large")
    opened = raw.count(b"[") + raw.count(b"{")
    if opened + raw.count(b",") > MOST_JSON_PARTS:
        raise ValueError("too many parts")
    try:
        found = json.loads(raw.decode("utf-8"), object_pairs_hook=_each_once, parse_constant=_refuse_constant)
    except RecursionError:
        raise ValueError("nested too deep") from None
    except ValueError:
        raise ValueError("not JSON") from None
    if opened > MOST_JSON_DEPTH and is_deeper(found, MOST_JSON_DEPTH):
        raise ValueError("nested too deep")
    return found


def _each_once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Make an object of pairs; of two with one name, different readers would take a different one."""
    found = dict(pairs)
    if len(found) != len(pairs):
        raise ValueError("a name stands there twice")
    return found


def _refuse_constant(constant: str) -> Any:
    raise ValueError(f"{constant} is no JSON")


def is_text_encoding(name: str) -> bool:
    """Tell whether Python knows an encoding of text by this name that a table may be written in.

    Examples
    --------
    >>> [is_text_encoding(name) for name in ("utf-8", "latin-1", "zip", "rot13", "punycode", "no such")]
    [True, True, False, False, False, False]
    """
    try:
        found = codecs.lookup(name)
    except (LookupError, ValueError, ImportError):
        return False
    plain = getattr(found, "_is_text_encoding", True)
    return bool(plain) and found.name.replace("_", "-") not in NOT_FOR_TABLES


def is_deeper(found: Any, most: int) -> bool:
    """Tell whether plain data is nested deeper than so many levels.

    Examples
    --------
    >>> is_deeper({"a": [1]}, 2), is_deeper({"a": [[1]]}, 2)
    (False, True)
    """
    left = [(found, 0)]
    while left:
        part, depth = left.pop()
        if isinstance(part, Mapping | list | tuple):
            if depth == most:
                return True
            left += [(one, depth + 1) for one in (part.values() if isinstance(part, Mapping) else part)]
    return False


def _refuse_other(mode: int, path: str | Path, what: str) -> None:
    if stat.S_ISREG(mode):
        return
    kind = next((name for is_kind, name in _KINDS if is_kind(mode)), "no file")
    message = f"{what} is {kind}, not a file."
    hint = "name a file" if stat.S_ISDIR(mode) else "write what it gives to a file first, and name that"
    raise DataError(Problem("no-file", message, str(path), hint))


def _bytes(number: int) -> str:
    return f"{number >> 20:,} MiB" if number >= 1 << 20 else f"{number:,} bytes"
