"""A process beside a search: it reads orders, line by line of JSON, and writes an answer for each.

It ends when its input closes: when the search goes, however that happens. What is typed at the terminal is for the
search; a helper that ended by it would only have to be done without.
"""

from __future__ import annotations

import contextlib
import json
import os
import signal
import sys
import threading
from queue import SimpleQueue

from hedgerow.anonymization.kernels import load
from hedgerow.anonymization.lattice.bench import Bench, Order
from hedgerow.outside.children import without_dumps
from hedgerow.outside.shared_memory import received


def main(handle: int) -> None:
    """Learn how the lattice is laid out in shared memory, then do orders until there are no more."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    without_dumps()
    load("hashed_lattice")  # numba takes a while, in which the lattice is made ready
    orders: SimpleQueue[str] = SimpleQueue()
    threading.Thread(target=_read, args=(orders,), daemon=True).start()
    bench: Bench = received(handle, json.loads(orders.get()))
    os.close(handle)
    with contextlib.suppress(BrokenPipeError):
        _say("ready")
        while True:
            _say(bench.do(Order(*json.loads(orders.get()))))


def _read(orders: SimpleQueue[str]) -> None:
    """Pass orders on, and end at once when no more can come, even in the midst of one."""
    for line in sys.stdin:
        orders.put(line)
    os._exit(0)


def _say(answer: object) -> None:
    sys.stdout.write(json.dumps(answer) + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    main(int(sys.argv[1]))
