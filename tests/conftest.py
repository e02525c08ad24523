"""Shared by all tests: where public data lies, and a command line that runs in a process of its own."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from hypothesis import settings

from tests.postgres import programs, running
from tests.spark import has_java, start_spark

settings.register_profile("hedgerow", deadline=None, derandomize=bool(os.environ.get("CI")), max_examples=50)
settings.load_profile("hedgerow")

ROOT = Path(__file__).parent.parent
DATA = Path(os.environ.get("HEDGEROW_DATA") or ROOT.parent / "shared" / "data")
Run = Callable[..., "subprocess.CompletedProcess[str]"]


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Let one process run all tests on Spark: a session takes long to start, and two would share two cores.

    The tests of the studio share one studio and one browser in the same way.
    """
    for item in items:
        fixtures = getattr(item, "fixturenames", ())
        if "spark" in fixtures or "spark" in item.nodeid.partition("[")[2]:
            item.add_marker(pytest.mark.xdist_group("spark"))
        elif "studio" in fixtures or "chromium" in fixtures:
            item.add_marker(pytest.mark.xdist_group("studio"))


def kernels_of(module: ModuleType) -> dict[str, Any]:
    """Kernels that a module defines, by ``module.function``: what is kept on disk, not what only kernels call."""
    from numba.core.dispatcher import Dispatcher

    found = {}
    for function in vars(module).values():
        kept = isinstance(function, Dispatcher) and function.stats.cache_path is not None
        if kept and function.py_func.__module__ == module.__name__:
            found[f"{module.__name__.rpartition('.')[2]}.{function.__name__}"] = function
    return found


@pytest.fixture(scope="session", autouse=True)
def kernels_have_the_types_they_are_prepared_for() -> Iterator[None]:
    """After all tests: no kernel was called with other types than those for which it is compiled ahead."""
    yield
    loaded = [name for name in sys.modules if name.startswith("hedgerow.kernels.")]
    if "numba" not in sys.modules or not loaded:
        return
    from hedgerow.kernels.signatures import KERNELS

    for name, kernel in [pair for module in loaded for pair in kernels_of(sys.modules[module]).items()]:
        assert set(kernel.signatures) <= {KERNELS[name]}, f"{name} was called with types that signatures.py lacks"


@pytest.fixture(scope="session")
def adult_rows() -> list[list[str]]:
    """The 45,222 complete records of Adult, cells stripped."""
    files = [DATA / "adult.data", DATA / "adult.test"]
    if not all(file.exists() for file in files):
        pytest.skip(f"needs adult.data and adult.test in {DATA} (or the folder named by HEDGEROW_DATA)")
    rows = []
    for file in files:
        for line in file.read_text().splitlines():
            cells = [cell.strip().rstrip(".") for cell in line.split(",")]
            if len(cells) == 15 and "?" not in cells:
                rows.append(cells)
    return rows


@pytest.fixture(scope="session")
def hedgerow() -> Run:
    """Run the command line in a process of its own; returns what it printed and its exit code."""

    def run(*words: str | Path, cwd: Path | None = None, **environment: str) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-c", "from hedgerow.cli import main; main()", *map(str, words)]
        return subprocess.run(
            command, capture_output=True, text=True, cwd=cwd, env={**os.environ, **environment}, check=False
        )

    return run


@pytest.fixture(scope="session")
def postgres() -> Iterator[str]:
    """The address of a PostgreSQL server of our own, stopped when the tests end."""
    if programs() is None:
        pytest.skip("needs a PostgreSQL server (initdb and pg_ctl), for example: apt-get install postgresql")
    with running() as address:
        yield address


@pytest.fixture(scope="session")
def spark() -> Iterator[Any]:
    """A Spark session on two cores. Tests that use it carry xdist_group("spark"), so that one process starts it."""
    if not has_java():
        pytest.skip("needs Java 17 for Spark, for example: apt-get install openjdk-17-jre-headless")
    session = start_spark("local[2]")
    yield session
    session.stop()
