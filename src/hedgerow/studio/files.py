"""Files of a session: in a private folder, mode 0600, known to the browser by opaque names only."""

from __future__ import annotations

import errno
import os
import re
import secrets
from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path

LONGEST_NAME = 120


@dataclass(frozen=True)
class StoredFile:
    """A file that a session brought or made.

    Attributes
    ----------
    id
        What the browser knows it by: long, random, and of no meaning.
    name
        What a person calls it; used for downloads and on screens, never as a path.
    """

    id: str
    name: str
    path: Path


class Files:
    """The files of one session."""

    def __init__(self, folder: Path, most_bytes: int) -> None:
        self.folder = folder
        self._most_bytes = most_bytes
        self._by_id: dict[str, StoredFile] = {}

    def new(self, name: str) -> StoredFile:
        """Make room for a file: its ending is kept, because readers go by it; nothing else of its name is."""
        number = secrets.token_urlsafe(18)
        ending = "".join(re.findall(r"\.[A-Za-z0-9]{1,8}", Path(name).name)[-1:])
        stored = StoredFile(number, plain_name(name), self.folder / f"{secrets.token_hex(12)}{ending}")
        self._by_id[number] = stored
        return stored

    async def receive(self, name: str, parts: AsyncIterator[bytes]) -> StoredFile:
        """Write what arrives to a file that only we can read; if it stops in the middle, nothing stays."""
        stored = self.new(name)
        done = False
        try:
            handle = os.open(stored.path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
            with os.fdopen(handle, "wb") as file:
                room = self._room()
                async for part in parts:
                    room -= len(part)
                    if room < 0:
                        raise OSError(errno.EDQUOT, "no room is left for this session")
                    file.write(part)
            done = True
        finally:
            if not done:
                self.remove(stored.id)
        return stored

    def _room(self) -> int:
        """Bytes that this session may still keep, all its files taken together."""
        there = (stored.path for stored in self._by_id.values())
        return self._most_bytes - sum(path.stat().st_size for path in there if path.exists())

    def write(self, name: str, content: bytes) -> StoredFile:
        """Keep something that was made here, to be downloaded."""
        stored = self.new(name)
        with os.fdopen(os.open(stored.path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
            file.write(content)
        return stored

    def find(self, number: str) -> StoredFile | None:
        """Return a file of this session; another session's is not found."""
        return self._by_id.get(number)

    def remove(self, number: str) -> None:
        """Forget a file and delete it."""
        stored = self._by_id.pop(number, None)
        if stored is not None:
            stored.path.unlink(missing_ok=True)


def plain_name(name: str) -> str:
    r"""Return a name for people: no folders, no control characters, not too long.

    Examples
    --------
    >>> plain_name("../../etc/pass\nwd"), plain_name("C:\\data\\people.csv"), plain_name("")
    ('passwd', 'people.csv', 'file')
    """
    last = re.split(r"[\\/]", name)[-1]
    kept = "".join(sign for sign in last if sign.isprintable()).strip(" .")
    return kept[-LONGEST_NAME:] or "file"
