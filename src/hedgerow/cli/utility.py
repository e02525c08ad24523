"""``hedgerow utility``: whether analyses still come out of a release."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from hedgerow.cli.options import JsonOption
from hedgerow.cli.printing import print_json, show

RegressOption = Annotated[
    list[str] | None,
    typer.Option(
        metavar="'Y ~ A + B'",
        help="A regression to fit before and after: logistic if Y has two values, else linear. May be repeated.",
    ),
]


def utility(
    release: Annotated[Path, typer.Argument(metavar="RELEASE", help="Release folder.")],
    original: Annotated[Path, typer.Option(metavar="FILE", help="The table that it was made from.")],
    regress: RegressOption = None,
    columns: Annotated[
        str | None, typer.Option(metavar="A,B", help="Look at these columns only. Default: all that are released.")
    ] = None,
    link: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE", help="The private link table: also tells how far each number is from what it was."
        ),
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Check whether analyses still come out: means, correlations, tables, regressions, before and after.

    It looks at the original, so what it prints is for the owner only.
    """
    from hedgerow.evaluation.analysing import utility
    from hedgerow.reports.terminal.analysed import utility_summary

    named = None if columns is None else [part.strip() for part in columns.split(",") if part.strip()]
    found = utility(release, original, regress=regress or (), columns=named, link=link).to_dict()
    if as_json:
        print_json(found)
    else:
        show(utility_summary, found)
