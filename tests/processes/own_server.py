"""A server of our own for the tests, whichever it is: in a temporary folder, gone when the tests are."""

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


@contextlib.contextmanager
def running_server(name: str, script: str, *arguments: str | Path, people: tuple[str, ...]) -> Iterator[str]:
    """Start a server, yield its folder as an address takes it, stop it and remove its files.

    The script of the shell gets the folder and the arguments, says "ready" when the server is, and stops it when its
    own standard input ends: also when the tests were killed and could not say so. As root the server runs as the first
    of the people whom the machine knows, since no server runs as root.
    """
    names = {entry.pw_name for entry in pwd.getpwall()}
    person = None if os.geteuid() else next(name for name in (*people, "nobody") if name in names)
    folder = Path(tempfile.mkdtemp(prefix=f"hedgerow-{name.lower()}-", dir="/tmp"))  # a socket's path must be short
    try:
        if person is not None:
            shutil.chown(folder, person)
        server = subprocess.Popen(
            ["/bin/sh", "-c", script, "sh", folder, *arguments],
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
                raise RuntimeError(f"the {name} server did not start: " + said + server.stdout.read())
            yield quote(str(folder), safe="")
            server.stdin.close()
            server.wait(30)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
