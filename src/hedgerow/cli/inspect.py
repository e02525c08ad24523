"""``hedgerow inspect``: how a file is read, and what is odd about it."""

from __future__ import annotations

from typing import Annotated

import typer

from hedgerow.cli.options import DataArgument, JsonOption
from hedgerow.cli.printing import print_json, show
from hedgerow.cli.progress import ProgressBar
from hedgerow.cli.reading import ReadOption, stated_form


def inspect(
    data: DataArgument,
    read: ReadOption = None,
    sheet: Annotated[str | None, typer.Option(metavar="NAME", help="The sheet of an Excel file.")] = None,
    as_json: JsonOption = False,
) -> None:
    """Tell how a file is read: delimiter, encoding, decimal sign, days, missing values, each with the reason.

    Also says what is odd about its columns: repeated person numbers, free text, one value everywhere, leading zeros,
    cells that are no days. Shows names of columns, and no value of a record.
    """
    from hedgerow.evaluation.inspecting import inspect as look_into
    from hedgerow.reports.terminal.inspection import inspection_summary

    with ProgressBar() as progress:
        found = look_into(data, stated_form(read, sheet), progress)
    if as_json:
        print_json(found.to_dict(), default=str)
    else:
        show(inspection_summary, found.to_dict(), highlight=False)
