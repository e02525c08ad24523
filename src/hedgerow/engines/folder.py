"""Putting a folder into place all at once: written beside it, synced, then renamed. Nothing is ever half there."""

from __future__ import annotations

import contextlib
import errno
import os
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

from hedgerow.errors import DataError, Problem


@contextlib.contextmanager
def new_folder(target: Path, replace: bool) -> Iterator[Path]:
    """Yield a private folder that becomes ``target`` if the block ends well, and vanishes otherwise.

    Raises
    ------
    DataError
        If ``target`` holds something already and ``replace`` is not set, or the place cannot be written to.
    """
    target = Path(os.path.abspath(target))  # noqa: PTH100 - resolve() would follow a link that is to be replaced
    check_free(target, replace)
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        sweep(target)
        folder = Path(tempfile.mkdtemp(prefix=f".{target.name}.hedgerow-{os.getpid()}-", dir=target.parent))
    except OSError as error:
        raise cannot_write(target, error) from error
    try:
        yield folder
        for file in folder.rglob("*"):
            _sync(file)
        folder.chmod(0o755)
        _sync(folder)
        _move_into_place(folder, target, replace)
        _sync(target.parent)
    except OSError as error:
        raise cannot_write(target, error) from error
    finally:
        shutil.rmtree(folder, ignore_errors=True)


RELEASE_FILES = frozenset({"data.csv", "data.parquet", "plan.yaml", "facts.json", "signature.json"})


def check_free(target: Path, replace: bool, own: frozenset[str] = RELEASE_FILES) -> None:
    """Refuse a target that holds something, early; only what we wrote ourselves may be replaced."""
    if target.is_dir():
        held = {path.name for path in target.iterdir()}
        if held and not replace:
            hint = "choose another folder, or replace it with --replace"
            raise DataError(Problem("output-in-use", "The output folder is not empty.", str(target), hint))
        if held - own:
            message = "The output folder holds other files than a release does, so it is not replaced."
            raise DataError(Problem("output-in-use", message, str(target), "choose another folder"))
    elif target.exists():
        raise DataError(Problem("output-in-use", "The output is a file, not a folder.", str(target), "name a folder"))


def cannot_write(target: Path, error: OSError) -> DataError:
    """Say why the output could not be written."""
    hint = {
        errno.ENOSPC: "free some space, or write elsewhere",
        errno.EACCES: "check the permissions of the folder",
        errno.EPERM: "check the permissions of the folder",
        errno.EROFS: "write to another file system",
    }.get(error.errno or 0, "nothing was changed there")
    reason = os.strerror(error.errno) if error.errno else "unknown reason"
    return DataError(Problem("output", f"The output cannot be written: {reason}.", str(target), hint))


def sweep(target: Path) -> None:
    """Remove what a killed run left beside the target."""
    for left in target.parent.glob(f".{glob_escape(target.name)}.hedgerow-*"):
        number = left.name.rsplit(".hedgerow-", 1)[1].split("-")[0]
        if number.isdigit() and not _is_running(int(number)):
            shutil.rmtree(left, ignore_errors=True)


def glob_escape(name: str) -> str:
    """Escape what a glob pattern would read as more than itself."""
    return "".join(f"[{sign}]" if sign in "*?[" else sign for sign in name)


def _is_running(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except OSError:
        return True
    return True


def _sync(path: Path) -> None:
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def _move_into_place(folder: Path, target: Path, replace: bool) -> None:
    old = None
    if target.exists():
        check_free(target, replace)
        old = folder.with_name(folder.name + "-old")
        target.rename(old)
    try:
        folder.rename(target)
    except OSError:
        if old is not None:
            old.rename(target)
        raise
    if old is not None:
        shutil.rmtree(old, ignore_errors=True)
