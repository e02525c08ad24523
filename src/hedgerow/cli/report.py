"""``hedgerow report``: what there is to say about a release, on one page."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated

import typer

from hedgerow.cli.options import JsonOption
from hedgerow.cli.printing import print_json, show, tell
from hedgerow.cli.progress import ProgressBar
from hedgerow.cli.run import ExitCode


def report(
    release: Annotated[
        str,
        typer.Argument(
            metavar="DIR|TABLE", help="Release folder, or table: postgresql://user@host/database?table=schema.name."
        ),
    ],
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", metavar="FILE", help="Page to write. Default: DIR-report.html, beside DIR."),
    ] = None,
    original: Annotated[
        str | None,
        typer.Option(
            metavar="DATA",
            help="The table it was made from: checks against it, and measures what each limit cost and saved.",
        ),
    ] = None,
    store: Annotated[
        str | None,
        typer.Option(
            metavar="S", help="The store it was exported from: also tells what holders of all versions could learn."
        ),
    ] = None,
    threshold: Annotated[
        float | None,
        typer.Option(
            min=0, max=1, help="Risk that is just acceptable; 0.33, 0.2, 0.09 and 0.05 are common. Default: the plan's."
        ),
    ] = None,
    purpose: Annotated[str, typer.Option(help="What the release is for.")] = "",
    recipients: Annotated[str, typer.Option(help="Who gets it.")] = "",
    approver: Annotated[str, typer.Option(help="Who approves of it.")] = "",
    role: Annotated[str, typer.Option(help="As what the approver does so.")] = "",
    date: Annotated[str, typer.Option(metavar="YYYY-MM-DD", help="Day of the approval.")] = "",
    review_by: Annotated[str, typer.Option(metavar="YYYY-MM-DD", help="Day until which it is looked at again.")] = "",
    assume: Annotated[
        list[str] | None, typer.Option(metavar="TEXT", help="A further assumption about attackers; may be repeated.")
    ] = None,
    terminal: Annotated[bool, typer.Option("--terminal", help="Show it here; write a page only with -o.")] = False,
    replace: Annotated[bool, typer.Option(help="Replace an earlier report.")] = False,
    key: Annotated[
        Path | None, typer.Option(metavar="PUB", help="Public key of who released it: checks the signature.")
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Write what there is to say about a release on one page that can be read offline, printed and signed.

    The release is checked again; exit code 1 if a promise is broken, and the page says so first of all.
    """
    from hedgerow.outside.server import is_server
    from hedgerow.reports.material import SignOff
    from hedgerow.reports.reporting import name_of, report
    from hedgerow.reports.terminal.release import verdict_banner
    from hedgerow.reports.terminal.report import report_summary, risk_summary

    sign_off = SignOff(purpose, recipients, approver, role, date, review_by, tuple(assume or ()))
    if output is None and not terminal and not as_json:
        folder = Path() if is_server(release) else Path(os.path.abspath(release)).parent  # noqa: PTH100
        output = folder / f"{name_of(release).replace('/', '_')}-report.html"
    with ProgressBar() as progress:
        made = report(
            release,
            output,
            original=original,
            store=store,
            sign_off=sign_off,
            threshold=threshold,
            replace=replace,
            key=key,
            progress=progress,
        )
    if as_json:
        print_json(made.to_dict())
    else:
        if terminal:
            show(report_summary, made.to_dict())
        else:
            show(risk_summary, made.facts, made.risks)
            tell("")
            show(verdict_banner, made.verdict.to_dict())
        if made.kept:
            tell("\nmeets {} under the assumptions in the report", ", ".join(made.demands))
        if output is not None:
            tell("report written to [bold]{}[/]", _short(output))
    if not made.kept:
        raise ExitCode(1)  # the page is written all the same


def _short(path: Path) -> str:
    """Write a path as people would: from where they are, if it lies there."""
    here = Path.cwd()
    return str(path.relative_to(here)) if path.is_absolute() and path.is_relative_to(here) else str(path)
