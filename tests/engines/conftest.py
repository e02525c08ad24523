"""One suite, every engine: a table in memory is put where an engine finds it."""

from __future__ import annotations

import signal
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import hedgerow as hr
from hedgerow.cli.run import run
from hedgerow.plan import Plan
from tests.engines import mariadb_server
from tests.engines.servers import execute, load

ENGINES = ["duckdb", "postgres", "mariadb", "spark"]


@dataclass(frozen=True)
class Place:
    """An engine, how a table is put there, and what it is when it is there."""

    name: str
    put: Callable[[pa.Table], Any]
    kept: Callable[[pa.Table], pa.Table] = lambda table: table

    @property
    def engine(self) -> str:
        return self.name if self.name in ("local", "duckdb") else "auto"

    def files(self, data: Any, plan: Plan, folder: Path, form: str = "csv") -> dict[str, bytes]:
        """The files of a release of a table that was put there."""
        output = folder / f"{self.name}-{form}"
        hr.anonymize(data, plan, output, format=form, engine=self.engine)
        return {path.name: path.read_bytes() for path in output.iterdir()}


HERE = Place("local", lambda table: table)


def frame(spark: Any, table: pa.Table) -> Any:
    """A Spark frame with the types of an Arrow table."""
    from pyspark.sql.pandas.types import from_arrow_schema

    return spark.createDataFrame(table, from_arrow_schema(table.schema, prefer_timestamp_ntz=True))


@dataclass(frozen=True)
class Done:
    """What a command printed, and its exit code."""

    returncode: int
    stdout: str
    stderr: str


@pytest.fixture
def command(capsys: pytest.CaptureFixture[str]) -> Iterator[Callable[..., Done]]:
    """Run the command line in this process, which is much faster than in one of its own."""
    signs = {sign: signal.getsignal(sign) for sign in (signal.SIGINT, signal.SIGTERM)}

    def run_here(*words: str | Path) -> Done:
        capsys.readouterr()
        with pytest.raises(SystemExit) as ended:
            run([str(word) for word in words])
        said = capsys.readouterr()
        return Done(int(ended.value.code or 0), said.out, said.err)

    yield run_here
    for sign, handler in signs.items():
        signal.signal(sign, handler)


@pytest.fixture(scope="session")
def postgres(postgres: str) -> str:
    """A database of our own on the server of the tests: other tests look at what is in theirs."""
    execute(postgres, "CREATE DATABASE engines")
    return postgres.replace("/postgres?", "/engines?")


@pytest.fixture(scope="session")
def mariadb(mariadb: str) -> str:
    """A database of our own on the MariaDB server of the tests."""
    return mariadb_server.database(mariadb, "engines")


def place_of(request: pytest.FixtureRequest) -> Place:
    if request.param == "postgres":
        address = request.getfixturevalue("postgres")
        return Place("postgres", lambda table: load(address, table))
    if request.param == "mariadb":
        server = request.getfixturevalue("mariadb")
        return Place("mariadb", lambda table: mariadb_server.load(server, table), mariadb_server.kept)
    if request.param == "spark":
        spark = request.getfixturevalue("spark")
        return Place("spark", lambda table: frame(spark, table))
    return Place(request.param, lambda table: table)


@pytest.fixture(params=ENGINES)
def there(request: pytest.FixtureRequest) -> Place:
    """Every engine but the local one, with which each is compared."""
    return place_of(request)


@pytest.fixture(params=ENGINES[:-1])
def nearby(request: pytest.FixtureRequest) -> Place:
    """The engines that are not as slow to start a statement as Spark, for what Spark is not asked each time."""
    return place_of(request)
