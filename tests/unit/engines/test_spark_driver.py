"""Spark's driver: how much memory it may take, where its log goes, and what is said when the memory is used up."""

from __future__ import annotations

import os
import re
import shutil
import stat
from pathlib import Path

import pytest

from hedgerow.engines import spark_driver
from hedgerow.engines.spark_driver import DriverLog, _driver_memory, why_failed, why_lost
from hedgerow.outside import memory
from tests.processes.spark import SETTINGS, has_java, in_process, submit_arguments

GB = 1 << 30


@pytest.fixture(autouse=True)
def nobody_says_how_much(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in spark_driver.MEMORY_VARIABLES:
        monkeypatch.delenv(name, raising=False)


@pytest.mark.parametrize(
    ("master", "available", "limit", "expected"),
    [
        ("local[*]", 24 * GB, None, "12288m"),
        ("local", 24 * GB, None, "12288m"),
        ("local[2, 3]", 24 * GB, 6 * GB, "3072m"),
        ("local[*]", 2 * GB, None, None),  # what Spark gives by itself
        ("local[*]", None, None, None),
        ("local-cluster[2,1,1024]", 24 * GB, None, None),
        ("spark://here:7077", 24 * GB, None, None),
        ("yarn", 24 * GB, None, None),
        (None, 24 * GB, None, None),
    ],
)
def test_a_driver_on_this_machine_may_take_half_of_its_memory(
    master: str | None, available: int | None, limit: int | None, expected: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(spark_driver, "available_memory", lambda: available)
    monkeypatch.setattr(spark_driver, "address_space", lambda: limit)
    assert _driver_memory(master) == expected
    monkeypatch.setenv("SPARK_DRIVER_MEMORY", "2g")
    assert _driver_memory(master) is None


def test_memory_of_a_container_counts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    inner = tmp_path / "outer" / "inner"
    inner.mkdir(parents=True)
    for group, limit in ((tmp_path / "outer", str(3 * GB)), (inner, "max")):
        (group / "memory.max").write_text(f"{limit}\n")
        (group / "memory.current").write_text(f"{2 * GB}\n")
        (group / "memory.stat").write_text(f"anon 5\ninactive_file {GB // 2}\n")
    assert list(memory._left(tmp_path, "/outer/inner", "memory.max", "memory.current", "inactive_file")) == [
        3 * GB // 2
    ]
    monkeypatch.setattr(memory, "_of_machine", lambda: iter([8 * GB]))
    monkeypatch.setattr(memory, "_of_group", lambda: iter([3 * GB // 2]))
    assert memory.available_memory() == 3 * GB // 2


# ---- what Java is started with ------------------------------------------------------------------------------------

START = """
import sys
from hedgerow.engines import spark_driver
from hedgerow.errors import HedgerowError
spark_driver.available_memory = lambda: 6 << 30
try:
    spark_driver.open_spark(sys.argv[1])
except HedgerowError as error:
    print(error)
"""
JAVA = """#!/bin/sh
case "$*" in *org.apache.spark.launcher.Main*) exec {java} "$@";; esac
for word in "$@"; do case "$word" in -Xmx*) echo "$word" > {home}/heap;; esac; done
echo nothing but a test
exit 1
"""


def heap_of(home: Path, master: str = "local[1]", **environment: str) -> str:
    """Start Spark with a Java that only notes the heap that it was to have."""
    (home / "bin").mkdir()
    (home / "bin" / "java").write_text(JAVA.format(java=shutil.which("java"), home=home))
    (home / "bin" / "java").chmod(0o755)
    done = in_process(START, master, JAVA_HOME=str(home), TMPDIR=str(home), **environment)
    assert "Spark could not be started" in done.stdout, done.stderr
    return (home / "heap").read_text().strip()


@pytest.mark.skipif(not has_java(), reason="needs Java 17")
@pytest.mark.parametrize(
    ("where", "expected"),
    [
        ("nowhere", "-Xmx3072m"),
        ("another machine", "-Xmx1g"),
        ("submit arguments", "-Xmx700m"),
        ("a setting in submit arguments", "-Xmx700m"),
        ("a properties file", "-Xmx700m"),
        ("spark-defaults.conf", "-Xmx700m"),
        ("spark-env.sh", "-Xmx700m"),
        ("the environment", "-Xmx700m"),
    ],
)
def test_what_the_owner_says_of_memory_holds_wherever_it_is_said(where: str, expected: str, tmp_path: Path) -> None:
    settings = tmp_path / "settings"
    settings.mkdir()
    for name in ("own.conf", *(["spark-defaults.conf"] if where == "spark-defaults.conf" else [])):
        (settings / name).write_text("spark.driver.memory 700m\n")
    if where == "spark-env.sh":
        (settings / "spark-env.sh").write_text("export SPARK_DRIVER_MEMORY=700m\n")
    words = {
        "submit arguments": "--driver-memory 700m pyspark-shell",
        "a setting in submit arguments": "--conf spark.driver.memory=700m pyspark-shell",
        "a properties file": f"--properties-file {settings}/own.conf pyspark-shell",
    }
    environment = {"PYSPARK_SUBMIT_ARGS": words[where]} if where in words else {}
    if where == "the environment":
        environment["SPARK_DRIVER_MEMORY"] = "700m"
    home = tmp_path / "java"
    home.mkdir()
    master = "yarn" if where == "another machine" else "local[1]"
    yarn = {"HADOOP_CONF_DIR": str(settings)} if where == "another machine" else {}
    assert heap_of(home, master, SPARK_CONF_DIR=str(settings), **environment, **yarn) == expected


# ---- the log, and what it tells -----------------------------------------------------------------------------------

WORK = """
import sys
from hedgerow.engines.spark import SparkTable
from hedgerow.engines.spark_driver import open_spark
from hedgerow.errors import HedgerowError
table = SparkTable(open_spark("local[1]").range(3))
for query in sys.argv[1:]:
    try:
        print(table.ask(query).num_rows)
    except HedgerowError as error:
        print(error)
"""


@pytest.mark.skipif(not has_java(), reason="needs Java 17")
@pytest.mark.xdist_group("spark")
def test_the_log_is_private_and_kept_if_spark_fails(tmp_path: Path) -> None:
    """That it is gone otherwise is in ``test_spark_session.py``, with a quiet start."""
    words = submit_arguments(SETTINGS | {"spark.driver.memory": "500m"})
    little = {"PYSPARK_SUBMIT_ARGS": words, "TMPDIR": str(tmp_path)}
    huge = "SELECT LENGTH(REPEAT(CAST(id AS STRING), 900000000)) AS x FROM hedgerow_source"
    done = in_process(WORK, "SELECT CAST('SECRET' AS INT) AS x", huge, **little)
    assert "Spark could not do the work (CAST_INVALID_INPUT). [no-connection]" in done.stdout
    assert "SECRET" not in done.stdout + done.stderr  # pyspark itself would print it on standard error
    assert "Spark has used up the memory that it may take. [no-memory]" in done.stdout
    assert "--driver-memory 8g" in done.stdout
    (log,) = tmp_path.glob("*.log")
    assert done.stdout.count(str(log)) == 2
    assert stat.S_IMODE(log.stat().st_mode) == 0o600
    assert "OutOfMemoryError" in log.read_text()


@pytest.fixture
def log(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> DriverLog:
    """The log of a driver that this process might have started."""
    monkeypatch.setattr(spark_driver.tempfile, "tempdir", str(tmp_path))  # type: ignore[attr-defined]
    made = DriverLog()
    monkeypatch.setattr(spark_driver, "_log", made)
    return made


@pytest.mark.parametrize(
    "words",
    [
        "java.lang.OutOfMemoryError: Java heap space",
        "java.lang.OutOfMemoryError: GC overhead limit exceeded",
        "Total size of serialized results of 9 tasks (1.2 GiB) is bigger than spark.driver.maxResultSize (1024.0 MiB)",
        "ExecutorLostFailure (executor 1 exited caused by one of the running tasks) Reason: Command exited with exit code: 52",
        "ExecutorLostFailure (executor 1): Container killed by YARN for exceeding physical memory limits.",
        "Error occurred during initialization of VM\nCould not reserve enough space for 9437184KB object heap",
    ],
)
def test_words_that_mean_that_memory_is_used_up(words: str, log: DriverLog, monkeypatch: pytest.MonkeyPatch) -> None:
    assert why_failed(words, "data").code == "no-memory"
    assert why_failed("TaskResultLost", "data").code == "no-connection"
    os.write(log.file.fileno(), words.encode())
    assert ("maxResultSize=0" in why_failed("TaskResultLost", "data").hint) == ("maxResultSize" in words)
    os.write(log.file.fileno(), words.encode())
    assert why_lost("data").code == "no-memory"
    assert why_failed("something else, later", "data").code == "no-connection"  # what was told is told once
    monkeypatch.setattr(spark_driver, "_log", None)
    assert "spark.driver.memory" in why_failed(words, "data").hint
    assert why_lost("data").hint == "start it again"


def test_a_log_is_kept_in_one_file_that_its_owner_alone_can_read(log: DriverLog) -> None:
    os.write(log.file.fileno(), b"one")
    first = why_lost("data").hint
    os.write(log.file.fileno(), b"two")
    assert why_lost("data").hint == first
    found = re.search(r"its log is in (\S+), for you alone", first)
    assert found
    assert Path(found[1]).read_text() == "onetwo"
    assert stat.S_IMODE(Path(found[1]).stat().st_mode) == 0o600
