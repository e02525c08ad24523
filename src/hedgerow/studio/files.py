"""Files of a session: in a private folder, mode 0600, known to the browser by opaque names only."""

from __future__ import annotations

import errno
import os
import re
import secrets
import threading
from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path

LONGEST_NAME = 120
MOST_ARRIVING = 4
"""Files that one session may send at once."""
MOST_BROUGHT = 20
"""Files that one session may bring and keep."""


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


class TooManyFiles(Exception):
    """A session brings more at once, or keeps more, than it may; the text is for people."""


class Room:
    """Bytes that may be kept: of one session, or of all; a session's are taken from both.

    Examples
    --------
    >>> everybody = Room(10)
    >>> ann, bob = Room(8, everybody), Room(8, everybody)
    >>> ann.take(6), bob.take(6), bob.take(4)
    (True, False, True)
    """

    def __init__(self, most: int, within: Room | None = None) -> None:
        self._left, self._within = most, within
        self._lock = threading.Lock()

    def take(self, size: int) -> bool:
        """Take some; False if there is not so much left."""
        with self._lock:
            if size > self._left or (self._within is not None and not self._within.take(size)):
                return False
            self._left -= size
            return True

    def give(self, size: int) -> None:
        """Give some back."""
        with self._lock:
            self._left += size
        if self._within is not None:
            self._within.give(size)


class Files:
    """The files of one session.

    Parameters
    ----------
    folder
        Where they lie.
    room
        Bytes that may be brought, all files taken together.
    """

    def __init__(self, folder: Path, room: Room) -> None:
        self.folder = folder
        self._room = room
        self._by_id: dict[str, StoredFile] = {}
        self._brought: dict[str, int] = {}
        self._arriving = 0

    def new(self, name: str) -> StoredFile:
        """Make room for a file: its ending is kept, because readers go by it; nothing else of its name is."""
        number = secrets.token_urlsafe(18)
        ending = "".join(re.findall(r"\.[A-Za-z0-9]{1,8}", Path(name).name)[-1:])
        stored = StoredFile(number, plain_name(name), self.folder / f"{secrets.token_hex(12)}{ending}")
        self._by_id[number] = stored
        return stored

    async def receive(self, name: str, parts: AsyncIterator[bytes]) -> StoredFile:
        """Write what arrives to a file that only we can read; if it stops in the middle, nothing stays."""
        if self._arriving >= MOST_ARRIVING:
            raise TooManyFiles("Too many files are on their way already: wait for the first to arrive.")
        if len(self._brought) >= MOST_BROUGHT:
            raise TooManyFiles(
                f"{MOST_BROUGHT} files are kept for you already; they are removed when your session ends."
            )
        stored = self.new(name)
        self._brought[stored.id] = 0
        self._arriving += 1
        done = False
        try:
            handle = os.open(stored.path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
            with os.fdopen(handle, "wb") as file:
                async for part in parts:
                    if not self._room.take(len(part)):
                        raise OSError(errno.EDQUOT, "no room is left for this session")
                    self._brought[stored.id] += len(part)
                    file.write(part)
            done = True
        finally:
            self._arriving -= 1
            if not done:
                self.remove(stored.id)
        return stored

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
        self._room.give(self._brought.pop(number, 0))

    def remove_at(self, place: str) -> None:
        """Forget and delete the file that was brought and lies at a place, if there is one."""
        for stored in [one for one in self._by_id.values() if str(one.path) == place and one.id in self._brought]:
            self.remove(stored.id)

    def clear(self) -> None:
        """Forget and delete all files that were brought."""
        for number in list(self._brought):
            self.remove(number)


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
