"""Spark's driver: starting it quietly, with as much memory as the machine has to give, and keeping its log.

Spark gives a driver 1 GB, however large the machine is, and on a local master the driver is all of Spark. So a driver
that we start there may take half of the memory that is available. It is said in the way that yields to all others
(``SPARK_DRIVER_MEMORY``): a value in submit arguments, a properties file, ``spark-defaults.conf`` or ``spark-env.sh``
is the owner's, and holds.

What Spark says may hold values of records, so it goes to a file without a name. That file is gone with the process,
however it ends; only if Spark fails is it copied to a private file with a name, which the message tells.
"""

from __future__ import annotations

import contextlib
import logging
import os
import re
import shutil
import socket
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

from hedgerow.errors import DataError, Problem, how_to_install
from hedgerow.outside.memory import address_space, available_memory
from hedgerow.outside.outputs import PrivateFolder

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

SHARE = 2
"""The driver may take one part in so many of the memory that is available."""
LEAST = 1 << 30
"""What Spark gives a driver by itself; less is never asked for."""
MEMORY_VARIABLES = ("SPARK_DRIVER_MEMORY", "SPARK_MEM")
LOG_BYTES = 16 << 20
"""How much of the end of a log is kept."""
TALKATIVE = ("SQLQueryContextLogger", "DataFrameQueryContextLogger")
"""Loggers with which pyspark prints the errors that it raises."""
RESULT_SIZE = "spark.driver.maxResultSize"
CONNECT = "sc://"
"""How the address of a server of Spark Connect begins."""
EXHAUSTED = re.compile(
    rf"OutOfMemoryError|Java heap space|GC overhead limit exceeded|{re.escape(RESULT_SIZE)}"
    r"|insufficient memory for the Java|Could not reserve enough space"
    r"|ExecutorLostFailure.*(?:memory limit|exit (?:code|status):? (?:52|137)\b)",
    re.IGNORECASE,
)


class Hush(logging.Filter):
    """Lets nothing through while work of ours is going on; the owner's own work is logged as ever."""

    working = 0

    def filter(self, record: logging.LogRecord) -> bool:
        """Whether a record is logged."""
        return self.working == 0


_hush = Hush()


@contextlib.contextmanager
def hushed() -> Iterator[None]:
    """Let pyspark not print its errors: they tell what a statement failed on, which may be a value of a record."""
    from pyspark.logger import PySparkLogger

    for name in TALKATIVE:
        PySparkLogger.getLogger(name).addFilter(_hush)
    _hush.working += 1
    try:
        yield
    finally:
        _hush.working -= 1


class DriverLog:
    """What Spark's driver says, in a file that has no name until somebody must read it."""

    def __init__(self) -> None:
        self.file: IO[bytes] = tempfile.TemporaryFile()  # noqa: SIM115 - open for as long as Spark runs
        self._kept: Path | None = None
        self._told = 0

    def text(self, start: int = 0) -> str:
        """Return what was said from a place on, or the end of it; Java goes on writing where it was."""
        size = os.fstat(self.file.fileno()).st_size
        words = os.pread(self.file.fileno(), LOG_BYTES, max(size - LOG_BYTES, start))
        return words.decode(errors="replace")

    def news(self) -> str:
        """Return what was said since the log was last kept."""
        return self.text(self._told)

    def keep(self) -> Path:
        """Copy what was said to a file with a name, for its owner only, and return it."""
        if self._kept is None:
            handle, name = tempfile.mkstemp(prefix="hedgerow-spark-", suffix=".log")
            os.close(handle)
            self._kept = Path(name)
        self._kept.write_text(self.text())
        self._told = os.fstat(self.file.fileno()).st_size
        return self._kept


_log: DriverLog | None = None  # of the driver that this process started


def why_failed(words: str, place: str, said: str = "") -> Problem:
    """Say why Spark could not do the work, and where its log is kept.

    Parameters
    ----------
    words
        The text of Spark's error, which is not passed on.
    place
        What was worked on.
    said
        What may be passed on of the error.
    """
    words += "" if _log is None else _log.news()
    if EXHAUSTED.search(words):
        hint = "set spark.driver.memory before Spark is started, and spark.executor.memory if an executor was lost"
        if _log is not None:
            more = " --conf spark.driver.maxResultSize=0" if RESULT_SIZE in words else ""
            hint = f"set PYSPARK_SUBMIT_ARGS='--driver-memory 8g{more} pyspark-shell', or use DuckDB, which needs less"
        return Problem("no-memory", "Spark has used up the memory that it may take.", place, hint + _kept_log())
    hint = "Spark's own log tells more" + _kept_log()
    return Problem("no-connection", f"Spark could not do the work{said}.", place, hint)


def why_lost(place: str) -> Problem:
    """Say why Spark does not answer any more; Java may have ended for want of memory."""
    if _log is not None and EXHAUSTED.search(_log.news()):
        return why_failed("", place)
    return Problem("no-connection", "The connection to Spark was lost.", place, "start it again" + _kept_log())


def _kept_log() -> str:
    """Keep the log of the driver that we started, and tell where."""
    if _log is None:
        return ""
    try:
        return f"; its log is in {_log.keep()}, for you alone, as it may hold values of records"
    except OSError:  # no room, for one
        return ""


def open_spark(master: str | None = None) -> SparkSession:
    """Return the running session, or start one that says nothing on the terminal.

    Parameters
    ----------
    master
        ``local[*]``, ``local-cluster[2,1,1024]``, ``spark://host:port``, ``yarn``, ``k8s://…``; or ``sc://host:port``
        for a server of Spark Connect. By default that of spark-submit, or all cores of this machine.

    Raises
    ------
    DataError
        No Java, or no such master.
    """
    try:
        from pyspark import SparkConf, SparkContext
        from pyspark.errors import PySparkException
        from pyspark.sql import SparkSession
    except ModuleNotFoundError:
        message = "The Spark engine needs the package pyspark."
        raise DataError(Problem("usage", message, hint=how_to_install("spark"))) from None
    from py4j.protocol import Py4JError

    global _log
    if master is not None and master.startswith(CONNECT):
        return _connected(master)
    if SparkContext._active_spark_context is not None:
        return SparkSession.builder.getOrCreate()
    submitted = "PYSPARK_GATEWAY_PORT" in os.environ
    if master is None and not submitted:
        master = "local[*]"
    _check_java(submitted)
    conf = SparkConf().setAppName("hedgerow")
    for key in ("spark.ui.enabled", "spark.ui.showConsoleProgress"):
        conf.set(key, "false")
    if master is not None:
        _check_master(master)
        conf.setMaster(master)
        if master.startswith("local"):  # elsewhere this path may not exist
            os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
            conf.setIfMissing(
                "spark.sql.warehouse.dir", str(PrivateFolder().path)
            )  # not a folder where the person stands
    conf.setExecutorEnv("PYTHONSAFEPATH", "1")
    if "HEDGEROW_CACHE" in os.environ:
        conf.setExecutorEnv("HEDGEROW_CACHE", os.environ["HEDGEROW_CACHE"])
    log = _log or DriverLog()
    try:
        gateway = SparkContext._gateway
        if gateway is None:
            _log = None if submitted else log
            gateway = _launch(conf, log.file, None if submitted else _driver_memory(master))
        context = SparkContext(conf=conf, gateway=gateway)
        context.setLogLevel("WARN" if _log else "OFF")  # a log of somebody else's may be read by anybody
        return SparkSession(context)
    except (PySparkException, Py4JError) as error:
        raise DataError(_why_not_started(log.text() + str(error), master)) from None


def _connected(address: str) -> SparkSession:
    """Open a session of a server of Spark Connect."""
    from pyspark.errors import PySparkException
    from pyspark.sql import SparkSession

    try:
        with hushed():
            session: SparkSession = SparkSession.builder.remote(address).getOrCreate()
            session.version  # noqa: B018 - the server is asked only now
            return session
    except ImportError:
        message = "Spark Connect needs more packages: grpcio, grpcio-status, googleapis-common-protos, zstandard."
        raise DataError(Problem("usage", message, hint=how_to_install("connect"))) from None
    except (PySparkException, RuntimeError):
        message, hint = "The server of Spark Connect does not answer.", "check the host and the port"
        raise DataError(Problem("no-connection", message, address.partition(";")[0], hint)) from None


def _launch(conf: Any, said: IO[bytes], memory: str | None) -> Any:
    """Start Java, with so much memory unless its owner says otherwise; what it and Spark say goes to a file."""
    from pyspark import java_gateway

    launch: Any = java_gateway.launch_gateway
    safe = "PYTHONSAFEPATH", "1"  # else its Python workers import what lies in the working folder
    with _in_environment(MEMORY_VARIABLES[0], memory), _in_environment(*safe):
        return launch(conf, {"stdout": said, "stderr": said})


@contextlib.contextmanager
def _in_environment(name: str, value: str | None) -> Iterator[None]:
    """Set a variable for what is started meanwhile; None sets nothing."""
    if value is None:
        yield
        return
    before, os.environ[name] = os.environ.get(name), value
    try:
        yield
    finally:
        if before is None:
            del os.environ[name]
        else:
            os.environ[name] = before


def _driver_memory(master: str | None) -> str | None:
    """Return what a driver on this machine may take, as Java writes it; None to leave it to Spark or its owner."""
    here = master is not None and re.fullmatch(r"local(\[.*\])?", master)
    if not here or any(os.environ.get(name) for name in MEMORY_VARIABLES):
        return None
    bounds = [bound for bound in (available_memory(), address_space()) if bound is not None]
    wanted = min(bounds, default=0) // SHARE
    return f"{wanted >> 20}m" if wanted > LEAST else None


def _check_java(submitted: bool) -> None:
    home = os.environ.get("JAVA_HOME")
    java = shutil.which("java", path=str(Path(home) / "bin")) if home else shutil.which("java")
    if java is None and not submitted:
        where = "in JAVA_HOME" if home else "on the path"
        hint = "install one, for example with: apt-get install openjdk-17-jre-headless"
        raise DataError(Problem("usage", f"Spark needs Java 17 or later, and there is none {where}.", hint=hint))


def _check_master(master: str) -> None:
    """Refuse a standalone master that does not answer: Spark itself would try for a minute."""
    places = re.findall(r"([^,/]+):(\d+)", master.removeprefix("spark://")) if master.startswith("spark://") else []
    for host, port in places:
        with contextlib.suppress(OSError), socket.create_connection((host, int(port)), timeout=5):
            return
    if places:
        hint = "check the host and the port, and that the master runs"
        raise DataError(Problem("no-connection", "The Spark master does not answer.", master, hint))


def _why_not_started(words: str, master: str | None) -> Problem:
    if "UnsupportedClassVersionError" in words or "class file version" in words:
        return Problem("usage", "This Java is too old for Spark.", hint="install Java 17 or later, or set JAVA_HOME")
    if "parse Master URL" in words or "Master must" in words:
        hint = "for example local[*], spark://host:7077 or yarn"
        return Problem("usage", "This is not a master that Spark knows.", master or "", hint)
    if EXHAUSTED.search(words):
        return why_failed(words, master or "")
    hint = "try it with pyspark alone" + _kept_log()
    return Problem("no-connection", "Spark could not be started.", master or "", hint)
