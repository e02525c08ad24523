"""Private folders for what must not last: removed at the end, or by the next run where a run was killed.

The records of a table lie there for a while, so a run that had no chance to clean up must not leave them for ever. A
lock tells a folder that is in use from one that was left: the system lets go of it however the process ends.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

PREFIX = "hedgerow-private-"


class PrivateFolder:
    """A folder that only we can read, until it is removed.

    Examples
    --------
    >>> folder = PrivateFolder()
    >>> folder.path.is_dir()
    True
    >>> folder.remove()
    >>> folder.path.exists()
    False
    """

    def __init__(self) -> None:
        sweep()
        while True:
            self.path = Path(tempfile.mkdtemp(prefix=PREFIX))
            self._handle = _locked(self.path)
            if self.path.exists():  # else another run took it for one that was left, before it was locked
                return
            _let_go(self._handle)

    def remove(self) -> None:
        """Remove the folder with all that is in it."""
        shutil.rmtree(self.path, ignore_errors=True)
        _let_go(self._handle)
        self._handle = None


def sweep() -> None:
    """Remove what runs of ours that were killed have left."""
    for left in _ours():
        handle = _locked(left, wait=False)
        if handle is not None:
            shutil.rmtree(left, ignore_errors=True)
            _let_go(handle)


def _ours() -> Iterator[Path]:
    with contextlib.suppress(OSError, AttributeError):  # where users have no numbers, nothing is swept
        me = os.getuid()
        for path in Path(tempfile.gettempdir()).glob(f"{PREFIX}*"):
            with contextlib.suppress(OSError):
                if path.is_dir() and not path.is_symlink() and path.stat().st_uid == me:
                    yield path


def _locked(folder: Path, wait: bool = True) -> int | None:
    """Lock a folder; None if that cannot be done, or if another run has it and we do not wait."""
    try:
        import fcntl
    except ImportError:  # Windows
        return None
    handle = None
    try:
        handle = os.open(folder, os.O_RDONLY)
        fcntl.flock(handle, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
    except OSError:
        _let_go(handle)
        return None
    return handle


def _let_go(handle: int | None) -> None:
    if handle is not None:
        os.close(handle)
