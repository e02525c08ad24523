"""Putting a folder in place all at once: written in a private folder beside it, synced, then renamed.

A release that is replaced changes places with the new one in one call of the system. Where there is no such call, the
old one is moved aside first; a run that is killed at that moment leaves both in its private folder, and the next run
for the same place puts the old one back.
"""

from __future__ import annotations

import contextlib
import os
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

from hedgerow.errors import DataError, DoneBut, Problem
from hedgerow.outside.outputs.file import beside, sweep_beside
from hedgerow.outside.outputs.moment import record, undisturbed
from hedgerow.outside.outputs.moving import Unsupported, exchange, identity, sync
from hedgerow.outside.outputs.private import NEW, OLD, PrivateFolder, is_unfinished, leftovers
from hedgerow.outside.outputs.trouble import (
    MEANWHILE,
    cannot_write,
    made_meanwhile,
    not_confirmed,
    reason_of,
    refuse_link,
)


@contextlib.contextmanager
def new_folder(
    target: Path,
    replace: bool,
    own: frozenset[str],
    what: str = "the release",
    then: Callable[[], None] | None = None,
) -> Iterator[Path]:
    """Yield a private folder that becomes ``target`` if the block ends well, and vanishes otherwise.

    Parameters
    ----------
    target
        Where it goes. A symbolic link is refused.
    replace
        Whether a folder may be replaced that holds nothing but what we wrote.
    own
        Names of what we write.
    what
        What it is, in the message of a command that is interrupted later.
    then
        Called right after it was put in place: puts in place what goes with it.

    Raises
    ------
    DataError
        If ``target`` holds something already and ``replace`` is not set, or the place cannot be written to. Nothing has
        changed then.
    DoneBut
        If the folder is in place, but not what goes with it, or the disk does not confirm it.
    """
    target = Path(os.path.abspath(target))  # noqa: PTH100 - a link is refused, not followed
    check_free(target, replace, own)
    made = _missing(target.parent)
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        private = PrivateFolder(target.parent, beside(target))
    except OSError as error:
        _unmake(made)
        raise cannot_write(target, error) from None
    lost: OSError | None = None
    try:
        folder = private.path / NEW
        folder.mkdir(mode=0o700)
        yield folder
        for left in list(folder.rglob(".*.hedgerow-*")):  # of files that were put in place inside, if it stayed
            shutil.rmtree(left)
        for path in folder.rglob("*"):
            sync(path)
        folder.chmod(0o755)
        sync(folder)
        with undisturbed():
            _put(private.path, target, replace, own)
            record(f"{what} is in place: {target}")
            made = []
            try:
                if then is not None:
                    then()
            except OSError as error:
                lost = error
    except OSError as error:
        if error.errno in MEANWHILE:
            raise made_meanwhile(target) from None
        raise cannot_write(target, error) from None
    finally:
        private.remove()
        _unmake(made)
    if lost is not None:
        message = f"It is in place, but what goes with it is not: {reason_of(lost)}."
        raise DoneBut(Problem("done-but", message, str(target), "run it again with --replace"))
    try:
        sync(target.parent)
    except OSError as error:
        raise not_confirmed(target, error) from None


def check_free(target: Path, replace: bool, own: frozenset[str]) -> None:
    """Refuse a target that holds something, early; only what we wrote ourselves may be replaced.

    What a run left that was killed while it replaced the target is put back first.
    """
    target = Path(os.path.abspath(target))  # noqa: PTH100
    refuse_link(target)
    restore(target)
    _check_held(target, replace, own, target)


def restore(target: Path) -> None:
    """Put back a folder that a killed run had moved aside to replace it, and remove what else such runs left."""
    for left in leftovers(target.parent, beside(target)):
        if is_unfinished(left) and not os.path.lexists(target):
            with contextlib.suppress(OSError):
                (left / OLD).rename(target)
    sweep_beside(target)


def _check_held(folder: Path, replace: bool, own: frozenset[str], shown: Path) -> None:
    try:
        held = {path.name for path in folder.iterdir()}
    except FileNotFoundError:
        return
    except NotADirectoryError:
        message = "The output is a file, not a folder."
        raise DataError(Problem("output-in-use", message, str(shown), "name a folder")) from None
    except OSError as error:
        raise cannot_write(shown, error) from None
    if held and not replace:
        hint = "choose another folder, or replace it with --replace"
        raise DataError(Problem("output-in-use", "The output folder is not empty.", str(shown), hint))
    if held - own:
        message = "The output folder holds other files than a release does, so it is not replaced."
        raise DataError(Problem("output-in-use", message, str(shown), "choose another folder"))


def _put(private: Path, target: Path, replace: bool, own: frozenset[str]) -> None:
    """Give the new folder its name; the moment of truth."""
    new = private / NEW
    own_identity = identity(new)
    try:
        if not (replace and target.is_dir()):
            new.rename(target)  # refuses a folder that holds something
            return
        try:
            exchange(new, target)
        except Unsupported:
            _move_aside(private, target, replace, own)
            return
    except OSError:
        if own_identity is None or identity(target) != own_identity:  # else it was done all the same
            raise
    try:
        _check_held(new, replace, own, target)  # what was there a moment ago
    except DataError:
        exchange(new, target)
        raise


def _move_aside(private: Path, target: Path, replace: bool, own: frozenset[str]) -> None:
    """Replace a folder in two steps; between them the private folder says what was there."""
    old = private / OLD
    _check_held(target, replace, own, target)
    target.rename(old)
    try:
        with contextlib.suppress(OSError):  # the order of the two steps must outlive a power cut
            sync(private)
            sync(target.parent)
        (private / NEW).rename(target)
    except BaseException:
        with contextlib.suppress(OSError):  # else the next run does it
            old.rename(target)
        raise


def _missing(folder: Path) -> list[Path]:
    """Return the folders that must be made for one to be there, the innermost first."""
    found = []
    while not folder.exists() and folder != folder.parent:
        found.append(folder)
        folder = folder.parent
    return found


def _unmake(folders: list[Path]) -> None:
    for folder in folders:
        with contextlib.suppress(OSError):
            folder.rmdir()
