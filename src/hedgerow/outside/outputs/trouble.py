"""What to say when something cannot be put in place, or is in place and the rest went wrong."""

from __future__ import annotations

import errno
import os
from pathlib import Path

from hedgerow.errors import DataError, DoneBut, Problem

MEANWHILE = frozenset({errno.ENOTEMPTY, errno.EEXIST, errno.ENOTDIR, errno.EISDIR})


def cannot_write(target: Path, error: OSError) -> DataError:
    """Say why the output could not be written."""
    hint = {
        errno.ENOSPC: "free some space, or write elsewhere",
        errno.EACCES: "check the permissions of the folder",
        errno.EPERM: "check the permissions of the folder",
        errno.EROFS: "write to another file system",
    }.get(error.errno or 0, "nothing was changed there")
    return DataError(Problem("output", f"The output cannot be written: {reason_of(error)}.", str(target), hint))


def made_meanwhile(target: Path) -> DataError:
    """Say that somebody else was faster."""
    message = "Something was made at the output's place meanwhile. It is left as it is."
    return DataError(Problem("output-in-use", message, str(target), "choose another name, or run it again"))


def not_confirmed(target: Path, error: OSError) -> DoneBut:
    """Say that an output is in place, but that the disk did not confirm it."""
    message = f"It is in place, but the disk did not confirm that it will stay there: {reason_of(error)}."
    return DoneBut(Problem("done-but", message, str(target), "check the disk, then look whether it is there"))


def reason_of(error: OSError) -> str:
    """Return the system's reason, which holds nothing of the data."""
    return os.strerror(error.errno) if error.errno else "unknown reason"


def refuse_link(target: Path) -> None:
    """Refuse a symbolic link: whether it or what it points to is to be replaced, only its owner knows."""
    if target.is_symlink():
        message = "The output is a symbolic link, which is neither followed nor replaced."
        raise DataError(Problem("output-in-use", message, str(target), "name what it points to, or another place"))
