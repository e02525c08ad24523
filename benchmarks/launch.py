"""Starts one command and says what it took. Run as a script, by ``processes.py``; it must stay small.

A process counts as its own the memory that the one it was started by had at that moment. So commands are started by
this script, which has next to none.
"""

import os
import sys
import time

if __name__ == "__main__":
    start = time.perf_counter()
    child = os.posix_spawnp(sys.argv[2], sys.argv[2:], os.environ)
    _, status, used = os.wait4(child, 0)
    seconds = time.perf_counter() - start
    with open(sys.argv[1], "w") as file:  # noqa: PTH123 (pathlib alone has more memory than this script)
        file.write(f"{seconds} {used.ru_utime + used.ru_stime} {used.ru_maxrss / 1024}")
    sys.exit(os.waitstatus_to_exitcode(status) != 0)
