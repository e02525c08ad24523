"""``python -m benchmarks.papers [NAME …]``: run the papers' experiments and write their figures into papers.md.

Without a name all papers are run, but for ``deaths`` and ``skewed``, which take minutes and stand for data that nobody
has.
"""

from __future__ import annotations

import importlib
import os
import sys
import time

from benchmarks import adult, machine
from benchmarks.papers.writing import write

NAMES = ("cka", "cpka", "inc", "rv", "ps", "ps_times")
BY_NAME = ("skewed", "deaths")
FILES = ("adult.data", "adult.test")


def main(words: list[str]) -> int:
    """Run what is named; returns the exit code."""
    unknown = [name for name in words if name not in (*NAMES, *BY_NAME)]
    if unknown:
        print(f"there is no paper {', '.join(unknown)}; there are {', '.join((*NAMES, *BY_NAME))}", file=sys.stderr)
        return 2
    if not all((adult.FOLDER / file).exists() for file in FILES):
        print(f"skipped: the papers' experiments need {' and '.join(FILES)} in the folder named by HEDGEROW_DATA")
        return 0
    for name in words or NAMES:
        start = time.perf_counter()
        importlib.import_module(f"benchmarks.papers.{name}").run(write)
        print(f"{name:<6} {time.perf_counter() - start:6.1f} s", flush=True)
    if not words:
        load = os.getloadavg()[1]  # of five minutes, as long as this takes
        write("machine", f"{machine.describe()} Load of the machine meanwhile: {load:.1f}, of which 1 was ours.")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
