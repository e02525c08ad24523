"""Child processes of ours: the one place where they are started.

A child runs a module of Hedgerow with the Python and the packages of its parent, and with nothing else: what lies in
the working folder is a stranger's until somebody looked at it, so it is neither imported nor read as settings. A child

- is isolated (``-I``): no folder of its own on the path of imports, no variables that steer Python;
- finds modules where its parent does, except in the working folder: an editable install, a checkout on ``PYTHONPATH``
  and packages of the user work as they do in the parent;
- works in the root folder, not where the person stands, so no library finds settings there (``.numba_config.yaml``);
- gets the variables it needs and no others: it has no use for the keys and tokens of its parent.
"""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from hedgerow.outside.working_folder import module_path

Child = subprocess.Popen[str]
TimeoutExpired = subprocess.TimeoutExpired
Say = Callable[[bytes], object]

NEEDED = (
    *("PATH", "HOME", "USER", "LOGNAME", "TMPDIR", "TEMP", "TMP", "XDG_CACHE_HOME", "LANG", "LANGUAGE", "TZ", "TZDIR"),
    *("LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH", "DYLD_FALLBACK_LIBRARY_PATH"),
    *("SYSTEMROOT", "SYSTEMDRIVE", "WINDIR", "COMSPEC", "PATHEXT", "APPDATA", "LOCALAPPDATA", "USERPROFILE"),
    *("HOMEDRIVE", "HOMEPATH", "NUMBER_OF_PROCESSORS", "PROCESSOR_ARCHITECTURE"),
)
"""Variables that a child gets as they are."""
NEEDED_FAMILIES = ("LC_", "HEDGEROW_", "NUMBA_", "OMP_", "OPENBLAS_", "MKL_", "ARROW_")
"""Beginnings of the names of more of them."""
FOLDERS = ("HOME", "TMPDIR", "TEMP", "TMP", "XDG_CACHE_HOME", "HEDGEROW_CACHE")
"""Those that name a folder, which may be told from where the parent works."""
OF_DATABASES = ("PG", "KRB5", "MYSQL_PWD")
"""The same for a child that is to reach a database: where it is, as whom, and the password where it stands there."""

BEGIN = (
    "import sys, json; path, module = sys.argv[1:3]; del sys.argv[1:3]; sys.path[:] = json.loads(path); import runpy; "
    "runpy.run_module(module, run_name='__main__', alter_sys=True)"
)


def start(
    module: str,
    *words: str,
    databases: bool = False,
    input: bool = False,
    more: Mapping[str, str] | None = None,
    handles: Sequence[int] = (),
) -> Child:
    """Start a module of ours in a process of its own.

    Parameters
    ----------
    module
        Its whole name, such as ``hedgerow.anonymization.preparing``.
    words
        What it finds in ``sys.argv``. Everybody on the machine can read that, so nothing private goes there.
    databases
        Whether it may have to reach a database.
    input
        Whether it is written to; else it has no input. What it prints can be read; what it says about errors goes
        nowhere, since a library might print what it read.
    more
        Further variables of its environment.
    handles
        Open files and sockets that it gets, under the same numbers.

    Examples
    --------
    >>> with start("hedgerow.version") as child:  # a module that does nothing
    ...     child.wait()
    0
    """
    command = [sys.executable, "-I", "-c", BEGIN, json.dumps(module_path()), module]
    return subprocess.Popen(
        [*command, *words],
        stdin=subprocess.PIPE if input else subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        cwd=neutral_folder(),
        env={**environment(os.environ, databases), **(more or {})},
        text=True,
        encoding="utf-8",
        pass_fds=handles,
    )


def watch(work: Callable[[Say], int]) -> tuple[bytes, int]:
    """Do something in a process that is forked, so that somebody is left if it ends without a word.

    It gets a function to say what it wants to be known by then. Returns all it said, and how it ended: a signal counts
    as negative. Signals that ask this process to end are for the other one; one from the keyboard reaches both.
    """
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reader)
        raise SystemExit(work(lambda text: os.write(writer, text)))
    os.close(writer)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    for sign in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(sign, lambda number, frame: os.kill(child, number))
    with os.fdopen(reader, "rb") as told:
        said = told.read()
    return said, os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def environment(given: Mapping[str, str], databases: bool = False) -> dict[str, str]:
    """Return the variables that a child gets.

    Examples
    --------
    >>> environment({"PATH": "/bin", "LC_ALL": "C", "AWS_SECRET_ACCESS_KEY": "…", "PYTHONPATH": ".", "PGPASSWORD": "…"})
    {'PATH': '/bin', 'LC_ALL': 'C', 'PYTHONSAFEPATH': '1'}
    """
    families = NEEDED_FAMILIES + (OF_DATABASES if databases else ())
    given = without_libraries_of_r(given)
    kept = {name: value for name, value in given.items() if name in NEEDED or name.startswith(families)}
    folders = {name: str(Path(kept[name]).absolute()) for name in FOLDERS if kept.get(name)}
    return {**kept, **folders, "PYTHONSAFEPATH": "1"}  # for what a library starts in its turn


def without_libraries_of_r(given: Mapping[str, str]) -> Mapping[str, str]:
    """Return variables without the folders of libraries that R puts before all others, for itself.

    Inside R (reticulate) a child would take the system's ``libpython`` for its own. Folders that somebody
    has named stay.

    Examples
    --------
    >>> inside = {"R_HOME": "/usr/lib/R", "LD_LIBRARY_PATH": "/usr/lib/R/lib:/usr/lib/x86_64-linux-gnu:/opt/own/lib"}
    >>> without_libraries_of_r(inside)["LD_LIBRARY_PATH"]
    '/opt/own/lib'
    """
    home, folders = given.get("R_HOME"), given.get("LD_LIBRARY_PATH")
    if not home or not folders:
        return given
    usual = (home, "/usr/lib", "/lib")
    left = [folder for folder in folders.split(":") if folder and not folder.startswith(usual)]
    return {**given, "LD_LIBRARY_PATH": ":".join(left)}


def neutral_folder() -> str:
    """Return a folder that is nobody's."""
    return Path(sys.executable).anchor or os.sep


def confine(memory: int) -> None:
    """Bound what this process may take from now on: so many bytes of memory more, and no dump of it on the disk."""
    try:
        import resource
    except ImportError:  # Windows
        return
    if sys.platform == "linux":  # elsewhere nothing bounds memory without bounding addresses, of which much is reserved
        taken = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[5]) * resource.getpagesize()
        stacks = (8 << 20) * ((os.cpu_count() or 1) + 16)  # of threads that libraries are yet to start
        lower(resource.RLIMIT_DATA, taken + memory + stacks)
    without_dumps()


def without_dumps() -> None:
    """Let no dump of this process's memory be put on the disk, should it end by accident."""
    with contextlib.suppress(ImportError):  # Windows
        import resource

        lower(resource.RLIMIT_CORE, 0)


def lower(which: int, soft: int, hard: int | None = None) -> None:
    """Lower a limit of this process for good; one that is lower already stays."""
    import resource

    now = resource.getrlimit(which)

    def bounded(asked: int, *limits: int) -> int:
        return min([asked, *(limit for limit in limits if limit != resource.RLIM_INFINITY)])

    resource.setrlimit(which, (bounded(soft, *now), bounded(soft if hard is None else hard, now[1])))
