"""Spark as an engine: a DataFrame, Parquet files or a table; rows stay on the executors.

The work is done in a session of its own beside the one that was given: same cluster, same tables, same cache, but with
settings and temporary views of its own, so nothing of the owner's is changed. The owner's settings are taken over,
except those that would change what our statements mean (:data:`SETTINGS`).

Retries and speculative execution do not change a release:

- A statement only counts, joins, and numbers records within a class in the order of all other released columns.
  Records that are equal there may get each other's number in a second attempt, but then they are equal in everything
  that is released, so the rows are the same.
- Rows are ordered by all released columns. Where Spark cuts the order into partitions is settled before any of them is
  written, and a later attempt puts the same rows into the same partition. Files are named by partition, and Spark's
  commit protocol lets one attempt of each through.
- What remains is the source. A frame that is computed anew each time it is read (``rand()``, ``uuid()``,
  ``monotonically_increasing_id()``) is refused, because the rows that were counted would not be those that are
  released. Spark does not tell us of ``limit`` without an order, or of functions in Python that give another answer
  each time: the release is then found not to fit the source when it is verified, and is not published.

Over Spark Connect all of that is so too, but for what needs the Java of a classic session: file systems other than the
catalogue's tables, and telling beforehand that a frame is computed anew.
"""

from __future__ import annotations

import atexit
import contextlib
import re
import shutil
import uuid
import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hedgerow.engines.dialect import SqlDialect
from hedgerow.engines.spark_driver import hushed, open_spark, why_failed, why_lost
from hedgerow.engines.sql import Kind, SqlColumn
from hedgerow.errors import DataError, Problem
from hedgerow.outside.stores import TABLE, shown_store
from hedgerow.plan import DataFormat

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import DataFrame, SparkSession

#: What our statements rely on, in our own session.
SETTINGS = {
    "spark.sql.ansi.enabled": "true",
    "spark.sql.ansi.enforceReservedKeywords": "false",
    "spark.sql.parser.escapedStringLiterals": "false",
    "spark.sql.variable.substitute": "false",  # or a column named ${env:HOME} would be another column
    "spark.sql.session.timeZone": "UTC",
    "spark.sql.parquet.outputTimestampType": "TIMESTAMP_MICROS",
    "spark.sql.execution.arrow.useLargeVarTypes": "false",
    "spark.sql.execution.arrow.maxRecordsPerBatch": str(1 << 16),
}
KINDS: dict[str, Kind] = {
    "string": "text",
    "char": "text",
    "varchar": "text",
    "boolean": "boolean",
    "byte": "integer",
    "short": "integer",
    "integer": "integer",
    "long": "integer",
    "decimal": "decimal",
    "float": "float",
    "double": "float",
    "date": "date",
    "timestamp": "timestamp",
    "timestamp_ntz": "timestamp",
}
PLAIN_TEXT = re.compile(r"[A-Za-z0-9 _.,:;+*/()<>=-]*")
PASSED_ON = ("fs.", "spark.sql.catalog.")
"""Settings of a session that no session knows by itself: those of file systems, and of other catalogues."""
PIECE = 5_000_000
"""Rows of a file in a store at most: its digest is taken of all of its bytes in memory."""
EXECUTORS = frozenset({"hedgerow", "numba", "numpy", "pandas", "pyarrow"})


@dataclass(frozen=True)
class FileContents:
    """What a file of rows holds: its rows, and the digest of its bytes."""

    rows: int
    sha256: str


class SparkTable(SqlDialect):
    """A table in Spark, as the SQL engine sees it.

    Parameters
    ----------
    data
        A DataFrame; the path of a Parquet file or folder; or ``table:NAME``.
    spark
        The session in which a path or a name is looked up; a DataFrame has its own.

    Raises
    ------
    DataError
        The data is not there, or Spark cannot tell its columns apart, or it is computed anew each time.

    Notes
    -----
    Timestamps with a time zone come back in UTC, as Spark does not keep the zone; those without come back as they are.
    """

    library = "spark"
    source = "hedgerow_source"
    text_type = "STRING"
    binary = ""  # text with a collation is made plain in the view
    as_text = frozenset({"text", "other"})
    format: DataFormat | None = None
    origin: Any = None
    _columns: tuple[SqlColumn, ...]

    def __init__(self, data: Any, spark: SparkSession | None = None) -> None:
        given = None if isinstance(data, str | Path) else data
        self._open(_session_of(given, spark), shown_store(str(data)) if given is None else "data")
        try:
            frame = given if given is not None else self._look_up(str(data))
            self._columns = self._check(frame)
            with self._own_words():
                name = self._share("source", frame)
                _plain(self._own.table(name)).createOrReplaceTempView(self.source)
        except BaseException:
            self.close()
            raise

    def _open(self, spark: SparkSession, place: str) -> None:
        self.place, self.spark = place, spark
        self._prefix = f"hedgerow_{uuid.uuid4().hex}"
        self._views: list[str] = []
        self._kept: list[DataFrame] = []
        self._named_views: list[str] = []
        self._columns = ()
        self._salt = uuid.uuid4().int >> 66
        with self._own_words():
            self._own = _own_session(spark)
            self._shared = str(spark.conf.get("spark.sql.globalTempDatabase", "global_temp"))

    @classmethod
    def of_session(cls, spark: SparkSession, place: str) -> SparkTable:
        """Open a session without a table; ``place`` is what messages name."""
        made = cls.__new__(cls)
        made._open(_session_of(None, spark), place)
        return made

    def _look_up(self, data: str) -> DataFrame:
        with self._own_words(reading=True):
            if data.startswith(TABLE):
                return self.spark.table(data.removeprefix(TABLE))
            return self._own.read.parquet(_address(data))

    def _check(self, frame: DataFrame) -> tuple[SqlColumn, ...]:
        """Return the columns of a frame, or refuse one that statements could not name or would not see twice alike."""
        with self._own_words(reading=True):
            fields = frame.schema.fields
            unsure = frame.isStreaming or (
                not is_remote(self.spark) and not frame._jdf.queryExecution().analyzed().deterministic()
            )
            exact = self._own.conf.get("spark.sql.caseSensitive") == "true"
        if unsure:
            message = "The DataFrame is computed anew each time it is read, and not always to the same rows."
            hint = "write it to Parquet first, or use df.checkpoint()"
            raise DataError(Problem("usage", message, self.place, hint))
        names = [field.name for field in fields]
        seen: dict[str, str] = {}
        for name in names:
            other = seen.setdefault(name if exact else name.lower(), name)
            if names.count(name) > 1:
                raise DataError(Problem("duplicate-column", f"Two columns {_both(names, name, name)}.", self.place))
            if other != name:
                which = _both(names, other, name)
                message = f"Two columns {which} differ in capitals only, which Spark does not tell apart."
                hint = "rename one of them, or set spark.sql.caseSensitive to true"
                raise DataError(Problem("duplicate-column", message, self.place, hint))
        return tuple(SqlColumn(field.name, KINDS.get(field.dataType.typeName(), "other")) for field in fields)

    def _share(self, name: str, frame: DataFrame) -> str:
        """Make a frame of the owner's session visible in ours; returns how a query names it."""
        view = f"{self._prefix}_{name}"
        frame.createOrReplaceGlobalTempView(view)
        self._views.append(view)
        return f"{self.quote(self._shared)}.{view}"

    # ---- what the SQL engine asks for ------------------------------------------------------------------------

    def quote(self, name: str) -> str:
        """Write a name.

        Examples
        --------
        >>> SparkTable.quote(None, "a`b")
        '`a``b`'
        """
        return "`" + name.replace("`", "``") + "`"

    def literal(self, text: str) -> str:
        """Write a text; whatever a parser might take for something else is written as bytes.

        Examples
        --------
        >>> SparkTable.literal(None, "n/a"), SparkTable.literal(None, "o'er")
        ("'n/a'", "CAST(X'6F276572' AS STRING)")
        """
        if PLAIN_TEXT.fullmatch(text):
            return f"'{text}'"
        return f"CAST(X'{text.encode().hex().upper()}' AS STRING)"

    def columns(self) -> tuple[SqlColumn, ...]:
        """Return the columns of the source, in order."""
        return self._columns

    def stream(self, query: str) -> Iterator[pa.RecordBatch]:
        """Run a query and give its rows in batches, in order: the driver holds two partitions at most."""
        import pyarrow as pa

        with self._own_words():
            frame = self._own.sql(query)
            schema = _arrow_schema(frame)
            plain = frame.toDF(*(f"c{i}" for i in range(len(schema))))  # mapInArrow does not quote names
            for row in plain.mapInArrow(_packing(), "batch binary").toLocalIterator(prefetchPartitions=True):
                for batch in pa.ipc.open_stream(row.batch):
                    columns = [column.cast(field.type) for column, field in zip(batch.columns, schema, strict=True)]
                    yield pa.RecordBatch.from_arrays(columns, schema=schema)

    def ask(self, query: str) -> pa.Table:
        """Run a query of few rows."""
        with self._own_words():
            frame = self._own.sql(query)
            return frame.toArrow().cast(_arrow_schema(frame))

    def schema_of(self, query: str) -> pa.Schema:
        """Return the columns of a query as ``stream`` gives them, without running it."""
        with self._own_words():
            return _arrow_schema(self._own.sql(query))

    def upload(self, name: str, rows: pa.Table) -> str:
        """Make a temporary view, replacing one of that name, and return how a query names it."""
        import pyarrow as pa
        from pyspark.sql.pandas.types import from_arrow_schema

        columns = [
            column.cast(column.type.value_type) if pa.types.is_dictionary(column.type) else column
            for column in rows.columns
        ]
        plain = pa.table(columns, names=rows.column_names)
        with self._own_words():
            schema = from_arrow_schema(plain.schema, prefer_timestamp_ntz=True)
            return self._share(name, self.spark.createDataFrame(plain, schema))

    def keep(self, name: str, query: str) -> str:
        """Keep the rows of a query on the executors, under a name."""
        with self._own_words():
            frame = self._own.sql(query).persist()
            self._kept.append(frame)
            view = f"{self._prefix}_{name}"
            frame.createOrReplaceTempView(view)
            return view

    def task_of(self, columns: str, tasks: int) -> str:
        """Write which of so many tasks a row goes to, given columns in which those of a task agree."""
        return f"CAST(PMOD(HASH({columns}), {tasks:d}) AS INT)"

    def fingerprints(self, columns: Sequence[str]) -> tuple[str, ...]:
        """Write two numbers of 64 bits, the same for rows that agree in some columns, and hardly ever for others.

        A number of this session's own goes in first, so that nobody can look for rows that have the same. A missing
        cell would leave no trace by itself.
        """
        marked = ", ".join(f"{name} IS NULL, {name}" for name in columns)
        return tuple(f"XXHASH64({self._salt + at:d}L, {marked})" for at in range(2))

    def keep_on_disk(self, name: str, query: str) -> str:
        """Keep the rows of a query on the disks of the executors, under a name."""
        with self._own_words():
            return self._named(name, self._own.sql(query), keep=True)

    def in_tasks(
        self,
        name: str,
        query: str,
        work: Callable[[Any], Any],
        columns: Sequence[tuple[str, Any]],
        dealt: int | None = None,
        keep: bool = False,
    ) -> str:
        """Name the rows that tasks make of those of a query.

        Parameters
        ----------
        work
            Given batches of rows, gives others; it goes to executors, which need Hedgerow for it.
        columns
            Names and types of what it gives.
        dealt
            How many tasks there are, if the column ``task`` says to which of them a row goes; else Spark decides.
        keep
            Whether the rows are kept on the disks of the executors.
        """
        from pyspark.sql.types import StructField, StructType

        with self._own_words():
            frame = self._own.sql(query)
            if dealt is not None:
                frame = frame.repartitionById(dealt, "task")
            layout = StructType([StructField(column, kind) for column, kind in columns])
            return self._named(name, frame.mapInArrow(work, layout), keep)

    @property
    def most_in_task(self) -> int:
        """Records of a block at most that one task should have: any number, as the driver is no better."""
        return 1 << 62

    def _named(self, name: str, frame: DataFrame, keep: bool) -> str:
        from pyspark import StorageLevel

        if keep:
            frame = frame.persist(StorageLevel.DISK_ONLY)
            self._kept.append(frame)
        view = f"{self._prefix}_{name}"
        frame.createOrReplaceTempView(view)
        self._named_views.append(view)
        return view

    def types(self, query: str) -> dict[str, Any]:
        """Return the types of the columns of a query, as Spark has them."""
        with self._own_words():
            return {field.name: field.dataType for field in self._own.sql(query).schema.fields}

    def shown_values(self, query: str, values: pa.Array) -> tuple[pa.Array, Any]:
        """Return as what values are released, given the statement that says so, and the type of that."""
        import pyarrow as pa
        import pyarrow.compute as pc

        found = pa.Table.from_batches(self.stream(query), self.schema_of(query))
        at = pc.index_in(values, value_set=found.column("v").combine_chunks().cast(values.type))
        return found.column("s").combine_chunks().take(at), self.types(query)["s"]

    @property
    def number(self) -> Any:
        """The type of small whole numbers."""
        from pyspark.sql.types import IntegerType

        return IntegerType()

    @property
    def whole_number(self) -> Any:
        """The type of whole numbers."""
        from pyspark.sql.types import LongType

        return LongType()

    @property
    def text(self) -> Any:
        """The type of texts."""
        from pyspark.sql.types import StringType

        return StringType()

    @property
    def bytes(self) -> Any:
        """The type of bytes."""
        from pyspark.sql.types import BinaryType

        return BinaryType()

    @cached_property
    def cores(self) -> int:
        """How many tasks are done at the same time."""
        with self._own_words():
            if not is_remote(self.spark):
                return int(self.spark.sparkContext.defaultParallelism)
            parts = self._own.range(1 << 16).selectExpr("SPARK_PARTITION_ID() AS part")
            return int(parts.selectExpr("COUNT(DISTINCT part) AS n").collect()[0]["n"])

    def write_parquet(self, query: str, folder: Path) -> None:
        """Let the executors write the rows of a query into a new folder: part-00000.parquet and so on, in order.

        The folder must be on a file system that all machines of the cluster share. Which row is in which file may
        differ from run to run; the files one after the other are the rows in their order.

        Raises
        ------
        DataError
            The folder is there already, or the executors could not write, or wrote where we cannot see it.
        """
        with self._own_words():
            frame = self._own.sql(query)
            writer = frame.write.option("compression", "zstd")
            writer = writer.option("mapreduce.fileoutputcommitter.marksuccessfuljobs", "false")
            writer.parquet(f"file://{folder.absolute()}")
        parts = sorted(folder.glob("part-*.parquet"), key=_number) if folder.is_dir() else []
        if not parts:
            message = "Spark has written, but the files are not here: the executors have other disks."
            hint = "name a folder that all machines share, or use --format parquet for a single file"
            raise DataError(Problem("output", message, str(folder), hint))
        for number, part in enumerate(parts):
            part.rename(folder / f"part-{number:05d}.parquet")
        for left in folder.iterdir():
            if left.name.startswith((".", "_")):
                shutil.rmtree(left) if left.is_dir() else left.unlink()

    # ---- releases that lie where only Spark reaches -----------------------------------------------------------

    def write_files(self, query: str, address: str) -> None:
        """Let the executors write the rows of a query into a new folder of a Hadoop file system, in order."""
        with own_words(shown_store(address)):
            writer = self._own.sql(query).write.option("compression", "zstd").option("maxRecordsPerFile", PIECE)
            writer = writer.option("mapreduce.fileoutputcommitter.marksuccessfuljobs", "false")
            writer.parquet(address)

    def file_contents(self, files: Sequence[str]) -> dict[str, FileContents]:
        """Have the executors count the rows of Parquet files, and take the digest of each, by its last name."""
        with self._own_words(reading=True):
            wanted = [_literal_path(file) for file in files]
            counted = self._own.read.parquet(*wanted).groupBy("_metadata.file_name").count().collect()
            bytes_of = self._own.read.format("binaryFile").load(wanted)
            digests = bytes_of.selectExpr("path", "sha2(content, 256) AS digest").collect()
        rows = {row[0]: int(row[1]) for row in counted}  # a file without rows is not counted
        return {
            name: FileContents(rows.get(name, 0), str(row[1]))
            for row in digests
            for name in [str(row[0]).rpartition("/")[2]]
        }

    def open_files(self, files: Sequence[str]) -> tuple[str, tuple[SqlColumn, ...]]:
        """Open Parquet files as one table beside the source: how statements name it, and its columns."""
        with self._own_words(reading=True):
            frame = self._own.read.option("mergeSchema", "true").parquet(*map(_literal_path, files))
        return self._beside(frame)

    def open_other(self, table: str) -> tuple[str, tuple[SqlColumn, ...]]:
        """Open a table of the catalogue beside the source."""
        with self._own_words(reading=True):
            frame = self._own.table(table)
        return self._beside(frame)

    def classic(self, what: str) -> SparkSession:
        """Return the session, if it has the Java that some work needs."""
        if is_remote(self.spark):
            message = f"{what} needs a classic session: Spark Connect gives no way to rename, list or remove files."
            hint = "write to a table of the catalogue (table:NAME), or run it where the driver runs"
            raise DataError(Problem("usage", message, hint=hint))
        return self.spark

    def run(self, statement: str) -> None:
        """Run a statement that gives no rows."""
        with self._own_words():
            self._own.sql(statement).collect()

    def has_table(self, name: str) -> bool:
        """Tell whether the catalogue has a table or a view, by its name in statements."""
        with self._own_words():
            return bool(self._own.catalog.tableExists(name))

    def where(self) -> tuple[str, str]:
        """Return the catalogue and the database that names without these are looked up in."""
        with self._own_words():
            return str(self.spark.catalog.currentCatalog()), str(self.spark.catalog.currentDatabase())

    def _beside(self, frame: DataFrame) -> tuple[str, tuple[SqlColumn, ...]]:
        columns = self._check(frame)
        view = f"{self._prefix}_released"
        with self._own_words(reading=True):
            _plain(frame).createOrReplaceTempView(view)
        return view, columns

    def close(self) -> None:
        """Drop our views, and what was kept; the session that was given goes on."""
        for frame in self._kept:
            with contextlib.suppress(Exception):
                frame.unpersist()
        for view in self._views:
            with contextlib.suppress(Exception):  # Spark may have been stopped before us
                self.spark.catalog.dropGlobalTempView(view)
        with contextlib.suppress(Exception):
            self._own.catalog.dropTempView(self.source)
            for view in (f"{self._prefix}_released", *self._named_views):
                self._own.catalog.dropTempView(view)
        if is_remote(self._own):
            with contextlib.suppress(Exception):
                client: Any = self._own.client
                client.release_session()
                client.close()
        self._views, self._kept, self._named_views = [], [], []

    def _own_words(self, reading: bool = False) -> contextlib.AbstractContextManager[None]:
        return own_words(self.place, reading)


@contextlib.contextmanager
def own_words(place: str, reading: bool = False) -> Iterator[None]:
    """Say in our own words what went wrong: Spark's may hold a value of a record."""
    from py4j.protocol import Py4JError, Py4JNetworkError
    from pyspark.errors import PySparkException

    try:
        with hushed():
            yield
    except (Py4JNetworkError, ConnectionError):
        raise DataError(why_lost(place)) from None
    except (PySparkException, Py4JError) as error:
        raise DataError(_what_it_means(error, place, reading)) from None


def open_table(data: Any, master: str | None = None) -> SparkTable:
    """Open a DataFrame in its own session, or a path or ``table:NAME`` in one of ours."""
    return SparkTable(data, open_spark(master) if isinstance(data, str | Path) else None)


def is_remote(spark: SparkSession) -> bool:
    """Tell whether a session is one of Spark Connect."""
    return type(spark).__module__.startswith("pyspark.sql.connect.")


def _session_of(frame: Any, spark: SparkSession | None) -> SparkSession:
    session: SparkSession = (spark or open_spark()) if frame is None else frame.sparkSession
    return session


def _own_session(spark: SparkSession) -> SparkSession:
    own = spark.newSession()
    if is_remote(own):  # or this process would not end for minutes, if the server ends before it
        client: Any = getattr(own, "client", None)
        atexit.unregister(getattr(client, "_on_exit", None))  # type: ignore[arg-type]
    with warnings.catch_warnings():  # over Spark Connect, some settings have opinions on themselves
        warnings.simplefilter("ignore")
        for key, value in spark.conf.getAll.items():
            if (key.startswith("spark.sql.") and own.conf.isModifiable(key)) or key.startswith(PASSED_ON):
                own.conf.set(key, value)
        for key, value in SETTINGS.items():
            own.conf.set(key, value)
    return own


def _plain(frame: DataFrame) -> DataFrame:
    """Free columns of collations, which compare text otherwise than by bytes, and of comments, which would be written.

    Examples
    --------
    A column ``name STRING COLLATE UTF8_LCASE`` has 'Ann' equal 'ann'; in the view it has not.
    """
    from pyspark.sql import functions
    from pyspark.sql.types import StringType

    columns = []
    for field in frame.schema.fields:
        column = functions.col("`" + field.name.replace("`", "``") + "`")
        if isinstance(field.dataType, StringType):
            column = column.cast(StringType())
        columns.append(column.alias(field.name, metadata={}))
    return frame.select(*columns)


def _arrow_schema(frame: DataFrame) -> pa.Schema:
    """Return the columns of a frame in Arrow, all of which may be null: so the files of all engines are alike."""
    import pyarrow as pa
    from pyspark.sql.pandas.types import to_arrow_schema

    return pa.schema([pa.field(field.name, field.type) for field in to_arrow_schema(frame.schema, timezone="UTC")])


def _packing() -> Any:
    """Return a function that packs batches into bytes; it is sent as it is, so executors need no Hedgerow for it."""

    def pack(batches: Any) -> Any:
        import pyarrow as pa

        for batch in batches:
            sink = pa.BufferOutputStream()
            with pa.ipc.new_stream(sink, batch.schema) as stream:
                stream.write_batch(batch)
            yield pa.record_batch([pa.array([sink.getvalue().to_pybytes()], pa.binary())], names=["batch"])

    return pack


def _address(path: str) -> str:
    """Name a path for Spark: a local one as such, with nothing in it that Spark would take for a pattern."""
    if not Path(path).exists():
        return path
    return _literal_path("file://" + str(Path(path).absolute()))


def _literal_path(path: str) -> str:
    """Write a path with nothing in it that Spark would take for a pattern."""
    return re.sub(r"([\\{}\[\]*?])", r"\\\1", path)


def _both(names: list[str], one: str, other: str) -> str:
    """Say which columns have the same name, without the name: the plan may not have it."""
    numbers = [number for number, name in enumerate(names, 1) if name in (one, other)]
    return f"({numbers[0]} and {numbers[1]}, counted from 1)" + ("" if one != other else " have the same name")


def _number(part: Path) -> tuple[int, str]:
    return int(part.name.split("-")[1]), part.name


def _what_it_means(error: Exception, place: str, reading: bool) -> Problem:
    condition = getattr(error, "getCondition", lambda: None)() or ""
    module = re.search(r"No module named '(\w+)", str(error))
    if condition in ("PATH_NOT_FOUND", "TABLE_OR_VIEW_NOT_FOUND", "SCHEMA_NOT_FOUND", "CATALOG_NOT_FOUND"):
        return Problem("no-file", "Spark finds no such file or table.", place, "check the path or the name")
    if condition == "PATH_ALREADY_EXISTS":
        return Problem("output-in-use", "The output folder is there already.", place, "choose another folder")
    if "PYTHON_VERSION_MISMATCH" in str(error) or (module and module[1] in EXECUTORS):
        lacks = f"lacks {module[1]}" if module else "has another version than here"
        hint = "set PYSPARK_PYTHON to a Python that has Hedgerow, on every machine, before Spark is started"
        return Problem("usage", f"The Python of Spark's executors {lacks}.", place, hint)
    said = f" ({condition})" if re.fullmatch(r"[A-Z0-9_.]+", condition) else ""
    if reading:
        message = f"Spark cannot read the data{said}."
        return Problem("format", message, place, "give Parquet files, or a table with columns that Spark reads")
    return why_failed(str(error), place, said)
