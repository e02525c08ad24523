"""``hedgerow compare``: methods side by side."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from hedgerow.cli.described import complete_methods
from hedgerow.cli.options import DataArgument, EngineOption, JsonOption, MasterOption, PlanArgument
from hedgerow.cli.printing import print_json, show, tell
from hedgerow.cli.progress import ProgressBar
from hedgerow.cli.utility import RegressOption


def compare(
    data: DataArgument,
    plan: PlanArgument,
    target: Annotated[
        str | None,
        typer.Option(help="Column that decision trees predict from the quasi-identifiers, before and after."),
    ] = None,
    k: Annotated[str, typer.Option("--k", metavar="K,…", help="The values of k to compare. Default: the plan's.")] = "",
    method: Annotated[
        str,
        typer.Option(
            metavar="NAME,…",
            help="Methods to compare: {compared}; plan for the plan's own, or all. Default: the usual ones.",
            autocompletion=complete_methods,
        ),
    ] = "",
    trees: Annotated[
        bool, typer.Option("--trees", help="Show every decision tree next to that of the original.")
    ] = False,
    plot: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Draw risk against utility into this file, .svg.")
    ] = None,
    budget: Annotated[
        str | None, typer.Option(metavar="60s|N", help="Limit for every exact search: a time, or a number of checks.")
    ] = None,
    seed: Annotated[
        int | None, typer.Option(min=0, help="Use this seed instead of the plan's; it also draws the queries.")
    ] = None,
    regress: RegressOption = None,
    engine: EngineOption = "auto",
    master: MasterOption = None,
    as_json: JsonOption = False,
) -> None:
    """Compare methods and values of k side by side: the risk of each release, its loss, and which patterns survive.

    Measures: {measures}. The output tells something about the original records, so it is for the owner only.
    """
    from hedgerow.api import compare
    from hedgerow.cli.patience import patience_of, stoppable
    from hedgerow.evaluation.comparison import variants
    from hedgerow.reports.charts.plots import check_plot, risk_utility_plot
    from hedgerow.reports.terminal.comparison import comparison_summary

    if plot is not None:
        check_plot(plot)
    names = tuple(variants()) if method == "all" else _listed(method)
    with ProgressBar() as progress, stoppable(patience_of(budget)) as patience:
        found = compare(
            data,
            plan,
            k=_numbers(k),
            methods=names,
            target=target,
            seed=seed,
            engine=engine,
            master=master,
            progress=progress,
            patience=patience,
            regress=regress or (),
        )
    if plot is not None:
        risk_utility_plot(
            found.points(), plot, risk="average risk: groups / records", utility="mean research value of groups"
        )
    if as_json:
        print_json(found.to_dict())
        return
    show(comparison_summary, found.to_dict(), trees)
    if plot is not None:
        tell("\nplot written to [bold]{}[/]", plot)


def _listed(text: str) -> tuple[str, ...]:
    return tuple(part.strip() for part in text.split(",") if part.strip())


def _numbers(text: str) -> tuple[int, ...]:
    try:
        numbers = tuple(int(part) for part in _listed(text))
    except ValueError:
        numbers = (0,)
    if any(number < 2 for number in numbers):
        raise typer.BadParameter("must be whole numbers of 2 or more, such as 3,5,10", param_hint="--k")
    return numbers
