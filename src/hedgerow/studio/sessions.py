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
from dataclasses import dataclass, field
from pathlib import Path

from hedgerow.engines.scratch import PrivateFolder
from hedgerow.studio.audit_log import AuditLog
from hedgerow.studio.files import Files
from hedgerow.studio.settings import Settings
from hedgerow.studio.workbench import Workbench

IDLE_SECONDS = 12 * 3600
"""A session that nobody used for so long ends, and its files are removed."""
MOST_SESSIONS = 64


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
    dark
        Whether pages are dark; None: as the system wants it.
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
    dark: bool | None = None
    opening: tuple[str, Path | None] | None = None


class Sessions:
    """All sessions of a studio."""

    def __init__(self, settings: Settings, log: AuditLog) -> None:
        self._settings, self._log = settings, log
        self._folder = PrivateFolder()
        self._by_hash: dict[str, Session] = {}
        self._tokens: set[str] = set()
        self._lock = threading.Lock()

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
        secret = secrets.token_urlsafe(32)
        folder = self._folder.path / secrets.token_hex(12)
        folder.mkdir(mode=0o700)
        session = Session(user, folder, Files(folder), Workbench(folder), self._settings, self._log)
        with self._lock:
            self._by_hash[_hash(secret)] = session
        return secret, session

    def find(self, secret: str | None) -> Session | None:
        """Return the session of a cookie."""
        session = self._by_hash.get(_hash(secret)) if secret else None
        if session is not None:
            session.seen = time.monotonic()
        return session

    def full(self) -> bool:
        """Tell whether no more sessions can begin."""
        self.expire()
        return len(self._by_hash) >= MOST_SESSIONS

    def end(self, session: Session) -> None:
        """End a session: stop its work, remove its files."""
        with self._lock:
            for key in [key for key, value in self._by_hash.items() if value is session]:
                del self._by_hash[key]
        session.bench.close()
        shutil.rmtree(session.folder, ignore_errors=True)

    def expire(self) -> None:
        """End the sessions that nobody used for long."""
        now = time.monotonic()
        for session in list(self._by_hash.values()):
            if now - session.seen > IDLE_SECONDS and not session.bench.busy:
                self.end(session)

    def close(self) -> None:
        """End all sessions and remove everything."""
        for session in list(self._by_hash.values()):
            self.end(session)
        self._folder.remove()


def _hash(secret: str) -> str:
    return hashlib.sha256(secret.encode("utf-8", "replace")).hexdigest()
