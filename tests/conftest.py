"""Shared by all tests: Adult, the command line in and out of this process, servers and sessions."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from types import ModuleType
from typing import Any

import pytest
from hypothesis import settings

from tests.cases.commands import Command, commands
from tests.cases.data import data
from tests.processes import mariadb as mariadb_server
from tests.processes.commands import CommandLine
from tests.processes.postgres import programs, running
from tests.processes.spark import has_java, start_connect, start_spark

settings.register_profile("hedgerow", deadline=None, derandomize=bool(os.environ.get("CI")), max_examples=50)
settings.load_profile("hedgerow")

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
    loaded = [name for name in sys.modules if name.startswith("hedgerow.anonymization.kernels.")]
    if "numba" not in sys.modules or not loaded:
        return
    from hedgerow.anonymization.kernels.signatures import KERNELS

    for name, kernel in [pair for module in loaded for pair in kernels_of(sys.modules[module]).items()]:
        assert set(kernel.signatures) <= {KERNELS[name]}, f"{name} was called with types that signatures.py lacks"


@pytest.fixture(scope="session")
def adult_rows() -> list[list[str]]:
    """The 45,222 complete records of Adult, cells stripped."""
    rows = []
    for file in data("adult.data", "adult.test"):
        for line in file.read_text().splitlines():
            cells = [cell.strip().rstrip(".") for cell in line.split(",")]
            if len(cells) == 15 and "?" not in cells:
                rows.append(cells)
    return rows


@pytest.fixture(scope="session")
def hedgerow() -> Iterator[Run]:
    """Run the command line in a process of its own; returns what it printed and its exit code."""
    line = CommandLine()
    yield line
    line.close()


@pytest.fixture
def command(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Command:
    """Run the command line in this process, which takes a fraction of the time."""
    return commands(capsys, monkeypatch)


@pytest.fixture(scope="session")
def postgres() -> Iterator[str]:
    """The address of a PostgreSQL server of our own, stopped when the tests end."""
    if programs() is None:
        pytest.skip("needs a PostgreSQL server (initdb and pg_ctl), for example: apt-get install postgresql")
    with running() as address:
        yield address


@pytest.fixture(scope="session")
def mariadb() -> Iterator[str]:
    """The address of a MariaDB server of our own."""
    if mariadb_server.programs() is None:
        pytest.skip("needs a MariaDB server (mariadbd), for example: apt-get install mariadb-server")
    pytest.importorskip("pymysql")
    with mariadb_server.running() as address:
        yield address


@pytest.fixture(scope="session")
def spark() -> Iterator[Any]:
    """A Spark session on two cores. Tests that use it carry xdist_group("spark"), so that one process starts it.

    With HEDGEROW_SPARK_CONNECT it is one of Spark Connect.
    """
    if not has_java():
        pytest.skip("needs Java 17 for Spark, for example: apt-get install openjdk-17-jre-headless")
    session = start_connect() if os.environ.get("HEDGEROW_SPARK_CONNECT") else start_spark("local[2]")
    yield session
    session.stop()
