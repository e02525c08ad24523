"""Spark as a session of the SQL engine: what goes up comes down the same, and nothing of the owner's is changed."""

from __future__ import annotations

import datetime
import decimal
import random
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from hedgerow.engines.spark import SparkTable, open_table
from hedgerow.engines.spark_driver import _check_master, open_spark
from hedgerow.errors import DataError
from tests.processes.spark import ROOT, has_java, in_process, submit_arguments

pytestmark = pytest.mark.xdist_group("spark")
Open = Callable[[Any], SparkTable]

BERLIN = datetime.timezone(datetime.timedelta(hours=2))
ODD = "a b;{}(),=\t`'\"\\ ${env:HOME} -- /* é 名 ; DROP TABLE x"
EVERYTHING = pa.table(
    {
        "text": pa.array(["a", "", " é 名 ", 'o\'er "q" \\n ${env:HOME}\n', None]),
        "integer": pa.array([1, -(2**63), 2**63 - 1, 0, None], pa.int64()),
        "small": pa.array([1, -128, 127, 0, None], pa.int8()),
        "decimal": pa.array([*map(decimal.Decimal, ("1.50", "-0.01", "99999999.99", "0.00")), None], pa.decimal128(10, 2)),
        "float": pa.array([1.5, float("nan"), float("inf"), -0.0, None], pa.float64()),
        "single": pa.array([1.5, float("nan"), float("-inf"), 0.1, None], pa.float32()),
        "boolean": pa.array([True, False, True, False, None]),
        "date": pa.array([datetime.date(1500, 2, 28), datetime.date(2024, 2, 29), datetime.date(1, 1, 1), datetime.date(9999, 12, 31), None]),
        "naive": pa.array([datetime.datetime(2024, 3, 31, 2, 30), datetime.datetime(1800, 1, 1, 0, 0, 0, 1), datetime.datetime(1970, 1, 1), datetime.datetime(2024, 10, 27, 2, 30), None], pa.timestamp("us")),
        "zoned": pa.array([datetime.datetime(2024, 3, 31, 2, 30, tzinfo=BERLIN), datetime.datetime(1800, 1, 1, tzinfo=datetime.UTC), datetime.datetime(1970, 1, 1, tzinfo=datetime.UTC), datetime.datetime(2024, 10, 27, 2, 30, tzinfo=BERLIN), None], pa.timestamp("us", "UTC")),
        ODD: pa.array(["1", "2", "3", "4", None]),
    }
)  # fmt: skip


@pytest.fixture
def opened(spark: Any) -> Iterator[Open]:
    tables = []

    def open_one(data: Any) -> SparkTable:
        tables.append(SparkTable(data, spark))
        return tables[-1]

    yield open_one
    for table in tables:
        table.close()


def same(one: pa.Table, other: pa.Table) -> bool:
    """Whether two tables have the same columns and values; nan equals nan, and -0 is not 0."""
    return one.schema.equals(other.schema) and repr(one.to_pylist()) == repr(other.to_pylist())


def all_of(table: SparkTable) -> str:
    return f"SELECT * FROM {table.source} ORDER BY `integer` NULLS LAST"


def in_order() -> pa.Table:
    return EVERYTHING.take(pa.array([1, 3, 0, 2, 4]))


def test_parquet_comes_back_as_pyarrow_reads_it(opened: Open, tmp_path: Path) -> None:
    pq.write_table(EVERYTHING, tmp_path / "d.parquet")
    table = opened(str(tmp_path / "d.parquet"))
    assert same(table.ask(all_of(table)), in_order())
    assert same(pa.Table.from_batches(table.stream(all_of(table))), in_order())
    assert table.schema_of(all_of(table)).equals(EVERYTHING.schema)


def test_kinds_of_columns(opened: Open, tmp_path: Path) -> None:
    more = EVERYTHING.append_column("list", pa.array([[1], [], None, [2, None], None]))
    more = more.append_column("bytes", pa.array([b"a", b"", None, b"\xff", None]))
    pq.write_table(more, tmp_path / "d.parquet")
    table = opened(tmp_path / "d.parquet")
    kinds = ["text", "integer", "integer", "decimal", "float", "float", "boolean", "date", "timestamp", "timestamp"]
    assert [column.kind for column in table.columns()] == [*kinds, "text", "other", "other"]
    assert [column.name for column in table.columns()] == more.column_names
    texts = table.ask("SELECT CAST(`list` AS STRING) AS a FROM hedgerow_source ORDER BY a NULLS LAST")
    assert texts.column("a").to_pylist() == ["[1]", "[2, null]", "[]", None, None]


def test_a_frame_a_folder_and_a_table_are_the_same(spark: Any, opened: Open, tmp_path: Path) -> None:
    folder = tmp_path / "odd [1]{2}*? é"
    folder.mkdir()
    pq.write_table(EVERYTHING.slice(0, 2), folder / "1.parquet")
    pq.write_table(EVERYTHING.slice(2), folder / "2.parquet")
    (tmp_path / "plain").symlink_to(folder)
    frame = spark.read.parquet(str(tmp_path / "plain"))
    frame.createOrReplaceTempView("patients")
    try:
        for data in (folder, frame, "table:patients"):
            table = opened(data)
            assert same(table.ask(all_of(table)), in_order())
    finally:
        spark.catalog.dropTempView("patients")


def test_what_goes_up_comes_down_the_same(opened: Open, tmp_path: Path) -> None:
    pq.write_table(EVERYTHING, tmp_path / "d.parquet")
    table = opened(tmp_path / "d.parquet")
    coded = EVERYTHING.set_column(0, "text", EVERYTHING.column("text").dictionary_encode())
    name = table.upload("one", coded)
    assert same(table.ask(f"SELECT * FROM {name} ORDER BY `integer` NULLS LAST"), in_order())
    matches = " AND ".join(f"s.{q} IS NOT DISTINCT FROM u.{q}" for q in map(table.quote, EVERYTHING.column_names))
    both = table.ask(f"SELECT COUNT(*) AS n FROM {table.source} AS s JOIN {name} AS u ON {matches}")
    assert both.column("n").to_pylist() == [5]
    again = table.upload("one", pa.table({"x": [1, 2]}))
    assert table.ask(f"SELECT SUM(x) AS x FROM {again}").to_pylist() == [{"x": 3}]
    none = table.upload("none", pa.table({"x": pa.array([], pa.string())}))
    assert table.ask(f"SELECT x FROM {none}").schema == pa.schema([("x", pa.string())])


def test_texts_are_written_as_they_are(opened: Open, tmp_path: Path) -> None:
    pq.write_table(EVERYTHING, tmp_path / "d.parquet")
    table = opened(tmp_path / "d.parquet")
    texts = ["", "n/a", "'", "''", "\\", "\\'", '"', "a\\nb", "\n\t\x00", "é名\U0001f600", "${env:HOME}", "%_", "-- x"]
    found = table.ask("SELECT " + ", ".join(f"{table.literal(text)} AS t{i}" for i, text in enumerate(texts)))
    assert [found.column(i)[0].as_py() for i in range(len(texts))] == texts


def test_text_compares_by_bytes_whatever_its_collation(spark: Any, opened: Open) -> None:
    frame = spark.sql("SELECT CAST(x AS STRING COLLATE UTF8_LCASE) AS x FROM VALUES ('a'), ('B'), ('A'), ('b') AS t(x)")
    table = opened(frame)
    found = table.ask(f"SELECT x, COUNT(*) AS n FROM {table.source} GROUP BY x ORDER BY x")
    assert found.column("x").to_pylist() == ["A", "B", "a", "b"]
    assert table.columns()[0].kind == "text"


def test_a_stream_is_in_order_and_its_schema_is_known_without_rows(spark: Any, opened: Open) -> None:
    table = opened(spark.range(0, 300_000, 1, 7))
    query = "SELECT id % 1000 AS a, id FROM hedgerow_source ORDER BY a, id DESC"
    batches = list(table.stream(query))
    assert len(batches) > 3
    rows = pa.Table.from_batches(batches, table.schema_of(query))
    numbers = rows.column("a").to_numpy() * 1_000_000 + (300_000 - rows.column("id").to_numpy())
    assert (numbers[1:] > numbers[:-1]).all()
    assert rows.num_rows == 300_000
    assert [batch.num_rows for batch in table.stream(f"SELECT * FROM ({query}) WHERE id < 0")] in ([], [0])


def test_a_stream_may_be_left(spark: Any, opened: Open) -> None:
    table = opened(spark.range(0, 100_000, 1, 4))
    stream = table.stream("SELECT id FROM hedgerow_source ORDER BY id")
    assert next(stream).column(0)[0].as_py() == 0
    del stream
    assert table.ask("SELECT MAX(id) AS m FROM hedgerow_source").to_pylist() == [{"m": 99_999}]


def test_executors_write_files_in_order(opened: Open, tmp_path: Path) -> None:
    numbers = random.Random(1).sample(range(50_000), 50_000)
    rows = pa.table({ODD: numbers, "when": pa.array(numbers, pa.timestamp("us", "UTC")), "x": ["é"] * 50_000})
    pq.write_table(rows, tmp_path / "d.parquet", row_group_size=5_000)
    table = opened(tmp_path / "d.parquet")
    folder = tmp_path / "out [é] 1"
    table.write_parquet(f"SELECT * FROM hedgerow_source ORDER BY {table.quote(ODD)} DESC", folder)
    files = sorted(path.name for path in folder.iterdir())
    assert files == [f"part-{number:05d}.parquet" for number in range(len(files))]
    written = pa.concat_tables([pq.read_table(folder / name) for name in files])
    assert written.column(ODD).to_pylist() == sorted(numbers, reverse=True)
    assert written.schema.types == rows.schema.types
    assert pq.ParquetFile(folder / files[0]).metadata.row_group(0).column(0).compression == "ZSTD"
    with pytest.raises(DataError, match="output-in-use"):
        table.write_parquet("SELECT 1 AS x", folder)
    table.write_parquet("SELECT 1 AS x WHERE FALSE", tmp_path / "none")
    assert pq.read_table(tmp_path / "none").num_rows == 0


def test_comments_of_columns_are_not_written(spark: Any, opened: Open, tmp_path: Path) -> None:
    from pyspark.sql import functions

    frame = spark.range(3).select(functions.col("id").alias("id", metadata={"comment": "of ward seven"}))
    opened(frame).write_parquet("SELECT id FROM hedgerow_source ORDER BY id", tmp_path / "out")
    assert not any(b"ward" in path.read_bytes() for path in (tmp_path / "out").iterdir())


def test_nothing_of_the_owners_is_changed(spark: Any, tmp_path: Path) -> None:
    from pyspark.sql import SparkSession

    def state() -> Any:
        views = [row.viewName for row in spark.sql("SHOW VIEWS IN global_temp").collect()]
        return dict(spark.conf.getAll), views, SparkSession.getActiveSession() is spark

    before = state()
    table = SparkTable(spark.range(10))
    table.upload("one", pa.table({"x": [1, 2]}))
    list(table.stream("SELECT * FROM hedgerow_source ORDER BY id"))
    table.write_parquet("SELECT * FROM hedgerow_source ORDER BY id", tmp_path / "out")
    assert len(state()[1]) == len(before[1]) + 2
    table.close()
    table.close()
    assert state() == before


def test_settings_of_the_owner_are_taken_over(spark: Any) -> None:
    spark.conf.set("spark.sql.shuffle.partitions", "3")
    spark.conf.set("spark.sql.session.timeZone", "Asia/Tokyo")
    try:
        table = SparkTable(spark.range(10))
        assert table._own.conf.get("spark.sql.shuffle.partitions") == "3"
        text = table.ask("SELECT CAST(TIMESTAMP_SECONDS(0) AS STRING) AS t").to_pylist()
        assert text == [{"t": "1970-01-01 00:00:00"}]
        table.close()
    finally:
        spark.conf.set("spark.sql.shuffle.partitions", "4")
        spark.conf.unset("spark.sql.session.timeZone")


def test_names_that_differ_in_capitals_only(spark: Any, opened: Open) -> None:
    frame = spark.createDataFrame([(1, 2)], ["Age", "age"])
    with pytest.raises(DataError, match=r"\(1 and 2, counted from 1\) differ in capitals only(.|\n)*caseSensitive"):
        opened(frame)
    spark.conf.set("spark.sql.caseSensitive", "true")
    try:
        table = opened(frame)
        assert table.ask("SELECT `age` - `Age` AS x FROM hedgerow_source").to_pylist() == [{"x": 1}]
    finally:
        spark.conf.unset("spark.sql.caseSensitive")


def test_frames_that_are_refused(spark: Any, opened: Open) -> None:
    from pyspark.sql import functions

    with pytest.raises(DataError, match=r"Two columns \(1 and 2, counted from 1\) have the same name"):
        opened(spark.createDataFrame([(1, 2)], ["a", "a"]))
    with pytest.raises(DataError, match=r"computed anew"):
        opened(spark.range(3).select(functions.rand().alias("r")))
    with pytest.raises(DataError, match=r"computed anew"):
        opened(spark.readStream.format("rate").load())


def test_what_is_not_there(spark: Any, opened: Open, tmp_path: Path) -> None:
    with pytest.raises(DataError, match="no-file"):
        opened(str(tmp_path / "none.parquet"))
    with pytest.raises(DataError, match="no-file"):
        opened("table:none")
    (tmp_path / "text.parquet").write_text("SECRET")
    with pytest.raises(DataError, match="format") as caught:
        opened(str(tmp_path / "text.parquet"))
    assert "SECRET" not in str(caught.value)
    pq.write_table(pa.table({"t": pa.array([1], pa.timestamp("ns"))}), tmp_path / "ns.parquet")
    with pytest.raises(DataError, match=r"cannot read the data \(PARQUET_TYPE_ILLEGAL\)"):
        opened(str(tmp_path / "ns.parquet"))


def test_no_word_of_spark_is_passed_on(spark: Any, opened: Open, capfd: pytest.CaptureFixture[str]) -> None:
    table = opened(spark.createDataFrame([("SECRET",)], ["x"]))
    for query in ("SELECT CAST(x AS INT) AS x FROM hedgerow_source", "SELECT SECRET", "SELECT 'SECRET"):
        with pytest.raises(DataError, match="Spark could not do the work") as caught:
            list(table.stream(query))
        assert "SECRET" not in str(caught.value)
        assert caught.value.__cause__ is None
    assert capfd.readouterr() == ("", "")


# ---- starting Spark ------------------------------------------------------------------------------------------------

START = """
import sys
from hedgerow.engines.spark_driver import open_spark
from hedgerow.errors import HedgerowError
try:
    print(open_spark(sys.argv[1] if len(sys.argv) > 1 else None).range(5).count())
except HedgerowError as error:
    print(error)
"""


def test_a_running_session_is_used(spark: Any) -> None:
    assert open_spark("local[1]") is spark
    table = open_table(spark.range(2))
    assert table.spark is spark
    table.close()


def test_without_java(tmp_path: Path) -> None:
    done = in_process(START, PATH=str(tmp_path), JAVA_HOME="")
    assert "Spark needs Java 17 or later, and there is none on the path. [usage]" in done.stdout
    done = in_process(START, JAVA_HOME=str(tmp_path))
    assert "there is none in JAVA_HOME. [usage]" in done.stdout
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "java").write_text("#!/bin/sh\necho java.lang.UnsupportedClassVersionError >&2\nexit 1\n")
    (tmp_path / "bin" / "java").chmod(0o755)
    done = in_process(START, JAVA_HOME=str(tmp_path))
    assert "This Java is too old for Spark. [usage]" in done.stdout
    assert done.stderr == ""


def test_a_master_that_does_not_answer() -> None:
    with pytest.raises(DataError, match=r"spark://127.0.0.1:1: The Spark master does not answer\. \[no-connection\]"):
        _check_master("spark://127.0.0.1:1")
    _check_master("yarn")


@pytest.mark.skipif(not has_java(), reason="needs Java 17")
def test_a_master_that_is_none_and_a_quiet_start(tmp_path: Path) -> None:
    quickly = {"PYSPARK_SUBMIT_ARGS": submit_arguments()}
    done = in_process(START, "nonsense", **quickly)
    assert "nonsense: This is not a master that Spark knows. [usage]" in done.stdout
    assert done.stderr == ""
    done = in_process(START, "local[1]", TMPDIR=str(tmp_path), **quickly)
    assert (done.stdout, done.stderr) == ("5\n", "")
    assert not list(tmp_path.glob("*.log"))
    assert not (ROOT / "spark-warehouse").exists()
