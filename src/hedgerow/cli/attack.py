"""``hedgerow attack``: how often somebody who knows some columns finds a person in a release."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from hedgerow.cli.options import JsonOption
from hedgerow.cli.printing import print_json, show, tell
from hedgerow.cli.progress import ProgressBar


def attack(
    release: Annotated[Path, typer.Argument(metavar="RELEASE", help="Release folder.")],
    original: Annotated[Path, typer.Option(metavar="FILE", help="The table that it was made from.")],
    link: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Its private link table. Without it, any row that could be the person's counts as found.",
        ),
    ] = None,
    control: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="People who are not in the release: guesses about them are the baseline."),
    ] = None,
    columns: Annotated[
        str | None,
        typer.Option(
            metavar="A,B=X", help="Columns that the attacker knows; A=X if --knowledge calls A X. Default: all."
        ),
    ] = None,
    knowledge: Annotated[
        Path | None,
        typer.Option(
            metavar="REGISTER",
            help="What the attacker knows, in place of the original: a file of its own, with more people, other "
            "columns, errors.",
        ),
    ] = None,
    key: Annotated[
        str | None,
        typer.Option(
            metavar="COLUMN",
            help="With --knowledge: the column of both that says who somebody is. Default: the plan's key, or person.",
        ),
    ] = None,
    people: Annotated[int, typer.Option(min=1, metavar="N", help="How many people the attacker looks for.")] = 2000,
    noise: Annotated[
        float, typer.Option(min=0, max=1, help="How much of what the attacker knows is wrong: 0.1 is one cell in ten.")
    ] = 0.0,
    confidence: Annotated[float, typer.Option(min=0.5, max=0.999, help="Confidence level of the intervals.")] = 0.95,
    seed: Annotated[int, typer.Option(min=0, help="Picks the people, and what the attacker draws.")] = 0,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", metavar="FILE", help="Write a page to this file, .html.")
    ] = None,
    replace: Annotated[bool, typer.Option("--replace", help="Replace an earlier page.")] = False,
    as_json: JsonOption = False,
) -> None:
    """Attack a release with what somebody may know: how many people are found, beside the promised 1 in k.

    Exit code 1 if more are found than promised, beyond the confidence interval.
    """
    from hedgerow.cli.run import ExitCode
    from hedgerow.evaluation.attacking import attack
    from hedgerow.outside.outputs import put_text
    from hedgerow.outside.outputs.file import FOR_ITS_OWNER, refuse_existing
    from hedgerow.reports.html.attacked import attack_html
    from hedgerow.reports.terminal.attacked import attack_summary

    if output is not None and not replace:
        refuse_existing(output, "The page exists already.", "choose another name, or --replace it")
    with ProgressBar() as progress:
        found = attack(
            release,
            original,
            columns=None if columns is None else _columns(columns),
            link=link,
            control=control,
            knowledge=knowledge,
            key=key,
            people=people,
            noise=noise,
            confidence=confidence,
            seed=seed,
            progress=progress,
        )
    if output is not None:
        page = attack_html(found.to_dict(), release.name)
        put_text(output, page, "the page", mode=FOR_ITS_OWNER, replace=replace)
    if as_json:
        print_json(found.to_dict())
    else:
        show(attack_summary, found.to_dict())
        if output is not None:
            tell("\npage written to [bold]{}[/]", output)
    if found.beaten:
        raise ExitCode(1)


def _columns(text: str) -> dict[str, str]:
    """Read the columns that are known, with what a register calls them.

    Examples
    --------
    >>> _columns("age, sex=GENDER")
    {'age': 'age', 'sex': 'GENDER'}
    """
    named = [part.partition("=") for part in text.split(",") if part.strip()]
    return {own.strip(): theirs.strip() if sign else own.strip() for own, sign, theirs in named}
