"""A MariaDB server of our own for the tests: started in a temporary folder, gone when the tests are."""

from __future__ import annotations

import contextlib
import os
import pwd
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import quote

# The shell stops the server when its standard input ends: also when the tests were killed and could not say so.
SCRIPT = """
install=$1 server=$2 folder=$3
"$install" --no-defaults --datadir="$folder/data" --auth-root-authentication-method=normal --skip-test-db \
    --innodb-log-file-size=8M >"$folder/log" 2>&1 || { tail -n 5 "$folder/log"; exit 1; }
"$server" --no-defaults --datadir="$folder/data" --socket="$folder/s" --pid-file="$folder/pid" --skip-networking \
    --innodb-flush-log-at-trx-commit=0 --innodb-flush-method=nosync --skip-innodb-doublewrite --innodb-log-file-size=8M --innodb-buffer-pool-size=64M --skip-log-bin \
    --character-set-server=latin1 >>"$folder/log" 2>&1 &
pid=$!
for try in $(seq 300); do
    grep -q "ready for connections" "$folder/log" && { echo ready; break; }
    kill -0 $pid 2>/dev/null || { tail -n 5 "$folder/log"; exit 1; }
    sleep 0.1
done
read _
kill -KILL $pid
wait $pid 2>/dev/null
rm -rf "$folder"
"""


def programs() -> tuple[str, str] | None:
    """What makes the files of a server, and the server; Debian keeps it off the path of most. None: not installed."""
    install, server = (
        shutil.which("mariadb-install-db"),
        shutil.which("mariadbd", path="/usr/sbin:/sbin:" + os.environ["PATH"]),
    )
    return (install, server) if install and server else None


@contextlib.contextmanager
def running() -> Iterator[str]:
    """Start a server, yield the address of a database on it, stop it and remove its files."""
    found = programs()
    assert found is not None, "no MariaDB server is installed"
    names = {entry.pw_name for entry in pwd.getpwall()}
    person = None if os.geteuid() else next(name for name in ("mysql", "nobody") if name in names)  # not as root
    folder = Path(tempfile.mkdtemp(prefix="hedgerow-mariadb-", dir="/tmp"))  # a socket's path must be short
    try:
        if person is not None:
            shutil.chown(folder, person)
        server = subprocess.Popen(
            ["/bin/sh", "-c", SCRIPT, "sh", *found, folder],
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
                raise RuntimeError("the MariaDB server did not start: " + said + server.stdout.read())
            yield f"mariadb://root@localhost/mysql?unix_socket={quote(str(folder), safe='')}%2Fs"
            server.stdin.close()
            server.wait(30)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
