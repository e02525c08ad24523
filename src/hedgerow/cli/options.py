"""Arguments and options that several commands share: of commands that are a ``DescribedCommand``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from hedgerow.cli.described import completing, engines

DataArgument = Annotated[
    str,
    typer.Argument(
        metavar="DATA",
        help="{files} file, or a table on a server: postgresql://user@host/database?table=schema.name.",
    ),
]
PlanArgument = Annotated[Path, typer.Argument(metavar="PLAN", help="Plan file (YAML).")]
JsonOption = Annotated[bool, typer.Option("--json", help="Print JSON instead of text.")]
EngineOption = Annotated[
    str,
    typer.Option(
        metavar="{engines}",
        help="Where the work is done: {where}. The result is the same.",
        autocompletion=completing(engines),
    ),
]
MasterOption = Annotated[str | None, typer.Option(metavar="URL", help="Spark: the cluster. Default: local[*].")]
ThreadsOption = Annotated[int | None, typer.Option(min=1, help="Default: all processors. Does not change the result.")]
