"""``hedgerow plan``: draft, limits, check, upgrade, from-arx, to-arx, schema."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from hedgerow.cli.described import DescribedGroup, command
from hedgerow.cli.options import DataArgument
from hedgerow.cli.printing import print_json, print_plan, say, show
from hedgerow.cli.reading import ReadOption, stated_form
from hedgerow.errors import DataError, PlanError, Problem
from hedgerow.outside.server import shown

plan_app = typer.Typer(
    name="plan",
    help="Draft a plan, check it, import it from ARX or an earlier version.",
    no_args_is_help=True,
    cls=DescribedGroup,
)
WithholdOption = Annotated[
    str | None,
    typer.Option(
        metavar="P", help="How many records all limits together may withhold: 5% or 100. Default: the plan's, or 5%."
    ),
]


@command(plan_app, "hedgerow plan draft patients.csv -o plan.yaml")
def draft(
    data: DataArgument,
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", metavar="FILE", help="Write the plan to this file. Default: print it."),
    ] = None,
    trust_names: Annotated[
        bool,
        typer.Option("--trust-names", help="The first line holds the names of columns, even if they look like values."),
    ] = False,
    limits: Annotated[
        bool, typer.Option("--limits", help="Also propose limits, as tight as the records allow.")
    ] = False,
    withhold: WithholdOption = None,
    read: ReadOption = None,
    sheet: Annotated[str | None, typer.Option(metavar="NAME", help="The sheet of an Excel file.")] = None,
    keep_codes: Annotated[
        bool, typer.Option("--keep-codes", help="SPSS, Stata: read codes, not their labels; labels become a level.")
    ] = False,
    person: Annotated[
        str | None, typer.Option(metavar="A", help="The column that names a person: k then counts persons.")
    ] = None,
    sensitive: Annotated[
        str | None, typer.Option(metavar="B,C", help="Columns that nobody should learn about a person.")
    ] = None,
    other: Annotated[
        str | None, typer.Option(metavar="D,E", help="Columns to publish as they are, which tell nothing of a person.")
    ] = None,
    leave_out: Annotated[str | None, typer.Option(metavar="F,G", help="Columns to leave out of the release.")] = None,
    audience: Annotated[
        str | None,
        typer.Option(
            metavar="{audiences}", help="Who gets the release: sets k, diversity, withholding and the threshold."
        ),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the plan as JSON.")] = False,
) -> None:
    """Propose a plan for a table: roles, hierarchies, and a comment on every decision that is yours."""
    from hedgerow.cli.progress import ProgressBar
    from hedgerow.evaluation.drafting.examining import draft_plan
    from hedgerow.evaluation.drafting.wishes import Wishes
    from hedgerow.plan import Plan

    if withhold is not None and not limits:
        raise typer.BadParameter("goes with --limits only", param_hint="--withhold")
    form = stated_form(read, sheet, keep_codes)
    wishes = Wishes(person, _names(sensitive), _names(other), _names(leave_out), audience)
    with ProgressBar() as progress:
        text = draft_plan(
            data,
            form,
            trust_names=trust_names,
            limits=limits,
            withhold=withhold,
            progress=progress,
            wishes=wishes,
        )
    _put(output, text)
    if as_json:
        print_json(Plan.loads(text).to_dict(), default=str)
    elif output is None:
        print_plan(text)
    else:
        say(f"drafted {output}: review every line of it, then run: hedgerow explain {shown(data)} {output}")


@command(plan_app, "hedgerow plan limits patients.csv plan.yaml -o limited.yaml")
def limits(
    data: DataArgument,
    plan: Annotated[Path, typer.Argument(metavar="PLAN", help="Plan file (YAML).")],
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", metavar="FILE", help="Write the plan with the proposed limits to a file."),
    ] = None,
    withhold: WithholdOption = None,
    columns: Annotated[
        str | None,
        typer.Option(
            metavar="A,B",
            help="Propose limits for these, whatever they have now. Default: all columns without a limit.",
        ),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON instead of text.")] = False,
) -> None:
    """Propose limits for a plan: as tight as possible while few enough records must be withheld."""
    from hedgerow.api import propose_limits
    from hedgerow.cli.progress import ProgressBar
    from hedgerow.plan import Plan
    from hedgerow.reports.terminal.limits import limits_summary

    asked = None if columns is None else [name.strip() for name in columns.split(",")]
    with ProgressBar() as progress:
        progress("reading", 0, 0)
        found = propose_limits(data, Plan.load(plan), withhold=withhold, attributes=asked, progress=progress)
    _put(output, found.plan.to_yaml())
    if as_json:
        print_json({**found.to_dict(), "plan": found.plan.to_dict()}, default=str)
        return
    show(limits_summary, found.to_dict(), highlight=False)
    if output is not None:
        say(f"wrote {output}: review its limits, then run: hedgerow explain {shown(data)} {output}")


def _names(given: str | None) -> tuple[str, ...]:
    return () if given is None else tuple(name.strip() for name in given.split(",") if name.strip())


def _put(output: Path | None, text: str) -> None:
    """Write a plan to a new file, if one is named."""
    from hedgerow.outside.outputs.file import put_text, refuse_existing

    if output is not None:
        refuse_existing(output, "The plan exists already.", "choose another name: a plan is never overwritten")
        put_text(output, text, "the plan")


@command(plan_app, "hedgerow plan check plan.yaml --data patients.csv")
def check(
    plan: Annotated[Path, typer.Argument(metavar="PLAN", help="Plan file (YAML).")],
    data: Annotated[str | None, typer.Option(metavar="DATA", help="Also check the plan against this table.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON instead of text.")] = False,
) -> None:
    """Find all problems of a plan in one go, each with its place and a hint.

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
            if attribute.free and attribute.snap is None and attribute.publish is None:
                say(f"note: {name!r} has no 'snap', so both ends of every interval are exact values of people")


@command(plan_app, "hedgerow plan upgrade old-plan.yaml -o plan.yaml")
def upgrade(
    plan: Annotated[Path, typer.Argument(metavar="PLAN", help="Plan file (YAML) written for an earlier Hedgerow.")],
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", metavar="FILE", help="Write the plan to this file. Default: print it."),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the plan, changes and notes as JSON.")] = False,
) -> None:
    """Make a plan of an earlier version mean the same in this one: comments stay, every change is explained."""
    from hedgerow.plan.upgrading import upgrade_plan

    upgraded = upgrade_plan(plan)
    _put(output, upgraded.text)
    if as_json:
        print_json(upgraded.to_dict())
        return
    if output is None:
        print_plan(upgraded.text)
    for change in upgraded.changes:
        say(f"changed: {change}", error=True)
    for note in upgraded.notes:
        say(f"note: {note}", error=True)
    if not upgraded.changes:
        say(f"{plan}: nothing to change", error=True)
    if output is not None:
        say(f"wrote {output}: review what changed, then run: hedgerow plan check {output}")


@command(plan_app, "hedgerow plan from-arx project.deid -o from-arx", name="from-arx")
def from_arx(
    project: Annotated[Path, typer.Argument(metavar="PROJECT", help="Project saved by ARX, .deid.")],
    output: Annotated[Path, typer.Option("--output", "-o", metavar="DIR", help="Folder to create.")],
    levels: Annotated[bool, typer.Option("--levels", help="Keep the levels that ARX chose.")] = False,
    data: Annotated[bool, typer.Option("--data/--no-data", help="Also write the data of the project.")] = True,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON instead of text.")] = False,
) -> None:
    """Turn an ARX project into a folder: a plan, its hierarchies, the data, and notes on what has no counterpart."""
    from hedgerow.evaluation.arx import plan_from_arx

    made = plan_from_arx(project, output, levels=levels, data=data)
    if as_json:
        print_json(made.to_dict(), default=str)
        return
    say(f"wrote {output}/plan.yaml and what goes with it: review every line of it")
    if made.levels:
        chosen = ", ".join(f"{name} {level}" for name, level in made.levels.items())
        say(f"ARX chose the levels {chosen}")
    for note in made.notes:
        say(f"note: {note}")


@command(plan_app, "hedgerow plan to-arx plan.yaml -o for-arx --data patients.csv", name="to-arx")
def to_arx(
    plan: Annotated[Path, typer.Argument(metavar="PLAN", help="Plan file (YAML).")],
    output: Annotated[Path, typer.Option("--output", "-o", metavar="DIR", help="Folder to create.")],
    data: Annotated[
        str | None, typer.Option(metavar="DATA", help="The table; needed if hierarchies depend on it: bands, dates, …")
    ] = None,
) -> None:
    """Write the hierarchies of a plan in the form ARX imports, and a note of what to set there."""
    from hedgerow.evaluation.arx import plan_to_arx

    for line in plan_to_arx(plan, output, data):
        say(line)


@command(plan_app, "hedgerow plan schema > plan.schema.json")
def schema() -> None:
    """Print the JSON Schema of plans, for editors that complete and check YAML."""
    from hedgerow.plan.schema import plan_schema

    print_json(plan_schema())
