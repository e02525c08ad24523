"""The command line, loaded once: a process that forks for every command that a page types.

A fresh ``hedgerow`` spends most of its second with loading libraries, and the pages type more than a hundred commands.
Started with the path of a socket, it takes from each connection the words of a command, its folder and its environment,
and its three standard files, and answers with the exit code.
"""

from __future__ import annotations

import array
import json
import os
import select
import socket
import sys
import tempfile
from pathlib import Path

CLIENT = """
import array, json, os, socket, sys
with socket.socket(socket.AF_UNIX) as asked:
    asked.connect(sys.argv[1])
    order = json.dumps([sys.argv[2:], os.getcwd(), dict(os.environ)]).encode()
    files = [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", [0, 1, 2]))]
    asked.sendmsg([len(order).to_bytes(4, "big")], files)
    asked.sendall(order)
    sys.exit(asked.recv(1)[0])
"""


def load() -> None:
    """Do the usual things once, on a few people, so that every library and kernel they need is there."""
    import hedgerow as hr
    import hedgerow.cli.app
    from hedgerow.evaluation.synthetic import clinic, write_demo

    with tempfile.TemporaryDirectory() as folder:
        data, plan = write_demo(Path(folder), clinic(records=200))
        hr.explain(data, plan)
        hr.anonymize(data, plan, f"{folder}/release")
        hr.verify(f"{folder}/release")


def serve(path: str) -> None:
    """Answer until standard input ends."""
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(path)
        listening.listen()
        print("ready", flush=True)
        while sys.stdin not in select.select([listening, sys.stdin], [], [])[0]:
            connection, _ = listening.accept()
            words, code = _answer(connection)
            if words is not None:
                break
            connection.sendall(bytes([code]))
            connection.close()
        else:
            return
    sys.argv = ["hedgerow", *words]
    from hedgerow.cli import main

    main()


def _answer(connection: socket.socket) -> tuple[list[str] | None, int]:
    """In the parent, wait for the command and return its code; in the child, become the command: return its words."""
    size, files, _, _ = connection.recvmsg(4, socket.CMSG_SPACE(12))
    given = array.array("i", files[0][2])
    order = b""
    while len(order) < int.from_bytes(size, "big"):
        order += connection.recv(1 << 16)
    child = os.fork()
    if child:
        for number in given:
            os.close(number)
        return None, os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) % 256
    words, folder, environment = json.loads(order)
    for standard, number in enumerate(given):
        os.dup2(number, standard)
        os.close(number)
    os.environ.clear()
    os.environ.update(environment)
    os.chdir(folder)
    return words, 0


if __name__ == "__main__":
    load()
    serve(sys.argv[1])
