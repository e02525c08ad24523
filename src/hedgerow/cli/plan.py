"""``hedgerow plan``: draft, check, schema."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from hedgerow.cli.described import DescribedCommand
from hedgerow.cli.options import DataArgument
from hedgerow.cli.printing import print_json, print_plan, say
from hedgerow.errors import DataError, PlanError, Problem
from hedgerow.outside.server import shown

plan_app = typer.Typer(name="plan", help="Draft and check plans.", no_args_is_help=True)


@plan_app.command(cls=DescribedCommand)
def draft(
    data: DataArgument,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", metavar="FILE", help="Default: standard output.")
    ] = None,
    trust_names: Annotated[
        bool,
        typer.Option("--trust-names", help="The first line does hold names of columns, though they look like values."),
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print the plan as JSON.")] = False,
) -> None:
    """Propose a plan: roles, hierarchies, and comments on what a person must decide."""
    from hedgerow.cli.progress import ProgressBar
    from hedgerow.evaluation.drafting.examining import examine
    from hedgerow.outside.outputs.file import put_text, refuse_existing
    from hedgerow.plan import Plan

    with ProgressBar() as progress:
        text = examine(data, progress=progress, rows=0, trust_names=trust_names).to_yaml()
    if output is not None:
        refuse_existing(output, "The plan exists already.", "choose another name: a plan is never overwritten")
        put_text(output, text, "the plan")
    if as_json:
        print_json(Plan.loads(text).to_dict(), default=str)
    elif output is None:
        print_plan(text)
    else:
        say(f"drafted {output}: review every line of it, then run: hedgerow explain {shown(data)} {output}")


@plan_app.command(cls=DescribedCommand)
def check(
    plan: Annotated[Path, typer.Argument(metavar="PLAN", help="Plan file (YAML).")],
    data: Annotated[str | None, typer.Option(metavar="DATA", help="Also check it against this table.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON instead of text.")] = False,
) -> None:
    """Find every problem of a plan in one go, each with its place and a hint.

    A plan may ask for k and for these privacy models: {models}. Methods: {methods}. Objectives: {objectives}.
    """
    from hedgerow.plan import Plan

    problems: tuple[Problem, ...] = ()
    try:
        loaded = Plan.load(plan)
        if data is not None:
            from hedgerow.engines.opening import read_microdata
            from hedgerow.measures.research_value import column_values, rules_fit

            settled = loaded.settled()
            microdata, settled = read_microdata(data, settled)
            rules_fit(column_values(microdata, settled))
    except (PlanError, DataError) as error:
        if not as_json:
            raise
        problems = error.problems
    if as_json:
        listed = [problem.to_dict() for problem in problems]
        print_json({"ok": not problems, "problems": listed})
        if problems:
            raise typer.Exit(2)
    else:
        say(f"{plan}: no problems found")
        for name, attribute in loaded.attributes.items():
            if attribute.free and attribute.snap is None:
                say(f"note: {name!r} has no 'snap', so both ends of every interval are exact values of people")


@plan_app.command()
def schema() -> None:
    """Print the JSON Schema of plans, for editors that complete and check YAML."""
    from hedgerow.plan.schema import plan_schema

    print_json(plan_schema())
