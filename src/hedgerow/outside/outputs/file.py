"""Putting a file in place all at once: written in a private folder beside it, synced, then renamed."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from pathlib import Path

from hedgerow.errors import DataError, Problem
from hedgerow.outside.outputs.moment import record, undisturbed
from hedgerow.outside.outputs.moving import identity, move, sync
from hedgerow.outside.outputs.private import NEW, PrivateFolder, sweep
from hedgerow.outside.outputs.trouble import MEANWHILE, cannot_write, made_meanwhile, not_confirmed, refuse_link

FOR_ALL, FOR_ITS_OWNER = 0o644, 0o600


class PreparedFile:
    """A file that is written in private, and put in place later.

    Attributes
    ----------
    path
        Where to write it.
    target
        Where it goes.
    """

    def __init__(self, target: Path, mode: int, replace: bool) -> None:
        self.target = Path(os.path.abspath(target))  # noqa: PTH100 - a link is refused, not followed
        self._mode, self._replace = mode, replace
        refuse_link(self.target)
        sweep_beside(self.target)
        if not replace and self.target.exists():
            raise made_meanwhile(self.target)
        try:
            self._private = PrivateFolder(self.target.parent, beside(self.target))
        except OSError as error:
            raise cannot_write(self.target, error) from None
        self.path = self._private.path / NEW

    def write(self, text: str) -> None:
        """Write a text, as it is."""
        with self.path.open("w", encoding="utf-8", newline="") as file:
            file.write(text)

    def seal(self) -> None:
        """Have the disk confirm what was written: from now on only a name is missing."""
        self.path.chmod(self._mode)
        sync(self.path)

    def put(self) -> None:
        """Put it in place."""
        new = identity(self.path)
        try:
            if self._replace:
                self.path.replace(self.target)
            else:
                move(self.path, self.target)
        except OSError:
            if new is None or identity(self.target) != new:  # else it was done all the same
                raise

    def confirm(self) -> None:
        """Have the disk confirm the name."""
        try:
            sync(self.target.parent)
        except OSError as error:
            raise not_confirmed(self.target, error) from None

    def remove(self) -> None:
        """Remove what is not in place."""
        self._private.remove()


@contextlib.contextmanager
def new_file(target: str | Path, what: str, *, mode: int = FOR_ALL, replace: bool = False) -> Iterator[PreparedFile]:
    """Yield a file to write; it is put in place if the block ends well, and vanishes otherwise.

    Parameters
    ----------
    target
        Where it goes. A symbolic link is refused.
    what
        What it is, in the message of a command that is interrupted later: "the page".
    mode
        Who may read it, whatever the process would usually give.
    replace
        Whether a file that is there already may be replaced.

    Raises
    ------
    DataError
        If it cannot be written; nothing has changed then.
    DoneBut
        If it is in place, but the disk does not confirm that.

    Examples
    --------
    >>> with PrivateFolder() as folder:
    ...     with new_file(folder.path / "page.html", "the page") as file:
    ...         file.write("<p>Hello")
    ...     (folder.path / "page.html").read_text()
    '<p>Hello'
    """
    file = PreparedFile(Path(target), mode, replace)
    try:
        yield file
        file.seal()
        with undisturbed():
            file.put()
            record(f"{what} is in place: {target}")
    except OSError as error:
        if error.errno in MEANWHILE:
            raise made_meanwhile(file.target) from None
        raise cannot_write(file.target, error) from None
    finally:
        file.remove()
    file.confirm()


def put_text(target: str | Path, text: str, what: str, *, mode: int = FOR_ALL, replace: bool = False) -> None:
    """Put a text in place as a file; see :func:`new_file`."""
    with new_file(target, what, mode=mode, replace=replace) as file:
        file.write(text)


def put_bytes(target: str | Path, content: bytes, what: str, *, mode: int = FOR_ALL, replace: bool = False) -> None:
    """Put bytes in place as a file; see :func:`new_file`."""
    with new_file(target, what, mode=mode, replace=replace) as file:
        file.path.write_bytes(content)


def refuse_existing(target: Path, message: str, hint: str) -> None:
    """Refuse, before any work, a file that is there already, also as a link to nowhere."""
    sweep_beside(target)
    if os.path.lexists(target):
        raise DataError(Problem("output-in-use", message, str(target), hint))


def sweep_beside(target: Path) -> None:
    """Remove what runs left beside a target that were killed, even after they had put it in place."""
    sweep(target.parent, beside(target))


def beside(target: Path) -> str:
    """Return what hidden names beside a target begin with; a name may have 255 bytes.

    Examples
    --------
    >>> beside(Path("out/release"))
    '.release.hedgerow-'
    >>> len(beside(Path("é" * 127)))
    26
    """
    if len(os.fsencode(target.name)) <= 200:
        return f".{target.name}.hedgerow-"
    import hashlib

    return f".{hashlib.sha256(os.fsencode(target.name)).hexdigest()[:15]}.hedgerow-"
