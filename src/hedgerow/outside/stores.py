"""Places that only Spark reaches: a path in a Hadoop file system, and a table of a session's catalogue."""

from __future__ import annotations

import re
from typing import Any

SCHEMES = frozenset(
    [
        "abfs",
        "abfss",
        "adl",
        "alluxio",
        "cosn",
        "dbfs",
        "gs",
        "hdfs",
        "maprfs",
        "o3fs",
        "obs",
        "ofs",
        "oss",
        "s3",
        "s3a",
        "s3n",
        "swebhdfs",
        "viewfs",
        "wasb",
        "wasbs",
        "webhdfs",
    ]
)
"""File systems that Hadoop, or a package for it, has. Which of them a Spark has is for that Spark to say."""
TABLE = "table:"
ADDRESS = re.compile(r"([a-z][a-z0-9]*)://")


def is_store(place: Any) -> bool:
    """Tell whether something is the address of a path in a Hadoop file system.

    Examples
    --------
    >>> (
    ...     is_store("s3a://bucket/release"),
    ...     is_store("hdfs:///data/release"),
    ...     is_store("release"),
    ...     is_store("mysql://db/x"),
    ... )
    (True, True, False, False)
    """
    found = ADDRESS.match(place) if isinstance(place, str) else None
    return found is not None and found[1] in SCHEMES


def is_catalogue_table(place: Any) -> bool:
    """Tell whether something names a table of a session's catalogue.

    Examples
    --------
    >>> is_catalogue_table("table:register.persons"), is_catalogue_table("persons.csv")
    (True, False)
    """
    return isinstance(place, str) and place.startswith(TABLE)


def is_in_spark(place: Any) -> bool:
    """Tell whether only Spark reaches a place."""
    return is_store(place) or is_catalogue_table(place)


def local_path(place: Any) -> Any:
    """Return the path of an address of this machine, and anything else as it is.

    Examples
    --------
    >>> local_path("file:///srv/release"), local_path("release"), local_path("hdfs:///release")
    ('/srv/release', 'release', 'hdfs:///release')
    """
    return place.removeprefix("file://") if isinstance(place, str) and place.startswith("file:///") else place


def shown_store(place: str) -> str:
    """Return what messages show of an address: one on another machine may hold keys before its host.

    Examples
    --------
    >>> shown_store("s3a://key:secret@bucket/people.parquet"), shown_store("people@home.parquet")
    ('s3a://…@bucket/people.parquet', 'people@home.parquet')
    """
    return re.sub(r"^([\w+.-]+://).*@", r"\1…@", place)
