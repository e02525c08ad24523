"""The commands of ``hedgerow``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from hedgerow.cli.apply import apply
from hedgerow.cli.assess import assess
from hedgerow.cli.bound import bound
from hedgerow.cli.compare import compare
from hedgerow.cli.described import DescribedCommand, completing, forms, one_of
from hedgerow.cli.lattice import lattice
from hedgerow.cli.levels import LevelsOption, read_levels
from hedgerow.cli.options import (
    DataArgument,
    EngineOption,
    JsonOption,
    MasterOption,
    PlanArgument,
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
from hedgerow.version import __version__

app = typer.Typer(
    name="hedgerow",
    help="Turn a table about people into a release others may use: k-anonymous, within its owner's limits, checked.",
    epilog="Exit codes: 0 promise kept · 1 promise broken · 2 usage, plan or data · 3 no solution · 4 done, but "
    "something after that went wrong · 130 interrupted. After 0 and 4 something has changed, after others nothing has.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    pretty_exceptions_show_locals=False,
    cls=EscapingGroup,
    context_settings={"help_option_names": ["-h", "--help"]},
)
app.add_typer(plan_app)
app.add_typer(release_app)

BudgetOption = Annotated[
    str | None,
    typer.Option(
        metavar="60s|N",
        help="Exact search by research value: end after so many seconds, or after about N checks of nodes (the same on "
        "every machine), with the best found and a bound on what is left. Ctrl-C does it too.",
    ),
]
SeedOption = Annotated[int | None, typer.Option(min=0, help="Overrides the plan's seed.")]


@app.callback(invoke_without_command=True)
def main(
    version: Annotated[bool, typer.Option("--version", help="Show the version and exit.")] = False,
) -> None:
    """Show the version, if asked."""
    if version:
        print(f"hedgerow {__version__}")
        raise typer.Exit


@app.command(cls=DescribedCommand)
def anonymize(
    data: DataArgument,
    plan: PlanArgument,
    output: Annotated[
        str,
        typer.Option(
            "--output",
            "-o",
            metavar="DIR|TABLE",
            help="Folder to create, or table: postgresql://user@host/database?table=schema.name; with Spark also "
            "s3a://…, hdfs://… or table:NAME. Verified and whole.",
        ),
    ],
    format: Annotated[
        str | None,
        typer.Option(
            metavar="{forms}",
            callback=one_of(forms, "--format"),
            autocompletion=completing(forms),
            help="Default: parquet if DATA is, else csv; on Spark parts, which its executors write.",
        ),
    ] = None,
    seed: SeedOption = None,
    threads: ThreadsOption = None,
    link: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Private table record → row to write, outside of DIR, mode 0600."),
    ] = None,
    ignore_limits: Annotated[
        bool, typer.Option(help="Cluster as if there were no limits, and count those broken.")
    ] = False,
    levels: LevelsOption = None,
    engine: EngineOption = "auto",
    master: MasterOption = None,
    driver_profiles: Annotated[
        int | None,
        typer.Option(min=0, metavar="N", help="Spark: profiles up to which the driver clusters by itself."),
    ] = None,
    budget: BudgetOption = None,
    replace: Annotated[bool, typer.Option(help="Replace an earlier release of that name.")] = False,
    as_json: JsonOption = False,
) -> None:
    """Make a release: k-anonymous, within limits, fewest records withheld, checked before it is written."""
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
        )
    verdict = verdict_on(release).to_dict()
    if as_json:
        print_json({**release.facts, "verdict": verdict, **as_plain(repeats)})
        return
    show(release_summary, release.told, verdict)
    warn_of(repeats)
    tell("\n[green]verified[/] and written to [bold]{}[/]", shown(output))
    if link is not None:
        tell("private link table: {} — never share it", link)


@app.command(cls=DescribedCommand)
def explain(
    data: DataArgument,
    plan: PlanArgument,
    engine: EngineOption = "auto",
    master: MasterOption = None,
    as_json: JsonOption = False,
) -> None:
    """Say, before any run, what the limits cost: what must be withheld, why, and which single change would help."""
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


app.command(cls=DescribedCommand)(apply)
app.command(cls=DescribedCommand)(assess)
app.command(cls=DescribedCommand)(lattice)
app.command(cls=DescribedCommand)(compare)
app.command(cls=DescribedCommand)(bound)
app.command()(simulate)
app.command()(report)
app.command()(studio)
app.command()(prepare)


@app.command(cls=DescribedCommand)
def weights(
    data: DataArgument,
    plan: PlanArgument,
    plot: Annotated[Path | None, typer.Option(metavar="FILE", help="Picture of the matrix to write, .svg.")] = None,
    leave_out: Annotated[
        bool, typer.Option("--leave-out", help="Try what leaving out columns that others tell of would save.")
    ] = False,
    engine: EngineOption = "auto",
    master: MasterOption = None,
    as_json: JsonOption = False,
) -> None:
    """Show how closely quasi-identifiers go together, and the weights that 'weights: association' gives them."""
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


@app.command()
def verify(
    release: Annotated[
        str,
        typer.Argument(
            metavar="DIR|TABLE",
            help="Release folder, or table: postgresql://user@host/database?table=schema.name; what lies in s3a://…, "
            "hdfs://… or table:NAME is read there, by Spark.",
        ),
    ],
    original: Annotated[
        str | None, typer.Option(metavar="DATA", help="The table it was made from: a file, or a table on a server.")
    ] = None,
    link: Annotated[
        Path | None, typer.Option(metavar="FILE", help="The private link table: checks every cell.")
    ] = None,
    key: Annotated[
        Path | None, typer.Option(metavar="PUB", help="Public key of who released it: checks the signature.")
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Check a release independently of what made it; exit code 1 if a promise is broken."""
    from hedgerow.api import verify
    from hedgerow.reports.terminal.release import verification_summary
    from hedgerow.reports.verdict import verdict_on

    checked = verify(release, original, link, key)
    found, verdict = checked.to_dict(), verdict_on(release, checked).to_dict()
    if as_json:
        print_json({**found, "verdict": verdict})
    else:
        show(verification_summary, found, verdict)
    if not found["kept"]:
        raise typer.Exit(1)


@app.command()
def sign(
    release: Annotated[Path | None, typer.Argument(metavar="[DIR]", help="Release folder.")] = None,
    key: Annotated[Path | None, typer.Option(metavar="FILE", help="Private key to sign with.")] = None,
    make_key: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Make a key pair instead: FILE, kept secret, and FILE.pub.")
    ] = None,
    replace: Annotated[bool, typer.Option(help="Replace the signature that is there.")] = False,
    as_json: JsonOption = False,
) -> None:
    """Sign a release, so that whoever gets it can know who released it; or make the key for that."""
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


@app.command()
def demo(
    output: Annotated[Path, typer.Option("--output", "-o", metavar="DIR", help="Folder to create.")] = Path(
        "hedgerow-demo"
    ),
    kind: Annotated[
        str, typer.Option(metavar="clinic|census|deaths", help="Patients, a census, or death certificates.")
    ] = "clinic",
    records: Annotated[
        int | None,
        typer.Option(min=100, help="How many to make up. Default: clinic 2,000, census 50,000, deaths 216,000."),
    ] = None,
    attributes: Annotated[
        int | None,
        typer.Option(help="Columns to keep, those studied most first: 3 to 13 of a census, 3 to 36 of deaths."),
    ] = None,
    seed: Annotated[int, typer.Option(min=0, help="Another seed, other people.")] = 0,
    budget: BudgetOption = None,
    replace: Annotated[bool, typer.Option(help="Replace DIR if it exists.")] = False,
    as_json: JsonOption = False,
) -> None:
    """Make up a table, write a plan for it, explain it, release it and check the release: no input needed."""
    from hedgerow.cli.demo import DemoWish, run_demo
    from hedgerow.cli.patience import patience_of, stoppable

    wish = DemoWish(kind, records, attributes, seed)
    with ProgressBar() as progress, stoppable(patience_of(budget)) as patience:
        made = run_demo(output, wish, replace, progress, patience)
    if as_json:
        print_json(made.facts)
    else:
        made.show()
