"""Renaming, and what Python does not offer of it: exchanging two names at once, and never onto something."""

from __future__ import annotations

import contextlib
import errno
import os
from pathlib import Path

NOREPLACE, EXCHANGE = 1, 2  # flags of renameat2
HERE = -100  # AT_FDCWD: paths are taken from the working folder
UNSUPPORTED = frozenset({errno.EINVAL, errno.ENOSYS, errno.EOPNOTSUPP, errno.ENOTSUP})
Identity = tuple[int, int]


class Unsupported(Exception):
    """The system, or the file system, cannot do this."""


def exchange(first: Path, second: Path) -> None:
    """Let two names change places at once: nobody ever sees one of them missing."""
    _renameat2(first, second, EXCHANGE)


def move(source: Path, target: Path) -> None:
    """Rename a file, never onto another."""
    with contextlib.suppress(Unsupported):
        _renameat2(source, target, NOREPLACE)
        return
    try:
        os.link(source, target)
    except OSError as error:
        if error.errno not in UNSUPPORTED | {errno.EPERM, errno.EMLINK}:
            raise
        if os.path.lexists(target):  # a file system without hard links: two writers at once are not told apart
            raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), str(target)) from None
        source.rename(target)
        return
    source.unlink()


def identity(path: Path) -> Identity | None:
    """Return what tells a file or folder from any other, whatever its name; None if there is none."""
    try:
        found = path.lstat()
    except OSError:
        return None
    return found.st_dev, found.st_ino


def sync(path: Path) -> None:
    """Have the disk confirm a file, or the names in a folder; some file systems have no such thing for folders."""
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    except OSError as error:
        if not (error.errno in UNSUPPORTED and path.is_dir()):
            raise
    finally:
        os.close(handle)


def _renameat2(source: Path, target: Path, flags: int) -> None:
    import ctypes

    try:
        call = ctypes.CDLL(None, use_errno=True).renameat2  # glibc has it since 2018
    except (AttributeError, OSError, TypeError):
        raise Unsupported from None
    while call(HERE, os.fsencode(source), HERE, os.fsencode(target), flags):
        number = ctypes.get_errno()
        if number in UNSUPPORTED:
            raise Unsupported
        if number != errno.EINTR:
            raise OSError(number, os.strerror(number), str(source), None, str(target))
