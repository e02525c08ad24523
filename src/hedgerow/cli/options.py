"""Arguments and options that several commands share: of commands that are a ``DescribedCommand``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from hedgerow.cli.described import completing, engines, forms, one_of

DataArgument = Annotated[
    str,
    typer.Argument(
        metavar="DATA",
        help="{files} file, or a table on a server: postgresql://user@host/database?table=schema.name, "
        "mariadb://user@host/database?table=name.",
    ),
]
PlanArgument = Annotated[Path, typer.Argument(metavar="PLAN", help="Plan file (YAML).")]
JsonOption = Annotated[bool, typer.Option("--json", help="Print JSON instead of text.")]
EngineOption = Annotated[
    str,
    typer.Option(
        metavar="{engines}",
        help="Where the work is done: {where}. The result is the same everywhere.",
        autocompletion=completing(engines),
    ),
]
MasterOption = Annotated[str | None, typer.Option(metavar="URL", help="Spark: which cluster. Default: local[*].")]
ThreadsOption = Annotated[
    int | None, typer.Option(min=1, help="How many processors to use. Default: all. The result is the same.")
]
FormatOption = Annotated[
    str | None,
    typer.Option(
        metavar="{forms}",
        callback=one_of(forms, "--format"),
        autocompletion=completing(forms),
        help="Format of the released rows. Default: parquet if DATA is Parquet, else csv; on Spark parts, which its "
        "executors write.",
    ),
]
LinkOption = Annotated[
    Path | None,
    typer.Option(
        metavar="FILE", help="Also write a private table that links records to rows. Not inside DIR; mode 0600."
    ),
]
PopulationOption = Annotated[
    str | None,
    typer.Option(
        metavar="PEOPLE",
        help="File or table, wherever it is, of the people whom the records were drawn from, to count them in; by "
        "default what the plan names.",
        show_default=False,
    ),
]
ReplaceOption = Annotated[bool, typer.Option("--replace", help="Replace an earlier release of that name.")]
