"""A Hadoop file system, through the Java of a Spark session: what is not about rows, such as names and small files."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, cast

from hedgerow.engines.spark_driver import hushed, why_failed, why_lost
from hedgerow.errors import DataError, HedgerowError, Problem
from hedgerow.outside.stores import shown_store

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

RENAMES = frozenset({"hdfs", "webhdfs", "swebhdfs"})
"""File systems that give a folder another name in one step, or not at all. All others are taken for object stores."""


@dataclass(frozen=True)
class HadoopFile:
    """A file, or a folder, in a store.

    Attributes
    ----------
    name
        Its name, from the folder that was listed.
    size
        Its bytes.
    changed
        When it was last changed, in seconds since 1970.
    is_folder
        Whether it is a folder.
    """

    name: str
    size: int
    changed: float
    is_folder: bool = False


class Hadoop:
    """A Hadoop file system.

    Parameters
    ----------
    spark
        A classic session: its Java does the work.
    address
        Any address in that file system.
    """

    def __init__(self, spark: SparkSession, address: str) -> None:
        self.address, self.place = address, shown_store(address)
        with self._told():
            self._java: Any = cast(Any, spark._jvm)
            self._path: Any = self._java.org.apache.hadoop.fs.Path
            configuration = spark._jsparkSession.sessionState().newHadoopConf()
            self._system: Any = self._path(address).getFileSystem(configuration)

    @property
    def renames(self) -> bool:
        """Whether a folder gets another name in one step."""
        return self.address.partition("://")[0] in RENAMES

    def list(self, address: str) -> list[HadoopFile]:
        """Return what lies in a folder, by name; nothing if there is none."""
        with self._told():
            path = self._path(address)
            try:
                found = list(self._system.listStatus(path))
            except Exception as error:
                if _kind(error).endswith("FileNotFoundException"):
                    return []
                raise
            entries = [
                HadoopFile(one.getPath().getName(), one.getLen(), one.getModificationTime() / 1000, one.isDirectory())
                for one in found
            ]
        return sorted(entries, key=lambda entry: entry.name)

    def exists(self, address: str) -> bool:
        """Tell whether there is anything of that name."""
        with self._told():
            return bool(self._system.exists(self._path(address)))

    def is_file(self, address: str) -> bool:
        """Tell whether there is a file of that name."""
        with self._told():
            path = self._path(address)
            return bool(self._system.exists(path) and self._system.getFileStatus(path).isFile())

    def read(self, address: str, most: int, what: str) -> bytes:
        """Return the bytes of a small file."""
        with self._told():
            path = self._path(address)
            size = int(self._system.getFileStatus(path).getLen())
            if size <= most:
                stream = self._system.open(path)
                try:
                    return bytes(self._java.org.apache.commons.io.IOUtils.toByteArray(stream, size))
                finally:
                    stream.close()
        raise DataError(Problem("too-much", f"{what} has more than {most:,} bytes.", self.place, "check what it is"))

    def write(self, address: str, content: bytes, replace: bool = False) -> None:
        """Write a small file; where files appear when they are closed, it appears whole."""
        with self._told():
            stream = self._system.create(self._path(address), replace)
            try:
                stream.write(bytearray(content))
            finally:
                stream.close()

    def make_folder(self, address: str) -> None:
        """Make a folder, and those it lies in."""
        with self._told():
            self._system.mkdirs(self._path(address))

    def rename(self, address: str, target: str) -> None:
        """Give a folder another name in one step; refused if something has that name."""
        with self._told():
            none = self._array(self._java.org.apache.hadoop.fs.Options.Rename, "NONE")
            self._system.rename(self._path(address), self._path(target), none)

    def remove(self, address: str) -> None:
        """Remove a file, or a folder with all that is in it, if it is there."""
        with self._told():
            self._system.delete(self._path(address), True)

    def _array(self, kind: Any, name: str) -> Any:
        from pyspark import SparkContext

        gateway = SparkContext._gateway
        assert gateway is not None
        values = gateway.new_array(kind, 1)
        values[0] = getattr(kind, name)
        return values

    @contextlib.contextmanager
    def _told(self) -> Iterator[None]:
        """Say in our own words what went wrong."""
        from py4j.protocol import Py4JError, Py4JNetworkError

        try:
            with hushed():
                yield
        except (Py4JNetworkError, ConnectionError):
            raise DataError(why_lost(self.place)) from None
        except Py4JError as error:
            raise _what_it_means(error, self.place) from None


def _kind(error: BaseException) -> str:
    exception = getattr(error, "java_exception", None)
    with contextlib.suppress(Exception):
        return str(exception.getClass().getName()) if exception is not None else ""
    return ""


def _what_it_means(error: Exception, place: str) -> HedgerowError:
    kind, words = _kind(error), str(error)
    scheme = place.partition("://")[0]
    if kind.endswith("UnsupportedFileSystemException") or "ClassNotFoundException" in words:
        message = f"This Spark has no file system for {scheme}://."
        hint = "start Spark with the package that has it, for S3 --packages org.apache.hadoop:hadoop-aws:3.5.0"
        return DataError(Problem("usage", message, place, hint))
    denied = kind.endswith(("AccessControlException", "AccessDeniedException"))
    if denied or "403" in re.findall(r"\b\d{3}\b", words[:400]):
        hint = "check who Spark is in that store, and what it may do"
        return DataError(Problem("no-right", "The store does not let Spark do that.", place, hint))
    if kind.endswith("FileAlreadyExistsException"):
        return DataError(Problem("output-in-use", "Something has that name already.", place, "choose another place"))
    if kind.endswith("FileNotFoundException"):
        return DataError(Problem("no-file", "Spark finds no such file or table.", place, "check the path or the name"))
    if kind.endswith(("ConnectException", "UnknownHostException", "SocketTimeoutException")):
        return DataError(Problem("no-connection", "The store does not answer.", place, "check the address"))
    if "IOException" in kind or "IOException" in words[:400]:
        return DataError(Problem("output", "The store failed.", place, "look at it with: hdfs dfs -ls"))
    return DataError(why_failed(words, place))
