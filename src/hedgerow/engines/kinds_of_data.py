"""What kind of data somebody has given: a file, a table in memory, an address, a Spark frame."""

from __future__ import annotations

from typing import Any

from hedgerow.outside.server import is_server
from hedgerow.outside.stores import is_in_spark


def is_spark_frame(data: Any) -> bool:
    """Tell whether data is a frame of Spark, without loading it."""
    return type(data).__module__.split(".")[0] == "pyspark"


def is_local(data: Any) -> bool:
    """Tell whether data is a file or a table in memory."""
    return not is_server(data) and not is_in_spark(data) and not is_spark_frame(data)
