"""Private folders for what must not last: removed at the end, or by the next run where a run was killed.

Records lie there for a while, or an output that is not whole yet, so a run that had no chance to clean up must not
leave them for ever. A lock tells a folder that is in use from one that was left: the system lets go of it however the
process ends. Numbers of processes would not do: they are used again, and other machines and containers have their own.
"""

from __future__ import annotations

import atexit
import contextlib
import os
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

from hedgerow.errors import DataError, Problem
from hedgerow.outside.outputs.moment import undisturbed

PREFIX = "hedgerow-scratch-"  # not "private", which versions before 0.2 sweep without looking at our lock
LOCK = ".lock"
NEW, OLD = "new", "old"  # in a private folder beside an output: what takes its place, and what was there


class PrivateFolder:
    """A folder that only we can read, until it is removed: at the end of the process, if nobody did before.

    Parameters
    ----------
    parent
        Where to make it; by default the folder for temporary files.
    prefix
        What its name begins with. What killed runs left there under such names is removed first.

    Examples
    --------
    >>> with PrivateFolder() as folder:
    ...     folder.path.is_dir()
    True
    >>> folder.path.exists()
    False
    """

    def __init__(self, parent: Path | None = None, prefix: str = PREFIX) -> None:
        if parent is None:
            with _told():
                self._make(Path(tempfile.gettempdir()), prefix)
        else:
            self._make(parent, prefix)

    def _make(self, parent: Path, prefix: str) -> None:
        sweep(parent, prefix)
        with undisturbed():  # else a signal could leave a folder that nobody knows of
            while True:
                self.path = Path(tempfile.mkdtemp(prefix=prefix, dir=parent))
                _open[self.path] = os.getpid()
                try:
                    self._handle = _made_lock(self.path)
                except FileNotFoundError:  # another run took it for one that was left, before it was locked
                    del _open[self.path]
                    continue
                except BaseException:
                    self._handle = None
                    self.remove()
                    raise
                return

    def folder(self, name: str) -> Path:
        """Make a folder in it."""
        with _told():
            (self.path / name).mkdir(mode=0o700)
        return self.path / name

    def remove(self) -> None:
        """Remove the folder with all that is in it."""
        _clear(self.path)
        handle, self._handle = self._handle, None
        _let_go(handle)
        if not self.path.exists():
            _open.pop(self.path, None)

    def __enter__(self) -> PrivateFolder:
        return self

    def __exit__(self, *_: object) -> None:
        self.remove()


_open: dict[Path, int] = {}
"""Folders that are not removed yet, and the process that made each: one that was forked leaves them alone."""


@atexit.register
def remove_all() -> None:
    """Remove what is left at the end of the process: a signal may have kept those who made it from doing so."""
    for path, process in list(_open.items()):
        if process == os.getpid():
            _clear(path)
            _open.pop(path, None)


def sweep(parent: Path | None = None, prefix: str = PREFIX) -> None:
    """Remove what runs that were killed have left; by default in the folder for temporary files."""
    for left in leftovers(Path(tempfile.gettempdir()) if parent is None else parent, prefix):
        _clear(left)


def leftovers(parent: Path, prefix: str) -> Iterator[Path]:
    """Yield folders that nobody uses any more, one by one, locked as long as they are looked at."""
    for path in _ours(parent, prefix):
        try:
            handle = _taken_lock(path)
        except FileNotFoundError:
            with contextlib.suppress(OSError):
                path.rmdir()  # its maker was killed before it was locked, or makes another one; then it is empty
            continue
        if handle is not None:
            try:
                yield path
            finally:
                _let_go(handle)


def _ours(parent: Path, prefix: str) -> list[Path]:
    found = []
    with contextlib.suppress(OSError, AttributeError):  # where users have no numbers, nothing is swept
        me = os.getuid()
        for entry in os.scandir(parent):
            with contextlib.suppress(OSError):
                mine = entry.is_dir(follow_symlinks=False) and entry.stat(follow_symlinks=False).st_uid == me
                if mine and entry.name.startswith(prefix):
                    found.append(Path(entry.path))
    return sorted(found)


def is_unfinished(private: Path) -> bool:
    """Tell whether an output was moved aside and the new one did not take its place: then it is the only one."""
    return (private / OLD).exists() and (private / NEW).exists()


def _clear(path: Path) -> None:
    """Remove a folder, its lock last of all: a run that is killed meanwhile leaves what can be swept again."""
    if is_unfinished(path):
        return
    with contextlib.suppress(OSError):
        for entry in list(os.scandir(path)):
            if entry.name == LOCK:
                continue
            if entry.is_dir(follow_symlinks=False):
                shutil.rmtree(entry.path, ignore_errors=True)
            else:
                with contextlib.suppress(OSError):
                    Path(entry.path).unlink()
        if [entry.name for entry in os.scandir(path)] == [LOCK]:
            (path / LOCK).unlink()
        path.rmdir()


def _made_lock(folder: Path) -> int | None:
    """Lock a new folder; None where nothing can be locked. FileNotFoundError: it is gone."""
    handle = os.open(folder / LOCK, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600)
    locked = _flock(handle, wait=True)
    if not (folder / LOCK).exists():
        _let_go(handle)
        raise FileNotFoundError
    if not locked:
        _let_go(handle)
        return None
    return handle


def _taken_lock(folder: Path) -> int | None:
    """Lock a folder that may have been left; None if it is in use, or if that cannot be known."""
    try:
        handle = os.open(folder / LOCK, os.O_RDWR | os.O_NOFOLLOW)
    except FileNotFoundError:
        raise
    except OSError:
        return None
    if _flock(handle, wait=False):
        return handle
    _let_go(handle)
    return None


def _flock(handle: int, wait: bool) -> bool:
    try:
        import fcntl

        fcntl.flock(handle, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
    except (ImportError, OSError):  # Windows; a file system without locks
        return False
    return True


@contextlib.contextmanager
def _told() -> Iterator[None]:
    try:
        yield
    except OSError as error:
        message = f"The folder for temporary files cannot be used: {error.strerror or 'unknown reason'}."
        raise DataError(Problem("output", message, hint="free some space, or set TMPDIR")) from None


def _let_go(handle: int | None) -> None:
    if handle is not None:
        with contextlib.suppress(OSError):  # it is closed all the same
            os.close(handle)
