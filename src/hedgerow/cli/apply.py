"""``hedgerow apply``: the groups of an earlier release for a new table."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from hedgerow.cli.described import completing, forms, one_of
from hedgerow.cli.options import DataArgument, EngineOption, JsonOption, MasterOption, ThreadsOption
from hedgerow.cli.printing import print_json, show, tell
from hedgerow.cli.progress import ProgressBar


def apply(
    release: Annotated[Path, typer.Argument(metavar="RELEASE", help="Folder of the earlier release.")],
    data: DataArgument,
    output: Annotated[
        Path, typer.Option("--output", "-o", metavar="DIR", help="Folder to create. Verified and whole.")
    ],
    withhold: Annotated[
        str | None,
        typer.Option(
            metavar="5%|N",
            help="How many records may be withheld. Default: as the plan of RELEASE says, else any number.",
        ),
    ] = None,
    afresh: Annotated[
        bool, typer.Option("--afresh/--no-afresh", help="Work out what a release made afresh would lose, too.")
    ] = True,
    format: Annotated[
        str | None,
        typer.Option(
            metavar="{forms}",
            callback=one_of(forms, "--format"),
            autocompletion=completing(forms),
            help="Default: parquet if DATA is, else csv; on Spark parts, which its executors write.",
        ),
    ] = None,
    threads: ThreadsOption = None,
    link: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Private table record → row to write, outside of DIR, mode 0600."),
    ] = None,
    engine: EngineOption = "auto",
    master: MasterOption = None,
    replace: Annotated[bool, typer.Option(help="Replace an earlier release of that name.")] = False,
    as_json: JsonOption = False,
) -> None:
    """Recode a new table as an earlier release was: the same groups, or the same levels of the lattice.

    Every record joins the finest group of RELEASE that its values lie in. Records that lie in none, and those of groups
    that would be too small or too uniform, are withheld. The result is checked like any other release.
    """
    from hedgerow.api import apply
    from hedgerow.reports.terminal.release import afresh_line, release_summary
    from hedgerow.reports.verdict import verdict_on

    with ProgressBar() as progress:
        made = apply(
            release,
            data,
            output,
            withhold=withhold,
            afresh=afresh,
            threads=threads,
            format=format,
            link=link,
            replace=replace,
            engine=engine,
            master=master,
            progress=progress,
        )
    if as_json:
        told = {**made.facts, "verdict": verdict_on(made).to_dict()}
        print_json({**told, **({"afresh": made.private["afresh"]} if afresh else {})})
        return
    show(release_summary, made.told, verdict_on(made).to_dict())
    if afresh:
        tell("\n{}", afresh_line(made.told))
    tell("\n[green]verified[/] and written to [bold]{}[/]", output)
    if link is not None:
        tell("private link table: {} — never share it", link)
