"""Spark sessions for the tests, and programs that start one in a process of their own."""

from __future__ import annotations

import atexit
import contextlib
import os
import shlex
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from tests.processes.stores import class_folder

ROOT = Path(__file__).parents[2]
SHORT_LIVED = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"
"""A Java that lives for seconds spends half of them on optimizing what soon is gone: let it compile once, and quickly."""
SETTINGS = {
    "spark.driver.extraJavaOptions": SHORT_LIVED,
    "spark.executor.extraJavaOptions": SHORT_LIVED,
    "spark.driver.memory": "1g",
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.driver.host": "127.0.0.1",
    "spark.sql.shuffle.partitions": "4",
    "spark.sql.warehouse.dir": tempfile.gettempdir() + "/hedgerow-no-warehouse",
}


def has_java() -> bool:
    """Whether Spark can be started; in CI it must be, so a missing Java fails there instead of being skipped."""
    return shutil.which("java") is not None or bool(os.environ.get("CI"))


def submit_arguments(settings: Mapping[str, str] = SETTINGS) -> str:
    """What ``PYSPARK_SUBMIT_ARGS`` says for settings."""
    return shlex.join([*(word for pair in settings.items() for word in ("--conf", "=".join(pair))), "pyspark-shell"])


def start_spark(master: str, **settings: str) -> Any:
    """Start Spark as the command line does, with little memory; settings with _ for a dot."""
    from hedgerow.engines.spark_driver import open_spark

    given = (
        SETTINGS
        | {"spark.driver.extraClassPath": str(class_folder())}
        | {key.replace("_", "."): value for key, value in settings.items()}
    )
    os.environ["PYSPARK_SUBMIT_ARGS"] = submit_arguments(given)
    if master.startswith("local-cluster"):
        os.environ["SPARK_HOME"] = home_of_links()
    return open_spark(master)


def start_connect(cores: int = 2) -> Any:
    """Start PySpark's own server of Spark Connect, with little memory, and return a session of it."""
    os.environ["PYSPARK_SUBMIT_ARGS"] = submit_arguments(SETTINGS | {"spark.ui.enabled": "false"})
    os.environ |= {"PYSPARK_PYTHON": sys.executable, "SPARK_TESTING": "1"}  # a port that is free
    from pyspark.sql import SparkSession

    return SparkSession.builder.remote(f"local[{cores}]").getOrCreate()


def home_of_links() -> str:
    """Make another home for Spark: workers of a local cluster write beside the programs, which are not theirs."""
    import pyspark

    folder = tempfile.mkdtemp(prefix="hedgerow-spark-home-")
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    for path in Path(pyspark.__file__).parent.iterdir():
        (Path(folder) / path.name).symlink_to(path)
    (Path(folder) / "work").unlink(missing_ok=True)
    return folder


@contextlib.contextmanager
def running_cluster() -> Iterator[str]:
    """Start a master and two workers that count as two machines, yield the master's address, stop them."""
    import pyspark

    program = Path(pyspark.__file__).parent / "bin" / "spark-class"
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        address = f"spark://127.0.0.1:{taken.getsockname()[1]}"
    folder = tempfile.mkdtemp(prefix="hedgerow-spark-cluster-")
    deploy = "org.apache.spark.deploy"
    words = [[f"{deploy}.master.Master", "--host", "127.0.0.1", "--port", address.rsplit(":", 1)[1]]]
    words += [
        [f"{deploy}.worker.Worker", "--host", host, "-c", "1", "-m", "1g", "-d", f"{folder}/{host}", address]
        for host in ("127.0.0.2", "127.0.0.3")
    ]
    environment = {
        **os.environ,
        "SPARK_DAEMON_MEMORY": "256m",
        "SPARK_DAEMON_JAVA_OPTS": SHORT_LIVED,
        "SPARK_MASTER_OPTS": "-Dspark.master.rest.enabled=false",
    }
    log = Path(folder, "log").open("wb")  # noqa: SIM115 - closed below
    machines = [
        subprocess.Popen([program, *of_one, "--webui-port", "0"], stdout=log, stderr=log, env=environment)
        for of_one in words
    ]
    try:
        _wait_for(*address.removeprefix("spark://").split(":"), machines[0])  # type: ignore[call-arg]
        yield address
    finally:
        for machine in machines:
            machine.terminate()
        for machine in machines:
            machine.wait(30)
        log.close()
        shutil.rmtree(folder, ignore_errors=True)


def _wait_for(host: str, port: str, machine: subprocess.Popen[bytes]) -> None:
    for _ in range(600):
        with contextlib.suppress(OSError), socket.create_connection((host, int(port)), timeout=1):
            return
        assert machine.poll() is None, "the master did not start"
        time.sleep(0.1)
    raise TimeoutError("the master did not answer")


def in_process(program: str, *words: str | Path, **environment: str) -> subprocess.CompletedProcess[str]:
    """Run a program in a process of its own, which may start a Spark of its own."""
    given = {key: value for key, value in os.environ.items() if not key.startswith(("PYSPARK_", "SPARK_"))}
    return subprocess.run(
        [sys.executable, "-c", program, *map(str, words)],
        capture_output=True,
        text=True,
        cwd=ROOT,
        env={**given, **environment},
        check=False,
    )
