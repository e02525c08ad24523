"""Sessions: who is in the studio, each with a folder, files and a workbench that no other session can reach.

A session begins with a token that the studio printed, which works once, or by signing in. From then on the browser
shows a cookie; only its hash is kept here.
"""

from __future__ import annotations

import hashlib
import secrets
import shutil
import threading
import time
from collections import deque
from dataclasses import dataclass, field
from pathlib import Path

from hedgerow.outside.outputs import PrivateFolder
from hedgerow.studio.audit_log import AuditLog
from hedgerow.studio.files import Files, Room
from hedgerow.studio.kept import Kept
from hedgerow.studio.memory import give_back
from hedgerow.studio.reader import Readers, TableReader
from hedgerow.studio.settings import Settings
from hedgerow.studio.workbench import Workbench

IDLE_SECONDS = 12 * 3600
"""A session that nobody used for so long ends, and its files are removed."""
SWEEP_SECONDS = 60.0
MOST_SESSIONS = 64
UPLOADS_OF_ONE, UPLOADS_OF_ALL = 3, 16
"""Uploads of the greatest size that a session, and that all sessions together, may keep."""
MOST_OF_A_USER = 6
"""Sessions that one person may have; of more, the one longest unused ends."""


@dataclass(eq=False)
class Session:
    """One browser at work.

    Attributes
    ----------
    settings
        How the studio is run.
    log
        Where what is done is written down.
    short
        A name for the audit log; nothing can be done with it.
    clients
        Pages of this session that are open; a socket may talk to these only.
    pages
        The same, oldest first, with some that are closed.
    dark
        Whether pages are dark; None: as the system wants it.
    kept
        What is open, chosen and typed on the screens: it outlives changes of screens and reloads.
    touring
        Whether notes lead through the screens.
    ended
        Whether it is over: its pages do nothing any more.
    opening
        Data and plan that are opened when the first page is shown.
    """

    user: str
    folder: Path
    files: Files
    bench: Workbench
    settings: Settings
    log: AuditLog
    short: str = field(default_factory=lambda: secrets.token_hex(4))
    seen: float = field(default_factory=time.monotonic)
    clients: set[str] = field(default_factory=set)
    pages: deque[str] = field(default_factory=deque)
    dark: bool | None = None
    kept: Kept = field(default_factory=Kept)
    touring: bool = False
    ended: bool = False
    opening: tuple[str, Path | None] | None = None


class Sessions:
    """All sessions of a studio."""

    def __init__(self, settings: Settings, log: AuditLog) -> None:
        self._settings, self._log = settings, log
        self._folder = PrivateFolder()
        self._readers = Readers()
        self._room = Room(UPLOADS_OF_ALL * settings.upload_bytes)
        self._by_hash: dict[str, Session] = {}
        self._tokens: set[str] = set()
        self._lock = threading.Lock()
        self._closed = threading.Event()
        threading.Thread(target=self._sweep, daemon=True).start()

    def prepare(self) -> None:
        """Get ready for the first tables."""
        self._readers.prepare()

    def new_token(self) -> str:
        """Make a token that lets one browser in, once."""
        token = secrets.token_urlsafe(24)
        with self._lock:
            self._tokens.add(_hash(token))
        return token

    def redeem(self, token: str) -> bool:
        """Use up a token; False if it is not one of ours, or was used."""
        with self._lock:
            known = _hash(token) in self._tokens
            self._tokens.discard(_hash(token))
        return known

    def begin(self, user: str) -> tuple[str, Session]:
        """Begin a session; returns the secret of its cookie."""
        self.expire()
        own = sorted((one for one in self._all() if one.user == user), key=lambda one: one.seen)
        for oldest in own[: max(0, len(own) - MOST_OF_A_USER + 1)]:
            self.end(oldest)
        secret = secrets.token_urlsafe(32)
        folder = self._folder.path / secrets.token_hex(12)
        folder.mkdir(mode=0o700)
        bench = Workbench(folder, TableReader(folder, self._readers, user))
        files = Files(folder, Room(UPLOADS_OF_ONE * self._settings.upload_bytes, self._room))
        session = Session(user, folder, files, bench, self._settings, self._log)
        with self._lock:
            self._by_hash[_hash(secret)] = session
        return secret, session

    def find(self, secret: str | None) -> Session | None:
        """Return the session of a cookie."""
        session = self._by_hash.get(_hash(secret)) if secret else None
        if session is None:
            return None
        if _is_idle(session):
            self.end(session)
            return None
        session.seen = time.monotonic()
        return session

    def used_by(self, page: str) -> bool:
        """Tell whether a page belongs to a session, which is then in use."""
        for session in self._all():
            if page in session.clients:
                session.seen = time.monotonic()
                return True
        return False

    def full(self) -> bool:
        """Tell whether no more sessions can begin."""
        self.expire()
        return len(self._by_hash) >= MOST_SESSIONS

    def end(self, session: Session) -> None:
        """End a session: stop its work, remove its files."""
        with self._lock:
            for key in [key for key, value in self._by_hash.items() if value is session]:
                del self._by_hash[key]
        session.ended = True
        session.clients.clear()
        session.bench.close()
        session.files.clear()
        shutil.rmtree(session.folder, ignore_errors=True)

    def expire(self) -> None:
        """End the sessions that nobody used for long."""
        for session in self._all():
            if _is_idle(session):
                self._log.write("expired", session)
                self.end(session)

    def close(self) -> None:
        """End all sessions and remove everything."""
        self._closed.set()
        for session in self._all():
            self.end(session)
        self._readers.close()
        self._folder.remove()

    @property
    def folder(self) -> Path:
        """A private folder that is removed at the end."""
        return self._folder.path

    def _all(self) -> list[Session]:
        with self._lock:
            return list(self._by_hash.values())

    def _sweep(self) -> None:
        while not self._closed.wait(SWEEP_SECONDS):
            self.expire()
            self._readers.sweep()
            give_back()


def _is_idle(session: Session) -> bool:
    return time.monotonic() - session.seen > IDLE_SECONDS and not session.bench.busy


def _hash(secret: str) -> str:
    return hashlib.sha256(secret.encode("utf-8", "replace")).hexdigest()
