"""``hedgerow bound``: how far from the best possible a release is at most."""

from __future__ import annotations

import re
from typing import Annotated

import typer

from hedgerow.cli.options import DataArgument, EngineOption, JsonOption, MasterOption, PlanArgument, ThreadsOption
from hedgerow.cli.printing import print_json, show
from hedgerow.cli.progress import ProgressBar


def bound(
    data: DataArgument,
    plan: PlanArgument,
    release: Annotated[
        str | None,
        typer.Option(metavar="DIR|TABLE", help="The release to judge. Default: the one that the plan makes."),
    ] = None,
    effort: Annotated[
        str | None,
        typer.Option(
            metavar="30s",
            help="How long to search, in seconds on one core of an ordinary machine; counted in steps, so the answer "
            "is the same everywhere. Default: as the plan says, else 30s. Ctrl-C ends it with the best bound so far.",
        ),
    ] = None,
    threads: ThreadsOption = None,
    engine: EngineOption = "auto",
    master: MasterOption = None,
    as_json: JsonOption = False,
) -> None:
    """Prove how much any release of these records must lose, and so how close to the best one is. Writes nothing."""
    from hedgerow.anonymization.lattice import Patience
    from hedgerow.api import bound
    from hedgerow.cli.patience import stoppable
    from hedgerow.plan import Plan
    from hedgerow.reports.terminal.release import bound_summary

    if effort is not None and not re.fullmatch("[1-9][0-9]{0,4}s", effort.strip()):
        raise typer.BadParameter("must be an effort in seconds such as 30s", param_hint="--effort")
    asked = Plan.load(plan)
    with ProgressBar() as progress, stoppable(Patience()) as patience:
        found = bound(
            data,
            asked,
            release,
            effort=effort or asked.method.certify or "30s",
            threads=threads,
            engine=engine,
            master=master,
            progress=progress,
            patience=patience,
        )
    if as_json:
        print_json(found.to_dict())
    else:
        show(bound_summary, found.to_dict())
