"""A MariaDB server of our own for the tests: started in a temporary folder, gone when the tests are."""

from __future__ import annotations

import contextlib
import os
import shutil
from collections.abc import Iterator

from tests.processes.own_server import running_server

SCRIPT = """
folder=$1 install=$2 server=$3
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
    with running_server("MariaDB", SCRIPT, *found, people=("mysql",)) as folder:
        yield f"mariadb://root@localhost/mysql?unix_socket={folder}%2Fs"
