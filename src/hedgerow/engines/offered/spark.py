"""Spark: frames, Parquet paths and tables of a cluster."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from hedgerow.engines.descriptor import EngineDescriptor, EngineWish
from hedgerow.engines.kinds_of_data import is_spark_frame
from hedgerow.outside.server import is_server
from hedgerow.outside.stores import is_in_spark


def _opened(wish: EngineWish) -> Any:
    from hedgerow.engines.spark import open_table
    from hedgerow.engines.spark_engine import DRIVER_PROFILES, SparkEngine

    bound = wish.options.get("driver_profiles", DRIVER_PROFILES)
    return SparkEngine(open_table(wish.data, wish.options.get("master")), bound)


def _takes(data: Any) -> bool:
    return is_spark_frame(data) or (isinstance(data, str | Path) and not is_server(data))


DESCRIPTOR = EngineDescriptor(
    name="spark",
    title="Spark",
    help="on a Spark cluster (DATA is then a Parquet path or table:NAME)",
    order=40,
    reads="Spark frames, Parquet paths and tables of Spark",
    takes=_takes,
    suits=lambda data, numbered: is_spark_frame(data) or is_in_spark(data),
    opened=_opened,
    options={"master": "a master", "driver_profiles": "a bound on the driver's records"},
    anywhere=True,
    forms={"parts": "Parquet files that the executors of a Spark cluster write"},
)
