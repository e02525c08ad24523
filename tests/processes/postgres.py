"""A PostgreSQL server of our own for the tests: started in a temporary folder, gone when the tests are."""

from __future__ import annotations

import contextlib
import shutil
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

from tests.processes.own_server import running_server

ROLE = "hedgerow"

SCRIPT = """
folder=$1 programs=$2
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


@contextlib.contextmanager
def running() -> Iterator[str]:
    """Start a server, yield its address, stop it and remove its files."""
    place = programs()
    assert place is not None, "no PostgreSQL server is installed"
    with running_server("PostgreSQL", SCRIPT, place, ROLE, people=("postgres",)) as folder:
        yield f"postgresql://{ROLE}@/postgres?host={folder}"


def log_of(address: str) -> str:
    """What the server at an address of ours has written to its log."""
    (folder,) = parse_qs(urlsplit(address).query)["host"]
    return Path(folder, "log").read_text(encoding="utf-8", errors="replace")
