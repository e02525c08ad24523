"""The commands of ``hedgerow``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from hedgerow.cli.apply import apply
from hedgerow.cli.assess import assess
from hedgerow.cli.attack import attack
from hedgerow.cli.bound import bound
from hedgerow.cli.compare import compare
from hedgerow.cli.described import HAND_OVER, LOOK, MAKE, START, command, completing, demo_kinds
from hedgerow.cli.inspect import inspect
from hedgerow.cli.lattice import lattice
from hedgerow.cli.levels import LevelsOption, read_levels
from hedgerow.cli.options import (
    DataArgument,
    EngineOption,
    FormatOption,
    JsonOption,
    LinkOption,
    MasterOption,
    PlanArgument,
    PopulationOption,
    ReplaceOption,
    ThreadsOption,
)
from hedgerow.cli.people import as_plain, warn_of
from hedgerow.cli.plan import plan_app
from hedgerow.cli.prepare import prepare
from hedgerow.cli.printing import EscapingGroup, print_json, show, tell
from hedgerow.cli.progress import ProgressBar
from hedgerow.cli.release import release_app
from hedgerow.cli.report import report
from hedgerow.cli.simulate import simulate
from hedgerow.cli.studio import studio
from hedgerow.cli.utility import utility
from hedgerow.version import __version__

app = typer.Typer(
    name="hedgerow",
    help="Turn a table about people into a release that others may use: k-anonymous, within its owner's limits, and "
    "checked before it is written.",
    epilog="Exit codes: 0 promise kept · 1 promise broken · 2 wrong usage, plan or data · 3 no solution · 4 done, but "
    "something went wrong afterwards · 130 interrupted. Only codes 0 and 4 mean that something has changed.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    pretty_exceptions_show_locals=False,
    cls=EscapingGroup,
    context_settings={"help_option_names": ["-h", "--help"]},
)
app.add_typer(plan_app, rich_help_panel=MAKE)
app.add_typer(release_app, rich_help_panel=MAKE)

BudgetOption = Annotated[
    str | None,
    typer.Option(
        metavar="60s|N",
        help="Stop the exact search by research value after this many seconds, or after about N nodes (the same on "
        "every machine), with the best release found and a bound on what is left. Ctrl-C does the same.",
    ),
]
SeedOption = Annotated[int | None, typer.Option(min=0, help="Use this seed instead of the plan's.")]


@app.callback(invoke_without_command=True)
def main(
    version: Annotated[bool, typer.Option("--version", help="Show the version and exit.")] = False,
) -> None:
    """Show the version, if asked."""
    if version:
        print(f"hedgerow {__version__}")
        raise typer.Exit


@command(app, "hedgerow anonymize patients.csv plan.yaml -o my-release", MAKE)
def anonymize(
    data: DataArgument,
    plan: PlanArgument,
    output: Annotated[
        str,
        typer.Option(
            "--output",
            "-o",
            metavar="DIR|TABLE",
            help="Folder to create, or table: postgresql://user@host/database?table=schema.name or "
            "mariadb://…; with Spark also s3a://…, hdfs://… or table:NAME. It appears whole and verified, or not at "
            "all.",
        ),
    ],
    format: FormatOption = None,
    seed: SeedOption = None,
    threads: ThreadsOption = None,
    link: LinkOption = None,
    ignore_limits: Annotated[
        bool,
        typer.Option("--ignore-limits", help="Cluster as if there were no limits, and count the cells beyond them."),
    ] = False,
    levels: LevelsOption = None,
    engine: EngineOption = "auto",
    master: MasterOption = None,
    driver_profiles: Annotated[
        int | None,
        typer.Option(
            min=0,
            metavar="N",
            help="Spark: with more records than this, they stay on the executors.",
        ),
    ] = None,
    budget: BudgetOption = None,
    population: PopulationOption = None,
    replace: ReplaceOption = False,
    as_json: JsonOption = False,
) -> None:
    """Make a release: k-anonymous, within the limits, withholding the fewest records, checked before it is written."""
    from hedgerow.api import anonymize
    from hedgerow.cli.patience import patience_of, stoppable
    from hedgerow.evaluation.people import repeated_people
    from hedgerow.outside.server import shown
    from hedgerow.plan import Plan
    from hedgerow.reports.terminal.release import release_summary
    from hedgerow.reports.verdict import verdict_on

    asked = Plan.load(plan)
    if ignore_limits:
        asked = asked.replace(method={**asked.to_dict().get("method", {}), "limits": "ignore"})
    chosen = read_levels(levels)
    if chosen is not None:
        asked = asked.with_levels(chosen)
    repeats = repeated_people(data, asked)
    with ProgressBar() as progress, stoppable(patience_of(budget)) as patience:
        release = anonymize(
            data,
            asked,
            output,
            seed=seed,
            threads=threads,
            format=format,
            link=link,
            replace=replace,
            engine=engine,
            master=master,
            driver_profiles=driver_profiles,
            progress=progress,
            patience=patience,
            population=population,
        )
    verdict = verdict_on(release).where_people_repeat(repeats).to_dict()
    if as_json:
        print_json({**release.facts, "verdict": verdict, **as_plain(repeats)})
        return
    show(release_summary, release.told, verdict)
    warn_of(repeats)
    tell("\n[green]verified[/] and written to [bold]{}[/]", shown(output))
    if link is not None:
        tell("private link table: {} — never share it", link)


@command(app, "hedgerow explain patients.csv plan.yaml", LOOK)
def explain(
    data: DataArgument,
    plan: PlanArgument,
    engine: EngineOption = "auto",
    master: MasterOption = None,
    as_json: JsonOption = False,
) -> None:
    """Show beforehand what the limits cost: how many records must be withheld, why, and which one change would help."""
    from hedgerow.api import explain
    from hedgerow.evaluation.people import repeated_people
    from hedgerow.reports.terminal.release import explanation_summary

    found = explain(data, plan, engine, master).to_dict()
    repeats = repeated_people(data, plan)
    if as_json:
        print_json({**found, **as_plain(repeats)})
    else:
        show(explanation_summary, found)
        warn_of(repeats)


command(app, "hedgerow apply my-release april.csv -o april", MAKE)(apply)
command(app, "hedgerow inspect export.csv", LOOK)(inspect)
command(app, "hedgerow assess patients.csv --sensitive diagnosis", LOOK)(assess)
command(app, "hedgerow attack my-release --original patients.csv", LOOK)(attack)
command(app, "hedgerow utility my-release --original patients.csv --regress 'income ~ age + sex'", LOOK)(utility)
command(app, "hedgerow lattice patients.csv plan.yaml --best", LOOK)(lattice)
command(app, "hedgerow compare patients.csv plan.yaml --k 3,5,10", LOOK)(compare)
command(app, "hedgerow bound patients.csv plan.yaml", LOOK)(bound)
command(app, "hedgerow simulate --attributes 6 --k 5 --records 100000", LOOK)(simulate)
command(app, "hedgerow report my-release --organisation 'St. Mary' --pdf", HAND_OVER)(report)
command(app, "hedgerow studio patients.csv plan.yaml", START)(studio)
command(app, "hedgerow prepare", START)(prepare)


@command(app, "hedgerow weights patients.csv plan.yaml", LOOK)
def weights(
    data: DataArgument,
    plan: PlanArgument,
    plot: Annotated[Path | None, typer.Option(metavar="FILE", help="Draw the matrix into this file, .svg.")] = None,
    leave_out: Annotated[
        bool,
        typer.Option(
            "--leave-out", help="Also find out what you would gain by leaving out columns that others predict."
        ),
    ] = False,
    engine: EngineOption = "auto",
    master: MasterOption = None,
    as_json: JsonOption = False,
) -> None:
    """Show how closely quasi-identifiers are associated, and the weights that 'weights: association' gives them."""
    from hedgerow.api import leave_out as try_leaving_out
    from hedgerow.api import weights
    from hedgerow.reports.charts.plots import association_plot, check_plot
    from hedgerow.reports.terminal.leaving_out import leaving_out_summary
    from hedgerow.reports.terminal.release import association_summary

    if plot is not None:
        check_plot(plot)
    left_out: dict[str, Any] = {}
    if leave_out:
        with ProgressBar() as progress:
            tried = try_leaving_out(data, plan, engine, master, progress)
        found, left_out = tried.association.to_dict(), tried.to_dict()
    else:
        found = weights(data, plan, engine, master).to_dict()
    if plot is not None:
        association_plot(found["columns"], found["association"], list(found["weights"].values()), plot)
    if as_json:
        print_json({**found, "leave_out": left_out} if leave_out else found)
        return
    show(association_summary, found)
    if leave_out:
        show(leaving_out_summary, left_out)


@command(app, "hedgerow verify my-release --original patients.csv", HAND_OVER)
def verify(
    release: Annotated[
        str,
        typer.Argument(
            metavar="DIR|TABLE",
            help="Release folder, or table: postgresql://user@host/database?table=schema.name. Spark reads s3a://…, "
            "hdfs://… and table:NAME where they lie.",
        ),
    ],
    original: Annotated[
        str | None,
        typer.Option(metavar="DATA", help="The table the release was made from: a file, or a table on a server."),
    ] = None,
    link: Annotated[
        Path | None, typer.Option(metavar="FILE", help="The private link table: lets every cell be checked.")
    ] = None,
    key: Annotated[
        Path | None, typer.Option(metavar="PUB", help="Public key of the publisher: checks the signature.")
    ] = None,
    population: PopulationOption = None,
    as_json: JsonOption = False,
) -> None:
    """Check a release, independently of the code that made it. Exit code 1 if a promise is broken."""
    from hedgerow.api import verify
    from hedgerow.reports.terminal.release import verification_summary
    from hedgerow.reports.verdict import verdict_on

    checked = verify(release, original, link, key, population=population)
    found, verdict = checked.to_dict(), verdict_on(release, checked).to_dict()
    if as_json:
        print_json({**found, "verdict": verdict})
    else:
        show(verification_summary, found, verdict)
    if not found["kept"]:
        raise typer.Exit(1)


@command(app, "hedgerow sign my-release --key me.key", HAND_OVER)
def sign(
    release: Annotated[Path | None, typer.Argument(metavar="[DIR]", help="Release folder.")] = None,
    key: Annotated[Path | None, typer.Option(metavar="FILE", help="Private key to sign with.")] = None,
    make_key: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Make a key pair instead: FILE, to be kept secret, and FILE.pub."),
    ] = None,
    replace: Annotated[bool, typer.Option("--replace", help="Replace an existing signature.")] = False,
    as_json: JsonOption = False,
) -> None:
    """Sign a release, so that whoever gets it can tell who released it; or make the key for that."""
    from hedgerow.api import sign
    from hedgerow.errors import HedgerowError, Problem
    from hedgerow.release.signing import make_key as make

    if make_key is not None:
        if release is not None or key is not None:
            raise HedgerowError(Problem("usage", "A key is made by itself.", hint="sign with it afterwards"))
        name = make(make_key)
        said = "Made {0}, which stays secret, and {0}.pub, which is for whoever gets your releases."
    elif release is None or key is None:
        message = "'sign' takes a release folder and a key."
        raise HedgerowError(Problem("usage", message, hint="hedgerow sign DIR --key FILE, or --make-key FILE"))
    else:
        name = sign(release, key, replace)
        said = "Signed {0}."
    if as_json:
        print_json({"key": name})
    else:
        tell(said + "\nkey  {1}", make_key or release, name)


@command(app, "hedgerow demo --kind census -o census-demo", START)
def demo(
    output: Annotated[Path, typer.Option("--output", "-o", metavar="DIR", help="Folder to create.")] = Path(
        "hedgerow-demo"
    ),
    kind: Annotated[
        str,
        typer.Option(
            metavar="{demo kinds}",
            help="Patients of a clinic, a census, or death certificates.",
            autocompletion=completing(demo_kinds),
        ),
    ] = "clinic",
    records: Annotated[
        int | None,
        typer.Option(min=100, help="How many people to make up. Default: clinic 2,000, census 50,000, deaths 216,000."),
    ] = None,
    attributes: Annotated[
        int | None,
        typer.Option(help="Keep this many columns, those studied most first: 3 to 13 of a census, 3 to 36 of deaths."),
    ] = None,
    seed: Annotated[int, typer.Option(min=0, help="A different seed makes up different people.")] = 0,
    budget: BudgetOption = None,
    replace: Annotated[bool, typer.Option("--replace", help="Replace DIR if it exists.")] = False,
    as_json: JsonOption = False,
) -> None:
    """Try it on made-up data: make up a table and a plan, explain it, release it, verify the release."""
    from hedgerow.cli.demo import DemoWish, run_demo
    from hedgerow.cli.patience import patience_of, stoppable

    wish = DemoWish(kind, records, attributes, seed)
    with ProgressBar() as progress, stoppable(patience_of(budget)) as patience:
        made = run_demo(output, wish, replace, progress, patience)
    if as_json:
        print_json(made.facts)
    else:
        made.show()
