"""A PostgreSQL server of our own for the tests: started in a temporary folder, gone when the tests are."""

from __future__ import annotations

import contextlib
import os
import pwd
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import parse_qs, quote, urlsplit

ROLE = "hedgerow"

# The shell stops the server when its standard input ends: also when the tests were killed and could not say so.
SCRIPT = """
programs=$1 folder=$2
"$programs/initdb" -D "$folder/data" -U "$3" -A trust -E UTF8 --locale=C --no-sync >"$folder/log" 2>&1 &&
"$programs/pg_ctl" -D "$folder/data" -w -l "$folder/log" \
    -o "-F -c listen_addresses= -c unix_socket_directories='$folder'" start >>"$folder/log" 2>&1 &&
echo ready || { tail -n 5 "$folder/log"; exit 1; }
read _
"$programs/pg_ctl" -D "$folder/data" -w -m immediate stop >>"$folder/log" 2>&1
rm -rf "$folder"
"""


def programs() -> Path | None:
    """The folder of initdb and pg_ctl: on the path, or where Debian puts the newest; None if there is none."""
    found = shutil.which("initdb")
    places = sorted(Path("/usr/lib/postgresql").glob("*/bin"), key=lambda place: place.parent.name.zfill(9))
    for place in [*reversed(places), *([Path(found).resolve().parent] if found else [])]:
        if (place / "initdb").exists() and (place / "pg_ctl").exists():
            return place
    return None


def _person() -> str | None:
    """Who runs the server: it refuses to run as root. None: we ourselves."""
    if os.geteuid() != 0:
        return None
    names = {entry.pw_name for entry in pwd.getpwall()}
    return next(name for name in ("postgres", "nobody") if name in names)


@contextlib.contextmanager
def running() -> Iterator[str]:
    """Start a server, yield its address, stop it and remove its files."""
    place, person = programs(), _person()
    assert place is not None, "no PostgreSQL server is installed"
    folder = Path(tempfile.mkdtemp(prefix="hedgerow-postgres-", dir="/tmp"))  # a socket's path must be short
    try:
        if person is not None:
            shutil.chown(folder, person)
        server = subprocess.Popen(
            ["/bin/sh", "-c", SCRIPT, "sh", place, folder, ROLE],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            cwd=folder,
            user=person,
            group=pwd.getpwnam(person).pw_gid if person else None,
            extra_groups=[] if person else None,
        )
        with server:
            assert server.stdin is not None
            assert server.stdout is not None
            said = server.stdout.readline()
            if said.strip() != "ready":
                raise RuntimeError("the PostgreSQL server did not start: " + said + server.stdout.read())
            yield f"postgresql://{ROLE}@/postgres?host={quote(str(folder), safe='')}"
            server.stdin.close()
            server.wait(30)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def log_of(address: str) -> str:
    """What the server at an address of ours has written to its log."""
    (folder,) = parse_qs(urlsplit(address).query)["host"]
    return Path(folder, "log").read_text(encoding="utf-8", errors="replace")
