"""Where compiled kernels are kept.

Numba by itself does not notice when a function or a number of *another* file changes, and goes on giving the old
answer. So every kernel module has a folder of its own, whose name holds a hash of its source and of all modules of ours
that it imports, codes and named tuples too: a change makes new folders for what depends on it, and for nothing else. A
kernel imports the named tuples that it takes even if it never says their names, because numba knows fields by position.
Folders that nothing has used for a month are removed.

A folder that may be read but not written, as in an image that another user has prepared, is copied to a temporary one.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import re
import shutil
import time
from functools import cache
from pathlib import Path

from hedgerow.outside.outputs import PrivateFolder

PACKAGE = Path(__file__).parents[2]
KERNELS = "hedgerow.anonymization.kernels"
DAY = 24 * 3600
UNUSED_DAYS = 30

_IMPORT = re.compile(r"^from (hedgerow\.[\w.]+) import", re.MULTILINE)
_OURS = re.compile(r"([a-z_]+-)?[0-9a-f]{16}")  # the first versions kept all kernels in one folder


@cache
def sources_of(module: str) -> tuple[str, ...]:
    """A module and all of ours that it imports, directly or not; what is imported comes first.

    >>> sources_of("hedgerow.anonymization.kernels.sorting")
    ('hedgerow.anonymization.kernels.compiling', 'hedgerow.anonymization.kernels.sorting')
    """
    found: dict[str, None] = {}
    for imported in _IMPORT.findall(file_of(module).read_text("utf-8")):
        found.update(dict.fromkeys(sources_of(imported)))
    return (*found, module)


def file_of(module: str) -> Path:
    """The source of a module of ours."""
    return PACKAGE.joinpath(*module.split(".")[1:]).with_suffix(".py")


def home() -> Path:
    """The folder of all compiled kernels, whether it can be written or not."""
    chosen = os.environ.get("HEDGEROW_CACHE") or os.environ.get("XDG_CACHE_HOME")
    if chosen and not Path(chosen).is_absolute() and not os.environ.get("HEDGEROW_CACHE"):
        chosen = None  # so says the standard; compiled code that lies where the person stands must not be run
    return (Path(chosen) if chosen else Path.home() / ".cache") / "hedgerow"


def is_kept() -> bool:
    """Tell whether what is compiled can be kept for later."""
    return _writable(str(home())) == home()


@cache
def folder_of(name: str) -> Path:
    """The folder to keep a kernel module's machine code in. It can be written to."""
    sources = hashlib.sha256()
    for source in sources_of(f"{KERNELS}.{name}"):
        sources.update(file_of(source).read_bytes())
    kept = home() / f"{name}-{sources.hexdigest()[:16]}"
    if is_kept():
        _note_use(kept)
        return kept
    place = _writable(str(home()))
    if kept.is_dir():
        with contextlib.suppress(OSError, shutil.Error):
            shutil.copytree(kept, place / kept.name, dirs_exist_ok=True)
    return place / kept.name


@cache
def _writable(wanted: str) -> Path:
    """The folder wanted if it can be written to, otherwise a temporary one, which goes when the process ends."""
    folder = Path(wanted)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        probe = folder / f".writable-{os.getpid()}"
        probe.touch()
        probe.unlink()
    except OSError:
        return PrivateFolder().path
    with contextlib.suppress(OSError):
        sweep(folder, time.time())
    return folder


def _note_use(folder: Path) -> None:
    """Let a folder bear the date of its last use, once a day."""
    with contextlib.suppress(OSError):
        if time.time() - folder.stat().st_mtime > DAY:
            os.utime(folder)


def sweep(folder: Path, now: float) -> list[str]:
    """Remove, once a day, the folders of kernels that nothing has used for a month; returns their names.

    Another process may be about to use one of them: numba takes a missing file for one that was never there.
    """
    swept = folder / ".swept"
    with contextlib.suppress(FileNotFoundError):
        if now - swept.stat().st_mtime < DAY:
            return []
    swept.touch()
    os.utime(swept, (now, now))
    gone = []
    for one in sorted(folder.iterdir()):
        ours = _OURS.fullmatch(one.name) and not one.is_symlink() and one.is_dir()
        if ours and now - _last_use(one) > UNUSED_DAYS * DAY:
            shutil.rmtree(one, ignore_errors=True)
            gone.append(one.name)
    return gone


def _last_use(folder: Path) -> float:
    """When anything in a folder was last written or, where the system notes it, read."""
    times = [folder.stat().st_mtime]
    for file in folder.rglob("*"):
        state = file.stat()
        times.append(max(state.st_mtime, state.st_atime) if file.is_file() else state.st_mtime)
    return max(times)
