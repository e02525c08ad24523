"""``hedgerow assess``: how much a table gives away as it stands."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from hedgerow.cli.options import DataArgument, EngineOption, JsonOption, MasterOption
from hedgerow.cli.printing import print_json, show, tell
from hedgerow.cli.progress import ProgressBar


def assess(
    data: DataArgument,
    plan: Annotated[
        Path | None,
        typer.Argument(metavar="[PLAN]", help="Plan file that says which columns to look at.", show_default=False),
    ] = None,
    columns: Annotated[
        str | None,
        typer.Option(
            metavar="A,B", help="Columns that others may know from elsewhere. Default: all that a draft would coarsen."
        ),
    ] = None,
    sensitive: Annotated[
        str | None, typer.Option(metavar="C,D", help="Columns that nobody should learn about a person.")
    ] = None,
    person: Annotated[
        str | None, typer.Option(metavar="E", help="Column that names the person of each record.")
    ] = None,
    weight: Annotated[
        str | None,
        typer.Option(
            metavar="W", help="If this is a sample: the column that says how many people a record stands for."
        ),
    ] = None,
    household: Annotated[
        str | None, typer.Option(metavar="H", help="Column that names households; goes with --weight.")
    ] = None,
    fraction: Annotated[
        float | None,
        typer.Option(
            min=0,
            max=1,
            help="The share of the population that is in the table. Default: worked out from --weight, else 0.01.",
        ),
    ] = None,
    population_size: Annotated[
        int | None,
        typer.Option(
            min=1,
            metavar="N",
            help="If this is a sample without weights: how many people it was drawn from. Estimates how many of them "
            "are unique.",
        ),
    ] = None,
    size: Annotated[
        int | None,
        typer.Option(
            min=1,
            metavar="N",
            help="Look at every combination of up to N columns. Default: 3, fewer if that takes long.",
        ),
    ] = None,
    threshold: Annotated[
        float, typer.Option(min=0, max=1, help="The highest acceptable risk; 0.33, 0.2, 0.09 and 0.05 are common.")
    ] = 0.2,
    withheld: Annotated[
        str | None,
        typer.Option(
            metavar="TEXT", help="Leave out records that have only this text, such as '*', in all these columns."
        ),
    ] = None,
    require: Annotated[
        str | None,
        typer.Option(
            metavar="k=5,p=2|plan", help="What must hold, or 'plan' for what PLAN asks for. Exit code 1 if it does not."
        ),
    ] = None,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", metavar="FILE", help="Write a page to this file, .html.")
    ] = None,
    replace: Annotated[bool, typer.Option("--replace", help="Replace an earlier page.")] = False,
    engine: EngineOption = "auto",
    master: MasterOption = None,
    as_json: JsonOption = False,
) -> None:
    """Tell how much a table gives away as it stands: how many are unique, by which columns, which promises hold.

    Takes any table, even one that another tool has anonymized: values are compared as they are written. Needs no plan
    and no hierarchies.
    """
    from hedgerow.cli.run import ExitCode
    from hedgerow.evaluation.assessing import assess
    from hedgerow.outside.outputs import put_text
    from hedgerow.outside.outputs.file import FOR_ITS_OWNER, refuse_existing
    from hedgerow.outside.server import shown
    from hedgerow.reports.html.assessment import assessment_html
    from hedgerow.reports.terminal.assessment import assessment_summary

    if output is not None and not replace:
        refuse_existing(output, "The page exists already.", "choose another name, or --replace it")
    with ProgressBar() as progress:
        found = assess(
            data,
            plan,
            columns=_names(columns),
            sensitive=_names(sensitive) or (),
            person=person,
            weight=weight,
            household=household,
            fraction=fraction,
            population_size=population_size,
            size=size,
            threshold=threshold,
            withheld=withheld,
            require=require,
            engine=engine,
            master=master,
            progress=progress,
        )
    if output is not None:
        page = assessment_html(found.to_dict(), Path(shown(data)).name)
        put_text(output, page, "the page", mode=FOR_ITS_OWNER, replace=replace)
    if as_json:
        print_json(found.to_dict())
    else:
        show(assessment_summary, found.to_dict())
        if output is not None:
            tell("\npage written to [bold]{}[/]", output)
    if not found.met:
        raise ExitCode(1)


def _names(given: str | None) -> list[str] | None:
    return None if given is None else [name.strip() for name in given.split(",") if name.strip()]
