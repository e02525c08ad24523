"""``hedgerow apply``: the groups of an earlier release for a new table."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from hedgerow.cli.options import (
    DataArgument,
    EngineOption,
    FormatOption,
    JsonOption,
    LinkOption,
    MasterOption,
    ReplaceOption,
    ThreadsOption,
)
from hedgerow.cli.printing import print_json, show, tell
from hedgerow.cli.progress import ProgressBar


def apply(
    release: Annotated[Path, typer.Argument(metavar="RELEASE", help="Folder of the earlier release.")],
    data: DataArgument,
    output: Annotated[
        Path,
        typer.Option(
            "--output", "-o", metavar="DIR", help="Folder to create. It appears whole and verified, or not at all."
        ),
    ],
    withhold: Annotated[
        str | None,
        typer.Option(
            metavar="5%|N",
            help="How many records may be withheld. Default: as the plan of RELEASE says, otherwise any number.",
        ),
    ] = None,
    afresh: Annotated[
        bool, typer.Option("--afresh/--no-afresh", help="Also work out what a fresh release would lose.")
    ] = True,
    format: FormatOption = None,
    threads: ThreadsOption = None,
    link: LinkOption = None,
    engine: EngineOption = "auto",
    master: MasterOption = None,
    replace: ReplaceOption = False,
    as_json: JsonOption = False,
) -> None:
    """Recode a new table the way an earlier release was: the same groups, or the same levels.

    Every record joins the finest group of RELEASE that its values fit into. Records that fit none, and those whose
    group would be too small or too uniform, are withheld. The result is verified like any other release.
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
