"""The audit log: who did what and when, one line of JSON each; never a value of a record, never a secret."""

from __future__ import annotations

import datetime as dt
import json
import os
import threading
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hedgerow.errors import DataError, Problem, escape_json

if TYPE_CHECKING:
    from hedgerow.studio.sessions import Session


class AuditLog:
    """Appends lines to a file that only its owner can read; without a path it keeps nothing."""

    def __init__(self, path: Path | None = None) -> None:
        self._handle: int | None = None
        self._lock = threading.Lock()
        if path is None:
            return
        try:
            self._handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
        except OSError as error:
            message = f"The audit log cannot be opened: {error.strerror or 'unwritable'}."
            raise DataError(Problem("output", message, str(path), "name a file that you may write to")) from None

    def write(self, what: str, session: Session | None = None, **facts: Any) -> None:
        """Add a line: the time, who, what, and facts about it that tell nothing of a record."""
        if self._handle is None:
            return
        line = {
            "time": dt.datetime.now(dt.UTC).isoformat(timespec="seconds"),
            "user": None if session is None else session.user,
            "session": None if session is None else session.short,
            "what": what,
            **facts,
        }
        with self._lock:
            os.write(self._handle, (escape_json(json.dumps(line, ensure_ascii=False)) + "\n").encode())

    def close(self) -> None:
        """Close the file."""
        if self._handle is not None:
            os.close(self._handle)
            self._handle = None
