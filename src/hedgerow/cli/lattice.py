"""``hedgerow lattice``: the nodes that satisfy a plan, for an expert to choose from, and the release of one."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from hedgerow.cli.described import completing, one_of, sort_keys
from hedgerow.cli.levels import LevelsOption, read_levels
from hedgerow.cli.options import DataArgument, EngineOption, JsonOption, MasterOption, PlanArgument, ReplaceOption
from hedgerow.cli.printing import print_json, show, tell
from hedgerow.cli.progress import ProgressBar


def lattice(
    data: DataArgument,
    plan: PlanArgument,
    minimal: Annotated[bool, typer.Option("--minimal", help="List only the minimal nodes.")] = False,
    best: Annotated[bool, typer.Option("--best", help="List only the best node by each objective.")] = False,
    every: Annotated[bool, typer.Option("--all", help="List all nodes that satisfy the plan.")] = False,
    sort: Annotated[
        str | None,
        typer.Option(
            metavar="KEY",
            help="Sort by: {sort keys}. Default: the plan's objective.",
            callback=one_of(sort_keys, "--sort"),
            autocompletion=completing(sort_keys),
        ),
    ] = None,
    most: Annotated[int, typer.Option(min=1, metavar="N", help="List at most this many nodes.")] = 50,
    levels: LevelsOption = None,
    choose: Annotated[
        int | None,
        typer.Option(min=1, metavar="N", help="Choose node N of the list, for --output, --write-plan, or both."),
    ] = None,
    output: Annotated[
        str | None,
        typer.Option("--output", "-o", metavar="DIR|TABLE", help="Make the release of the chosen node, and verify it."),
    ] = None,
    write_plan: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Write the plan with the levels of the chosen node.")
    ] = None,
    replace: ReplaceOption = False,
    engine: EngineOption = "auto",
    master: MasterOption = None,
    as_json: JsonOption = False,
) -> None:
    """List the choices of one level per column that satisfy the plan: the minimal ones, and the best by each objective.

    For each: its levels, how many records it withholds, its groups and the smallest of them, its loss and research
    value. Then choose one and make its release. The output tells something about the original records, so it is for the
    owner only.
    """
    from hedgerow.api import anonymize
    from hedgerow.api import lattice as look
    from hedgerow.errors import HedgerowError, Problem
    from hedgerow.outside.outputs.file import put_text, refuse_existing
    from hedgerow.outside.server import shown
    from hedgerow.plan import Plan
    from hedgerow.reports.terminal.lattice import lattice_summary
    from hedgerow.reports.terminal.release import release_summary
    from hedgerow.reports.verdict import verdict_on

    asked = [name for name, wanted in (("minimal", minimal), ("best", best), ("all", every)) if wanted]
    if len(asked) > 1:
        message = f"--{asked[0]} and --{asked[1]} ask for different lists."
        raise HedgerowError(Problem("usage", message, hint="leave one of the two out"))
    if (choose is None) != (output is None and write_plan is None):
        message = "A node is chosen to make its release, or to write its plan."
        hint = "give --choose N, and --output DIR or --write-plan FILE"
        raise HedgerowError(Problem("usage", message, hint=hint))
    if write_plan is not None:
        refuse_existing(write_plan, "The plan exists already.", "choose another name: a plan is never overwritten")
    loaded = Plan.load(plan)
    which = asked[0] if asked else "notable"
    with ProgressBar() as progress:
        found = look(
            data,
            loaded,
            which=which,  # type: ignore[arg-type]
            sort=sort,
            most=most,
            levels=read_levels(levels),
            engine=engine,
            master=master,
            progress=progress,
        )
        if choose is None:
            if as_json:
                print_json(found.to_dict())
            else:
                show(lattice_summary, found.to_dict())
            return
        chosen = loaded.with_levels(found.node(choose).levels)
        release = None
        if output is not None:
            release = anonymize(data, chosen, output, replace=replace, engine=engine, master=master, progress=progress)
    if write_plan is not None:
        put_text(write_plan, chosen.to_yaml(), "the plan")
    if as_json:
        print_json({"levels": chosen.method.levels, "facts": None if release is None else release.facts})
        return
    if release is not None and output is not None:
        show(release_summary, release.told, verdict_on(release).to_dict())
        tell("\nnode {} [green]verified[/] and written to [bold]{}[/]", choose, shown(output))
    if write_plan is not None:
        tell("plan with the levels of node {} written to [bold]{}[/]", choose, write_plan)
