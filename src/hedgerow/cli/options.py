"""Arguments and options that several commands share."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

DataArgument = Annotated[
    str,
    typer.Argument(
        metavar="DATA",
        help="CSV, Parquet or Arrow file, or a table on a server: postgresql://user@host/database?table=schema.name.",
    ),
]
PlanArgument = Annotated[Path, typer.Argument(metavar="PLAN", help="Plan file (YAML).")]
JsonOption = Annotated[bool, typer.Option("--json", help="Print JSON instead of text.")]
EngineOption = Annotated[
    str,
    typer.Option(
        metavar="auto|local|duckdb|spark",
        help="Where the work is done: in memory, on a file larger than that, or on a Spark cluster (DATA is then a "
        "Parquet path or table:NAME). The result is the same.",
    ),
]
MasterOption = Annotated[str | None, typer.Option(metavar="URL", help="Spark: the cluster. Default: local[*].")]
ThreadsOption = Annotated[int | None, typer.Option(min=1, help="Default: all processors. Does not change the result.")]
