"""``python -m benchmarks [NAME …]``: run all benchmarks, or those named, and print their figures."""

from __future__ import annotations

import importlib
import platform
import sys
from importlib.metadata import version
from typing import Any

from benchmarks import adult

NAMES = ("commands", "clustering", "partition", "diverse", "lattice", "research", "maintenance", "engines", "studio")


def main() -> None:
    """Run and print."""
    if not (adult.FOLDER / "adult.data").exists():
        sys.exit(f"the benchmarks need adult.data in {adult.FOLDER}, or in the folder named by HEDGEROW_DATA")
    tools = ", ".join(f"{name} {version(name)}" for name in ("numpy", "numba", "duckdb", "pyarrow"))
    print(f"Python {platform.python_version()}, {tools}; {platform.machine()}, {platform.system()}")
    for name in sys.argv[1:] or NAMES:
        print(f"\n{name}")

        def report(what: str, value: Any) -> None:
            print(f"  {what:<55} {value}", flush=True)

        importlib.import_module(f"benchmarks.{name}").run(report)


if __name__ == "__main__":
    main()
